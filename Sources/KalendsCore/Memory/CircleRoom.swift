// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Storage

extension Services {
    /// Takes room for a whole circle before it is read, waiting for its turn; the room is given back with the share.
    ///
    /// Throws 503 if others keep the room for too long.
    ///
    /// - Parameters:
    ///   - owner: the user whose own entries are read as well, if any.
    ///   - payer: who takes turns with others.
    func room(forCircle id: String, andOwnOf owner: String? = nil, for payer: String) async throws -> MemoryShare {
        let share = try await room(forFormOf: id, andOwnOf: owner, for: payer)
        // Reading a whole circle occupies a reader of the database for long, and one must remain free for polls.
        let place = MemoryShare(memory.pages, network: ByteString(payer))
        try await place.hold(MemoryBudgets.mostPageBytes)
        share.rely(on: place)
        return share
    }

    /// Takes room for a feed whose text is made into another form, which occupies a reader for no longer than any feed.
    func room(forFormOf id: String, andOwnOf owner: String?, for payer: String) async throws -> MemoryShare {
        let share = MemoryShare(memory.circles, network: ByteString(payer))
        try await share.hold(try await memoryNeeded(forCircle: id, andOwnOf: owner))
        return share
    }

    /// Takes room for one user's own entries, as `room(forCircle:andOwnOf:for:)` does for a circle.
    func room(forOwnOf owner: String) async throws -> MemoryShare {
        let share = MemoryShare(memory.circles, network: ByteString(owner))
        try await share.hold(try await store.read { RowSize(try $0.ownUsage(of: owner)).memory })
        return share
    }

    /// Takes room for the circle that a connection is compared with; one user's connections get at most half of the
    /// budget, and runs with slow providers give way to those that wait.
    ///
    /// Throws 503 if others keep the room for too long.
    func room(forRunOf connection: Connection) async throws -> RunRoom {
        let share = MemoryShare(memory.runs, network: sync.turn(of: connection.userID))
        // What both sides agreed on is read as text, and kept as values.
        let known = try await store.read { try $0.runSize(of: connection.id) }
        let count = try await memoryNeeded(forCircle: connection.circleID, andOwnOf: nil) + 2 * known
        if !share.holdNow(count) { try await sync.waitingForRoom { try await share.hold(count) } }
        return RunRoom(share, of: connection.userID, at: sync)
    }

    /// Takes room for a feed's text, to be held as long as the text; returns nil if the text is not large.
    ///
    /// Large texts wait until there is memory for them; a small one never waits. Throws 503 if others keep the room for
    /// too long.
    ///
    /// - Parameters:
    ///   - owner: the user whose own entries the feed shows, if any.
    ///   - form: a form other than iCalendar is made of that, and counts with it.
    func room(forTextOf id: String, andOwnOf owner: String?, as form: CalendarForm) async throws -> MemoryShare? {
        let size = try await store.read { transaction in
            let own = RowSize(try owner.map { try transaction.ownUsage(of: $0) } ?? Usage())
            return try Self.textSize(of: id, in: transaction) + own.text
        }
        guard size > FeedText.mostJoined else { return nil }
        let share = MemoryShare(memory.texts)
        try await share.hold(form == .iCalendar ? size : size * 3)
        return share
    }

    /// Whether a circle's text is so large that room is needed for it.
    static func isLarge(_ id: String, in transaction: any ReadTransaction) throws -> Bool {
        try textSize(of: id, in: transaction) > FeedText.mostJoined
    }

    private static func textSize(of id: String, in transaction: any ReadTransaction) throws -> Int {
        RowSize(try transaction.itemUsage(of: id)).text
            + RowSize(Usage(count: try transaction.importedEventCount(in: id))).text
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

/// The size of the rows that are read.
private struct RowSize: Sendable {
    let rows: Usage

    init(_ rows: Usage) { self.rows = rows }

    /// The approximate bytes needed while something is made of the rows: each text exists as a row, as values and as
    /// the result.
    var memory: Int { rows.bytes * 4 + rows.count * 3072 }

    /// The approximate bytes of the rows as iCalendar text.
    var text: Int { rows.bytes + rows.count * 1024 }
}
