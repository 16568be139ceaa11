// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge

extension Entry {
    /// Combines the components that a feed shows of one item into one entry: connections write only what feeds show.
    ///
    /// Returns nil for components without a time.
    ///
    /// - Parameters:
    ///   - events: the item, followed by the changed occurrences of a series.
    ///   - zone: the zone of times that are written in UTC because the zone's clock shows them twice.
    init?(_ events: [Event], in zone: TimeZoneReference) {
        guard let master = events.first, let span = TimeSpan(master, in: zone) else { return nil }
        var repetition: Repetition?
        if !master.recurrence.isEmpty {
            func instants(_ times: [EventTime]) -> [Instant] { times.map { $0.instant(floatingIn: zone.rules) } }
            repetition = Repetition(
                rrule: master.recurrence.rules.first?.description, exdates: instants(master.recurrence.exclusions),
                rdates: instants(master.recurrence.additions.map(\.start)))
        }
        var occurrences: [Instant: CalendarSync.Occurrence] = [:]
        for event in events.dropFirst() {
            guard let start = event.recurrenceID?.instant(floatingIn: zone.rules), let own = TimeSpan(event, in: zone)
            else { continue }
            occurrences[start] =
                event.isCancelled
                ? .cancelled
                : .changed(
                    Entry(
                        title: Self.text(event.summary), notes: Self.text(event.description),
                        location: Self.text(event.location), span: own, status: Status(event)))
        }
        self.init(
            title: Self.text(master.summary), notes: Self.text(master.description),
            location: Self.text(master.location),
            span: span, repetition: repetition, occurrences: occurrences,
            reminders: master.alarms.compactMap(\.minutesBefore), status: Status(master),
            availability: master.isTransparent == true ? .free : .busy)
    }

    /// Returns a text whose lines end with LF. As in a feed, characters that are invisible or change the direction of
    /// the surrounding text are removed.
    private static func text(_ text: String?) -> String {
        let text = text?.withoutHiddenCharacters ?? ""
        guard text.utf8.contains(13) else { return text }
        return text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}

extension Entry.Status {
    fileprivate init(_ event: Event) { self = event.status == "TENTATIVE" ? .tentative : .confirmed }
}

extension TimeSpan {
    fileprivate init?(_ event: Event, in zone: TimeZoneReference) {
        guard let start = event.start, let end = event.effectiveEnd else { return nil }
        self.init(from: start, until: end, in: zone)
    }
}

extension Alarm {
    /// The minutes before the start; nil if the alarm comes after the start or is not relative to it.
    fileprivate var minutesBefore: Int? {
        guard case .relativeToStart(let time) = trigger, time.nominalSeconds <= 0 else { return nil }
        return -time.nominalSeconds / 60
    }
}
