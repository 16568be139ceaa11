// SPDX-License-Identifier: Apache-2.0

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

    /// Which feed shows something in which form.
    private struct Showing: Hashable {
        var token: TokenKey
        var form: CalendarForm
    }

    private struct State {
        var bodies: LeastRecentlyUsed<Key, ByteBuffer>
        /// The texts that feeds showed last.
        var last = LeastRecentlyUsed<Showing, ContentHash>(limit: 1 << 20)
    }

    /// The approximate size of an entry besides its bytes.
    private static let overhead = 200
    private let state: Mutex<State>
    /// Texts that are too large for the cache, kept as long as somebody reads them.
    private let large = Mutex<[Key: WeakText]>([:])

    private struct WeakText {
        weak var text: FeedText?
    }

    /// - Parameter limit: the number of bytes to keep.
    package init(limit: Int = 32 << 20) { state = Mutex(State(bodies: LeastRecentlyUsed(limit: limit))) }

    /// The bytes of a representation, if they are available.
    func find(_ key: Key) -> ByteBuffer? { state.withLock { $0.bodies.find(key) } }

    /// A large text that somebody is reading now.
    func large(_ key: Key) -> FeedText? { large.withLock { $0[key]?.text } }

    /// Keeps a text in one buffer, or as long as somebody reads it when it is too large for one.
    ///
    /// - Parameter token: whose feed shows the text; what it showed before is dropped, because nobody asks for that
    ///   again.
    func keep(_ text: FeedText, for key: Key, of token: TokenKey) {
        drop(before: key, of: token)
        keep(text, for: key)
    }

    /// The same of a text in another coding; one that was packed is kept in one buffer if it has up to 4 MiB, because packing
    /// takes long.
    func keep(_ text: FeedText, for key: Key) {
        guard text.isLarge, key.coding == .identity || text.count > 4 << 20 else {
            if let joined = try? ByteBuffer(text) { keep(joined, for: key) }
            return
        }
        large.withLock { large in
            large = large.filter { $0.value.text != nil }
            large[key] = WeakText(text: text)
        }
    }

    func keep(_ body: ByteBuffer, for key: Key) {
        state.withLock { $0.bodies.keep(body, for: key, cost: body.readableBytes + Self.overhead) }
    }

    /// Feeds with the same content change together: one that still shows the old bytes is made again when it is read.
    private func drop(before key: Key, of token: TokenKey) {
        let showing = Showing(token: token, form: key.form)
        state.withLock { state in
            if let old = state.last.find(showing), old != key.hash {
                for coding in ContentCoding.allCases {
                    state.bodies.remove(Key(hash: old, form: key.form, coding: coding))
                }
            }
            state.last.keep(key.hash, for: showing, cost: Self.overhead)
        }
    }
}

extension ByteBuffer {
    /// Copies a text into one buffer.
    init(_ text: FeedText) throws {
        self = ByteBufferAllocator().buffer(capacity: text.count)
        try text.eachPiece { writeBytes($0) }
    }
}

extension FeedText {
    /// The text as the body of an answer, written piece by piece at the reader's pace.
    var responseBody: ResponseBody {
        ResponseBody(contentLength: count) { writer in
            for index in 0..<self.pieceCount { try await writer.write(ByteBuffer(bytes: try self.piece(index))) }
            try await writer.finish(nil)
        }
    }
}
