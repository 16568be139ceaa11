// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Why an item of the circle is not in a feed; the raw values are those of the API.
package enum Exclusion: String, CaseIterable, Sendable {
    case kind = "kind-not-included"
    case patient = "patient-not-included"
    case completed = "completed-task"
    case window = "outside-window"
    case privateEvent = "private-event"
    /// Finding its occurrences would take more work than is allowed for one series or for a whole feed.
    case costly = "rule-too-costly"
    /// The same event came from another source.
    case repeated
}

/// The span of an entry's parts according to its rows: entries far from a window are decided without expanding rules.
struct EntrySpan: Sendable {
    /// How far a row's times may be off, in milliseconds: they were stored for the zone that the circle had then.
    static let slack = 3 * 86_400_000

    private struct Part {
        var startsAt: Int
        /// The end in milliseconds since 1970; nil for a series without an end.
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

/// The time of an entry, for comparison with a window.
enum Extent: Sendable {
    case once(TimeSpan)
    /// A series with its changed occurrences.
    case series([Series])
    case nowhere

    init(of events: [Event], zone: TimeZoneReference) {
        guard let event = events.first else {
            self = .nowhere
            return
        }
        if events.count > 1 || !event.recurrence.isEmpty {
            self = .series(Series.group(events.map(\.beginningWhenDue)))
        } else if let end = event.effectiveEnd {
            // A to-do without a start counts at its due time.
            self = .once(TimeSpan(from: event.start ?? end, until: end, in: zone))
        } else {
            self = .nowhere
        }
    }
}

extension Event {
    /// The event, with a start at its due time for a to-do without one.
    fileprivate var beginningWhenDue: Event {
        guard start == nil, let due = effectiveEnd else { return self }
        var event = self
        event.start = due
        return event
    }
}

/// The properties that decide, besides its time, whether an entry is in a feed.
struct EntryTraits: Sendable {
    /// The kind of item; nil for an imported event.
    var collection: ScheduleItem.Collection?
    var patientID: String?
    var isCompletedTask = false
    /// The users who imported the private events among the components, nil for the host application; each event is
    /// shown only to its user.
    var privateTo: [String?] = []
    /// Whether another imported event shows the same content.
    var isRepeated = false
    /// The component of an imported event.
    var kind = Event.Kind.event
}

/// The only place that decides which entries of a circle a feed shows.
struct FeedFilter {
    let configuration: FeedConfiguration
    let userID: String
    let window: FeedWindow
    let zone: TimeZoneReference
    private let patients: Set<ByteString>?
    private let notice: RenewalNotice?
    private let isExport: Bool

    init(_ live: LiveFeedParts, window: FeedWindow) {
        configuration = live.configuration
        userID = live.feed.userID
        zone = live.zone
        self.window = window
        patients = live.configuration.patientIds.map(Set.init)
        notice = live.notice.map { RenewalNotice($0, live) }
        isExport = live.look.isExport
    }

    /// Creates a filter for anything that is not a feed, without notices about its address.
    init(_ configuration: FeedConfiguration, userID: String, window: FeedWindow, zone: TimeZoneReference) {
        self.configuration = configuration
        self.userID = userID
        self.window = window
        self.zone = zone
        patients = configuration.patientIds.map(Set.init)
        (notice, isExport) = (nil, false)
    }

    func exclusion(of traits: EntryTraits) -> Exclusion? {
        // This check comes first: no other rule may reveal what is private to somebody else.
        if traits.privateTo.contains(where: { $0 != userID }) { return .privateEvent }
        let isIncluded = traits.collection.map(configuration.includes) ?? includes(imported: traits.kind)
        if !isIncluded { return .kind }
        if let patients, !(traits.patientID.map(patients.contains) ?? false) { return .patient }
        if traits.isRepeated { return .repeated }
        if traits.isCompletedTask, configuration.completedTasks == .remove { return .completed }
        return nil
    }

    /// Whether imported components of a kind are shown: to-dos where the circle's tasks are shown as to-dos, because
    /// most calendar apps show neither these nor journal entries.
    private func includes(imported kind: Event.Kind) -> Bool {
        guard configuration.includeImported, kind != .event, !isExport else { return configuration.includeImported }
        return kind == .toDo && configuration.tasksAs == .todos && configuration.includes(TaskContent.collection)
    }

    /// The events about the feed's own address, whatever its configuration; only readers of a replaced address see
    /// them.
    var notices: [Event] {
        // No rule about entries counts here, only the window.
        guard let event = notice?.event, case .once(let span) = Extent(of: [event], zone: zone), window.shows(span)
        else { return [] }
        return [event]
    }

    /// Returns why an entry is left out, if it is: because of the window, or because finding out would cost too much.
    ///
    /// The answer depends on the entry, the window and the cost of the entries before it, never on running time, so a
    /// feed has the same bytes however it was made. Entries that are not series cost nothing.
    func exclusion(by extent: Extent, _ span: EntrySpan?, _ budget: inout RecurrenceBudget) -> Exclusion? {
        switch extent {
        case .once(let span): return window.shows(span) ? nil : .window
        case .nowhere: return .window
        case .series(let series):
            guard span?.isNear(window) ?? true else { return .window }
            guard budget.left > 0 else { return .costly }
            let (exclusion, cost) = self.exclusion(of: series)
            budget.spend(cost)
            return exclusion
        }
    }

    /// Everything that `exclusion(of:)` depends on for series, apart from what feeds with the same look have in common.
    var ofSeries: SeriesFilter { SeriesFilter(times: window.times) }

    /// Returns why series are left out, if they are, and the number of steps needed, which does not depend on earlier
    /// entries.
    func exclusion(of series: [Series]) -> (Exclusion?, cost: Int) {
        ofSeries.exclusion(of: series, floatingIn: zone.rules)
    }
}

/// Decides which series a feed shows.
///
/// Feeds of one look, and so of one zone, share the answers by this value: an option that decides about series has to be
/// a property here, or one feed gets another's answer.
struct SeriesFilter: Hashable {
    let times: TimeRange

    fileprivate func exclusion(of series: [Series], floatingIn zone: any TimeZoneRules) -> (Exclusion?, cost: Int) {
        var cost = 0
        var isCostly = false
        for one in series {
            // Dates and overrides were stored individually, so only the expansion of rules is limited.
            let granted = RecurrenceBudget.perSeries + one.listedCount
            var part = RecurrenceBudget(steps: granted)
            // The whole series is included as soon as one occurrence is in the window.
            let isIn = one.overlaps(from: times.from, to: times.to, floatingIn: zone, budget: &part)
            cost += granted - max(part.left, 0)
            if isIn == true { return (nil, cost) }
            isCostly = isCostly || isIn == nil
        }
        return (isCostly ? .costly : .window, cost)
    }
}
