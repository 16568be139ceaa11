// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore
import Synchronization

/// The text of an answer in pieces, so that a long one is not copied while it grows, nor again when it is sent.
package struct AnswerText: Sendable {
    /// The length in bytes from which the next addition begins a new piece.
    private static let piece = 64 << 10

    /// The length in bytes.
    package private(set) var count = 0
    private(set) var pieces: [[UInt8]] = [[]]

    init(_ text: some StringProtocol) { append(text) }

    mutating func append(_ text: some StringProtocol) { append(Array(text.utf8)) }

    mutating func append(_ bytes: [UInt8]) {
        count += bytes.count
        if pieces[pieces.count - 1].count + bytes.count > Self.piece {
            pieces.append(bytes)
        } else {
            pieces[pieces.count - 1] += bytes
        }
    }

    mutating func append(_ other: AnswerText) { for piece in other.pieces { append(piece) } }

    /// The text as the body of an answer; each piece is released once its reader has received it.
    var responseBody: ResponseBody {
        guard pieces.count > 1 else { return ResponseBody(byteBuffer: ByteBuffer(bytes: pieces[0])) }
        let rest = Rest(pieces)
        return ResponseBody(contentLength: count) { writer in
            while let piece = rest.next() { try await writer.write(ByteBuffer(bytes: piece)) }
            try await writer.finish(nil)
        }
    }

    private final class Rest: Sendable {
        private let pieces: Mutex<[[UInt8]]>

        init(_ pieces: [[UInt8]]) { self.pieces = Mutex(pieces.reversed()) }

        func next() -> [UInt8]? { pieces.withLock { $0.popLast() } }
    }
}
