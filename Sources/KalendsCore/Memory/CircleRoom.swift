// SPDX-License-Identifier: Apache-2.0

import Base
import Storage

extension Services {
    /// Room for all of a circle, taken before it is read and given back with the share; waits for its turn.
    ///
    /// Throws 503 when others keep it for too long.
    ///
    /// - Parameter owner: whose own entries are read beside it; nil for nobody's.
    func room(forCircle id: String, andOwnOf owner: String? = nil) async throws -> MemoryShare {
        let share = MemoryShare(memory.circles)
        try await share.hold(try await memoryNeeded(forCircle: id, andOwnOf: owner))
        // All of a circle is gone over while it is read: a reader of the database has to be left for polls.
        let place = MemoryShare(memory.pages)
        try await place.hold(MemoryBudgets.mostPageBytes)
        share.rely(on: place)
        return share
    }

    /// Room for what one user has of their own, as `room(forCircle:andOwnOf:)`.
    func room(forOwnOf owner: String) async throws -> MemoryShare {
        let share = MemoryShare(memory.circles)
        try await share.hold(try await store.read { RowSize(try $0.ownUsage(of: owner)).memory })
        return share
    }

    /// Room for the circle that a connection is compared with; one provider's connections have half of it at most.
    ///
    /// Throws 503 when others keep it for too long.
    func room(forRunOf connection: Connection) async throws -> MemoryShare {
        let share = MemoryShare(memory.runs, network: ByteString(connection.provider.rawValue))
        try await share.hold(try await memoryNeeded(forCircle: connection.circleID, andOwnOf: nil))
        return share
    }

    /// Room for a circle's text, to be held as long as the text is there; nil when that is not a large one.
    ///
    /// Large ones are made and sent as far as there is memory for them; a small one does not wait for any of them.
    /// Throws 503 when others keep the room for too long.
    func room(forTextOf id: String) async throws -> MemoryShare? {
        let size = try await store.read { transaction in
            RowSize(try transaction.itemUsage(of: id)).text
                + RowSize(Usage(count: try transaction.importedEventCount(in: id))).text
        }
        guard size > FeedText.mostJoined else { return nil }
        let share = MemoryShare(memory.texts)
        try await share.hold(size)
        return share
    }

    private func memoryNeeded(forCircle id: String, andOwnOf owner: String?) async throws -> Int {
        try await store.read { transaction in
            let items = RowSize(try transaction.itemUsage(of: id))
            let imported = RowSize(Usage(count: try transaction.importedEventCount(in: id)))
            let own = RowSize(try owner.map { try transaction.ownUsage(of: $0) } ?? Usage())
            return items.memory + imported.memory + own.memory
        }
    }
}

/// How much there is to read.
private struct RowSize: Sendable {
    let rows: Usage

    init(_ rows: Usage) { self.rows = rows }

    /// About what it takes while something is made of it: each text as a row, as values and as what is made.
    var memory: Int { rows.bytes * 4 + rows.count * 3072 }

    /// About what it takes as iCalendar text.
    var text: Int { rows.bytes + rows.count * 1024 }
}
