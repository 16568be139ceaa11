// SPDX-License-Identifier: Apache-2.0

extension SyncRun {
    /// Reverts what a run wrote, by its journal, wherever nothing was changed since. The changes that the run took over
    /// are reset here, and the next run writes that to the calendar; what it wrote to the calendar is reset there, and
    /// stays so until the item changes.
    ///
    /// No brake holds it, because a person asked for it.
    ///
    /// - Parameter record: the record of the undoing run.
    public func undo(run: String, as record: RunRecord) async throws -> Outcome {
        let journal = try await store.journal(of: run)
        var session = try await RunSession(self, record: record)
        do {
            try await session.begin()
            try await session.settle()
            try await session.undo(journal)
            return try await session.finished()
        } catch let failure as ProviderFailure {
            return try await session.failed(failure)
        }
    }
}

extension RunSession {
    static let undone = "undone"

    fileprivate mutating func undo(_ journal: [JournalEntry]) async throws {
        for entry in journal.reversed() where entry.direction == .in && entry.change == .update {
            try await takeBack(entry)
        }
        let written = journal.filter { $0.direction == .out }
        let reshaped = Set(written.map(\.item).filter { $0.occurrence == nil })
            .intersection(written.map(\.item).filter { $0.occurrence != nil }.map(\.whole))
        let ids = written.compactMap { planner.links[$0.item]?.externalID ?? planner.links[$0.item]?.lastID }
        try await look(at: Set<ByteString>(ids).sortedTexts())
        var steps: [Step] = []
        for item in Set(written.map(\.item)).sorted() {
            let lines = written.filter { $0.item == item }
            guard let first = lines.first, let last = lines.last, first.before != last.after else { continue }
            // A series became single events, or the reverse: the item decides its form, and would do so again.
            if (first.before == nil) != (last.after == nil), reshaped.contains(item.whole) {
                failed.insert(item)
                continue
            }
            // A deleted event exists again: someone else has reverted the deletion.
            if let id = planner.links[item]?.lastID, planner.sightings.events[id] != nil { continue }
            // An event that was created again since, or is in another calendar, is not the one that the run wrote.
            let isSameEvent = planner.links[item]?.externalID.map { $0.isSameText(as: last.externalID ?? $0) } ?? true
            if isSameEvent, let step = undoing(item, before: first.before, after: last.after) {
                steps.append(step)
            } else {
                failed.insert(item)
            }
        }
        try await send(steps)
    }

    /// Resets an item that a change from the calendar moved, unless it was changed since.
    private mutating func takeBack(_ line: JournalEntry) async throws {
        guard let before = line.before, let after = line.after, let ours = planner.shown[line.item] else { return }
        let now = ours.entry.canonical
        var edits: [InboundChange.Edit] = []
        if before.span != after.span, now.span == after.span { edits.append(.times(before.span)) }
        for start in Set(before.occurrences.keys).union(after.occurrences.keys).sorted()
        where before.span.start == now.span.start {
            guard let was = before.effective(at: start), let came = after.effective(at: start),
                was.span != came.span, now.effective(at: start)?.span == came.span
            else { continue }
            let isPlain = was.span == before.span.moved(to: start)
            edits.append(isPlain ? .occurrenceRestored(start) : .occurrenceTimes(start, was.span))
        }
        guard !edits.isEmpty, let link = planner.links[line.item] else {
            failed.insert(line.item)
            return
        }
        var batch = SyncBatch()
        batch.journal = [
            self.line(.update, .in, link, reason: Self.undone, before: now, after: before)
        ]
        batch.run = record
        let change = InboundChange(item: line.item, revision: ours.revision, edits: edits, reason: Self.undone)
        switch try await context.store.apply(change.ofSeries, recording: batch) {
        case .applied(let applied):
            planner.showAgain(line.item, applied)
            record.counts.pulled += 1
        case .changedMeanwhile, .refused: failed.insert(line.item)
        }
    }

    /// Returns the write that reverts what was written about one item; nil when it was changed since.
    private func undoing(_ item: ItemKey, before: Entry?, after: Entry?) -> Step? {
        guard var link = planner.links[item] else { return nil }
        var step = Step(item: item)
        // Use the agreed entry, not the current one: an edit made here since is still to be written.
        let shown = planner.shown[item].map { planner.express($0.entry).entry.canonical }
        let ours = shown == nil ? nil : link.agreed?.ours ?? shown
        func draft(_ kind: Operation.Kind, ours: Entry?, wanted: Entry?) -> Step.Draft {
            Step.Draft(
                kind: kind, generation: link.generation, ours: ours, wanted: wanted, reason: Self.undone, before: after)
        }
        guard let after else {
            guard link.externalID == nil, let before else { return nil }
            link.startAgain(at: planner.now)
            step.link = link
            step.drafts = [draft(.create, ours: ours ?? before, wanted: before)]
            return step
        }
        guard let id = link.externalID, let sight = planner.sightings.events[id], sight.entry == after else {
            return nil
        }
        link.state = .pending
        step.link = link
        if let before {
            step.drafts = [draft(.update(id: id, etag: sight.etag, from: after), ours: ours ?? before, wanted: before)]
        } else {
            step.drafts = [draft(.delete(id: id, etag: sight.etag), ours: ours, wanted: nil)]
        }
        return step
    }

    /// Updates the link after a write that reverted something, so that the next run does not do it again.
    func keepUndone(_ operation: Operation, _ link: inout Link) {
        guard operation.reason.isSameText(as: Self.undone) else { return }
        if link.externalID == nil {
            guard let ours = operation.ours else { return }
            link.state = .ignored
            link.agreed = Agreement(ours: ours, theirs: operation.before ?? ours)
        } else if planner.shown[operation.item] == nil {
            link.state = .untracked
        }
    }
}
