// SPDX-License-Identifier: Apache-2.0

extension RunSession {
    /// Records the outcome of one operation.
    mutating func take(
        _ answer: WriteAnswer, of operation: Operation, seen: [EditSeen], _ batch: inout SyncBatch,
        _ again: inout Retries
    ) {
        let item = operation.item
        guard var link = planner.links[item] else { return }
        switch answer {
        case .written(let event):
            written(event, of: operation, seen: seen, &link, &batch, &again)
            // A write that was sent again may be out of date, and earlier generations can be removed only now.
            let isOutdated = operation.run != record.id
            if isOutdated || !link.leftovers.isEmpty, link.state == .linked { again.add(item) }
        case .deleted: removed(operation, &link, &batch)
        case .gone:
            if case .update(let id, _, _) = operation.kind {
                drop(operation, &batch)
                again.add(item, lookingAt: id)
            } else {
                removed(operation, &link, &batch)
            }
        case .mismatch:
            drop(operation, &batch)
            if case .clear(let leftover) = operation.kind {
                again.add(item, leftover)
            } else {
                again.add(item, lookingAt: operation.eventID)
            }
        case .taken(let event): taken(event, of: operation, &link, &batch, &again)
        case .failed(let failure): failed(failure, operation, &link, &batch, &again)
        }
        if planner.links[item] != link { batch.links.append(link) }
    }

    private mutating func written(
        _ event: RemoteEvent, of operation: Operation, seen: [EditSeen], _ link: inout Link, _ batch: inout SyncBatch,
        _ again: inout Retries
    ) {
        guard let ours = operation.ours, let wanted = operation.wanted else { return }
        let former = link
        batch.operations.append(operation.closed(.done))
        link.externalID = event.id
        link.lastID = nil
        link.etag = event.etag
        link.stamp = event.updatedAt
        link.note(guests: event.hasGuests)
        link.direction = .out
        link.lastSyncedAt = context.now()
        link.since = context.now()
        (link.reason, link.problem) = (nil, nil)
        link.refused = nil
        link.refusedSeries = nil
        link.note(nil)
        link.state = .linked
        link.add(seen, at: context.now())
        switch event.content {
        case .entry(let entry):
            link.agreed = Agreement(ours: ours, theirs: entry.canonical)
        case .master(var entry):
            entry.occurrences = wanted.canonical.occurrences
            link.agreed = Agreement(ours: ours, theirs: entry.canonical)
        case .unreadable(let reason):
            link.agreed = Agreement(ours: ours, theirs: wanted.canonical)
            link.hold(.unreadable, reason)
            link.refused = ours
            failed.insert(operation.item)
        }
        keepUndone(operation, &link)
        planner.sightings.forget(event.id)
        let isNew = if case .create = operation.kind { true } else { false }
        var (isWhole, isChanged) = (true, true)
        if case .entry(let entry) = event.content {
            isWhole = compare(event, with: operation, former.agreed, &link, &again)
            // A server's own form of what was written may be what it had before.
            let isWritten = isWhole && link.unwritten == nil && link.state == .linked
            isChanged = isWritten || entry.canonical != operation.before?.canonical
            link.keepUnwritten(of: former)
        } else if case .master = event.content, let there = link.agreed?.theirs {
            link.note(there.cut(of: wanted.canonical, from: operation.before?.canonical))
            link.keepUnwritten(of: former)
        }
        noteShortened(operation.item, ours.title, link)
        if isNew { made.insert(operation.item) }
        if isNew, link.leftovers.isEmpty {
            record.counts.created += 1
        } else if isNew || isWhole && !made.contains(operation.item) {
            // Also one that left everything as it was: the preview could not know that.
            record.counts.updated += 1
        }
        guard isNew || isChanged else { return }
        batch.journal.append(
            line(
                isNew ? .create : .update, .out, link, reason: operation.reason, before: operation.before,
                after: link.agreed?.theirs))
    }

    /// Notes what the calendar keeps less of, if anything.
    mutating func noteShortened(_ item: ItemKey, _ title: String, _ link: Link) {
        let known = shortened[item]?.message ?? ""
        guard let sentence = link.unwritten, !known.hasSuffix(sentence) else { return }
        var message = known.isEmpty ? sentence : "\(known) \(sentence)"
        // What an earlier write left out has been reported already.
        if let former = planner.links[item]?.unwritten, known.hasSuffix(former), sentence.hasPrefix(former) {
            message = "\(known)\(sentence.dropFirst(former.count))"
        }
        let fields = (shortened[item]?.fields ?? []) + (link.unwrittenFields ?? [])
        shortened[item] = ShortenedItems.Item(item, title, message, fields)
    }

