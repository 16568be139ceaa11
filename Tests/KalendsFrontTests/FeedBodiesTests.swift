// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import ICalBridge
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront

@Suite("The bytes of feeds that are kept")
struct FeedBodiesTests {
    private let bodies = FeedBodies()

    private static func key(_ text: String, _ coding: ContentCoding = .identity) -> FeedBodies.Key {
        FeedBodies.Key(hash: ContentHash(of: SHA256.hash(data: Array(text.utf8))), form: .iCalendar, coding: coding)
    }

    private func keep(_ text: String, of token: Secret) {
        bodies.keep(FeedText([Array(text.utf8)], room: nil), for: Self.key(text), of: token.key)
        bodies.keep(ByteBuffer(string: "packed \(text)"), for: Self.key(text, .gzip))
    }

    @Test("What a feed showed before is dropped, in each coding, and what others show is kept")
    func dropped() {
        let (mine, other) = (Secret.make(.feed), Secret.make(.feed))
        keep("one", of: mine)
        keep("theirs", of: other)
        keep("two", of: mine)
        for coding in ContentCoding.allCases {
            #expect(bodies.find(Self.key("one", coding)) == nil)
            #expect(bodies.find(Self.key("two", coding)) != nil)
            #expect(bodies.find(Self.key("theirs", coding)) != nil)
        }
    }

    @Test("The same content made again stays, with its packed bytes")
    func same() {
        let token = Secret.make(.feed)
        keep("one", of: token)
        bodies.keep(FeedText([Array("one".utf8)], room: nil), for: Self.key("one"), of: token.key)
        for coding in ContentCoding.allCases { #expect(bodies.find(Self.key("one", coding)) != nil) }
    }
}
