// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension RunSession {
    /// Finds out the outcomes of the operations that an earlier run left open, before anything else is done.
    mutating func settle() async throws {
        guard !open.isEmpty else { return }
        let creates = open.filter { if case .create = $0.kind { true } else { false } }
        if !creates.isEmpty {
            let found = try await provider.find(creates.map { mark($0.item, $0.generation) }, in: calendar)
            for event in found { planner.sightings.add(event) }
            try await settle(creates: creates, found: found)
        }
        let others = open.filter { if case .create = $0.kind { false } else { true } }
        if !others.isEmpty {
            let ids = others.compactMap(\.eventID)
            let looks = try await provider.look(at: ids, in: calendar)
            planner.sightings.add(looks)
            var batch = SyncBatch()
            for operation in others {
                settle(operation, &batch)
                try await commitIfHeavy(&batch)
            }
            try await commit(batch)
        }
        open = []
    }

    private mutating func settle(creates: [Operation], found: [RemoteEvent]) async throws {
        var batch = SyncBatch()
        for operation in creates {
            let own = mark(operation.item, operation.generation)
            let event = found.filter { $0.mark == own }.min { $0.id < $1.id }
            guard var link = planner.links[operation.item], link.generation == operation.generation,
                link.externalID == nil
            else {
                batch.operations.append(operation.closed(.dropped))
                continue
            }
            guard let event else {
                if planner.shown[operation.item]?.entry.overlaps(policy.window) != true {
                    batch.operations.append(operation.closed(.dropped))
                } else {
                    resent.append(operation)
                }
                continue
            }
            adopt(event, of: operation, &link)
            batch.links.append(link)
            batch.operations.append(operation.closed(.done))
            batch.journal.append(
                line(.create, .out, link, reason: operation.reason, before: nil, after: operation.wanted))
            try await commitIfHeavy(&batch)
        }
        try await commit(batch)
    }

    /// Links an event that our own create made. Any difference from what was sent is an edit in the calendar.
    mutating func adopt(_ event: RemoteEvent, of operation: Operation, _ link: inout Link) {
        link.externalID = event.id
        link.lastID = nil
        link.state = .linked
        link.lastSyncedAt = context.now()
        if let ours = operation.ours, let wanted = operation.wanted {
            link.agreed = Agreement(ours: ours, theirs: wanted.canonical)
        }
        // An etag is stored only if the contents are known.
        var isKnown = false
        if case .entry(let entry) = event.content {
            // Parts that are missing from an unfinished event are not anyone's edit.
            if event.isUnfinished { link.agreed = Agreement(ours: entry.canonical, theirs: entry.canonical) }
            isKnown = entry.canonical == link.agreed?.theirs
        }
        link.etag = isKnown ? event.etag : nil
        keepUndone(operation, &link)
    }

    private mutating func settle(_ operation: Operation, _ batch: inout SyncBatch) {
        guard var link = planner.links[operation.item], let id = operation.eventID else {
            batch.operations.append(operation.closed(.dropped))
            return
        }
        let isGone = planner.sightings.gone.contains(id)
        switch operation.kind {
        case .update(_, let etag, let from):
            guard let sight = planner.sightings.events[id], let theirs = sight.entry, let wanted = operation.wanted,
                let ours = operation.ours, sight.etag == nil || sight.etag != etag, link.externalID == id
            else { break }
            link.agreed = link.agreed.map { $0.advanced(ours: ours, from: from, wanted: wanted, seen: theirs) }
            let isKnown = link.agreed?.theirs == theirs
            link.etag = isKnown ? sight.etag : nil
            batch.links.append(link)
            batch.operations.append(operation.closed(.done))
            if theirs != from {
                batch.journal.append(line(.update, .out, link, reason: operation.reason, before: from, after: theirs))
            }
            return
        case .delete where isGone && link.externalID == id:
            link.bury(at: context.now())
            keepUndone(operation, &link)
            let isReplaced = planner.isShownOtherwise(link.item)
            if !isReplaced { planner.deletionsBefore.out += 1 }
            batch.links.append(link)
            batch.operations.append(operation.closed(.done))
            batch.journal.append(
                line(
                    isReplaced ? .update : .delete, .out, link, reason: operation.reason, before: operation.before,
                    after: nil))
            return
        case .clear(let leftover) where isGone:
            link.leftovers.removeAll { $0 == leftover }
            batch.links.append(link)
            batch.operations.append(operation.closed(.done))
            return
        default: break
        }
        batch.operations.append(operation.closed(.dropped))
    }
}

extension Operation {
    /// The id of the event that it changes; nil for a create.
    var eventID: String? {
        switch kind {
        case .create: nil
        case .update(let id, _, _), .delete(let id, _): id
        case .clear(let leftover): leftover.id
        }
    }

    func closed(_ state: State) -> Operation {
        var operation = self
        operation.state = state
        return operation
    }
}

extension Agreement {
    /// Returns the base after a write without an answer: a field that has the value we sent is ours.
    func advanced(ours: Entry, from: Entry, wanted: Entry, seen: Entry) -> Agreement {
        let (ours, from, wanted, seen) = (ours.canonical, from.canonical, wanted.canonical, seen.canonical)
        var base = Agreement(ours: self.ours.canonical, theirs: theirs.canonical)
        let before = (ours: base.ours, theirs: base.theirs)
        for field in EntryField.ofEvents where from[field] != wanted[field] && seen[field] == wanted[field] {
            base.ours.take(field, of: ours)
            base.theirs.take(field, of: seen)
        }
        let isMoved = !base.theirs.hasOccurrences(like: before.theirs) || !base.ours.hasOccurrences(like: before.ours)
        if isMoved, seen.occurrences == wanted.occurrences {
            base.ours.occurrences = ours.occurrences
            base.theirs.occurrences = seen.occurrences
        } else if !isMoved {
            for start in Set(wanted.occurrences.keys).union(from.occurrences.keys)
            where from.occurrences[start] != wanted.occurrences[start]
                && seen.occurrences[start] == wanted.occurrences[start]
            {
                base.ours.occurrences[start] = ours.occurrences[start]
                base.theirs.occurrences[start] = seen.occurrences[start]
            }
        }
        return base
    }
}

extension Link {
    /// Records that both sides know that the event is gone.
    mutating func bury(at now: Instant) {
        away()
        agreed = nil
        state = .deleted
        since = now
        lastSyncedAt = now
        direction = .out
    }
}
