// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Planner {
    /// Decides what to do about one item; returns nil when the item has no event and needs none.
    func step(_ item: ItemKey) -> Step? {
        let (link, sight, there) = event(of: item)
        // The listing broke off, so it is unknown whether the event is gone or has another id now.
        if case .gone = there, link.externalID != nil, isNewBaseline, !sightings.isFull, policy.purpose == .sync {
            return nil
        }
        let ours = shown[item]
        let here: ThreeStates.LocalState
        var lost: [Limitation] = []
        if let ours {
            let expressed = express(ours.entry)
            if let limit = expressed.limitations.first(where: \.preventsWriting) {
                return held(link, item, expressed.entry.canonical, .repetition, limit.message)
            }
            if expressed.entry.isTooHeavy {
                return held(link, item, expressed.entry.outline, .tooLong, Entry.tooHeavy)
            }
            here = .shown(expressed.entry.canonical)
            lost = expressed.limitations
        } else {
            if let step = stepOfCutSeries(item, link) ?? stepOfStray(item, link) { return step }
            here = deleted.contains(item.whole) ? .deleted : .hidden
        }
        var step =
            isLeftAlone(link, here, sight, there)
            ? unchanged(link, sight) : decide(link, ours, here, sight, there)
        // Only after a write is it known what the write left out.
        if let sentence = link.unwritten, step?.drafts.isEmpty != false {
            lost.append(Limitation(field: nil, message: sentence))
            step?.unwritten = link.unwrittenFields ?? []
        }
        // For a missing event, nothing counts as kept only in part.
        let isThere = link.externalID != nil || step?.drafts.isEmpty == false
        step?.lost = isThere ? lost : []
        step?.title = ours?.entry.title ?? ""
        return step
    }

    private func decide(
        _ link: Link, _ ours: Ours?, _ here: ThreeStates.LocalState, _ sight: Observations.Observation?,
        _ there: ThreeStates.RemoteState
    ) -> Step? {
        let isAppointment = link.item.collection == .appointments
        if let step = handedOver(link, here, there) { return step }
        let rule = FieldRule(
            mayMove: policy.twoWay && isAppointment && !refusals.contains(link.item), ours: ours?.changedAt,
            theirs: sight?.updatedAt, tie: policy.tie, frozen: frozen(link))
        let merged = ThreeStates(base: link.agreed, here: here, there: there)
            .merged(rule, isAppointment: isAppointment, keepsEdits: policy.purpose == .sync)
        var step = step(merged, link: link, ours: ours, sight: sight, here: here, there: there)
        if let change = step?.change, let ours {
            // The drafts are what remains to be done once the change is applied.
            var after = link
            after.agreed = merged.basis
            let expected = express(ours.entry.applying(change.edits)).entry.canonical
            step?.drafts = decide(after, ours, .shown(expected), sight, there)?.drafts ?? []
        }
        return step
    }

    /// Hands over an office day that a person edited or deleted in the calendar: it is not merged, and never written
    /// again.
    private func handedOver(_ link: Link, _ here: ThreeStates.LocalState, _ there: ThreeStates.RemoteState) -> Step? {
        guard link.item.collection == .officeDays, policy.purpose == .sync, let base = link.agreed else { return nil }
        var kept = link
        kept.since = now
        var step = Step(item: link.item)
        switch there {
        // An event that equals our current entry was written by a run that did not finish.
        case .present(let theirs) where theirs.canonical != base.theirs.canonical && theirs.canonical != here.entry:
            kept.state = .untracked
            step.handedOver = .edited
        case .gone where link.externalID != nil && shown[link.item] != nil:
            kept.away()
            kept.state = .ignored
            step.handedOver = .deleted
            step.noted = .missing
            step.isMissing = true
        default: return nil
        }
        step.link = kept
        step.preview = PreviewItem(item: link.item, change: .ignore, direction: .in, fields: [.existence])
        return step
    }

    // MARK: The event of an item

    private func event(
        of item: ItemKey
    ) -> (link: Link, sight: Observations.Observation?, there: ThreeStates.RemoteState) {
        var link = links[item] ?? Link(item: item, state: .pending, since: now)
        if policy.isRemoval { removeAllMarkedEvents(item, &link) }
        if let id = link.externalID {
            if let sight = sightings.events[id] {
                if let agreed = link.agreed { link.agreed = sight.rewritten(agreed) }
                return (link, sight, sight.there)
            }
            if sightings.gone.contains(id) {
                // The database was restored from a backup, and its later state had created the event again; or all events
                // have other ids now.
                if let later = candidate(for: link), let mark = later.mark, mark.generation >= link.generation {
                    link.externalID = later.id
                    if mark.generation > link.generation { link.agreed = nil }
                    link.generation = mark.generation
                    return (link, later, later.there)
                }
                // The later state of a restored database had given the item other events: nobody deleted this one.
                if strays[item.whole]?.contains(where: { $0 != item }) == true { link.agreed = nil }
                return (link, nil, .gone)
            }
            return (link, nil, link.agreed.map { .present($0.theirs) } ?? .none)
        }
        if let sight = candidate(for: link), let mark = sight.mark {
            let isKnown = link.lastID == sight.id
            link.externalID = sight.id
            link.generation = mark.generation
            if !isKnown { link.agreed = sight.unfinished }
            return (link, sight, sight.there)
        }
        switch link.state {
        case .ignored, .conflict, .deleted: return (link, nil, .gone)
        case .quarantined where link.lastID != nil: return (link, nil, .gone)
        default: return (link, nil, .none)
        }
    }

    /// The links of a calendar that was moved to another server, with the new ids of their events.
    var renamed: [Link] {
        guard hasMoved else { return [] }
        return links.keys.sorted().compactMap { item in
            guard let known = links[item]?.externalID else { return nil }
            var (link, sight, _) = event(of: item)
            guard sight != nil, link.externalID != known else { return nil }
            link.etag = nil
            return link
        }
    }

    /// Returns our newest event that may be the link's although the link does not have its id. An event that has to go
    /// because it could not be changed in place is not a candidate.
    private func candidate(for link: Link) -> Observations.Observation? {
        candidates[link.item]?.first { sight in !link.leftovers.contains { $0.id == sight.id } }
    }

    /// Makes the last run remove all events with an item's mark, not only the linked one. If two events have the same
    /// mark, one is a copy that a person made.
    private func removeAllMarkedEvents(_ item: ItemKey, _ link: inout Link) {
        let found = candidates[item] ?? []
        var marks = Set((link.externalID == nil ? found.prefix(1) : []).compactMap(\.mark))
        for sight in link.externalID == nil ? found.dropFirst() : found[...] {
            guard let mark = sight.mark, marks.insert(mark).inserted,
                !link.leftovers.contains(where: { $0.id == sight.id })
            else { continue }
            link.leftovers.append(Leftover(id: sight.id, etag: sight.etag, generation: mark.generation))
        }
    }

    /// Returns the edits that were made again too often within an hour.
    private func frozen(_ link: Link) -> Set<EditSeen> {
        var counts: [EditSeen: Int] = [:]
        for flip in link.flips where now.seconds - flip.at.seconds <= Planner.hour {
            counts[EditSeen(flip), default: 0] += 1
        }
        return Set(counts.filter { $0.value >= 2 }.keys)
    }

    static let hour = 3_600

    // MARK: Links that are left alone

    private func isLeftAlone(
        _ link: Link, _ here: ThreeStates.LocalState, _ sight: Observations.Observation?,
        _ there: ThreeStates.RemoteState
    ) -> Bool {
        let isNear = here.entry?.overlaps(policy.window) ?? false
        let isSeenNear = sight?.entry?.overlaps(policy.window) ?? false
        switch link.state {
        case .untracked where policy.isRemoval:
            // An event that is as we left it is still ours.
            guard let sight else { return true }
            return link.agreed.map { $0.theirs.canonical != sight.entry?.canonical } ?? false
        case .untracked:
            // It is planned only if it is in the window again and was looked at.
            guard here.entry != nil else { return true }
            if case .present = there, sight != nil, isNear || isSeenNear { return false }
            if case .gone = there, isNear { return false }
            return true
        case .quarantined:
            guard policy.purpose == .sync else { return false }
            let isChanged = sight.map { $0.etag == nil || $0.etag != link.etag } ?? false
            if case .gone = there { return false }
            return !(isDue(link) || isChanged)
        case .conflict where links[link.item]?.externalID != nil:
            // An edit in the calendar that outlives its item waits for a person, unless the item is back or the event
            // is gone.
            if case .gone = there { return false }
            return here.entry == nil && policy.purpose == .sync
        case .deleted:
            // An event that a person restored after its item was gone belongs to that person.
            if here.entry == nil { return link.leftovers.isEmpty && (sight == nil || link.lastID == sight?.id) }
            return !isNear && sight == nil
        case .pending where link.externalID == nil && sight == nil: return here.entry != nil && !isNear
        case .ignored where !isNear && sight == nil: return here.entry != nil
        case .conflict, .ignored:
            // Likewise for an event that a person took out of the bin, whatever happened to its item in the meantime.
            return here.entry == nil && policy.purpose == .sync && link.lastID == sight?.id && sight != nil
        default: return false
        }
    }

    /// Reports whether an event that was held back is tried again: after some time, or when its item has changed.
    func isDue(_ link: Link) -> Bool {
        if now.seconds - link.since.seconds >= policy.quarantine { return true }
        return shown[link.item].map { express($0.entry).entry.canonical } != link.refused
    }

    /// Returns the step of an event of ours that the database does not know, and whose item is not shown: the event
    /// stays where it is, and is the item's again when that is shown. Nil for any other event.
    private func stepOfStray(_ item: ItemKey, _ link: Link) -> Step? {
        guard policy.purpose == .sync, links[item] == nil, link.externalID != nil, !isShownOtherwise(item) else {
            return nil
        }
        var kept = link
        kept.agreed = nil
        kept.state = .untracked
        return Step(item: item, link: kept)
    }

    /// Returns the step of a link that does not change; what its event settles of conflicts does.
    private func unchanged(_ link: Link, _ sight: Observations.Observation?) -> Step? {
        guard link.externalID != nil, link.state != .untracked else { return nil }
        var step = Step(item: link.item, isFailure: link.state == .quarantined)
        step.conflicts = followed(link.item, by: sight)
        return step
    }

    /// Returns the step of an item that cannot be written as it is.
    private func held(
        _ link: Link, _ item: ItemKey, _ entry: Entry, _ problem: SyncProblem, _ reason: String
    ) -> Step? {
        guard entry.overlaps(policy.window) || link.externalID != nil else { return nil }
        if link.state == .quarantined, link.refused == entry { return Step(item: item, isFailure: true) }
        var kept = link
        kept.hold(problem, reason)
        kept.refused = entry
        kept.since = now
        return Step(item: item, link: kept, isFailure: true)
    }
}

extension ThreeStates.LocalState {
    var entry: Entry? { if case .shown(let entry) = self { entry } else { nil } }
}

extension Observations.Observation {
    /// The base of an event that one of our runs left unfinished: what is missing from it is still to be written.
    var unfinished: Agreement? {
        guard isUnfinished, let entry else { return nil }
        return Agreement(ours: entry, theirs: entry)
    }

    /// Returns the base of an event that is as we wrote it: any difference was made by the server. Servers do not move
    /// events, though: different times were set by a person, whatever the etag is.
    func rewritten(_ agreed: Agreement) -> Agreement {
        guard isAsWritten, let entry, entry.span == agreed.theirs.span, entry.rule == agreed.theirs.rule,
            entry.occurrences == agreed.theirs.canonical.occurrences
        else { return agreed }
        return Agreement(ours: agreed.ours, theirs: entry)
    }

    var there: ThreeStates.RemoteState {
        switch content {
        case .entry(let entry): entry.isTooHeavy ? .unreadable(Entry.tooHeavy) : .present(entry)
        case .unreadable(let reason): .unreadable(reason)
        }
    }
}
