// SPDX-License-Identifier: Apache-2.0

extension [Event] {
    /// The events as they are written: in the known zones that the names of a file's own zones mean, as far as both
    /// give an event and its overrides the same times.
    ///
    /// Many programs write today's rules as if they had always applied, and ours writes those of the time that is
    /// needed. Where that makes no difference, every reader is right with the known zone, which other events may have
    /// too. It is decided for each UID, because an override has to name its occurrence in the zone of the series.
    var inKnownZones: [Event] {
        let uids = Set(lazy.filter(\.hasOwnZone).map { ByteString($0.uid) })
        guard !uids.isEmpty else { return self }
        var uses: [ByteString: ZonesOfOneUID] = [:]
        for event in self where uids.contains(event.uid) { uses[event.uid, default: ZonesOfOneUID()].add(event) }
        let known = uses.mapValues(\.known)
        return map { event in
            guard let zones = known[event.uid], !zones.isEmpty else { return event }
            return event.withTimes { time in
                guard case .zoned(let wall, let zone) = time, let match = zones[zone] else { return time }
                return .zoned(wall, match)
            }
        }
    }
}

/// The zones of an event and its overrides.
private struct ZonesOfOneUID {
    /// The time span that they need.
    private var use = TimeZoneUse()
    /// All of them: `TimeZoneUse` has zones with the same rules once if they are written under one name.
    private var zones: Set<TimeZoneReference> = []

    mutating func add(_ event: Event) {
        use.add(event, seriesAreCovered: false)
        zones.formUnion(event.times.lazy.compactMap(\.zone))
    }

    /// The known zones for those of the used zones that agree with them at all times in use.
    var known: [TimeZoneReference: TimeZoneReference] {
        // A wall clock differs from UTC by less than a day.
        let span = use.earliest - 86_400...Swift.max(use.latest, use.earliest) + 86_400
        var known: [TimeZoneReference: TimeZoneReference] = [:]
        for zone in zones {
            guard let own = zone.rules as? DefinedTimeZone, let match = ZoneNames.named(zone.identifier)?.zone,
                let system = match.rules as? SystemTimeZone, own.agrees(with: system, during: span)
            else { continue }
            known[zone] = match
        }
        return known
    }
}

extension Event {
    /// Whether any of its times is in a zone that a file defines.
    fileprivate var hasOwnZone: Bool {
        func isOwn(_ time: EventTime?) -> Bool { time?.zone?.isDefined ?? false }
        func isOwn(_ end: End?) -> Bool {
            if case .time(let time) = end { isOwn(time) } else { false }
        }
        return isOwn(start) || isOwn(end) || isOwn(recurrenceID) || recurrence.exclusions.contains { isOwn($0) }
            || recurrence.additions.contains { isOwn($0.start) || isOwn($0.end) }
    }

    fileprivate func withTimes(_ change: (EventTime) -> EventTime) -> Event {
        func changed(_ end: End?) -> End? {
            if case .time(let time) = end { .time(change(time)) } else { end }
        }
        var copy = self
        copy.start = start.map(change)
        copy.end = changed(end)
        copy.recurrenceID = recurrenceID.map(change)
        copy.recurrence.exclusions = recurrence.exclusions.map(change)
        copy.recurrence.additions = recurrence.additions.map {
            Recurrence.Addition(start: change($0.start), end: changed($0.end))
        }
        return copy
    }
}