    /// Compares the event after a write with what was meant. Fields that are as before have not been written, and are written
    /// again; when it takes place at other times for another reason, that is somebody's edit since. When that does not end, the
    /// item is held back; a text is agreed on as it is, and what the calendar keeps of it is said.
    ///
    /// Servers give texts their own form, which is not a difference; but when something takes place is what it says. Where
    /// nobody knows what both sides had agreed on, or the event has far more text than was written, texts that are as they were
    /// may have that form already. If only a part of a text is there, or none of it, another write would not leave more.
    ///
    /// - Parameter known: what both sides had agreed on before the write.
    /// - Returns: false when it is written again.
    private mutating func compare(
        _ event: RemoteEvent, with operation: Operation, _ known: Agreement?, _ link: inout Link,
        _ again: inout Retries
    ) -> Bool {
        let agreed = link.agreed
        guard let wanted = operation.wanted, let there = agreed?.theirs else { return true }
        let hasOwnForm = known == nil || there.weight > wanted.weight + Self.mostSurplus / 2
        guard
            let missing = link.agreed?.takeDifferences(
                from: operation.before?.canonical, to: wanted.canonical, there: there, inTexts: !hasOwnForm)
        else {
            link.note(there.cut(of: wanted.canonical, from: operation.before?.canonical))
            return true
        }
        guard again.count(operation.item) < policy.tries else {
            guard missing.areTimes else {
                link.agreed = agreed
                link.note(missing)
                return true
            }
            link.hold(.otherTimes, missing.sentence)
            link.refused = operation.ours
            failed.insert(operation.item)
            return true
        }
        link.etag = nil
        planner.sightings.add(event)
        again.add(operation.item)
        return false
    }

    private mutating func removed(_ operation: Operation, _ link: inout Link, _ batch: inout SyncBatch) {
        batch.operations.append(operation.closed(.done))
        if case .clear(let leftover) = operation.kind {
            link.leftovers.removeAll { $0.id == leftover.id }
            batch.journal.append(
                line(.delete, .out, link, reason: operation.reason, before: operation.before, after: nil))
            batch.journal[batch.journal.count - 1].externalID = leftover.id
            return
        }
        if let id = link.externalID { planner.sightings.forget(id) }
        link.bury(at: context.now())
        keepUndone(operation, &link)
        record.counts.deleted += 1
        batch.journal.append(
            line(
                planner.isShownOtherwise(link.item) ? .update : .delete, .out, link, reason: operation.reason,
                before: operation.before, after: nil))
    }

    private func drop(_ operation: Operation, _ batch: inout SyncBatch) {
        batch.operations.append(operation.closed(.dropped))
    }

    /// Handles a new event whose identity is taken: by the event itself, if an answer was lost, or by an older
    /// one.
    private mutating func taken(
        _ event: RemoteEvent?, of operation: Operation, _ link: inout Link, _ batch: inout SyncBatch,
        _ again: inout Retries
    ) {
        if let event, event.mark == mark(operation.item, operation.generation) {
            if operation.attempts > 1 {
                adopt(event, of: operation, &link)
                made.insert(operation.item)
                batch.operations.append(operation.closed(.done))
                record.counts.created += 1
                batch.journal.append(
                    line(.create, .out, link, reason: operation.reason, before: nil, after: operation.wanted))
            } else {
                link.externalID = event.id
                link.lastID = nil
                link.etag = nil
                link.agreed = nil
                if event.isUnfinished, case .entry(let entry) = event.content {
                    link.agreed = Agreement(ours: entry.canonical, theirs: entry.canonical)
                }
                drop(operation, &batch)
            }
            planner.sightings.add(event)
        } else {
            link.generation += 1
            link.lastID = nil
            drop(operation, &batch)
        }
        again.add(operation.item)
    }

    private mutating func failed(
        _ failure: ProviderFailure, _ operation: Operation, _ link: inout Link, _ batch: inout SyncBatch,
        _ again: inout Retries
    ) {
        switch failure.kind {
        case .needsNewGeneration:
            guard let id = link.externalID else { return drop(operation, &batch) }
            link.leftovers.append(
                Leftover(id: id, etag: operation.eventETag ?? link.etag, generation: link.generation))
            link.generation += 1
            link.externalID = nil
            link.lastID = nil
            link.etag = nil
            link.agreed = nil
            link.state = .pending
            drop(operation, &batch)
            again.add(operation.item)
        case .unanswered:
            // The operation stays open: the next run asks for its outcome.
            unsettled.insert(operation.item)
            failed.insert(operation.item)
            self.failure = failure
        case .malformed where operation.attempts < policy.tries:
            unsettled.insert(operation.item)
            failed.insert(operation.item)
        case .refused, .malformed, .cursorExpired, .needsSingleEvents:
            if failure.kind == .needsSingleEvents, let ours = operation.ours, ours.repetition != nil {
                // The next run shows the item in its other form.
                link.refusedSeries = RefusedSeries(entry: ours, reason: failure.message)
            }
            drop(operation, &batch)
            failed.insert(operation.item)
            link.hold(SyncProblem(failure.kind), failure.message)
            link.refused = operation.ours
            link.since = context.now()
        case .unauthorized, .misconfigured, .forbidden, .calendarMissing, .throttled, .quotaExceeded, .unavailable,
            .unreachable, .busy:
            drop(operation, &batch)
            unsettled.insert(operation.item)
            failed.insert(operation.item)
            self.failure = failure
        }
    }
}

extension Operation {
    /// The etag of the event that it changes.
    fileprivate var eventETag: String? {
        switch kind {
        case .create: nil
        case .update(_, let etag, _), .delete(_, let etag): etag
        case .clear(let leftover): leftover.etag
        }
    }
}
