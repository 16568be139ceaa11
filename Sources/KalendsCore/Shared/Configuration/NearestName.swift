// SPDX-License-Identifier: Apache-2.0

/// Finds the known name that was probably meant by an unknown one.
enum NearestName {
    /// Returns the known name that is a few typing errors away from this one, or nil.
    static func of(_ name: String, among known: [String]) -> String? {
        // Nobody mistypes a name as one three times as long, and the work grows with both lengths.
        let letters = Array(name.lowercased().utf8.prefix(64))
        let distances = known.map { (name: $0, distance: distance(letters, Array($0.lowercased().utf8))) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return nearest.distance <= max(2, nearest.name.utf8.count / 3) ? nearest.name : nil
    }

    /// Returns how many letters have to be inserted, deleted, replaced or swapped with their neighbour.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for (row, letter) in one.enumerated() {
            var next = [row + 1]
            for (column, counterpart) in other.enumerated() {
                var least = min(last[column + 1] + 1, next[column] + 1, last[column] + (letter == counterpart ? 0 : 1))
                if row > 0, column > 0, letter == other[column - 1], one[row - 1] == counterpart {
                    least = min(least, before[column - 1] + 1)
                }
                next.append(least)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }
}
