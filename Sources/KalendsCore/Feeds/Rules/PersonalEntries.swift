// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// A user's own events as a feed shows them to that user.
enum PersonalEntries {
    /// How many days an event may be off, because its zone is not the feed's.
    private static let slack = 2

    static func each(
        of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction,
        _ body: (FeedContents.Entry) throws -> Void
    ) throws {
        guard live.configuration.includePersonal else { return }
        let days = window.firstDay.daysSinceEpoch - slack...window.endDay.daysSinceEpoch + slack
        try each(of: live.feed.userID, onDays: days, as: live.look, in: transaction, body)
    }

    /// Where a part of all of a user's events begins.
    enum Position {
        case events(after: PersonalEvent?)
        /// Occurrences whose series no device has ever sent.
        case occurrences(after: PersonalEvent?)
    }

    /// Returns some of a user's events, of any date, and where the next ones begin, which is nil after the last.
    static func part(
        of user: String, from position: Position, in transaction: any ReadTransaction
    ) throws -> (events: [Event], next: Position?) {
        guard let utc = TimeZoneReference("UTC") else {
            throw StorageError.unexpectedResult("The system knows no zone named UTC.")
        }
        let look = FeedRenderKey(
            style: CareStyle(), zone: utc, sequenceOffset: 0, shownChangedAt: 0, linkTemplate: nil)
        let builder = try PersonalEntryBuilder(look, of: user, in: transaction)
        switch position {
        case .events(let last):
            let page = try transaction.personalEventPage(of: user, after: last)
            let events = try page.flatMap { event in
                builder.events(
                    of: event,
                    event.content.recurrence == nil ? [] : try transaction.personalOccurrences(of: user, in: event))
            }
            return (events, page.last.map { .events(after: $0) } ?? .occurrences(after: nil))
        case .occurrences(let last):
            let page = try transaction.personalOccurrencesWithoutSeries(of: user, after: last, limit: 50)
            return (page.flatMap { builder.events(of: $0, []) }, page.last.map { .occurrences(after: $0) })
        }
    }

    private static func each(
        of user: String, onDays days: ClosedRange<Int>, as look: FeedRenderKey, in transaction: any ReadTransaction,
        _ body: (FeedContents.Entry) throws -> Void
    ) throws {
        let builder = try PersonalEntryBuilder(look, of: user, in: transaction)
        let occurrences = Dictionary(grouping: try transaction.personalOccurrences(of: user), by: SeriesKey.init)
        func give(_ event: PersonalEvent, _ occurrences: [PersonalEvent]) throws {
            try body(
                FeedContents.Entry(collection: "personal", id: event.id, events: builder.events(of: event, occurrences))
            )
        }
        try transaction.eachPersonalEvent(of: user, onDays: days) { event in
            try give(event, occurrences[SeriesKey(event)] ?? [])
        }
        for event in try transaction.personalOccurrencesWithoutSeries(of: user, after: nil, limit: .max / 2) {
            try give(event, [])
        }
    }

    /// The parts that a series and its changed occurrences have in common.
    private struct SeriesKey: Hashable {
        let provider: String
        /// The event's id on devices; empty if no device knows it.
        let externalID: ByteString

        init(_ event: PersonalEvent) {
            (provider, externalID) = (event.mapping.provider, ByteString(event.mapping.externalID ?? ""))
        }
    }
}

/// Turns personal events into the components of a feed.
private struct PersonalEntryBuilder {
    let look: FeedRenderKey
    /// The user's zone, for events without their own.
    let zone: TimeZoneReference

    init(_ look: FeedRenderKey, of user: String, in transaction: any ReadTransaction) throws {
        self.look = look
        zone = try transaction.user(user)?.timeZone.flatMap { TimeZoneReference($0) } ?? look.zone
    }

