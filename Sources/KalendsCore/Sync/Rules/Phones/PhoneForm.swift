// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// Converts a connection's entries to and from events of phones, where a series and each changed occurrence are
/// separate.
///
/// A phone stores no reminders, status or availability; entries are compared without them.
enum PhoneForm {
    /// Returns the content of an event, of a changed occurrence, or of a series without its changed occurrences.
    static func content(_ entry: Entry) -> PersonalEvent.Content {
        var content = PersonalEvent.Content(
            title: entry.title.allSatisfy(\.isWhitespace) ? PersonalEdit.untitled : entry.title, date: "")
        content.description = entry.notes.isEmpty ? nil : entry.notes
        content.location = entry.location.isEmpty ? nil : entry.location
        switch entry.span {
        case .days(let first, let until):
            let last = max(first, until.adding(days: -1))
            content.date = first.description
            if last != first { content.endDate = last.description }
        case .timed(let start, let end, let name):
            var zone = TimeZoneReference(name)
            if let own = zone, entry.repetition == nil, !isPlain(start, end, own) { zone = nil }
            let rules: any TimeZoneRules = zone?.rules ?? FixedOffset.utc
            let (from, to) = (rules.civil(at: start), rules.civil(at: max(start, end)))
            content.timeZone = zone?.identifier ?? "UTC"
            content.date = from.date.description
            (content.startTime, content.endTime) = (time(from), time(to))
            if to.date != from.date { content.endDate = to.date.description }
        }
        if let repetition = entry.repetition {
            let cancelled = entry.occurrences.filter { $0.value == .cancelled }.map(\.key)
            let left = Set(repetition.exdates).union(cancelled).sorted()
            content.recurrence =
                PersonalRecurrence(
                    rule: repetition.rrule, exceptions: left.map { $0.rfc3339(offset: 0) },
                    additions: repetition.rdates.map { $0.rfc3339(offset: 0) }
                ).stored
        }
        return content
    }

    /// Whether these times keep their meaning when they are written as wall times of a zone.
    private static func isPlain(_ start: Instant, _ end: Instant, _ zone: TimeZoneReference) -> Bool {
        let (from, to) = (zone.rules.civil(at: start), zone.rules.civil(at: end))
        return zone.rules.instant(of: from) == start && zone.rules.instant(of: to) == end && from <= to
    }

    /// Returns a time of day in its shortest form.
    private static func time(_ wall: CivilDateTime) -> String {
        let second = wall.wallSeconds - CivilDateTime(startOf: wall.date).wallSeconds
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let text = "\(two(second / 3600)):\(two(second / 60 % 60))"
        return second % 60 == 0 ? text : "\(text):\(two(second % 60))"
    }

    // MARK: Entries from phones' events

    /// The reason, as a sentence, why an event cannot be expressed as an entry.
    struct Unreadable: Error {
        let reason: String
    }

    /// - Parameters:
    ///   - occurrences: changed occurrences by their original starts, as the phone wrote them.
    ///   - zone: the zone of times without their own zone.
    static func entry(
        _ series: PersonalEvent.Content, _ occurrences: [(start: String, content: PersonalEvent.Content)],
        zone: TimeZoneReference
    ) throws(Unreadable) -> Entry {
        let own = series.timeZone.flatMap { TimeZoneReference($0) } ?? zone
        let span = span(series, zone: zone)
        var entry = Entry(
            title: series.title, notes: lines(series.description), location: lines(series.location), span: span)
        guard let text = series.recurrence, let stored = PersonalRecurrence(stored: text) else { return entry }
        guard case .timed(let first, _, _) = span else {
            throw Unreadable(reason: "A series of whole days cannot be kept in step.")
        }
        func instant(_ text: String) -> Instant? { moment(text, of: first, in: own) }
        entry.repetition = Repetition(
            rrule: try stored.rule.map { text throws(Unreadable) in try rule(text, in: own) },
            exdates: stored.exceptions.compactMap(instant), rdates: stored.additions.compactMap(instant))
        for (start, content) in occurrences {
            guard let start = instant(start) else { continue }
            entry.occurrences[start] = .changed(
                Entry(
                    title: content.title, notes: lines(content.description), location: lines(content.location),
                    span: self.span(content, zone: own)))
        }
        return entry
    }

    /// Returns an entry as it comes back from a phone.
    static func expressible(_ entry: Entry, zone: TimeZoneReference) -> Entry {
        let occurrences = entry.occurrences.compactMap { start, occurrence -> (String, PersonalEvent.Content)? in
            guard case .changed(let changed) = occurrence else { return nil }
            return (start.rfc3339(offset: 0), content(changed))
        }
        // An event that was written here can always be read.
        return (try? self.entry(content(entry), occurrences, zone: zone)) ?? entry
    }

    /// - Parameter zone: the zone of times without their own zone; nil for UTC.
    static func span(_ content: PersonalEvent.Content, zone: TimeZoneReference?) -> TimeSpan {
        let first = CivilDate(iso: content.date) ?? CivilDate(daysSinceEpoch: 0)
        let last = content.endDate.flatMap { CivilDate(iso: $0) } ?? first
        guard let startTime = content.startTime else { return .days(first: first, until: last.adding(days: 1)) }
        let own = content.timeZone.flatMap { TimeZoneReference($0) } ?? zone
        let rules: any TimeZoneRules = own?.rules ?? FixedOffset.utc
        func instant(_ day: CivilDate, _ time: String) -> Instant {
            rules.instant(of: CivilDateTime(startOf: day).adding(seconds: PersonalEdit.seconds(time)))
        }
        let start = instant(first, startTime)
        let end = content.endTime.map { instant(last, $0) } ?? start
        return .timed(start: start, end: max(start, end), zone: own?.identifier ?? "UTC")
    }

    /// Returns when an occurrence starts; one that is named by its day starts at the time of day of the series.
    private static func moment(_ text: String, of first: Instant, in zone: TimeZoneReference) -> Instant? {
        switch PersonalMoment(text) {
        case .instant(let instant): instant
        case .day(let day):
            zone.rules.instant(of: CivilDateTime(startOf: day).adding(seconds: hour(first, in: zone)))
        case nil: nil
        }
    }

    /// Returns the time of day, in seconds after midnight.
    private static func hour(_ instant: Instant, in zone: TimeZoneReference) -> Int {
        let wall = zone.rules.civil(at: instant)
        return wall.wallSeconds - CivilDateTime(startOf: wall.date).wallSeconds
    }

    private static func rule(_ text: String, in zone: TimeZoneReference) throws(Unreadable) -> String {
        guard var rule = try? RecurrenceRule(text) else {
            throw Unreadable(reason: "The event has a rule that cannot be followed.")
        }
        rule.until = rule.until.map { $0.instant(in: zone) }
        return rule.description
    }

    /// Returns a text whose lines end with LF.
    private static func lines(_ text: String?) -> String {
        guard let text, text.utf8.contains(13) else { return text ?? "" }
        return text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}
