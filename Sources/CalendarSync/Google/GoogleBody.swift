// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The JSON that is sent for an entry.
enum GoogleBody {
    static let mostReminders = 5
    /// In minutes: four weeks.
    static let longestReminder = 40_320

    /// Returns the whole of a new event, with its mark.
    static func created(_ entry: Entry, mark: EventMark, isUnfinished: Bool) -> JSONValue {
        var members = fields(entry)
        var properties = GoogleMark.properties(mark).object ?? [:]
        if isUnfinished { properties[GoogleMark.unfinishedName] = "1" }
        members["id"] = .string(GoogleMark.eventID(mark))
        members["extendedProperties"] = ["private": .object(properties)]
        members["start"] = withoutNulls(members["start"])
        members["end"] = withoutNulls(members["end"])
        return .object(members.filter { $0.value != .null })
    }

    /// Returns the fields that differ; nil when none does. Other fields stay as they are at Google.
    ///
    /// - Parameter isUnfinished: whether to mark the series as still lacking occurrences.
    static func changes(from: Entry, to: Entry, isUnfinished: Bool = false) -> JSONValue? {
        let before = fields(from)
        var changed = fields(to).filter { before[$0.key] != $0.value }
        if changed["start"] != nil || changed["end"] != nil {
            (changed["start"], changed["end"]) = to.span.google
        }
        if isUnfinished { changed["extendedProperties"] = ["private": .object([unfinishedName: "1"])] }
        return changed.isEmpty ? nil : .object(changed)
    }

    private static let unfinishedName = ByteString(GoogleMark.unfinishedName)

    /// Marks a series as having all its occurrences.
    static var finished: JSONValue {
        ["extendedProperties": ["private": .object([unfinishedName: .null])]]
    }

    /// Returns the whole of an occurrence that differs from its series.
    static func occurrence(_ changed: Entry) -> JSONValue {
        let ofSeries: Set<ByteString> = ["recurrence", "reminders", "transparency"]
        return .object(fields(changed).filter { !ofSeries.contains($0.key) })
    }

    private static func fields(_ entry: Entry) -> [ByteString: JSONValue] {
        let (start, end) = entry.span.google
        var recurrence = JSONValue.null
        if let repetition = entry.repetition, case .timed(_, _, let zone) = entry.span {
            recurrence = GoogleRecurrence.json(repetition, zone: zone)
        }
        return [
            "summary": .string(entry.title), "description": .string(GoogleText.written(entry.notes)),
            "location": .string(entry.location), "start": start, "end": end, "recurrence": recurrence,
            "reminders": [
                "useDefault": false,
                "overrides": .array(entry.reminders.map { ["method": "popup", "minutes": .integer($0)] }),
            ],
            "status": .string(entry.status.rawValue),
            "transparency": entry.availability == .free ? "transparent" : "opaque",
        ]
    }

    private static func withoutNulls(_ value: JSONValue?) -> JSONValue? {
        value?.object.map { .object($0.filter { $0.value != .null }) }
    }
}

extension Entry {
    /// Returns the entry as Google can keep it, and what is lost of it.
    func atGoogle() -> (entry: Entry, limitations: [Limitation]) {
        var entry = self
        var limitations: [Limitation] = []
        func limit(_ field: EntryField, _ message: String) {
            limitations.append(Limitation(field: field, message: message))
        }
        entry.title = GoogleText.line(title)
        entry.location = GoogleText.line(location)
        entry.notes = GoogleText.kept(notes)
        if case .timed(let start, let end, let zone) = span, TimeZoneReference(zone) == nil {
            entry.span = .timed(start: start, end: end, zone: "UTC")
            limit(.times, "The time zone is unknown; the event is written in UTC.")
        }
        if case .days = span, repetition != nil {
            entry.repetition = nil
            limit(.recurrence, "Whole days that repeat are not written; only the first is.")
        }
        if let rule = repetition?.rrule, let parsed = try? RecurrenceRule(rule) {
            entry.repetition?.rrule = parsed.description
        }
        for (start, occurrence) in occurrences {
            guard case .changed(var changed) = occurrence else { continue }
            changed.title = GoogleText.line(changed.title)
            changed.location = GoogleText.line(changed.location)
            changed.notes = GoogleText.kept(changed.notes)
            entry.occurrences[start] = .changed(changed)
        }
        let (settled, lost) = entry.settled()
        entry = settled
        if lost > 0 { limit(.recurrence, "\(lost) changed occurrences are at times that the series does not have.") }
        let possible = reminders.filter { (0...GoogleBody.longestReminder).contains($0) }
        entry.reminders = Array(possible.prefix(GoogleBody.mostReminders))
        if entry.reminders != reminders {
            limit(.reminders, "Google Calendar keeps at most five reminders, each within four weeks before the start.")
        }
        return (entry, limitations)
    }
}
