// SPDX-License-Identifier: Apache-2.0

/// A series prepared for expansion: what is excluded, what is replaced, and by what.
///
/// Occurrences are compared by key: the instant for timed ones, the day (in wall seconds) for whole days.
struct SeriesPlan {
    /// An override that applies to all later occurrences too.
    struct Segment {
        var key: Int
        /// The wall time of its RECURRENCE-ID on the series' clock.
        var originalWall: Int
        var event: Event
        var start: EventTime
        var length: OccurrenceLength

        /// How much later than planned its occurrences start, in seconds on the wall clock.
        var shift: Int { start.civil.wallSeconds - originalWall }
    }

    /// An occurrence at the time that the rules give it, before overrides are applied.
    struct Candidate {
        var key: Int
        var wall: Int
        /// The index of the RDATE whose period gives the candidate its own end.
        var period: Int?
    }

    let master: Event
    let start: EventTime
    let length: OccurrenceLength
    package let zone: any TimeZoneRules
    /// The series' own clock.
    var clock: WallClock
    let isDate: Bool
    let startWall: Int
    let segments: [Segment]
    private let taken: TakenTimes

    /// Returns nil when the master has no time at all.
    init?(_ master: Event, overrides: [Event], floatingIn zone: any TimeZoneRules) {
        guard let start = master.anchor else { return nil }
        self.master = master
        self.start = start
        self.zone = zone
        length = OccurrenceLength(of: master, start: start)
        isDate = start.isDate
        startWall = start.civil.wallSeconds
        clock = WallClock(start.clockRules(floatingIn: zone))
        let keys = SeriesKeys(isDate: isDate, clock: clock)
        let timeOfDay = startWall - floorDivide(startWall, by: 86_400) * 86_400
        var segments: [Segment] = []
        var taken = TakenTimes()
        for time in master.recurrence.exclusions { taken.insert(time, keys) }
        for event in overrides {
            guard let time = event.recurrenceID else { continue }
            // An override replaces an occurrence, so it acts as an exclusion for the rules.
            taken.insert(time, keys)
            guard event.appliesToFuture else { continue }
            let wall = !isDate && time.isDate ? time.civil.wallSeconds + timeOfDay : keys.wall(of: time)
            var own = event.anchor ?? start.with(civil: CivilDateTime(wallSeconds: wall))
            if case (.utc(let instant), .zoned(_, let reference)) = (own, start) {
                // Later occurrences keep the local time, as the series does.
                own = .zoned(reference.rules.civil(at: instant), reference)
            }
            segments.append(
                Segment(
                    key: keys.key(of: time), originalWall: wall, event: event, start: own,
                    length: event.end == nil && event.start == nil
                        ? length : OccurrenceLength(of: event, start: event.anchor ?? own)))
        }
        self.taken = taken
        self.segments = segments.sorted { $0.key < $1.key }
    }

    /// Whether an EXDATE or an override removes a candidate.
    @inline(__always)
    func isTaken(key: Int, wall: Int) -> Bool { taken.contains(key: key, wall: wall) }

    @inline(__always)
    mutating func key(ofWall wall: Int) -> Int { isDate ? wall : clock.instant(ofWall: wall) }

    /// The RDATE with this index as a candidate; a date in a timed series means that day at the series' own time.
    func candidate(ofAddition index: Int) -> Candidate {
        let addition = master.recurrence.additions[index]
        let keys = SeriesKeys(isDate: isDate, clock: clock)
        if !isDate, case .date(let date) = addition.start {
            let wall = date.daysSinceEpoch * 86_400 + startWall - floorDivide(startWall, by: 86_400) * 86_400
            return Candidate(key: keys.key(of: start.with(civil: CivilDateTime(wallSeconds: wall))), wall: wall)
        }
        return Candidate(
            key: keys.key(of: addition.start), wall: keys.wall(of: addition.start),
            period: addition.end == nil ? nil : index)
    }

    /// The occurrence of a candidate: at its own time, or where the last override for later occurrences moves it.
    func occurrence(_ candidate: Candidate) -> Occurrence {
        let original = start.with(civil: CivilDateTime(wallSeconds: candidate.wall))
        let recurrenceID = master.recurrence.isEmpty && segments.isEmpty ? nil : original
        let later = segments.isEmpty ? 0 : segments.firstFitting { $0.key > candidate.key }
        guard later > 0 else {
            let own = candidate.period.map { master.recurrence.additions[$0].end }
            let length = own.map { OccurrenceLength(end: $0, start: original) } ?? length
            return Occurrence(
                event: master, start: original, end: length.end(from: original), recurrenceID: recurrenceID)
        }
        let segment = segments[later - 1]
        let moved = segment.start.with(civil: CivilDateTime(wallSeconds: candidate.wall + segment.shift))
        return Occurrence(
            event: segment.event, start: moved, end: segment.length.end(from: moved), recurrenceID: recurrenceID)
    }
}

/// The times of a series that EXDATEs and overrides remove from its rules.
private struct TakenTimes {
    private var keys: Set<Int> = []
    /// Days on which a series of timed occurrences has no occurrence at all.
    private var days: Set<Int> = []

    mutating func insert(_ time: EventTime, _ keys: SeriesKeys) {
        if !keys.isDate, time.isDate {
            days.insert(time.civilDate.daysSinceEpoch)
        } else {
            self.keys.insert(keys.key(of: time))
        }
    }

    @inline(__always)
    func contains(key: Int, wall: Int) -> Bool {
        !keys.isEmpty && keys.contains(key) || !days.isEmpty && days.contains(floorDivide(wall, by: 86_400))
    }
}

/// The keys by which times are compared within a series.
private struct SeriesKeys {
    let isDate: Bool
    let clock: WallClock

    func key(of time: EventTime) -> Int {
        isDate ? time.civilDate.daysSinceEpoch * 86_400 : time.instant(floatingIn: clock.rules).seconds
    }

    /// The time on the series' own clock.
    func wall(of time: EventTime) -> Int {
        switch time {
        case .date, .floating: time.civil.wallSeconds
        case .utc, .zoned: isDate ? key(of: time) : clock.wall(at: key(of: time))
        }
    }
}

extension Event {
    /// The time from which a component recurs: its start, or a to-do's due time.
    var anchor: EventTime? {
        if let start { return start }
        if case .time(let time) = end { return time }
        return nil
    }
}
