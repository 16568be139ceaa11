// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The parts of an event that its entry does not have.
struct ObjectStamp {
    var uid: String
    var mark: EventMark
    var now: Instant
    var sequence: Int
}

extension Entry {
    /// Returns the entry as one calendar object: the series first, then its changed occurrences sorted by their starts.
    func calendar(_ stamp: ObjectStamp) -> ICalendar {
        let clock = SyncZone(span: span)
        var master = Event(uid: stamp.uid, start: nil)
        Self.fill(&master, title, notes, location, span, status, clock)
        master.otherProperties = [
            ContentLine(name: CalDAVIdentity.property, value: CalDAVIdentity.text(stamp.mark))
        ]
        var events: [Event] = []
        if let repetition, case .timed = span {
            master.recurrence = Recurrence(
                rules: repetition.rrule.flatMap { try? RecurrenceRule($0) }.map { [$0] } ?? [],
                additions: repetition.rdates.map { .init(start: clock.time($0)) },
                exclusions: exclusions.map { clock.time($0) })
            for (start, occurrence) in occurrences.sorted(by: { $0.key < $1.key }) {
                guard case .changed(let changed) = occurrence else { continue }
                var event = Event(uid: stamp.uid, recurrenceID: clock.time(start), start: nil)
                Self.fill(
                    &event, changed.title, changed.notes, changed.location, changed.span, changed.status,
                    SyncZone(span: changed.span))
                events.append(event)
            }
        }
        events.insert(master, at: 0)
        for index in events.indices {
            events[index].isTransparent = availability == .free
            events[index].timestamp = stamp.now
            events[index].lastModified = stamp.now
            events[index].sequence = stamp.sequence
            // An occurrence replaces the whole event, including its reminders (RFC 5545 section 3.8.4.4).
            events[index].alarms = reminders.map {
                Alarm(
                    trigger: .relativeToStart(ICalDuration(seconds: -60 * $0)),
                    description: events[index].summary ?? "Reminder")
            }
        }
        return ICalendar(events: events)
    }

    /// Starts that do not take place, in whichever way the entry excludes them.
    var exclusions: [Instant] {
        let cancelled = occurrences.compactMap { $0.value == .cancelled ? $0.key : nil }
        return Set((repetition?.exdates ?? []) + cancelled).sorted()
    }

    private static func fill(
        _ event: inout Event, _ title: String, _ notes: String, _ location: String, _ span: TimeSpan, _ status: Status,
        _ clock: SyncZone
    ) {
        event.summary = title.isEmpty ? nil : title
        event.description = notes.isEmpty ? nil : notes
        event.location = location.isEmpty ? nil : location
        event.status = status == .tentative ? "TENTATIVE" : "CONFIRMED"
        switch span {
        case .timed(let start, let end, _):
            event.start = clock.time(start)
            event.end = .time(clock.time(max(start, end)))
        case .days(let first, let until):
            event.start = .date(first)
            event.end = .time(.date(max(until, first.adding(days: 1))))
        }
    }
}

/// The zone in whose local time times are written.
struct SyncZone {
    /// The name that an entry uses.
    let name: String
    /// The zone's definition; nil for UTC.
    private let reference: TimeZoneReference?

    static let utc = "UTC"
    private static let utcNames = [
        "UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal",
    ]

    /// Replaces a zone that tzdata does not have by UTC.
    init(_ name: String) {
        reference = Self.utcNames.contains { $0 == name } ? nil : TimeZoneReference(name)
        self.name = reference == nil ? Self.utc : name
    }

    init(span: TimeSpan) {
        switch span {
        case .timed(_, _, let zone): self.init(zone)
        case .days: self.init(Self.utc)
        }
    }

    static func isKnown(_ name: String) -> Bool {
        utcNames.contains { $0 == name } || TimeZoneReference(name) != nil
    }

    var rules: any TimeZoneRules { reference?.rules ?? FixedOffset.utc }

    /// Returns the time to write. A local time that occurs twice means the first (RFC 5545 section 3.3.5), so the
    /// second is written in UTC.
    func time(_ instant: Instant) -> EventTime {
        guard let reference else { return .utc(instant) }
        let wall = reference.rules.civil(at: instant)
        return reference.rules.instant(of: wall) == instant ? .zoned(wall, reference) : .utc(instant)
    }
}
