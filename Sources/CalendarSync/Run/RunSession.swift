// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The state of one run while it is under way.
struct RunSession {
    let context: SyncRun
    var record: RunRecord
    var planner: Planner
    /// Operations of an earlier run whose outcome is not known yet.
    var open: [Operation]
    /// Creates of an earlier run that left no trace, and are sent again unchanged.
    var resent: [Operation] = []
    /// Operations in a calendar that is no longer ours.
    var abandoned: [Operation] = []
    /// The changes of calendar that are still to be stored, in their order.
    var calendarSwitches: [CalendarSwitch] = []
    let stored: Position?
    /// Where this pull ended; nil when that may not be stored.
    var position: Position?
    /// Items with changes that are not applied: the cursor is not stored while there are any.
    var unsettled: Set<ItemKey> = []
    /// The failure that ended the sending.
    var failure: ProviderFailure?
    /// Items whose write did not succeed, which are counted as failed.
    var failed: Set<ItemKey> = []
    /// Items whose event this run created: an update that follows is part of the creation.
    var made: Set<ItemKey> = []
    /// Conflicts that this run has counted.
    var counted: Set<ByteString> = []
    /// The items that the calendar keeps only in part.
    var shortened: [ItemKey: ShortenedItems.Item] = [:]
    /// Items that the plan was to write: what an earlier write left out of them is said only at the end.
    var drafted: Set<ItemKey> = []
    var isPreview = false
    /// About how many bytes events have beyond their items, as it is stored, and of how many bytes this run has made
    /// records.
    var surpluses: [ItemKey: Int] = [:]
    var surplus = 0
    var recorded = 0

    init(_ context: SyncRun, record: RunRecord) async throws {
        let now = context.now()
        let state = try await context.store.load(deletionsAfter: now.adding(seconds: -86_400))
        let desired = try await context.store.desired()
        let isNewBaseline =
            state.position.map { $0.fingerprint != context.policy.fingerprint || $0.isBegun == true } ?? false
        let provider = context.provider
        self.context = context
        self.record = record
        self.record.state = .running
        self.record.version = desired.version
        planner = Planner(
            policy: context.policy, now: now, state: state, desired: desired, isNewBaseline: isNewBaseline,
            express: { provider.expressible($0) })
        surpluses = planner.links.mapValues(\.surplus).filter { $0.value > 0 }
        surplus = surpluses.values.reduce(0, +)
        open = state.operations
        stored = state.position
        guard var old = state.position else { return }
        if let leaving = old.leaving {
            // An earlier run stored the change of calendar for the first links only.
            old.leaving = nil
            switchCalendar(from: leaving.from, to: old, after: leaving.through)
        }
        if !old.fingerprint.isSameCalendar(as: context.policy.fingerprint) {
            // The linked events are in another calendar, and stay there.
            (abandoned, open) = (open, [])
            let entered = Position(
                cursor: nil, fingerprint: context.policy.fingerprint, listed: context.policy.window, isBegun: true)
            switchCalendar(from: old.fingerprint, to: entered)
        } else if old.isBegun == true {
            // An earlier run stored the change of calendar and did not finish.
            for (item, link) in planner.links where link.externalID == nil && link.lastID == nil {
                guard link.state == .pending || link.state == .deleted else { continue }
                planner.links[item] = link.detached(at: now)
                planner.detached.insert(item)
            }
        }
    }

    /// Detaches the links from a calendar that another one replaced.
    ///
    /// - Parameter item: the last item whose link is detached already; nil for none.
    private mutating func switchCalendar(from: Fingerprint, to position: Position, after item: ItemKey? = nil) {
        var calendarSwitch = CalendarSwitch(from: from, position: position)
        for link in planner.links.values where item.map({ $0 < link.item }) ?? true {
            let other = link.detached(at: planner.now).leaving(from, for: position.fingerprint)
            guard other != link else { continue }
            planner.links[link.item] = other
            planner.detached.insert(link.item)
            calendarSwitch.links.append(other)
        }
        calendarSwitch.links.sort { $0.item < $1.item }
        calendarSwitches.append(calendarSwitch)
    }

    var provider: any CalendarProvider { context.provider }
    var policy: SyncPolicy { context.policy }
    var calendar: String { context.policy.fingerprint.calendar }

    // MARK: Beginning and ending

    mutating func begin() async throws { try await commit(SyncBatch()) }

    mutating func held(_ hold: Hold) async throws -> SyncRun.Outcome {
        record.state = .held
        record.held = hold
        record.error = hold.sentence
        try await commit(SyncBatch())
        return SyncRun.Outcome(record: record, failure: nil)
    }

    mutating func finished() async throws -> SyncRun.Outcome {
        var batch = SyncBatch()
        if failure == nil, unsettled.isEmpty { batch.position = position }
        record.counts.failed += failed.count
        record.isWhole = failure == nil && unsettled.isEmpty ? true : nil
        for item in drafted {
            guard let link = planner.links[item], link.externalID != nil, let ours = planner.shown[item]
            else { continue }
            noteShortened(item, ours.entry.title, link)
        }
        record.shortened = ShortenedItems(shortened.values)
        record.state = .done
        record.endedAt = context.now()
        let counts = record.counts
        let didSomething = counts.created + counts.updated + counts.deleted + counts.pulled > 0
        if failure == nil, counts.failed == 0, unsettled.isEmpty {
            record.status = .success
        } else {
            record.status = didSomething || failure == nil && counts.unchanged > 0 ? .partial : .failed
            if let failure {
                record.note(failure)
            } else {
                record.note(.incomplete, "Some events could not be written.")
            }
        }
        try await commit(batch)
        return SyncRun.Outcome(record: record, failure: failure)
    }

