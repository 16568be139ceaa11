// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

/// The items of one circle, which all of its connections show.
final class SimulatedItems: @unchecked Sendable {
    var items: [ItemKey: SimulatedStore.Item] = [:]
    /// The number of second appointments, for their titles.
    var copies = 0
    /// The links of the circle's connections.
    var links: [() -> [Link]] = []
}

/// A store in memory whose process can be killed before any of its commits.
final class SimulatedStore: SyncStore, @unchecked Sendable {
    struct Killed: Error {}
    struct OutOfReach: Error {}

    struct Item {
        var entry: Entry
        var revision = 1
        var changedAt: Instant
        var isHidden = false
        var isDeleted = false
        /// The number of a person's edits here.
        var edits = 1
    }

    let contents: SimulatedItems
    var items: [ItemKey: Item] {
        get { contents.items }
        set { contents.items = newValue }
    }
    var links: [ItemKey: Link] = [:]
    var operations: [ByteString: Operation] = [:]
    var conflicts: [ByteString: ConflictRecord] = [:]
    var journal: [JournalEntry] = []
    var position: Position?
    var runs: [ByteString: RunRecord] = [:]
    var clock = 1_000_000
    /// How many commits still succeed; nil when the process is not killed.
    var commitsLeft: Int?
    var commits = 0
    /// Whether the items cannot be read.
    var isOutOfReach = false
    /// Called before the next change is applied, when a person is faster.
    var person: (() -> Void)?

    init(_ contents: SimulatedItems = SimulatedItems()) {
        self.contents = contents
        contents.links.append { [weak self] in self?.links.values.map { $0 } ?? [] }
    }

    private func survive() throws {
        commits += 1
        guard let left = commitsLeft else { return }
        guard left > 0 else {
            commitsLeft = nil
            throw Killed()
        }
        commitsLeft = left - 1
    }

    func load(deletionsAfter dayAgo: Instant) async throws -> SyncState {
        var count = DeletionCount()
        for line in journal where line.at > dayAgo && runs[line.run]?.held == nil {
            if line.direction == .out, line.change == .delete { count.out += 1 }
            if line.change == .missing { count.missing += 1 }
        }
        return SyncState(
            links: links.keys.sorted().compactMap { links[$0] },
            operations: operations.keys.sorted().compactMap { operations[$0] }.filter { $0.state == .open },
            conflicts: conflicts.keys.sorted().compactMap { conflicts[$0] }.filter { $0.state == .open },
            position: position, deletions: count)
    }

    func desired() async throws -> Desired {
        guard !isOutOfReach else { throw OutOfReach() }
        let shown = items.keys.sorted().compactMap(ours)
        return Desired(items: shown, deleted: Set(items.filter { $0.value.isDeleted }.keys))
    }

    func eventsOfOthers(_ items: Set<ItemKey>) async throws -> Set<ByteString> {
        let all = contents.links.flatMap { $0() }.filter { items.contains($0.item) }
        return Set<ByteString>(all.compactMap(\.externalID))
            .subtracting(Set<ByteString>(links.values.compactMap(\.externalID)))
    }

    func ours(_ key: ItemKey) -> Ours? {
        guard let item = items[key], !item.isHidden, !item.isDeleted else { return nil }
        return Ours(item: key, entry: item.entry, changedAt: item.changedAt, revision: item.revision)
    }

    func commit(_ batch: SyncBatch) async throws {
        try survive()
        keep(batch)
    }

    /// The maximum number of bytes that were stored together.
    var heaviest = 0
    /// The maximum number of links that were stored together.
    var mostLinks = 0

    private func keep(_ batch: SyncBatch) {
        heaviest = max(heaviest, batch.weight)
        mostLinks = max(mostLinks, batch.links.count)
        for link in batch.links { links[link.item] = link }
        for operation in batch.operations { operations[operation.key] = operation }
        for conflict in batch.conflicts {
            if let old = conflicts[conflict.id], old.state == .resolved, conflict.state == .open { continue }
            conflicts[conflict.id] = conflict
        }
        journal += batch.journal
        if let position = batch.position { self.position = position }
        if let run = batch.run { runs[run.id] = run }
    }

    func apply(_ change: InboundChange, recording batch: SyncBatch) async throws -> InboundAnswer {
        person?()
        guard var item = items[change.item], item.revision == change.revision, !item.isDeleted, !item.isHidden else {
            return .changedMeanwhile
        }
        try survive()
        item.entry = item.entry.applying(change.edits)
        for edit in change.edits {
            if case .cancelled = edit { item.isHidden = true }
            if case .copy(let span, _) = edit {
                contents.copies += 1
                var copy = item
                copy.entry = Entry(title: item.entry.title, span: span)
                items[ItemKey(change.item.collection, "\(change.item.id)-copy\(contents.copies)")] = copy
            }
        }
        item.revision += 1
        // For any other connection of the circle it is an edit like a person's.
        item.edits += 1
        item.changedAt = Instant(seconds: clock)
        items[change.item] = item
        keep(batch)
        guard let ours = ours(change.item) else { return .changedMeanwhile }
        return .applied(ours)
    }

    func journal(of run: String) async throws -> [JournalEntry] { journal.filter { $0.run == run } }

    // MARK: Backups

    /// Everything that is stored of a connection, at one moment.
    struct Records {
        var links: [ItemKey: Link] = [:]
        var operations: [ByteString: Operation] = [:]
        var conflicts: [ByteString: ConflictRecord] = [:]
        var journal: [JournalEntry] = []
        var position: Position?
        var runs: [ByteString: RunRecord] = [:]
    }

    var records: Records {
        get {
            Records(
                links: links, operations: operations, conflicts: conflicts, journal: journal, position: position,
                runs: runs)
        }
        set {
            (links, operations, conflicts) = (newValue.links, newValue.operations, newValue.conflicts)
            (journal, position, runs) = (newValue.journal, newValue.position, newValue.runs)
        }
    }
}
