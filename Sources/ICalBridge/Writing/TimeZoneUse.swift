// SPDX-License-Identifier: Apache-2.0

/// The zones that some events use, and the time span that they need.
struct TimeZoneUse: Sendable {
    private(set) var zones: [TimeZoneReference] = []
    /// The zones' names as they are written, in the same order.
    private var names: [String] = []
    /// Seconds on the wall clock of a zone that is not known yet; `definitions` adds two days for that.
    private(set) var earliest = Int.max
    private(set) var latest = Int.min
    /// A hash of these names; the hashing is seeded differently in each process, so nobody can make two of them collide.
    private(set) var zonesHash = 0
    /// The hashes of the pieces' zones that were added, so that thousands of pieces with the same few zones compare
    /// numbers.
    private var added: [Int] = []

    init() {}

    init(covering span: ClosedRange<Instant>) {
        earliest = span.lowerBound.seconds
        latest = span.upperBound.seconds
    }

    /// - Parameter seriesAreCovered: whether the time span that matters for series is already known.
    mutating func add(_ event: Event, seriesAreCovered: Bool) {
        let isSeries = !event.recurrence.rules.isEmpty
        for time in event.times {
            if let zone = time.zone { add(zone) }
            let wall = time.civil.wallSeconds
            if isSeries, seriesAreCovered { continue }
            earliest = min(earliest, isSeries ? max(wall, 0) : wall)
            latest = max(latest, isSeries ? max(wall + 5 * 366 * 86_400, event.recurrence.lastWall) : wall)
        }
    }

    mutating func add(_ piece: CalendarPiece) {
        if !added.contains(piece.zonesHash) {
            added.append(piece.zonesHash)
            for zone in piece.zones { add(zone) }
        }
        earliest = min(earliest, piece.earliest)
        latest = max(latest, piece.latest)
    }

    private mutating func add(_ zone: TimeZoneReference) {
        // A calendar has a few zones and many events, most of them in the zone of the event before.
        let name = zone.writtenIdentifier
        guard !names.contains(where: { $0 == name }) else { return }
        zones.append(zone)
        names.append(name)
        zonesHash = names.map { ByteString($0) }.hashValue
    }

    /// The rules of each zone, sorted by name.
    var definitions: [TimeZoneDefinition] {
        let day = 86_400
        return zones.sorted { $0.writtenIdentifier < $1.writtenIdentifier }.map { zone in
            if var definition = zone.definition {
                definition.identifier = zone.writtenIdentifier
                return definition
            }
            guard let system = zone.rules as? SystemTimeZone else {
                return TimeZoneDefinition(identifier: zone.identifier, observances: [])
            }
            return system.definition(
                from: Instant(seconds: earliest - 2 * day), to: Instant(seconds: max(latest, earliest) + 2 * day))
        }
    }
}

extension Recurrence {
    /// Where the rules end, in seconds on a wall clock; at most in 2038, when nearly all zones have the rules that they
    /// keep. A series of old without an end would otherwise have the rules of its first years for ever.
    fileprivate var lastWall: Int {
        let last = 2_145_916_800
        return rules.reduce(Int.min) { latest, rule in
            let end =
                switch rule.until {
                case .date(let date): CivilDateTime(startOf: date).wallSeconds
                case .floating(let wall): wall.wallSeconds
                case .utc(let instant): instant.seconds
                case nil: last
                }
            return max(latest, min(end, last))
        }
    }
}

extension Event {
    /// All times in the component.
    var times: [EventTime] {
        var times = [start, recurrenceID].compactMap { $0 } + recurrence.exclusions
        if case .time(let time) = end { times.append(time) }
        for addition in recurrence.additions {
            times.append(addition.start)
            if case .time(let time) = addition.end { times.append(time) }
        }
        return times
    }
}