    mutating func failed(_ failure: ProviderFailure) async throws -> SyncRun.Outcome {
        record.state = .failed
        record.status = .failed
        record.note(failure)
        record.endedAt = context.now()
        try await commit(SyncBatch())
        return SyncRun.Outcome(record: record, failure: failure)
    }

    /// Stores a batch with the current record of the run, and remembers its links and conflicts.
    mutating func commit(_ batch: SyncBatch) async throws {
        guard !isPreview else { return remember(batch) }
        var batch = batch
        lighten(&batch)
        record.requests = context.requests()
        batch.run = record
        try await context.store.commit(batch)
        remember(batch)
    }

    /// Stores a batch as soon as it is as heavy as one may be.
    mutating func commitIfHeavy(_ batch: inout SyncBatch) async throws {
        guard batch.weight > SyncBatch.mostWeight else { return }
        try await commit(batch)
        batch = SyncBatch()
    }

    mutating func remember(_ batch: SyncBatch) {
        for link in batch.links { planner.links[link.item] = link }
        for conflict in batch.conflicts {
            planner.conflicts[conflict.item]?.removeAll { $0.id == conflict.id }
            if conflict.state == .open { planner.conflicts[conflict.item, default: []].append(conflict) }
        }
    }

    /// Counts new conflicts, each once; to be called before they are remembered.
    mutating func count(_ conflicts: [ConflictRecord]) {
        for conflict in conflicts where conflict.isNews && !planner.knows(conflict) {
            if counted.insert(conflict.id).inserted { record.counts.conflicts += 1 }
        }
    }

    /// Makes a line of the journal.
    func line(
        _ change: JournalEntry.Change, _ direction: Link.Direction, _ link: Link, reason: String, before: Entry?,
        after: Entry?
    ) -> JournalEntry {
        JournalEntry(
            id: context.makeID(), run: record.id, at: context.now(), direction: direction, change: change,
            item: link.item, generation: link.generation, externalID: link.externalID ?? link.lastID, reason: reason,
            before: before, after: after)
    }

    func mark(_ item: ItemKey, _ generation: Int) -> EventMark {
        EventMark(
            installation: policy.installation, connection: policy.connection, circle: policy.circle, item: item,
            generation: generation)
    }
}

/// A change from one calendar to another, whose links are stored step by step.
struct CalendarSwitch {
    let from: Fingerprint
    /// The position in the new calendar.
    let position: Position
    /// The links as they are in the new calendar, ascending by item.
    var links: [Link] = []

    /// The position while the links after an item still belong to the former calendar.
    func position(through item: ItemKey) -> Position {
        var position = position
        position.leaving = Position.Leaving(from: from, through: item)
        return position
    }
}

extension Fingerprint {
    fileprivate func isSameCalendar(as other: Fingerprint) -> Bool {
        account == other.account && calendar == other.calendar
    }
}

extension Link {
    /// Returns the link of an item whose event is in a calendar that is no longer ours. An event that a person deleted
    /// stays away, unless the new calendar has one; that an item has no event is known only of the old calendar.
    fileprivate func detached(at now: Instant) -> Link {
        var link = self
        if state == .ignored || externalID == nil && state != .pending && state != .deleted {
            link.lastID = nil
            return link
        }
        link = Link(item: item, generation: generation, state: .pending, since: now)
        (link.leftovers, link.elsewhere) = (leftovers, elsewhere)
        return link
    }

    /// Returns the link with the leftovers of the new calendar instead of those of the old one, which are kept for when
    /// it is chosen again: nothing else tells them from events that a person restored.
    fileprivate func leaving(_ old: Fingerprint, for new: Fingerprint) -> Link {
        var link = self
        let left = leftovers.map { LeftoverElsewhere(account: old.account, calendar: old.calendar, leftover: $0) }
        let all = (elsewhere ?? []) + left
        link.leftovers = all.filter { $0.isIn(new) }.map(\.leftover)
        let others = all.filter { !$0.isIn(new) }
        link.elsewhere = others.isEmpty ? nil : others
        return link
    }
}

extension Hold {
    /// The reasons, in sentences for people.
    public var sentence: String {
        func counted(_ number: Int, _ what: String, _ one: String, _ many: String? = nil) -> String {
            "\(number) \(what)\(number == 1 ? "" : "s") \(number == 1 ? one : many ?? one)"
        }
        var sentences: [String] = []
        if causes.contains(.restored) {
            sentences.append("The calendar has events that this database does not know: the database is an older copy.")
        }
        if causes.contains(.shared) {
            let items = counted(shared ?? 0, "item", "would be there twice")
            sentences.append(
                "Another connection already writes this circle into this calendar: \(items). Choose another calendar "
                    + "to avoid that.")
        }
        if causes.contains(.empty) {
            sentences.append("The calendar is suddenly empty.")
        } else if causes.contains(.missing) {
            sentences.append(
                counted(missing, "event", "is suddenly missing", "are suddenly missing") + " from the calendar.")
        }
        if causes.contains(.deletions) {
            sentences.append(counted(deletions, "event", "would be deleted") + " in the calendar.")
        }
        return sentences.joined(separator: " ")
    }
}
