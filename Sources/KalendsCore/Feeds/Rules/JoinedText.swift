// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge

/// A feed's text while its pieces are added; each piece is examined once and never copied.
struct JoinedText: Sendable {
    private var head: CalendarHead
    private var pieces: [CalendarPiece] = []

    init(coverage: ClosedRange<Instant>) { head = CalendarHead(coverage: coverage) }

    mutating func add(_ piece: CalendarPiece) {
        head.cover(piece)
        pieces.append(piece)
    }

    /// Completes the text.
    ///
    /// The hash is made from the digests of the pieces. Because pieces end where events end, two texts have equal hashes
    /// exactly when their bytes are equal.
    ///
    /// - Parameter room: the room held for the text as long as it exists.
    consuming func finish(_ calendar: ICalendar, room: MemoryShare? = nil) -> FeedRenderer.Rendered {
        let head = head.bytes(of: calendar)
        var hash = SHA256()
        hash.update(data: head)
        let digests = pieces.map(\.digest)
        unsafe digests.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
        return FeedRenderer.Rendered(
            text: FeedText([head] + pieces.map(\.bytes) + [JoinedCalendar.tail], room: room),
            hash: ContentHash(of: hash.finalize()))
    }
}
