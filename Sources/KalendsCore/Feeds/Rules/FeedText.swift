// SPDX-License-Identifier: Apache-2.0

/// A feed's bytes in pieces, which schedules and other feeds of the circle share.
///
/// It is a class so that simultaneous readers of a large feed can share it.
package final class FeedText: Sendable {
    /// A longer text, in bytes, is never joined into one buffer: it is kept in a spool, from which readers take it at their
    /// pace.
    static let mostJoined = 1 << 20
    /// Circles of more text, in bytes, are made into a feed with few of their entries in memory at a time.
    static let mostInMemory = 16 << 20
    private static let pieceSize = 64 << 10

    /// The length in bytes.
    package let count: Int
    /// The bytes in parts, each of which ends where an event does; of a text in a spool, those that come before it.
    let parts: [[UInt8]]
    /// The room held for the text before it was made: as long as it exists if it is large, else until a reader counts it.
    package let room: MemoryShare?
    private let spool: Spool?

    package init(_ parts: [[UInt8]], room: MemoryShare?) {
        (self.parts, self.room, spool) = (parts, room, nil)
        count = parts.reduce(0) { $0 + $1.count }
    }

    private init(_ parts: [[UInt8]], _ spool: Spool, room: MemoryShare?) {
        (self.parts, self.spool, self.room) = (parts, spool, room)
        count = parts.reduce(spool.count) { $0 + $1.count }
    }

    /// A text that is written to a spool from its beginning to its end, and so takes hardly any memory.
    package struct Spooling {
        private let spool: Spool
        private var piece: [UInt8] = []

        /// Throws 503 if the system has no room, as the other functions do.
        package init() throws {
            do { spool = try Spool() } catch { throw Refusal.noRoom }
        }

        package mutating func add(_ bytes: some Collection<UInt8>) throws {
            piece += bytes
            if piece.count >= FeedText.pieceSize { try write() }
        }

        private mutating func write() throws {
            do { try spool.append(piece) } catch { throw Refusal.noRoom }
            piece.removeAll(keepingCapacity: true)
        }

        /// - Parameters:
        ///   - parts: what comes before everything that was added.
        ///   - room: the room held for the text as long as it exists, which was as long as the text might have become.
        mutating func finished(after parts: [[UInt8]] = [], room: MemoryShare?) throws -> FeedText {
            try write()
            let text = FeedText(parts, spool, room: room)
            room?.keep(text.count)
            return text
        }

        /// - Parameter text: a text of which this is another coding, and whose room is enough for both: one of them is there
        ///   for a moment.
        package mutating func finished(inRoomOf text: FeedText) throws -> FeedText {
            try write()
            return FeedText([], spool, room: text.room)
        }
    }

    /// A text while it is made: what becomes large goes to a spool, part by part.
    struct Maker {
        private var parts: [[UInt8]] = []
        private var count = 0
        private var spooling: Spooling?

        mutating func add(_ part: [UInt8]) throws {
            if spooling != nil {
                try spooling?.add(part)
                return
            }
            parts.append(part)
            count += part.count
            guard count > FeedText.mostJoined else { return }
            var spooling = try Spooling()
            for part in parts { try spooling.add(part) }
            (self.spooling, parts) = (spooling, [])
        }

        /// - Parameter room: the room held for the text; a large one keeps it as long as it exists.
        consuming func finish(room: MemoryShare?) throws -> FeedText {
            guard var spooling else { return FeedText(parts, room: room) }
            return try spooling.finished(room: room)
        }
    }

    package var isLarge: Bool { count > Self.mostJoined }

    /// The same text, outside of this process's memory if it is large; its parts are freed once nobody else shares them.
    ///
    /// Throws 503 if the system has no room for it.
    func spooledIfLarge() throws -> FeedText {
        guard isLarge, spool == nil else { return self }
        var spooling = try Spooling()
        for part in parts { try spooling.add(part) }
        return try spooling.finished(room: room)
    }

    /// Calls a body with pieces of a few kibibytes, one after the other.
    package func eachPiece(_ body: ([UInt8]) throws -> Void) throws {
        for index in 0..<pieceCount { try body(try piece(index)) }
    }

    package var pieceCount: Int { parts.count + ((spool?.count ?? 0) + Self.pieceSize - 1) / Self.pieceSize }

    package func piece(_ index: Int) throws -> [UInt8] {
        guard index >= parts.count, let spool else { return parts[index] }
        let start = (index - parts.count) * Self.pieceSize
        return try spool.read(start..<min(start + Self.pieceSize, spool.count))
    }

    /// All bytes in one array.
    var bytes: [UInt8] {
        get throws {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count)
            try eachPiece { bytes += $0 }
            return bytes
        }
    }
}
