// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// An entry as Graph can store it, and what is lost of it.
struct GraphExpression {
    /// The number of UTF-16 units of a subject that Exchange keeps.
    static let longestTitle = 255

    private(set) var entry: Entry
    private(set) var limitations: [Limitation] = []
    /// How the series repeats; nil for a single event.
    private(set) var recurrence: GraphRecurrence?
    /// The zone as Graph names it; UTC for whole days.
    private(set) var zone = GraphZones.Zone(name: "UTC", identifier: "Etc/UTC")

    /// Why the entry cannot be stored at all; nil when it can.
    var refusal: String? { limitations.first { $0.preventsWriting }?.message }

    init(_ wanted: Entry) {
        entry = wanted
        entry.title = title(wanted.title)
        entry.notes = GraphText.body(wanted.notes)
        entry.location = GraphText.line(wanted.location)
        if wanted.reminders.count > 1 {
            entry.reminders = Array(wanted.reminders.prefix(1))
            lose(.reminders, "Outlook keeps one reminder; the one nearest to the start is kept.")
        }
        if wanted.status == .tentative, wanted.availability == .free {
            entry.status = .confirmed
            lose(.status, "Outlook shows an event as free or as tentative; it is shown as free.")
        }
        span()
        if wanted.repetition == nil {
            entry.occurrences = [:]
        } else {
            repeats()
        }
    }

    private mutating func lose(_ field: EntryField, _ message: String) {
        limitations.append(Limitation(field: field, message: message))
    }

    /// Every refusal concerns the recurrence.
    private mutating func refuse(_ field: EntryField, _ message: String) {
        limitations.append(Limitation(field: field, message: message, preventsWriting: true, isOfSeries: true))
    }

    private mutating func title(_ wanted: String) -> String {
        let line = GraphText.line(wanted)
        guard line.utf16.count > Self.longestTitle else { return line }
        lose(.title, "Outlook keeps \(Self.longestTitle) characters of a title.")
        var short = line.unicodeScalars
        while short.reduce(0, { $0 + ($1.value > 0xFFFF ? 2 : 1) }) > Self.longestTitle { short.removeLast() }
        return String(short)
    }

    private mutating func span() {
        switch entry.span {
        case .days(let first, let until):
            if until <= first { entry.span = .days(first: first, until: first.adding(days: 1)) }
        case .timed(let start, let end, let name):
            if let known = GraphZones.zone(of: name, at: start) {
                zone = known
            } else if entry.repetition != nil {
                return refuse(
                    .recurrence, "Outlook has no time zone that matches \(name), in which this series repeats.")
            }
            entry.span = .timed(start: start, end: max(start, end), zone: zone.identifier)
        }
    }

    private mutating func repeats() {
        guard refusal == nil, let repetition = entry.repetition else { return }
        guard repetition.rdates.isEmpty else {
            return refuse(.recurrence, "Outlook repeats an event by one rule, not on additional single days.")
        }
        guard case .timed(let start, _, let name) = entry.span, let clock = SystemTimeZones.shared.zone(name),
            let text = repetition.rrule
        else { return refuse(.recurrence, "Outlook repeats only events with a time and a rule.") }
        let first = clock.civil(at: start)
        do throws(NotExpressible) {
            guard let rule = try? RecurrenceRule(text) else {
                throw NotExpressible("The recurrence rule is not valid.")
            }
            let recurrence = try GraphRecurrence(rule, first: first, clock: clock)
            // The rule is written as it will be read, so that both sides have the same text.
            let rewritten = try recurrence.rule(first: first, clock: clock)
            entry.repetition = Repetition(rrule: rewritten.description, exdates: repetition.exdates)
            self.recurrence = recurrence
        } catch {
            return refuse(.recurrence, error.reason)
        }
        occurrences()
    }

    /// Makes cancelled occurrences EXDATEs, and drops those that the rule does not have, which mean nothing to Graph.
    private mutating func occurrences() {
        guard let series = GraphSeries(entry) else { return }
        var cancelled = Set(entry.repetition?.exdates ?? [])
        var changed: [Instant: Entry] = [:]
        for (original, occurrence) in entry.occurrences {
            switch occurrence {
            case .cancelled: cancelled.insert(original)
            case .changed(let value): changed[original] = value
            }
        }
        guard cancelled.count + changed.count <= 1000,
            let starts = series.starts(among: Array(cancelled) + changed.keys)
        else { return refuse(.recurrence, "The series has more changed occurrences than Outlook keeps.") }
        entry.repetition?.exdates = cancelled.intersection(starts).sorted()
        entry.occurrences = [:]
        for (original, value) in changed.sorted(by: { $0.key < $1.key }) {
            guard starts.contains(original) else {
                lose(
                    .recurrence, "Outlook changes only occurrences of the rule; a change of another one is left out.")
                continue
            }
            let expressed = expressed(value)
            guard expressed != entry.plain(at: original) else { continue }
            if movesBeyondNeighbours(original, expressed, series) {
                refuse(.recurrence, "Outlook does not let an occurrence move past the one before or after it.")
            }
            entry.occurrences[original] = .changed(expressed)
        }
    }

