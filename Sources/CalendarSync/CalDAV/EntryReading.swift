// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Makes an entry from the events of one calendar object.
enum EntryReading {
    typealias Unreadable = CalendarObject.Unreadable

    /// Returns the IANA name of the zone in which an event starts; UTC for a zone that tzdata does not have.
    static func zone(of event: Event, floatingZone: String) -> String {
        switch event.start {
        case .zoned(_, let zone):
            event.start.flatMap {
                OwnZones.name(
                    of: zone, from: $0.instant(floatingIn: zone.rules), isSeries: !event.recurrence.isEmpty)
            } ?? SyncZone.utc
        case .floating: SyncZone(floatingZone).name
        case .utc, .date, nil: SyncZone.utc
        }
    }

    /// Returns the start that an occurrence replaces; nil for the series.
    ///
    /// Some programs write a date instead: it means the occurrence on that day.
    static func original(of event: Event, in master: Event, _ zone: SyncZone) -> Instant? {
        guard let id = event.recurrenceID else { return nil }
        if case .date(let date) = id, let start = master.start, !start.isDate {
            let time = start.civil
            let wall = CivilDateTime(date: date, hour: time.hour, minute: time.minute, second: time.second)
            return wall.map { start.with(civil: $0).instant(floatingIn: zone.rules) }
        }
        return id.instant(floatingIn: zone.rules)
    }

    static func entry(
        _ events: [Event], master index: Int, parts: [ObjectTree], floatingZone: String, originals: [Instant?]
    ) -> Result<Entry, Unreadable> {
        let master = events[index]
        if let fault = fault(events, parts) { return .failure(fault) }
        let zone = zone(of: master, floatingZone: floatingZone)
        guard let span = span(of: master, zone: zone) else {
            return .failure(Unreadable(message: "The event has no start."))
        }
        var entry = Entry(
            title: master.summary ?? "", notes: lines(master.description), location: master.location ?? "", span: span,
            reminders: master.alarms.compactMap(minutes),
            status: master.status == "TENTATIVE" ? .tentative : .confirmed,
            availability: master.isTransparent == true ? .free : .busy)
        guard !master.recurrence.isEmpty || events.count > 1 else { return .success(entry) }
        if case .days = span {
            return .failure(Unreadable(message: "It repeats on whole days, which no item of a circle does."))
        }
        if case .zoned(_, let own)? = master.start, OwnZones.name(of: own, from: span.start, isSeries: true) == nil {
            return .failure(Unreadable(message: "The series has its own time zone."))
        }
        let rules = SyncZone(zone).rules
        var exdates = master.recurrence.exclusions.map { $0.instant(of: master, rules) }
        for (event, original) in zip(events, originals) where event.recurrenceID != nil {
            guard let original else { return .failure(Unreadable(message: "An occurrence has no start.")) }
            if event.isCancelled {
                exdates.append(original)
                continue
            }
            let own = Self.zone(of: event, floatingZone: floatingZone)
            guard let span = Self.span(of: event, zone: own) else {
                return .failure(Unreadable(message: "An occurrence has no start."))
            }
            entry.occurrences[original] = .changed(
                Entry(
                    title: event.summary ?? "", notes: lines(event.description), location: event.location ?? "",
                    span: span, status: event.status == "TENTATIVE" ? .tentative : .confirmed))
        }
        entry.repetition = Repetition(
            rrule: master.recurrence.rules.first?.description, exdates: exdates,
            rdates: master.recurrence.additions.map { $0.start.instant(of: master, rules) })
        return .success(entry)
    }

    /// The maximum size in bytes of an event's text: a longer one is not stored with every write of a run.
    private static let longestText = 256 << 10

    /// Returns why an entry cannot express these events; nil when it can.
    private static func fault(_ events: [Event], _ parts: [ObjectTree]) -> Unreadable? {
        let masters = events.filter { $0.recurrenceID == nil }
        guard masters.count == 1, let master = masters.first,
            events.allSatisfy({ $0.uid == master.uid })
        else { return Unreadable(message: "The resource holds more than one event.") }
        if master.isCancelled { return Unreadable(message: "The event is cancelled.", isCancelled: true) }
        let recurrence = master.recurrence
        let rules = parts.flatMap(\.lines).count { $0.name == "RRULE" }
        guard recurrence.rules.count <= 1, recurrence.exclusionRules.isEmpty, rules == recurrence.rules.count else {
            return Unreadable(message: "The series has rules that are not read.")
        }
        guard recurrence.additions.allSatisfy({ $0.end == nil }) else {
            return Unreadable(message: "The series has added occurrences with their own ends.")
        }
        let isLong = events.contains { event in
            [event.summary, event.description, event.location].contains { ($0?.utf8.count ?? 0) > longestText }
        }
        if isLong { return Unreadable(message: "A text of the event is too long.") }
        guard !events.contains(where: \.appliesToFuture) else {
            return Unreadable(message: "An occurrence changes all that follow it.")
        }
        return nil
    }

    private static func span(of event: Event, zone: String) -> TimeSpan? {
        guard let start = event.start, let end = event.effectiveEnd else { return nil }
        if case .date(let first) = start {
            return .days(first: first, until: max(end.civilDate, first.adding(days: 1)))
        }
        let rules = SyncZone(zone).rules
        let from = start.instant(floatingIn: rules)
        return .timed(start: from, end: max(from, end.instant(floatingIn: rules)), zone: zone)
    }

    /// Returns notes with LF line ends.
    static func lines(_ text: String?) -> String {
        guard let text, text.utf8.contains(13) else { return text ?? "" }
        var out: [UInt8] = []
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if byte == 13 || byte == 10 && previous != 13 { out.append(10) } else if byte != 10 { out.append(byte) }
            previous = byte
        }
        return String(fromOutside: out)
    }

    /// Returns whole minutes before the start; nil for an alarm that is not one of our reminders: a program's default,
    /// a snoozed one, one after the start, by mail, or at a fixed time.
    static func minutes(_ alarm: Alarm) -> Int? {
        guard case .relativeToStart(let duration) = alarm.trigger, alarm.action == "DISPLAY" || alarm.action == "AUDIO",
            duration.nominalSeconds <= 0, duration.nominalSeconds % 60 == 0,
            !alarm.otherProperties.contains(where: { line in
                line.name == "RELATED-TO" || line.name == "X-APPLE-DEFAULT-ALARM" && line.value.uppercased() == "TRUE"
            })
        else { return nil }
        return -duration.nominalSeconds / 60
    }
}

extension EventTime {
    /// Returns the instant of an EXDATE or RDATE of a series; a date means the occurrence on that day.
    fileprivate func instant(of master: Event, _ rules: any TimeZoneRules) -> Instant {
        guard case .date(let date) = self, let start = master.start, !start.isDate else {
            return instant(floatingIn: rules)
        }
        let time = start.civil
        let wall = CivilDateTime(date: date, hour: time.hour, minute: time.minute, second: time.second)
        return start.with(civil: wall ?? CivilDateTime(startOf: date)).instant(floatingIn: rules)
    }
}
