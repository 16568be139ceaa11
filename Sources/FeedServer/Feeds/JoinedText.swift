// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge
import NIOCore

/// A feed's bytes while its pieces are added, each looked at once.
struct JoinedText: Sendable {
    /// Kept free before the first piece for the head, which is known last.
    private static let room = 1 << 16

    private var head: CalendarHead
    private var body: ByteBuffer
    private var digests: [SIMD2<UInt64>] = []

    /// - Parameter capacity: about how many bytes there will be.
    init(coverage: ClosedRange<Instant>, capacity: Int) {
        head = CalendarHead(coverage: coverage)
        body = ByteBufferAllocator().buffer(capacity: capacity + Self.room)
        body.moveWriterIndex(forwardBy: Self.room)
    }

    mutating func add(_ piece: CalendarPiece) {
        head.cover(piece)
        digests.append(piece.digest)
        body.writeBytes(piece.bytes)
    }

    /// Ends the text: the whole, and a hash that is equal exactly when the bytes are, since pieces end where events do.
    mutating func finish(_ calendar: ICalendar) -> FeedRenderer.Rendered {
        let head = head.bytes(of: calendar)
        body.writeBytes(JoinedCalendar.tail)
        var hash = SHA256()
        hash.update(data: head)
        unsafe digests.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        if head.count <= Self.room {
            body.moveReaderIndex(to: Self.room - head.count)
            body.setBytes(head, at: body.readerIndex)
        } else {
            // A calendar of very many zones.
            body.moveReaderIndex(to: Self.room)
            body = ByteBuffer(bytes: head + body.readableBytesView)
        }
        return FeedRenderer.Rendered(body: body, hash: ContentHash(of: hash.finalize()))
    }
}
