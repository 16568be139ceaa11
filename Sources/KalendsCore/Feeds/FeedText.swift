// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A feed's bytes in pieces, which schedules and other feeds of the circle share.
///
/// It is a class so that simultaneous readers of a large feed can share it.
package final class FeedText: Sendable {
    /// A longer text, in bytes, is never joined into one buffer: it is written piece by piece as readers take it.
    static let mostJoined = 8 << 20

    /// The length in bytes.
    package let count: Int
    private let head: [UInt8]
    private let pieces: [CalendarPiece]
    private let tail: [UInt8]
    /// The room held for the text as long as it exists; nil if its readers count it.
    package let room: MemoryShare?

    init(head: [UInt8], pieces: [CalendarPiece], tail: [UInt8], room: MemoryShare? = nil) {
        (self.head, self.pieces, self.tail, self.room) = (head, pieces, tail, room)
        count = pieces.reduce(head.count + tail.count) { $0 + $1.bytes.count }
    }

    /// Creates a text of one piece.
    convenience init(_ bytes: [UInt8], room: MemoryShare?) {
        self.init(head: bytes, pieces: [], tail: [], room: room)
    }

    package var isLarge: Bool { count > Self.mostJoined }

    /// Calls the body with the bytes part by part, in order.
    package func eachPart(_ body: ([UInt8]) throws -> Void) rethrows {
        try body(head)
        for piece in pieces { try body(piece.bytes) }
        try body(tail)
    }

    /// The bytes in parts, each of which ends where a line does.
    package var parts: [[UInt8]] { [head] + pieces.map(\.bytes) + [tail] }

    /// All bytes in one array.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        eachPart { bytes += $0 }
        return bytes
    }
}
