// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge

/// Appointments and a connection's state in memory.
actor InStepStore: SyncStore {
    private var items: [Ours] = []
    private var links: [ItemKey: Link] = [:]
    private var operations: [ByteString: Operation] = [:]
    private var conflicts: [ByteString: ConflictRecord] = [:]
    private var journal: [JournalEntry] = []
    private var position: Position?

    init(events: Int) {
        let now = Instant(seconds: systemMilliseconds() / 1000)
        for index in 0..<events {
            let start = Instant(seconds: (now.seconds / 3600 + 24 + index % 8000) * 3600)
            let entry = Entry(
                title: "Event \(index)", notes: "Bring the key", location: "Main St. 5",
                span: .timed(start: start, end: start.adding(seconds: 1800), zone: "Europe/Berlin"), reminders: [15])
            items.append(Ours(item: ItemKey(.appointments, "e\(index)"), entry: entry, changedAt: now, revision: 1))
        }
    }

    func rename() {
        items[5].entry.title += ", renamed"
        items[5].revision += 1
        items[5].changedAt = Instant(seconds: systemMilliseconds() / 1000)
    }

    var anyLink: Link? { links[items[7].item] }

    func load(deletionsAfter dayAgo: Instant) async throws -> SyncState {
        SyncState(
            links: links.values.sorted { $0.item.id < $1.item.id },
            operations: operations.values.filter { $0.state == .open },
            conflicts: conflicts.values.filter { $0.state == .open }, position: position)
    }

    func desired() async throws -> Desired { Desired(items: items) }

    func eventsOfOthers(_ items: Set<ItemKey>) async throws -> Set<ByteString> { [] }

    func commit(_ batch: SyncBatch) async throws {
        for link in batch.links { links[link.item] = link }
        for operation in batch.operations { operations[ByteString(operation.key)] = operation }
        for conflict in batch.conflicts { conflicts[ByteString(conflict.id)] = conflict }
        journal += batch.journal
        if let position = batch.position { self.position = position }
    }

    func apply(_ change: InboundChange, recording batch: SyncBatch) async throws -> InboundAnswer {
        .refused("Nothing comes in here.")
    }

    func journal(of run: String) async throws -> [JournalEntry] { journal.filter { $0.run == run } }
}
