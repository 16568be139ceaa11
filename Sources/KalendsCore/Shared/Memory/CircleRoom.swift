// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import Storage

/// Reads whole circles, each in its turn.
protocol CircleReading: Sendable {
    var store: any Store { get }
    var memory: MemoryBudgets { get }
}

extension CircleReading {
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
        let memoryShare = MemoryShare(memory.pages, network: ByteString(payer))
        try await memoryShare.hold(MemoryBudgets.mostPageBytes)
        share.rely(on: memoryShare)
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

    /// The same for the events of a user's own calendar, without phones' plans and CalDAV calendars.
    func room(forEventsOf user: String) async throws -> MemoryShare {
        let share = MemoryShare(memory.circles, network: ByteString(user))
        try await share.hold(
            try await store.read {
                let own = try $0.personalCalendar(of: user)
                return RowSize(Usage(count: own.events, bytes: own.bytes)).memory
            })
        return share
    }

    /// Takes room for a feed's text before it is made, to be held until its readers count it; that of a large text, which
    /// is in a spool, is held as long as the text.
    ///
    /// Throws 503 if others keep the room for too long.
    ///
    /// - Parameters:
    ///   - owner: the user whose own entries the feed shows, if any.
    ///   - form: a form other than iCalendar is made from that, and counts with it.
    ///   - payer: who takes turns with others.
    /// - Returns: the room for the text; what a large one takes of this process's memory until it is in its spool; and
    ///   whether it has to be written there piece by piece, because so little was taken.
    func room(
        forTextOf id: String, andOwnOf owner: String?, as form: CalendarForm, for payer: String
    ) async throws -> (text: MemoryShare, making: MemoryShare?, isSpooled: Bool) {
        let rows = try await store.read { try RowSize.all(of: id, andOwnOf: owner, in: $0).text }
        let size = form == .iCalendar ? rows : rows * 3
        let isLarge = size > FeedText.mostJoined
        let share = MemoryShare(isLarge ? memory.spooled : memory.feeds, network: ByteString(payer))
        try await share.hold(size)
        guard isLarge else { return (share, nil, false) }
        let isSpooled = form == .iCalendar && rows > FeedText.mostInMemory
        let needed = isSpooled ? MemoryBudgets.mostPageBytes : rows
        let making = memory.text(of: needed, for: payer)
        try await making.hold(needed)
        return (share, making, isSpooled)
    }

    /// Takes room for a circle's text in a spool, to be held as long as the text, and the turn in which it is written there.
    ///
    /// Throws 503 if others keep the room for too long.
    func room(forExportOf id: String, for payer: String) async throws -> (text: MemoryShare, turn: MemoryShare) {
        let text = MemoryShare(memory.spooled, network: ByteString(payer))
        try await text.hold(try await store.read { try RowSize.all(of: id, andOwnOf: nil, in: $0).text })
        let turn = MemoryShare(memory.pages, network: ByteString(payer))
        try await turn.hold(MemoryBudgets.mostPageBytes)
        return (text, turn)
    }

    /// Takes the turn in which a feed of a whole circle is made.
    func turn(ofFeeds payer: String) async throws -> MemoryShare {
        let share = MemoryShare(memory.renderings, network: ByteString(payer))
        try await share.hold(MemoryBudgets.mostPageBytes)
        return share
    }

    fileprivate func memoryNeeded(forCircle id: String, andOwnOf owner: String?) async throws -> Int {
        try await store.read { try RowSize.all(of: id, andOwnOf: owner, in: $0).memory }
    }

    /// Reads whole circles, taking turns with others; each starts once it has room, which passes to the body.
    ///
    /// The room is given back with the result's second part. Throws 503 if others keep room or turn for too long.
    ///
    /// - Parameter payer: who takes turns with others.
    func readInTurn<Value: Sendable>(
        for payer: String, _ body: @escaping @Sendable (any ReadTransaction, CircleRoom) throws -> Value
    ) async throws -> (Value, CircleRoom) {
        var needed = CircleRoom.Needed()
        while true {
            let room = CircleRoom(memory, payer, text: needed.text)
            // Readers of large texts may be slow, so nothing else is held while this is waited for.
            try await room.texts.hold(needed.text)
            try await room.circles.hold(needed.memory)
            // Reading a whole circle occupies a reader of the database for long, and one must remain free for polls.
            try await room.memoryShare.hold(MemoryBudgets.mostPageBytes)
            do {
                return (try await store.read { try body($0, room) }, room)
            } catch let more as CircleRoom.Needed {
                needed = more
            }
        }
    }
}

