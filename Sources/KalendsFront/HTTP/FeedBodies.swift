// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Hummingbird
import ICalBridge
import KalendsCore
import NIOCore
import Synchronization

/// Caches the bytes of feeds as they are sent; all answers share them without copies.
package final class FeedBodies: Sendable {
    /// Identifies one representation's bytes by their content: feeds that show the same content share them.
    struct Key: Hashable {
        var hash: ContentHash
        var form: CalendarForm
        var coding: ContentCoding
    }

    /// The approximate size of an entry besides its bytes.
    private static let overhead = 200
    private let bodies: Mutex<LeastRecentlyUsed<Key, ByteBuffer>>
    /// Texts that are too large for the cache, kept as long as somebody reads them.
    private let large = Mutex<[Key: WeakText]>([:])

    private struct WeakText {
        weak var text: FeedText?
    }

    /// - Parameter limit: the number of bytes to keep.
    package init(limit: Int = 32 << 20) { bodies = Mutex(LeastRecentlyUsed(limit: limit)) }

    /// The bytes of a representation, if they are available.
    func find(_ key: Key) -> ByteBuffer? { bodies.withLock { $0.find(key) } }

    /// A large text that somebody is reading now.
    func large(_ key: Key) -> FeedText? { large.withLock { $0[key]?.text } }

    /// Keeps a text in one buffer, or as long as somebody reads it when it is too large for one.
    func keep(_ text: FeedText, for key: Key) {
        guard text.isLarge else { return keep(ByteBuffer(text), for: key) }
        large.withLock { large in
            large = large.filter { $0.value.text != nil }
            large[key] = WeakText(text: text)
        }
    }

    func keep(_ body: ByteBuffer, for key: Key) {
        bodies.withLock { $0.keep(body, for: key, cost: body.readableBytes + Self.overhead) }
    }
}

extension ByteBuffer {
    /// Copies a text into one buffer.
    init(_ text: FeedText) {
        self = ByteBufferAllocator().buffer(capacity: text.count)
        text.eachPart { writeBytes($0) }
    }
}

extension FeedText {
    private static let partSize = 64 << 10

    /// The text as the body of an answer, written piece by piece at the reader's pace.
    var responseBody: ResponseBody {
        ResponseBody(contentLength: count) { writer in
            var buffer = ByteBuffer()
            for part in self.parts {
                for start in stride(from: 0, to: part.count, by: Self.partSize) {
                    buffer.writeBytes(part[start..<min(start + Self.partSize, part.count)])
                    guard buffer.readableBytes >= Self.partSize else { continue }
                    try await writer.write(buffer)
                    // A new buffer, since the writer may still hold the previous one.
                    buffer = ByteBuffer()
                }
            }
            if buffer.readableBytes > 0 { try await writer.write(buffer) }
            try await writer.finish(nil)
        }
    }
}
