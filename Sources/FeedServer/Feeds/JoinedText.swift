// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge

/// A feed's bytes while its pieces are added, each looked at once.
struct JoinedText: Sendable {
    /// Kept free before the first piece for the head, which is known last.
    private static let room = 1 << 16

    private var head: CalendarHead
    private var body: [UInt8] = []
    private var digests: [SIMD2<UInt64>] = []

    /// - Parameter capacity: about how many bytes there will be.
    init(coverage: ClosedRange<Instant>, capacity: Int) {
        head = CalendarHead(coverage: coverage)
        body.reserveCapacity(capacity + Self.room)
        body.append(contentsOf: repeatElement(0, count: Self.room))
    }

    mutating func add(_ piece: CalendarPiece) {
        head.cover(piece)
        digests.append(piece.digest)
        body += piece.bytes
    }

    /// Ends the text: the whole, and a hash that is equal exactly when the bytes are, since pieces end where events do.
    mutating func finish(_ calendar: ICalendar) -> FeedRenderer.Rendered {
        let head = head.bytes(of: calendar)
        body += JoinedCalendar.tail
        var hash = SHA256()
        hash.update(data: head)
        unsafe digests.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        // A calendar of very many zones has a longer head, which moves all that follows.
        let start = max(0, Self.room - head.count)
        body.replaceSubrange(start..<Self.room, with: head)
        return FeedRenderer.Rendered(body: body[start...], hash: ContentHash(of: hash.finalize()))
    }
}