/// The room for whole circles that are read in one transaction.
final class CircleRoom: Sendable {
    /// The room that a read needs and that is not free: the read ends, waits for it, and begins again.
    struct Needed: Error {
        var memory = 0
        var text = 0
    }

    fileprivate let texts: MemoryShare
    fileprivate let circles: MemoryShare
    fileprivate let memoryShare: MemoryShare

    fileprivate init(_ memory: MemoryBudgets, _ payer: String, text: Int) {
        texts = memory.text(of: text, for: payer)
        circles = MemoryShare(memory.circles, network: ByteString(payer))
        memoryShare = MemoryShare(memory.pages, network: ByteString(payer))
    }

    enum Text {
        case none, whole
        /// All of it, or little if it is longer than `FeedText.mostInMemory`.
        case asForFeed
    }

    /// Takes the room for a circle in the snapshot in which it is read; throws `Needed` if no room is free at this moment.
    ///
    /// - Parameters:
    ///   - owner: the user whose own entries are read as well, if any.
    ///   - text: how much of the circle's text is in memory at a time; only a large one needs room.
    func take(
        _ id: String, andOwnOf owner: String?, with text: Text = .none, in transaction: any ReadTransaction
    ) throws {
        var needed = Needed()
        let rows = try RowSize.all(of: id, andOwnOf: owner, in: transaction)
        needed.memory = rows.memory
        if text != .none, rows.text > FeedText.mostJoined {
            let isSpooled = text == .asForFeed && rows.text > FeedText.mostInMemory
            needed.text = isSpooled ? MemoryBudgets.mostPageBytes : rows.text
        }
        guard texts.holdNow(needed.text), circles.holdNow(needed.memory) else { throw needed }
    }

    /// Whether a circle has so much text that a feed of it is never in memory as a whole.
    static func isSpooled(
        _ id: String, andOwnOf owner: String?, in transaction: any ReadTransaction
    ) throws -> Bool {
        try RowSize.all(of: id, andOwnOf: owner, in: transaction).text > FeedText.mostInMemory
    }

    /// The most bytes of the text of a feed's circle.
    static func textSize(_ open: OpenFeed) -> Int {
        RowSize(open.itemUsage, open.importedUsage).text
    }
}

extension SyncContext {
    /// Takes room for the circle that a connection is compared with; one user's connections get at most half of the
    /// budget, and runs with slow providers give way to those that wait.
    ///
    /// Throws 503 if others keep the room for too long.
    func room(forRunOf connection: Connection) async throws -> RunRoom {
        let share = MemoryShare(memory.runs, network: sync.turn(of: connection.userID))
        // The contents that both sides agreed on are read as text, and kept as values.
        let known = try await store.read { try $0.runSize(of: connection.id) }
        let count = try await memoryNeeded(forCircle: connection.circleID, andOwnOf: nil) + 2 * known
        if !share.holdNow(count) { try await sync.waitingForRoom { try await share.hold(count) } }
        return RunRoom(share, of: connection.userID, at: sync)
    }
}

/// The size of the rows that are read.
private struct RowSize: Sendable {
    private var rows = Usage()

    init(_ parts: Usage...) {
        for part in parts { (rows.count, rows.bytes) = (rows.count + part.count, rows.bytes + part.bytes) }
    }

    /// The rows of a whole circle, and of a user's own entries if there is one.
    static func all(
        of circle: String, andOwnOf owner: String?, in transaction: any ReadTransaction
    ) throws -> RowSize {
        RowSize(
            try transaction.itemUsage(of: circle), try transaction.importedUsage(in: circle),
            try owner.map { try transaction.ownUsage(of: $0) } ?? Usage())
    }

    /// The approximate number of bytes needed while something is made from the rows: each text exists as a row, as
    /// values and as the result.
    var memory: Int { rows.bytes * 4 + rows.count * 3072 }

    /// The approximate bytes of the rows as iCalendar text.
    var text: Int { rows.bytes + rows.count * 1024 }
}
