// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge

/// A feed's text while its pieces are added; each piece is examined once and never copied.
struct JoinedText: Sendable {
    private var head: CalendarHead
    private var pieces: [CalendarPiece] = []
    private var digests: [SIMD2<UInt64>] = []

    init(coverage: ClosedRange<Instant>) { head = CalendarHead(coverage: coverage) }

    mutating func add(_ piece: CalendarPiece) {
        head.cover(piece)
        digests.append(piece.digest)
        pieces.append(piece)
    }

    /// Adds a piece that is not kept in memory.
    mutating func add(_ piece: CalendarPiece, to spooling: inout FeedText.Spooling) throws {
        head.cover(piece)
        digests.append(piece.digest)
        try spooling.add(piece.bytes)
    }

    /// Completes the text.
    ///
    /// The hash is made from the digests of the pieces. Because pieces end where events end, two texts have equal hashes
    /// exactly when their bytes are equal.
    ///
    /// - Parameter room: the room held for the text as long as it exists.
    consuming func finish(_ calendar: ICalendar, room: MemoryShare? = nil) -> FeedRenderer.Rendered {
        let head = head.bytes(of: calendar)
        return FeedRenderer.Rendered(
            text: FeedText([head] + pieces.map(\.bytes) + [JoinedCalendar.tail], room: room), hash: hash(with: head))
    }

    /// The same of a text whose pieces are in a spool; throws 503 if the system has no room.
    consuming func finish(
        _ calendar: ICalendar, _ spooling: inout FeedText.Spooling, room: MemoryShare?
    ) throws -> FeedRenderer.Rendered {
        let head = head.bytes(of: calendar)
        try spooling.add(JoinedCalendar.tail)
        return FeedRenderer.Rendered(
            text: try spooling.finished(after: [head], room: room), hash: hash(with: head))
    }

    private func hash(with head: [UInt8]) -> ContentHash {
        var hash = SHA256()
        hash.update(data: head)
        unsafe digests.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        return ContentHash(of: hash.finalize())
    }
}
