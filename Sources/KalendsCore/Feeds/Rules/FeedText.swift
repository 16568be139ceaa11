// SPDX-License-Identifier: Apache-2.0

/// A feed's bytes in pieces, which schedules and other feeds of the circle share.
///
/// It is a class so that simultaneous readers of a large feed can share it.
package final class FeedText: Sendable {
    /// A longer text, in bytes, is never joined into one buffer: it is kept in a spool, from which readers take it at their
    /// pace.
    static let mostJoined = 1 << 20
    private static let pieceSize = 64 << 10

    /// The length in bytes.
    package let count: Int
    /// The bytes in parts, each of which ends where an event does; none in a spool.
    let parts: [[UInt8]]
    /// The room held for the text before it was made: as long as it exists if it is large, else until a reader counts it.
    package let room: MemoryShare?
    private let spool: Spool?

    package init(_ parts: [[UInt8]], room: MemoryShare?) {
        (self.parts, self.room, spool) = (parts, room, nil)
        count = parts.reduce(0) { $0 + $1.count }
    }

    private init(_ spool: Spool, room: MemoryShare?) {
        (self.spool, self.room, parts) = (spool, room, [])
        count = spool.count
    }

    package var isLarge: Bool { count > Self.mostJoined }

    /// The same text, outside of this process's memory if it is large; its parts are freed once nobody else shares them.
    ///
    /// Throws 503 if the system has no room for it.
    func spooledIfLarge() throws -> FeedText {
        guard isLarge, spool == nil else { return self }
        var maker = Maker()
        for part in parts { try maker.add(part) }
        return try maker.finish(room: room)
    }

    /// A text while it is made: what becomes large goes to a spool, part by part.
    ///
    /// Throws 503 if the system has no room for it.
    struct Maker {
        private var parts: [[UInt8]] = []
        private var (count, unwritten) = (0, 0)
        private var spool: Spool?

        mutating func add(_ part: [UInt8]) throws {
            parts.append(part)
            (count, unwritten) = (count + part.count, unwritten + part.count)
            if count > FeedText.mostJoined, unwritten >= FeedText.pieceSize { try write() }
        }

        /// - Parameter room: the room held for the text; a large one keeps it as long as it exists.
        consuming func finish(room: MemoryShare?) throws -> FeedText {
            if count > FeedText.mostJoined { try write() }
            guard let spool else { return FeedText(parts, room: room) }
            // It was as long as the circle might have made it.
            room?.keep(spool.count)
            return FeedText(spool, room: room)
        }

        private mutating func write() throws {
            var joined: [UInt8] = []
            joined.reserveCapacity(unwritten)
            for part in parts { joined += part }
            (parts, unwritten) = ([], 0)
            do {
                let spool = try self.spool ?? Spool()
                try spool.append(joined)
                self.spool = spool
            } catch {
                throw Refusal.noRoom
            }
        }
    }

    /// Calls a body with pieces of a few kibibytes, one after the other.
    package func eachPiece(_ body: ([UInt8]) throws -> Void) throws {
        for index in 0..<pieceCount { try body(try piece(index)) }
    }

    package var pieceCount: Int { spool == nil ? parts.count : (count + Self.pieceSize - 1) / Self.pieceSize }

    package func piece(_ index: Int) throws -> [UInt8] {
        guard let spool else { return parts[index] }
        let start = index * Self.pieceSize
        return try spool.read(start..<min(start + Self.pieceSize, count))
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
