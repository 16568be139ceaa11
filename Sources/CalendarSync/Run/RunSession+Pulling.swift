// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension RunSession {
    /// The seconds by which a listing exceeds the window on either side, so that the window can move without a new
    /// listing.
    private static let margin = 7 * 86_400

    /// The number of generations of an item's event to look for; nearly all items have one.
    private static let generations = 8

    /// Reads what changed in the calendar since the last listing, or all of it where that is unusable, and looks for
    /// events from an earlier time.
    mutating func pull() async throws {
        // The last run also removes events that only their marks identify, so it needs a full listing.
        let reuse =
            policy.isRemoval
            ? nil
            : stored.flatMap { position in
                position.fingerprint == policy.fingerprint && position.listed.contains(policy.window) ? position : nil
            }
        let listed =
            reuse?.listed
            ?? TimeRange(
                from: policy.window.from.adding(seconds: -Self.margin),
                to: policy.window.to.adding(seconds: Self.margin))
        let changes = try await changes(since: reuse?.cursor, window: listed)
        planner.sightings.add(changes, links: planner.linksByID, judged: policy.window)
        // A listing from the beginning that broke off does not show where any event is now.
        if !changes.isFull, changes.cursor == nil || reuse?.cursor == nil { planner.isNewBaseline = true }
        // A listing that broke off does not show where the next one may begin.
        if changes.isFull || reuse?.cursor != nil && changes.cursor != nil {
            position = Position(cursor: changes.cursor, fingerprint: policy.fingerprint, listed: listed)
        }
        let items = planner.itemsOfLost
        if !items.isEmpty { planner.eventsOfOthers = try await context.store.eventsOfOthers(items) }
        planner.matchMarks()
        try await findEarlier()
    }

    /// Looks in a newly chosen calendar for events from an earlier time that its listing does not name: a listing that
    /// leaves some out and claims to be complete would leave them there forever, next to the new ones.
    private mutating func findEarlier() async throws {
        let unseen = planner.detached.filter { planner.candidates[$0] == nil }.sorted()
        guard !unseen.isEmpty else { return }
        let marks = unseen.compactMap { planner.links[$0] }.flatMap { link in
            (max(0, link.generation - Self.generations + 1)...link.generation).map { mark(link.item, $0) }
        }
        for event in try await provider.find(marks, in: calendar) { planner.sightings.add(event) }
        planner.matchMarks()
    }

    /// Finds out whether the calendar was moved to another server, and if so, where the events are that its listing
    /// does not name because they are outside of its window.
    private mutating func findMoved() async throws {
        guard planner.twins > 0 else { return }
        try await look(at: planner.unseenIDs)
        let marks = planner.gone.filter { planner.candidates[$0.item] == nil }.map { mark($0.item, $0.generation) }
        guard !marks.isEmpty else { return }
        for event in try await provider.find(marks, in: calendar) { planner.sightings.add(event) }
        planner.matchMarks()
    }

    private func changes(since cursor: String?, window: TimeRange) async throws -> ChangeSet {
        var known: [ByteString: String] = [:]
        for link in planner.links.values where link.state == .linked {
            if let id = link.externalID, let etag = link.etag { known[id] = etag }
        }
        do {
            return try await provider.changes(in: calendar, since: cursor, window: window, known: known)
        } catch {
            guard cursor != nil, error.kind == .cursorExpired else { throw error }
        }
        return try await provider.changes(in: calendar, since: nil, window: window, known: known)
    }

    /// Makes the plan, after looking at everything that a listing by itself does not prove. Nothing is looked at if the
    /// plan is held for an empty calendar.
    mutating func plan(approved: Hold?) async throws -> Plan {
        if planner.sightings.isEmpty, !(approved?.causes.contains(.empty) ?? false) {
            let plan = try await planned()
            if plan.hold?.causes.contains(.empty) == true { return plan }
        }
        try await look(at: planner.unprovenIDs)
        try await findMoved()
        let plan = try await planned()
        // An incoming change has to be newer than what we wrote: a listing may lag behind.
        guard !provider.readsEvents else { return try await stamped(plan) }
        let stale = plan.steps.filter { planner.mayLag($0) }.compactMap { planner.links[$0.item]?.externalID }
        guard !stale.isEmpty else { return plan }
        try await look(at: stale)
        return try await planned()
    }

    /// Makes the plan from what is known now, which may take long: whoever writes in the calendar decides how much there is to
    /// compare.
    private func planned() async throws -> Plan {
        try await provider.work(on: nil) { [planner] in planner.plan() }
    }

    /// Makes the plan again if both sides moved an appointment and the listing did not say when the calendar's side
    /// did.
    private mutating func stamped(_ plan: Plan) async throws -> Plan {
        let ids = plan.steps.compactMap { planner.unstamped($0) }
        guard !ids.isEmpty else { return plan }
        let events = try await provider.stamped(ids, in: calendar)
        guard !events.isEmpty else { return plan }
        for event in events { planner.sightings.add(event) }
        planner.matchMarks()
        return try await planned()
    }

    mutating func look(at ids: [String]) async throws {
        guard !ids.isEmpty else { return }
        planner.sightings.add(try await provider.look(at: ids, in: calendar))
        planner.matchMarks()
    }
}

extension Planner {
    /// Events that need a look before anything is decided about them, sorted.
    var unprovenIDs: [String] {
        var ids = sightings.unproven
        for (item, link) in links {
            if let id = link.externalID, sightings.events[id] == nil, !sightings.gone.contains(id) {
                let isBack =
                    link.state == .untracked
                    && (policy.isRemoval || shown[item]?.entry.overlaps(policy.window) == true)
                // The cursor has moved past an event that was held back or postponed.
                let isHeldBack = link.state == .quarantined && isDue(link) || link.state == .pending
                if isBack || isHeldBack || isUnlisted(link) || link.agreed == nil { ids.insert(id) }
            } else if link.externalID == nil, let last = link.lastID {
                // The event is listed again, or its item should have one again: a person may have restored it.
                let isWanted = shown[item].map { ours in
                    let entry = express(ours.entry).entry.canonical
                    return entry.overlaps(policy.window) && entry != link.agreed?.ours
                }
                if sightings.events[last] != nil || isWanted == true && !sightings.gone.contains(last) {
                    ids.insert(last)
                }
            } else if link.state == .ignored || link.state == .conflict, let sight = candidates[item]?.first {
                // The listing may show an event that is gone already.
                ids.insert(ByteString(sight.id))
            }
        }
        return ids.sorted().map(\.string)
    }

    /// Reports whether an event that has to be written lies outside the listing.
    private func isUnlisted(_ link: Link) -> Bool {
        guard sightings.isFull, link.state != .untracked else { return false }
        return shown[link.item].map { express($0.entry).entry.canonical } != link.agreed?.ours
    }

    /// Returns the event that wins only because nothing says when it was changed; nil for every other step.
    func unstamped(_ step: Step) -> String? {
        guard step.conflicts.contains(where: { $0.kind == .bothChanged }),
            let id = links[step.item]?.externalID ?? candidates[step.item]?.first?.id,
            let sight = sightings.events[id], sight.updatedAt == nil
        else { return nil }
        return id
    }

    /// Reports whether an incoming change may be older than what both sides agreed on.
    func mayLag(_ step: Step) -> Bool {
        guard step.change != nil, let link = links[step.item], let id = link.externalID,
            let sight = sightings.events[id]
        else { return false }
        guard let seen = sight.updatedAt, let known = link.stamp else { return true }
        return seen <= known
    }
}