    /// Returns the components of an event, or of a series with its changed occurrences.
    func events(of event: PersonalEvent, _ occurrences: [PersonalEvent]) -> [Event] {
        let own = event.content.timeZone.flatMap { TimeZoneReference($0) } ?? zone
        var series = self.event(event, uid: event.uid)
        guard let start = series.start else { return [] }
        if event.mapping.instanceKey.isEmpty { series.recurrence = recurrence(of: event, start, in: own) }
        guard !series.recurrence.isEmpty else { return [series] }
        var all = [series]
        for occurrence in occurrences {
            guard let original = occurrence.mapping.instanceID.flatMap({ PersonalMoment($0) }) else { continue }
            let place = start.occurrence(at: original, in: own)
            if occurrence.deletedAt != nil {
                all[0].recurrence.exclusions.append(place)
            } else {
                var changed = self.event(occurrence, uid: event.uid)
                changed.recurrenceID = place
                all.append(changed)
            }
        }
        return all
    }

    private func event(_ event: PersonalEvent, uid: String) -> Event {
        let content = event.content
        let own = content.timeZone.flatMap { TimeZoneReference($0) } ?? zone
        let first = CivilDate(iso: content.date) ?? CivilDate(daysSinceEpoch: event.firstDay)
        let last = content.endDate.flatMap { CivilDate(iso: $0) } ?? first
        func zoned(_ day: CivilDate, _ time: String) -> EventTime {
            .zoned(CivilDateTime(startOf: day).adding(seconds: PersonalEdit.seconds(time)), own)
        }
        let revision = look.revision(
            uid: uid, sequence: event.sequence, createdAt: event.createdAt, updatedAt: event.changedAt)
        var shown = Event(uid: uid, start: .date(first), end: .time(.date(last.adding(days: 1))))
        if let time = content.startTime {
            let start = zoned(first, time)
            let end = content.endTime.map { zoned(last, $0) } ?? start
            // When a clock is put forward, an end may come before its start.
            let isOrdered = start.instant(floatingIn: own.rules) <= end.instant(floatingIn: own.rules)
            (shown.start, shown.end) = (start, .time(isOrdered ? end : start))
        }
        shown.summary = content.title
        shown.description = content.description
        shown.location = content.location
        shown.status = "CONFIRMED"
        shown.take(revision)
        shown.created = revision.createdAt
        shown.mark(free: false)
        return shown
    }

    private func recurrence(of event: PersonalEvent, _ start: EventTime, in zone: TimeZoneReference) -> Recurrence {
        guard let stored = event.content.recurrence.flatMap({ PersonalRecurrence(stored: $0) }) else {
            return Recurrence()
        }
        func times(_ texts: [String]) -> [EventTime] {
            texts.compactMap { PersonalMoment($0) }.map { start.occurrence(at: $0, in: zone) }
        }
        var rules: [RecurrenceRule] = []
        if let text = stored.rule, var rule = try? RecurrenceRule(text) {
            rule.until = rule.until.map { start.isDate ? $0.day(in: zone) : $0.instant(in: zone) }
            rules = [rule]
        }
        return Recurrence(
            rules: rules, additions: times(stored.additions).map { Recurrence.Addition(start: $0) },
            exclusions: times(stored.exceptions))
    }
}

extension EventTime {
    /// Returns the start of an occurrence in the form of this start of its series.
    fileprivate func occurrence(at moment: PersonalMoment, in zone: TimeZoneReference) -> EventTime {
        switch (self, moment) {
        case (.date, .day(let day)): .date(day)
        case (.date, .instant(let instant)): .date(zone.rules.civil(at: instant).date)
        case (_, .instant(let instant)): .zoned(zone.rules.civil(at: instant), zone)
        case (_, .day(let day)):
            .zoned(CivilDateTime(wallSeconds: day.daysSinceEpoch * 86_400 + civil.wallSeconds % 86_400), zone)
        }
    }
}

extension RecurrenceRule.Until {
    /// Returns the time in the form that RFC 5545 requires if the start is a date.
    fileprivate func day(in zone: TimeZoneReference) -> Self {
        switch self {
        case .date: self
        case .floating(let wall): .date(wall.date)
        case .utc(let instant): .date(zone.rules.civil(at: instant).date)
        }
    }

    /// Returns the time in the form that RFC 5545 requires if the start has a zone; a date becomes its last second.
    func instant(in zone: TimeZoneReference) -> Self {
        switch self {
        case .date(let date): .utc(zone.rules.instant(of: CivilDateTime(startOf: date).adding(seconds: 86_399)))
        case .floating(let wall): .utc(zone.rules.instant(of: wall))
        case .utc: self
        }
    }
}
