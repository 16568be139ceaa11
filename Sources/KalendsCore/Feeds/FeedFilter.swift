// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Why an item of the circle is not in a feed; the raw value is what the API says.
package enum Exclusion: String, Sendable {
    case kind = "kind-not-included"
    case patient = "patient-not-included"
    case completed = "completed-task"
    case window = "outside-window"
    case privateEvent = "private-event"
    /// Looking for its occurrences would take more work than one series, or a whole feed, may cause.
    case costly = "rule-too-costly"
    /// Another source brought the same event.
    case repeated
}

/// Between which times the parts of an entry lie, as its rows say it: what is far from a window costs no look at rules.
struct EntrySpan: Sendable {
    /// Milliseconds by which a row may be off: it knows its times in the zone that the circle had.
    static let slack = 3 * 86_400_000

    private struct Part {
        var startsAt: Int
        /// Nil when there is no end.
        var endsAt: Int?

        func isNear(_ window: FeedWindow) -> Bool {
            startsAt < window.to.milliseconds + slack && (endsAt ?? .max) >= window.from.milliseconds - slack
        }
    }

    private let first: Part
    private let others: [Part]

    init(_ item: ScheduleItem, _ occurrences: [ChangedOccurrence]) {
        first = Part(startsAt: item.startsAt, endsAt: item.endsAt)
        others = occurrences.map { Part(startsAt: $0.startsAt, endsAt: $0.endsAt) }
    }

    init(_ series: ImportedSeries) {
        let parts = series.events.map { Part(startsAt: $0.record.startsAt, endsAt: $0.record.endsAt) }
        first = parts.first ?? Part(startsAt: 0, endsAt: 0)
        others = Array(parts.dropFirst())
    }

    func isNear(_ window: FeedWindow) -> Bool { first.isNear(window) || others.contains { $0.isNear(window) } }
}

/// Where an entry lies in time, as a window sees it.
enum Extent: Sendable {
    /// Whole days, to the day after the last.
    case days(CivilDate, until: CivilDate)
    case instants(Instant, until: Instant)
    /// A series with its changed occurrences.
    case series([Series])
    case nowhere

    init(of events: [Event], zone: TimeZoneReference) {
        guard let event = events.first else {
            self = .nowhere
            return
        }
        if events.count > 1 || !event.recurrence.isEmpty {
            self = .series(Series.group(events))
        } else if let end = event.effectiveEnd {
            // A to-do is where it is due.
            let start = event.start ?? end
            if case .date(let first) = start {
                self = .days(first, until: end.civilDate)
            } else {
                self = .instants(
                    start.instant(floatingIn: zone.rules), until: end.instant(floatingIn: zone.rules))
            }
        } else {
            self = .nowhere
        }
    }
}

/// What decides whether an entry is in a feed, besides its time.
struct EntryTraits: Sendable {
    /// Nil for an imported event.
    var collection: ScheduleItem.Collection?
    var patientID: String?
    var isCompletedTask = false
    /// Who brought the private events among the components, nil for the host application: they are shown only to that
    /// user.
    var privateTo: [String?] = []
    /// Whether another imported event shows the same.
    var isRepeated = false
}

/// The one place that decides what of a circle a feed shows.
struct FeedFilter {
    let configuration: FeedConfiguration
    let userID: String
    let window: FeedWindow
    let zone: TimeZoneReference
    private let patients: Set<ByteString>?
    private let notice: RenewalNotice?

    init(_ live: LiveFeedParts, window: FeedWindow) {
        configuration = live.configuration
        userID = live.feed.userID
        zone = live.zone
        self.window = window
        patients = live.configuration.patientIds.map(Set.init)
        notice = live.notice.map { RenewalNotice($0, live) }
    }

    /// The same for what is not a feed and says nothing about its own address.
    init(_ configuration: FeedConfiguration, userID: String, window: FeedWindow, zone: TimeZoneReference) {
        self.configuration = configuration
        self.userID = userID
        self.window = window
        self.zone = zone
        patients = configuration.patientIds.map(Set.init)
        notice = nil
    }

    func exclusion(of traits: EntryTraits) -> Exclusion? {
        // This comes first: no other rule may reveal what is private to somebody else.
        if traits.privateTo.contains(where: { $0 != userID }) { return .privateEvent }
        let isIncluded = traits.collection.map(configuration.includes) ?? configuration.includeImported
        if !isIncluded { return .kind }
        if let patients, !(traits.patientID.map(patients.contains) ?? false) { return .patient }
        if traits.isRepeated { return .repeated }
        if traits.isCompletedTask, configuration.completedTasks == .remove { return .completed }
        return nil
    }

    /// What a feed says about its own address, whatever its configuration: only to whoever uses a replaced one.
    var notices: [Event] {
        guard let event = notice?.event, exclusion(by: Extent(of: [event], zone: zone)) == nil else { return [] }
        return [event]
    }

    /// Whether the window leaves out an entry that is not a series.
    private func exclusion(by extent: Extent) -> Exclusion? {
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        return exclusion(by: extent, nil, &budget)
    }

    /// Whether the window leaves an entry out, or what finding that out would cost.
    ///
    /// The answer follows from the entry, the window and what the entries before it took, never from time, so that a
    /// feed is the same bytes however it was made. Entries that are not series take nothing.
    func exclusion(by extent: Extent, _ span: EntrySpan?, _ budget: inout RecurrenceBudget) -> Exclusion? {
        let isShown: Bool
        switch extent {
        case .days(let first, let until): isShown = window.shows(days: first, until: until)
        case .instants(let start, let until): isShown = window.shows(start, until: until)
        case .series(let series):
            guard span?.isNear(window) ?? true else { return .window }
            guard budget.left > 0 else { return .costly }
            let (exclusion, cost) = self.exclusion(of: series)
            budget.spend(cost)
            return exclusion
        case .nowhere: isShown = false
        }
        return isShown ? nil : .window
    }

    /// Whether the window leaves series out, and the steps that it took: the same whatever came before.
    func exclusion(of series: [Series]) -> (Exclusion?, cost: Int) {
        var cost = 0
        var isCostly = false
        for one in series {
            // Dates and overrides were stored one by one; what is bounded is what their rules make of them.
            let granted = RecurrenceBudget.perSeries + one.listedCount
            var part = RecurrenceBudget(steps: granted)
            // A series is there as a whole as soon as one occurrence is in the window.
            let isIn = one.overlaps(from: window.from, to: window.to, floatingIn: zone.rules, budget: &part)
            cost += granted - max(part.left, 0)
            if isIn == true { return (nil, cost) }
            isCostly = isCostly || isIn == nil
        }
        return (isCostly ? .costly : .window, cost)
    }
}
