// SPDX-License-Identifier: Apache-2.0

/// A feed's bytes in pieces, which schedules and other feeds of the circle share.
///
/// It is a class so that simultaneous readers of a large feed can share it.
package final class FeedText: Sendable {
    /// A longer text, in bytes, is never joined into one buffer: it is written piece by piece as readers take it.
    static let mostJoined = 8 << 20

    /// The length in bytes.
    package let count: Int
    /// The bytes in parts, each of which ends where an event does.
    package let parts: [[UInt8]]
    /// The room held for the text before it was made: as long as it exists if it is large, else until a reader counts it.
    package let room: MemoryShare?

    init(_ parts: [[UInt8]], room: MemoryShare?) {
        (self.parts, self.room) = (parts, room)
        count = parts.reduce(0) { $0 + $1.count }
    }

    package var isLarge: Bool { count > Self.mostJoined }

    /// All bytes in one array.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for part in parts { bytes += part }
        return bytes
    }
}
