// SPDX-License-Identifier: Apache-2.0

/// Converts many wall-clock times of one zone to instants, fastest when they come in order.
///
/// It returns what `TimeZoneRules.instant(of:)` returns, and remembers the wall times between which the offset applies.
struct WallClock {
    let rules: any TimeZoneRules
    private let system: SystemTimeZone?
    /// Wall times from `spanStart` to before `spanEnd` have `offset`, without a gap or an overlap.
    private var spanStart = Int.max
    private var spanEnd = Int.min
    private var offset = 0

    init(_ rules: any TimeZoneRules) {
        self.rules = rules
        system = rules as? SystemTimeZone
        if let fixed = rules as? FixedOffset { (spanStart, spanEnd, offset) = (Int.min, Int.max, fixed.seconds) }
    }

    /// The instant, in POSIX seconds, at which the clock shows a wall time in seconds since 1970-01-01T00:00:00.
    @inline(__always)
    mutating func instant(ofWall wall: Int) -> Int {
        if wall >= spanStart, wall < spanEnd { return wall - offset }
        return find(wall)
    }

    /// The wall time that the clock shows at an instant, both in seconds.
    @inline(__always)
    func wall(at instant: Int) -> Int {
        // The clock shows each time within the span only once.
        let wall = instant &+ offset
        if wall >= spanStart, wall < spanEnd { return wall }
        return instant + rules.offset(at: Instant(seconds: instant))
    }

    private mutating func find(_ wall: Int) -> Int {
        let instant = rules.instant(of: CivilDateTime(wallSeconds: wall)).seconds
        guard let system else { return instant }
        let next = system.transitions.firstFitting { $0.at.seconds > instant }
        let before = next == 0 ? system.firstOffset : system.transitions[next - 1].offsetAfter
        // A wall time in a gap is after the change; it is not remembered but looked up each time.
        guard wall - before == instant else { return instant }
        offset = before
        spanStart = Int.min
        spanEnd = Int.max
        if next > 0 {
            let change = system.transitions[next - 1]
            spanStart = change.at.seconds + max(change.offsetBefore, change.offsetAfter)
        }
        if next < system.transitions.count {
            spanEnd = system.transitions[next].at.seconds + system.transitions[next].offsetBefore
        }
        return instant
    }
}

extension Array {
    /// The first index whose element fits, in an array in which all fitting elements are at the end.
    func firstFitting(_ fits: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if fits(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