    private mutating func expressed(_ changed: Entry) -> Entry {
        var changed = changed
        changed.title = title(changed.title)
        changed.notes = GraphText.body(changed.notes)
        changed.location = GraphText.line(changed.location)
        if entry.availability == .free { changed.status = .confirmed }
        switch changed.span {
        case .timed(let start, let end, _):
            changed.span = .timed(start: start, end: max(start, end), zone: zone.identifier)
        case .days(let first, let until):
            changed.span = .days(first: first, until: max(until, first.adding(days: 1)))
        }
        return changed
    }

    private func movesBeyondNeighbours(_ original: Instant, _ changed: Entry, _ series: GraphSeries) -> Bool {
        guard case .timed(let start, _, _) = changed.span, start != original else { return false }
        let low = min(start, original)
        let high = max(start, original)
        // An occurrence that the move skips lies between the two, or at the new start.
        let between = series.starts(from: low, to: high.adding(seconds: 1)) ?? []
        return between.contains { $0 >= low && $0 <= high && $0 != original }
    }

    /// Whether there are occurrences to write in addition to the event itself.
    var hasOccurrences: Bool { !entry.occurrences.isEmpty || entry.repetition?.exdates.isEmpty == false }

    /// Returns the members of a new event.
    func creation(mark: EventMark, calendar: String) -> JSONValue {
        var members = times()
        members["subject"] = .string(entry.title)
        members["body"] = body(entry.notes)
        members["location"] = ["displayName": .string(entry.location)]
        members["showAs"] = showAs(entry.status)
        members["singleValueExtendedProperties"] = GraphMark.properties(of: mark, isUnfinished: hasOccurrences)
        members["transactionId"] = .string(GraphMark.transaction(of: mark, in: calendar))
        return .object(members.merging(reminder()) { first, _ in first })
    }

    /// Returns the members in which the event differs from another, without its occurrences; empty when there are none.
    func changes(from other: GraphExpression) -> [ByteString: JSONValue] {
        let old = other.entry
        var members = changes(of: entry, from: old)
        if entry.availability != old.availability { members["showAs"] = showAs(entry.status) }
        if entry.reminders != old.reminders { members.merge(reminder()) { first, _ in first } }
        if movesAll(from: other) {
            members.merge(times()) { first, _ in first }
            if recurrence == nil, old.repetition != nil { members["recurrence"] = .null }
        }
        return members
    }

    /// Reports whether the times of the whole event, or of all occurrences, have changed: Exchange then drops the
    /// changed occurrences.
    func movesAll(from other: GraphExpression) -> Bool {
        entry.span != other.entry.span || entry.repetition?.rrule != other.entry.repetition?.rrule
    }

    /// Returns the members in which an occurrence differs from the existing one.
    func changes(of wanted: Entry, from old: Entry) -> [ByteString: JSONValue] {
        var members: [ByteString: JSONValue] = [:]
        if wanted.title != old.title { members["subject"] = .string(wanted.title) }
        if wanted.notes != old.notes { members["body"] = body(wanted.notes) }
        if wanted.location != old.location { members["location"] = ["displayName": .string(wanted.location)] }
        if wanted.status != old.status { members["showAs"] = showAs(wanted.status) }
        if wanted.span != old.span { members.merge(times(of: wanted.span)) { first, _ in first } }
        return members
    }

    private func times() -> [ByteString: JSONValue] {
        var members = times(of: entry.span)
        if let recurrence { members["recurrence"] = recurrence.json(zone: zone.name) }
        return members
    }

    private func times(of span: TimeSpan) -> [ByteString: JSONValue] {
        switch span {
        case .days(let first, let until):
            return [
                "isAllDay": true, "start": GraphTimes.json(CivilDateTime(startOf: first), zone: "UTC"),
                "end": GraphTimes.json(CivilDateTime(startOf: until), zone: "UTC"),
            ]
        case .timed(let start, let end, _):
            let known: (any TimeZoneRules)? = SystemTimeZones.shared.zone(zone.identifier)
            let clock = known ?? FixedOffset.utc
            // A single event with a time that the zone's clock does not show exactly once is written in UTC.
            let isPlain = clock.isPlain(clock.civil(at: start)) && clock.isPlain(clock.civil(at: end))
            guard isPlain || recurrence != nil else {
                return [
                    "isAllDay": false, "start": GraphTimes.json(start.utc, zone: "UTC"),
                    "end": GraphTimes.json(end.utc, zone: "UTC"),
                ]
            }
            return [
                "isAllDay": false, "start": GraphTimes.json(clock.civil(at: start), zone: zone.name),
                "end": GraphTimes.json(clock.civil(at: end), zone: zone.name),
            ]
        }
    }

    private func body(_ notes: String) -> JSONValue { ["contentType": "text", "content": .string(notes)] }

    private func showAs(_ status: Entry.Status) -> JSONValue {
        if entry.availability == .free { return "free" }
        return status == .tentative ? "tentative" : "busy"
    }

    private func reminder() -> [ByteString: JSONValue] {
        guard let minutes = entry.reminders.first else { return ["isReminderOn": false] }
        return ["isReminderOn": true, "reminderMinutesBeforeStart": .integer(minutes)]
    }
}
