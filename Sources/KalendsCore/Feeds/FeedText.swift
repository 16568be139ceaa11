// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A feed's bytes as they were made: in pieces, which schedules and other feeds of the circle share.
///
/// A class, so that all who read a large feed at a time can share it.
package final class FeedText: Sendable {
    /// More bytes than these are never joined into one buffer: they are written from the pieces, as readers take them.
    static let mostJoined = 8 << 20

    /// In bytes.
    package let count: Int
    private let head: [UInt8]
    private let pieces: [CalendarPiece]
    private let tail: [UInt8]
    /// What is held of the memory for feeds as long as the text is there; nil for a text that is counted by its readers.
    package let room: MemoryShare?

    init(head: [UInt8], pieces: [CalendarPiece], tail: [UInt8], room: MemoryShare? = nil) {
        (self.head, self.pieces, self.tail, self.room) = (head, pieces, tail, room)
        count = pieces.reduce(head.count + tail.count) { $0 + $1.bytes.count }
    }

    /// A text in one piece.
    convenience init(_ bytes: [UInt8]) { self.init(head: bytes, pieces: [], tail: []) }

    package var isLarge: Bool { count > Self.mostJoined }

    /// Hands over the bytes part by part, in order.
    package func eachPart(_ body: ([UInt8]) throws -> Void) rethrows {
        try body(head)
        for piece in pieces { try body(piece.bytes) }
        try body(tail)
    }

    /// Like `eachPart`, for callers that wait in between.
    package func eachPartInTurn(_ body: ([UInt8]) async throws -> Void) async rethrows {
        try await body(head)
        for piece in pieces { try await body(piece.bytes) }
        try await body(tail)
    }

    /// All bytes in one array.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        eachPart { bytes += $0 }
        return bytes
    }
}
