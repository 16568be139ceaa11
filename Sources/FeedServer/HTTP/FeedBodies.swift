// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import ICalBridge
import NIOCore
import Synchronization

/// Remembers the bytes of feeds as they are sent: shared by all answers, copied by none.
final class FeedBodies: Sendable {
    /// One representation's bytes. They are found by what they are: feeds that show the same share them.
    struct Key: Hashable {
        var hash: ContentHash
        var form: CalendarForm
        var coding: ContentCoding
    }

    /// What one entry takes besides its bytes, about.
    private static let overhead = 200
    private let bodies: Mutex<LeastRecentlyUsed<Key, ByteBuffer>>

    /// - Parameter limit: how many bytes to keep.
    init(limit: Int = 32 << 20) { bodies = Mutex(LeastRecentlyUsed(limit: limit)) }

    /// The bytes of a representation, if they are at hand.
    func find(_ key: Key) -> ByteBuffer? { bodies.withLock { $0.find(key) } }

    func keep(_ body: ByteBuffer, for key: Key) {
        bodies.withLock { $0.keep(body, for: key, cost: body.readableBytes + Self.overhead) }
    }
}
