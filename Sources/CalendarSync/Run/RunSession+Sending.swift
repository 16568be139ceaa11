// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension RunSession {
    /// Carries out the plan: first what only has to be stored, then changes from the calendar, then changes to it.
    mutating func carryOut(_ plan: Plan) async throws {
        for step in plan.steps {
            shortened[step.item] = ShortenedItems.Item(of: step)
            if !step.drafts.isEmpty { drafted.insert(step.item) }
        }
        record.shortened = ShortenedItems(shortened.values)
        try await enterCalendar()
        // All at once: after a kill between them, those without their new id would seem to be deleted.
        var renamed = SyncBatch()
        renamed.links = planner.renamed
        if !renamed.isEmpty { try await commit(renamed) }
        let resending = Set(resent.map(\.item))
        var queue: [Step] = []
        var (batch, weight) = (SyncBatch(), 0)
        for step in plan.steps where !resending.contains(step.item) {
            guard failure == nil else {
                unsettled.insert(step.item)
                continue
            }
            if step.change != nil {
                queue += try await bring(step)
            } else if step.drafts.isEmpty {
                record.counts.unchanged += step.isFailure ? 0 : 1
                store(step, &batch)
                weight += step.weight
                if batch.links.count >= policy.batch || weight > SyncBatch.mostWeight {
                    try await commit(batch)
                    (batch, weight) = (SyncBatch(), 0)
                }
            } else {
                if step.drafts.allSatisfy(\.isClearing) { record.counts.unchanged += 1 }
                queue.append(step)
            }
        }
        if !batch.isEmpty { try await commit(batch) }
        // An event goes last: another one of its item may have to be there first.
        try await send(queue.filter { !$0.isDeletion } + queue.filter(\.isDeletion))
    }

    /// Stores that the links belong to another calendar from now on, before anything else is stored about them: otherwise a run
    /// that follows a kill, in whichever calendar, would take the events of one for those of the other. There may be very many,
    /// so each step says how far it came.
    private mutating func enterCalendar() async throws {
        for calendarSwitch in calendarSwitches {
            var (batch, weight) = (SyncBatch(), 0)
            batch.operations = abandoned.map { $0.closed(.dropped) }
            abandoned = []
            for (index, link) in calendarSwitch.links.enumerated() {
                batch.links.append(link)
                weight += link.weight
                guard index + 1 < calendarSwitch.links.count,
                    batch.links.count >= policy.batch || weight > SyncBatch.mostWeight
                else { continue }
                batch.position = calendarSwitch.position(through: link.item)
                try await commit(batch)
                (batch, weight) = (SyncBatch(), 0)
            }
            batch.position = calendarSwitch.position
            try await commit(batch)
        }
        calendarSwitches = []
    }

    /// Adds to a batch the records of a step that writes nothing to the calendar.
    mutating func store(_ step: Step, _ batch: inout SyncBatch) {
        if step.isFailure { failed.insert(step.item) }
        count(step.conflicts)
        batch.conflicts += step.conflicts
        if let kind = step.handedOver { batch.handedOver.append(EventTakenByPerson(item: step.item, kind: kind)) }
        guard let link = step.link else { return }
        batch.links.append(link)
        if let noted = step.noted {
            let before = planner.links[step.item]?.agreed?.theirs
            batch.journal.append(
                line(
                    noted, .in, link, reason: noted == .adopt ? "found by its mark" : "deleted there",
                    before: noted == .adopt ? nil : before, after: link.agreed?.theirs))
        }
    }

    // MARK: In

    /// Applies a change from the calendar here, and returns the steps that remain for the item.
    mutating func bring(_ first: Step) async throws -> [Step] {
        var step = first
        if let change = first.change, planner.shown[first.item]?.revision != change.revision {
            // Another occurrence of the series was changed by this run.
            guard let fresh = planner.step(first.item) else { return [] }
            step = fresh
        }
        for _ in 0..<policy.tries {
            guard let change = step.change, let basis = step.basis, let ours = planner.shown[step.item] else { break }
            var link =
                step.link ?? planner.links[step.item] ?? Link(item: step.item, state: .pending, since: planner.now)
            let theirs = link.externalID.flatMap { planner.sightings.events[$0]?.entry }
            // The two sides do not agree on everything yet.
            let known = planner.links[step.item]
            (link.etag, link.stamp, link.lastSyncedAt) = (known?.etag, known?.stamp, known?.lastSyncedAt)
            link.agreed = basis
            link.state = .pending
            link.direction = .in
            // Edits of other fields count only once they are put back.
            link.add(step.seen.filter { $0.field.string.hasPrefix(EntryField.times.rawValue) }, at: planner.now)
            var batch = SyncBatch()
            batch.links = [link]
            batch.conflicts = step.conflicts
            batch.journal = [
                line(.update, .in, link, reason: change.reason, before: ours.entry.canonical, after: theirs)
            ]
            batch.run = record
            lighten(&batch)
            switch try await context.store.apply(change.ofSeries, recording: batch) {
            case .applied(let applied):
                count(step.conflicts)
                remember(batch)
                record.counts.pulled += 1
                planner.showAgain(step.item, applied)
            case .changedMeanwhile:
                let (desired, whole) = (try await context.store.desired(), step.item.whole)
                planner.showAgain(whole, desired.items.first { $0.item == whole })
                if desired.deleted.contains(whole) { planner.deleted.insert(whole) }
            case .refused: planner.refusals.insert(step.item)
            }
            guard let next = planner.step(step.item) else { return [] }
            step = next
        }
        if step.change != nil {
            unsettled.insert(step.item)
            return []
        }
        if step.drafts.isEmpty {
            var batch = SyncBatch()
            store(step, &batch)
            if !batch.isEmpty { try await commit(batch) }
            return []
        }
        return [step]
    }

    // MARK: Out

    /// Sends the writes of steps, and again those whose event was changed underneath, until all is settled or the
    /// provider fails.
    mutating func send(_ steps: [Step]) async throws {
        var again = Retries()
        for chunk in resent.chunks(of: policy.batch, weighing: \.weight).map(Array.init) {
            guard failure == nil else {
                unsettled.formUnion(chunk.map(\.item))
                continue
            }
            var operations = chunk
            for index in operations.indices { operations[index].attempts += 1 }
            try await exchange(operations, storing: SyncBatch(), seen: [:], &again)
        }
        var waiting = steps
        while true {
            let drafts = waiting.flatMap { step in step.drafts.map { (step, $0) } }
            for chunk in drafts.chunks(of: policy.batch, weighing: { $0.0.weight + $0.1.weight }).map(Array.init) {
                guard failure == nil else {
                    unsettled.formUnion(chunk.map(\.0.item))
                    continue
                }
                var batch = SyncBatch()
                let operations = intents(chunk, &batch)
                let seen = Dictionary(chunk.map { ($0.0.item, $0.0.seen) }, uniquingKeysWith: { $0 + $1 })
                try await exchange(operations, storing: batch, seen: seen, &again)
            }
            guard !again.isEmpty, failure == nil else { break }
            waiting = try await retried(&again)
        }
        unsettled.formUnion(again.items)
    }

    /// Returns the operations of some steps, and adds to a batch what has to be stored before they are sent.
    private mutating func intents(_ chunk: [(Step, Step.Draft)], _ batch: inout SyncBatch) -> [Operation] {
        for (index, (step, _)) in chunk.enumerated()
        where index == 0 || chunk[index - 1].0.item != step.item {
            if let link = step.link ?? planner.links[step.item] { batch.links.append(link) }
            batch.conflicts += step.conflicts
            count(step.conflicts)
        }
        return chunk.map { step, draft in
            Operation(
                key: context.makeID(), run: record.id, item: step.item, generation: draft.generation, kind: draft.kind,
                ours: draft.ours, wanted: draft.wanted, before: draft.before, reason: draft.reason, attempts: 1,
                createdAt: context.now())
        }
    }

    /// Stores operations, sends them, and stores their outcomes.
    private mutating func exchange(
        _ operations: [Operation], storing intents: SyncBatch, seen: [ItemKey: [EditSeen]], _ again: inout Retries
    ) async throws {
        var batch = intents
        batch.operations = operations
        try await commit(batch)
        let answers = await provider.write(operations.map(request), in: calendar)
        var results = SyncBatch()
        for (index, operation) in operations.enumerated() {
            let answer =
                index < answers.count
                ? answers[index] : .failed(ProviderFailure(.unanswered, "The provider did not answer for this event."))
            take(answer, of: operation, seen: seen[operation.item] ?? [], &results, &again)
            // The next answer may be about the same item.
            if let link = results.links.last { planner.links[link.item] = link }
            try await commitIfHeavy(&results)
        }
        try await commit(results)
    }

    private func request(_ operation: Operation) -> WriteRequest {
        func expressed(_ entry: Entry) -> Entry { provider.expressible(entry).entry }
        let kind: WriteRequest.Kind =
            switch operation.kind {
            case .create: .create(expressed(operation.wanted ?? operation.ours ?? Entry.nothing))
            case .update(let id, let etag, let from):
                .update(id: id, etag: etag, from: expressed(from), to: expressed(operation.wanted ?? from))
            case .delete(let id, let etag): .delete(id: id, etag: etag)
            case .clear(let leftover): .delete(id: leftover.id, etag: leftover.etag)
            }
        return WriteRequest(key: operation.key, mark: mark(operation.item, operation.generation), kind: kind)
    }

    /// Looks at the events that were changed underneath, and merges them again, a limited number of times.
    private mutating func retried(_ again: inout Retries) async throws -> [Step] {
        var steps: [Step] = []
        do {
            try await look(at: again.ids)
        } catch let failure as ProviderFailure {
            self.failure = failure
            return []
        }
        var batch = SyncBatch()
        refresh(again.leftovers, &batch)
        if !batch.isEmpty { try await commit(batch) }
        let items = again.items
        again.clear()
        var settled = SyncBatch()
        for item in items {
            guard again.count(item) <= policy.tries else {
                giveUp(item, &settled)
                continue
            }
            guard let step = planner.step(item) else { continue }
            if step.change != nil {
                steps += try await bring(step)
            } else if step.drafts.isEmpty {
                store(step, &settled)
            } else {
                steps.append(step)
            }
        }
        if !settled.isEmpty { try await commit(settled) }
        return steps
    }

    /// Records edits of events of earlier generations that were made before the events could be removed.
    private mutating func refresh(_ leftovers: [(ItemKey, Leftover)], _ batch: inout SyncBatch) {
        for (item, leftover) in leftovers {
            guard var link = planner.links[item], let sight = planner.sightings.events[leftover.id],
                let index = link.leftovers.firstIndex(of: leftover)
            else { continue }
            link.leftovers[index].etag = sight.etag
            let field = ConflictRecord.Field(
                field: .existence, base: nil, kalends: nil, calendar: sight.entry?.title, kept: .kalends)
            let finding = Finding(kind: .editedThere, fields: [field], isOpen: false)
            batch.links.append(link)
            batch.conflicts.append(
                ConflictRecord(
                    id: finding.identity(link, connection: policy.connection), item: item, at: planner.now,
                    kind: .editedThere, fields: [field], ours: planner.shown[item]?.entry, theirs: sight.entry,
                    state: .resolved, outcome: .kalends, resolvedAt: planner.now))
            planner.links[item] = link
        }
    }

    /// Leaves an event that changes faster than it can be written to the next run, and to a person.
    private mutating func giveUp(_ item: ItemKey, _ batch: inout SyncBatch) {
        unsettled.insert(item)
        failed.insert(item)
        guard let link = planner.links[item] else { return }
        let ours = planner.shown[item]?.entry.canonical
        let theirs = link.externalID.flatMap { planner.sightings.events[$0]?.entry }
        let fields = EntryField.ofEvents.filter { ours?[$0] != theirs?[$0] }.map { field in
            ConflictRecord.Field(
                field: field, base: link.agreed?.theirs[field].text, kalends: ours?[field].text,
                calendar: theirs?[field].text, kept: .calendar)
        }
        guard !fields.isEmpty else { return }
        let finding = Finding(kind: .editedThere, fields: fields, isOpen: true)
        let id = finding.identity(link, connection: policy.connection)
        guard planner.conflicts[item]?.contains(where: { $0.id == id }) != true else { return }
        record.counts.conflicts += 1
        batch.conflicts.append(
            ConflictRecord(
                id: id, item: item, at: planner.now, kind: .editedThere, fields: fields, ours: ours, theirs: theirs,
                state: .open))
    }
}

