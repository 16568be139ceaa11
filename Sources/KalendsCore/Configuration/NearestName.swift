// SPDX-License-Identifier: Apache-2.0

/// What somebody meant who wrote a name that nobody knows.
enum NearestName {
    /// The known name that a few slips of the finger make of this one; nil when none is near.
    static func of(_ name: String, among known: [String]) -> String? {
        // Nobody misspells a name into one three times as long, and the work grows with both lengths.
        let letters = Array(name.lowercased().utf8.prefix(64))
        let distances = known.map { (name: $0, distance: distance(letters, Array($0.lowercased().utf8))) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return nearest.distance <= max(2, nearest.name.utf8.count / 3) ? nearest.name : nil
    }

    /// How many letters have to be put in, taken out, replaced or exchanged with their neighbour.
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
