// SPDX-License-Identifier: Apache-2.0

/// The seconds within a day, hour or minute at which occurrences start, ascending.
///
/// Twenty-four hours by sixty minutes by sixty seconds are 86,400 times but only 144 numbers: only short lists are
/// stored.
struct TimesOfDay {
    let count: Int
    private let hours: [Int]
    private let minutes: [Int]
    private let seconds: [Int]
    /// All times, if the list is short.
    private let listed: [Int]

    private static let longestList = 128

    /// Values that a clock does not show are left out.
    init(hours: [Int], minutes: [Int], seconds: [Int]) {
        func sorted(_ values: [Int], below limit: Int) -> [Int] {
            let valid = values.filter { $0 >= 0 && $0 < limit }
            return valid.count < 2 ? valid : Set(valid).sorted()
        }
        self.hours = sorted(hours, below: 24)
        self.minutes = sorted(minutes, below: 60)
        self.seconds = sorted(seconds, below: 60)
        count = self.hours.count * self.minutes.count * self.seconds.count
        var listed: [Int] = []
        if count <= Self.longestList {
            listed.reserveCapacity(count)
            for hour in self.hours {
                for minute in self.minutes {
                    for second in self.seconds { listed.append(hour * 3600 + minute * 60 + second) }
                }
            }
        }
        self.listed = listed
    }

    /// The times of `all` that positions select.
    init(_ positions: SetPositions, of all: TimesOfDay) {
        listed = positions.indices(among: all.count).map { all[$0] }
        count = listed.count
        (hours, minutes, seconds) = ([], [], [])
    }

    @inline(__always)
    subscript(index: Int) -> Int {
        if !listed.isEmpty { return listed[index] }
        let (minute, second) = (index / seconds.count, index % seconds.count)
        return hours[minute / minutes.count] * 3600 + minutes[minute % minutes.count] * 60 + seconds[second]
    }

    /// The index of the first time that is not before `time`; `count` when there is none.
    func index(notBefore time: Int) -> Int {
        guard count > 0, self[0] < time else { return 0 }
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The positions of BYSETPOS, prepared for sets of any size.
struct SetPositions {
    /// Indices from the beginning, starting at 0, ascending.
    private let fromStart: [Int]
    /// Indices from the end, where -1 is the last, ascending.
    private let fromEnd: [Int]

    init(_ positions: [Int]) {
        // Values that no parser accepts are out of range for any set.
        let possible = positions.filter { $0 != 0 && abs($0.clamped) < 1 << 40 }
        fromStart = Set(possible.filter { $0 > 0 }).map { $0 - 1 }.sorted()
        fromEnd = Set(possible.filter { $0 < 0 }).sorted()
    }

    var count: Int { fromStart.count + fromEnd.count }

    /// The indices that the positions select in a set of `count`, ascending, each once.
    func indices(among count: Int) -> [Int] {
        var first = fromStart[..<fromStart.firstFitting { $0 >= count }]
        var last = fromEnd[fromEnd.firstFitting { $0 >= -count }...]
        if last.isEmpty { return Array(first) }
        var merged: [Int] = []
        merged.reserveCapacity(first.count + last.count)
        while let next = last.first {
            let index = count + next
            while let other = first.first, other < index {
                merged.append(other)
                first.removeFirst()
            }
            if first.first == index { first.removeFirst() }
            merged.append(index)
            last.removeFirst()
        }
        return merged + first
    }
}

extension Int {
    /// The value, or `-Int.max` for `Int.min`, whose magnitude does not fit.
    fileprivate var clamped: Int { Swift.max(self, -Int.max) }
}