/// Items and events that have to be looked at and merged again.
struct Retries {
    private(set) var items: [ItemKey] = []
    private(set) var ids: [String] = []
    private(set) var leftovers: [(ItemKey, Leftover)] = []
    private var counts: [ItemKey: Int] = [:]

    var isEmpty: Bool { items.isEmpty }

    /// - Parameter id: the event to look at first; nil when what is known suffices.
    mutating func add(_ item: ItemKey, lookingAt id: String? = nil) {
        counts[item, default: 0] += 1
        if !items.contains(item) { items.append(item) }
        if let id, !ids.contains(id) { ids.append(id) }
    }

    mutating func add(_ item: ItemKey, _ leftover: Leftover) {
        add(item, lookingAt: leftover.id)
        leftovers.append((item, leftover))
    }

    func count(_ item: ItemKey) -> Int { counts[item] ?? 0 }

    mutating func clear() {
        items = []
        ids = []
        leftovers = []
    }
}

extension Entry {
    /// A placeholder that is never sent: a create always has contents.
    fileprivate static let nothing = Entry(
        title: "", span: .timed(start: Instant(seconds: 0), end: Instant(seconds: 0), zone: "UTC"))
}

extension Array {
    /// Returns parts of at most this many elements, and no heavier than a batch should be unless one element is.
    fileprivate func chunks(of size: Int, weighing weight: (Element) -> Int) -> [ArraySlice<Element>] {
        var (chunks, first, sum) = ([ArraySlice<Element>](), 0, 0)
        for (index, element) in enumerated() {
            let own = weight(element)
            if index > first, index - first >= size || sum + own > SyncBatch.mostWeight {
                chunks.append(self[first..<index])
                (first, sum) = (index, 0)
            }
            sum += own
        }
        if first < count { chunks.append(self[first...]) }
        return chunks
    }
}
