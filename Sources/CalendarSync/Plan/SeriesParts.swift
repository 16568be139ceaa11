// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Which occurrences of a series are single events, because the provider cannot express the series.
struct SeriesParts {
    /// The maximum number of single events of one series that are new or near; those that exist already come in addition.
    static let most = 400
    /// The same for all series of a connection.
    static let mostOfAll = 20_000

    /// The original starts, ascending.
    private(set) var starts: [Instant] = []
    /// Whether the window has more occurrences than may become single events, or its occurrences cannot be found.
    private(set) var isCut = false

    /// - Parameters:
    ///   - linked: the original starts of single events that exist already.
    ///   - room: how many single events may be new or near.
    init(_ entry: Entry, in window: TimeRange, now: Instant, linked: [Instant], room: Int) {
        let length = max(0, entry.span.bounds.end.seconds - entry.span.start.seconds)
        let most = max(0, min(Self.most, room))
        var found: Set<Instant> = []
        if let near = entry.starts(from: window.from.adding(seconds: -length), to: window.to, most: most) {
            found.formUnion(near.starts)
            isCut = !near.isComplete
            if isCut {
                // Past occurrences are left out first.
                let next = entry.starts(
                    from: max(window.from, now).adding(seconds: -length), to: window.to, most: most)
                found = Set(next?.starts ?? [])
            }
        } else {
            isCut = true
        }
        // An occurrence may have been moved into the window.
        let moved = entry.occurrences.compactMap { start, occurrence in
            if case .changed(let own) = occurrence, own.span.overlaps(window) { start } else { nil }
        }
        found.formUnion(entry.remaining(of: Set(moved).union(linked)))
        starts = found.filter { entry.occurrences[$0] != .cancelled }.sorted()
    }
}

extension Entry {
    /// Returns an occurrence of the series as a single event; nil for one that does not take place.
    func single(at start: Instant) -> Entry? {
        guard let own = effective(at: start) else { return nil }
        return Entry(
            title: own.title, notes: own.notes, location: own.location, span: own.span, reminders: reminders,
            status: own.status, availability: availability)
    }

    /// Returns the first starts of the series in a span of time, left out and moved ones included; nil if its rule
    /// cannot be read.
    fileprivate func starts(from: Instant, to: Instant, most: Int) -> (starts: [Instant], isComplete: Bool)? {
        guard case .timed(_, _, let zone) = span, let repetition else { return nil }
        var event = Event(uid: "", start: span.eventTime)
        if let text = repetition.rrule {
            guard let rule = try? RecurrenceRule(text) else { return nil }
            event.recurrence.rules = [rule]
        }
        event.recurrence.additions = repetition.rdates.map { .init(start: .utc($0)) }
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        let rules = SyncZone(zone).rules
        let found = Series(master: event, overrides: []).occurrences(
            from: from, to: to, floatingIn: rules, maximum: most, budget: &budget)
        return (found.occurrences.map { $0.start.instant(floatingIn: rules) }, found.isComplete)
    }
}

/// A series whose occurrences are single events.
struct SplitSeries {
    var ours: Ours
    var parts: SeriesParts
    /// Why the provider cannot express the series, in a sentence for people.
    var reason: String
}

extension Planner {
    /// Shows an item as the provider can express it: a series that it cannot express as single events.
    ///
    /// - Parameter isSplit: whether the item is shown as single events already, which does not change during a run;
    ///   nil if that is not known yet.
    mutating func show(_ ours: Ours, isSplit: Bool? = nil) {
        let item = ours.item
        let reason = isSplit == false ? nil : refusal(ofSeries: ours.entry, item)
        guard let reason = reason ?? (isSplit == true ? split[item]?.reason : nil), ours.entry.repetition != nil else {
            shown[item] = ours
            return
        }
        let entry = ours.entry.canonical
        let parts = SeriesParts(
            entry, in: policy.window, now: now, linked: linkedParts[item] ?? [],
            room: SeriesParts.mostOfAll - partCount)
        split[item] = SplitSeries(ours: ours, parts: parts, reason: reason)
        partCount += parts.starts.count
        for start in parts.starts {
            guard let single = entry.single(at: start) else { continue }
            let key = ItemKey(item.collection, item.id, at: start)
            shown[key] = Ours(item: key, entry: single, changedAt: ours.changedAt, revision: ours.revision)
        }
    }

    /// Shows an item as it is now, in the form in which this run shows it; nil for one that is no longer to be shown.
    mutating func showAgain(_ item: ItemKey, _ ours: Ours?) {
        let whole = item.whole
        let isSplit = split[whole] != nil
        forget(whole)
        guard let ours else {
            split[whole] = nil
            return
        }
        show(ours, isSplit: isSplit)
    }

    private mutating func forget(_ whole: ItemKey) {
        shown[whole] = nil
        guard let known = split[whole] else { return }
        partCount -= known.parts.starts.count
        for start in known.parts.starts { shown[ItemKey(whole.collection, whole.id, at: start)] = nil }
    }

    /// Returns why the provider cannot express the repetition, if its occurrences can be single events instead.
    private func refusal(ofSeries entry: Entry, _ item: ItemKey) -> String? {
        guard entry.repetition != nil else { return nil }
        let expressed = express(entry)
        if let limit = expressed.limitations.first(where: { $0.preventsWriting && $0.isOfSeries }) {
            return limit.message
        }
        return links[item]?.refusedSeries.flatMap { $0.holds(for: expressed.entry) ? $0.reason : nil }
    }

    /// Whether an event goes because its item is shown otherwise: a series as single events, the occurrences of single
    /// events as a series, or other occurrences.
    func isShownOtherwise(_ item: ItemKey) -> Bool {
        let whole = item.whole
        return split[whole] != nil || item.occurrence != nil && shown[whole] != nil
    }

    static let guestsReason =
        "The series no longer takes place at this time, and people are invited to its event: deleting it would cancel it "
        + "for them. Invite them to the event at its new time, then delete this one or remove its guests."

    /// Whether a single event of a series stays, although the series was moved away from it, because a person invited
    /// others to it. One of an occurrence that was cancelled goes.
    func keepsForGuests(_ link: Link, _ sight: Observations.Observation?) -> Bool {
        guard policy.purpose == .sync, sight?.hasGuests ?? link.hasGuests ?? false, let start = link.item.occurrence,
            let series = split[link.item.whole], (sight?.entry ?? link.agreed?.theirs)?.overlaps(policy.window) == true
        else { return false }
        return series.ours.entry.canonical.occurrences[start] != .cancelled
    }

    /// Returns the step for a series some of whose occurrences are missing from the calendar, because more single
    /// events would be needed than are made; nil for any other item, and as long as the series has an event of its own.
    func stepOfCutSeries(_ item: ItemKey, _ link: Link) -> Step? {
        guard item.occurrence == nil, let series = split[item], series.parts.isCut, link.externalID == nil,
            link.leftovers.isEmpty
        else { return nil }
        let end = series.parts.starts.last.map { " after \($0.utc.date)" } ?? ""
        var kept = link
        kept.hold(
            .tooManyParts, "\(series.reason) Its occurrences are single events, and those\(end) would be too many.")
        kept.refused = series.ours.entry.outline
        if link.state != .quarantined { kept.since = now }
        return Step(item: item, link: kept == links[item] ? nil : kept, isFailure: true)
    }
}
