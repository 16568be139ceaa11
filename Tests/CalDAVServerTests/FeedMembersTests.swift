// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// What a feed's address lists, which is made once for all pages.
@Suite struct FeedMembersTests {
    private static func resource(_ number: Int, bytes: Int) -> (key: ContentHash, shown: ShownResource) {
        let start = Instant(seconds: 1_772_452_800 + number * 3600)
        let event = Event(
            uid: "u\(number)", start: .utc(start), summary: String(repeating: "\(number % 10)", count: bytes))
        let key = ContentHash(of: SHA256.hash(data: Array("\(number)".utf8)))
        let shown = ShownResource(
            .item(.init(rawValue: "tasks"), id: ByteString("\(number)")), uid: event.uid, [event], [],
            modified: 1_772_452_800_000 + number * 1000, from: start.milliseconds, to: nil)
        return (key, shown)
    }

    @Test("What a large feed shows is kept for the next page, and is the same when it is unpacked")
    func large() async throws {
        let found =
            (0..<36).map { Self.resource($0, bytes: 1_000_000) }
            + (36..<500).map { Self.resource($0, bytes: 300) }
        let texts = found.reduce(0) { $0 + $1.shown.text.count }
        #expect(texts > 34 << 20)
        let members = try await FeedMembers(found, number: 7)
        #expect(members.size < 8 << 20)
        let kept = KeptFeedMembers()
        kept.keep(members, for: "token")
        let known = try #require(kept.find("token"))
        #expect(known.number == 7 && known.entries.count == found.count)

        let names = known.entries.map(\.member.name)
        #expect(names == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        for (key, shown) in found {
            let entry = try #require(known["\(key.text).ics"])
            #expect(entry.member == shown.member("\(key.text).ics") && entry.span == shown.span)
            let resource = try #require(try known.resources([entry]).first ?? nil)
            #expect(try resource.text.get() == shown.text)
        }
        #expect(known["none.ics"] == nil)
        #expect(known.after(names[3]).first?.member.name == names[4] && known.after(names.last).isEmpty)
        let some = try known.resources([known[names[8]], nil, known[names[2]]])
        #expect(some.map { $0?.member.name } == [names[8], nil, names[2]])
    }

    @Test("Page by page a feed's address lists all that it shows, with the texts that it has one by one")
    func pages() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            let method = try #require(HTTPRequest.Method(rawValue: "REPORT"))
            func report(_ name: String, _ content: String) async throws -> Multistatus {
                let answer = try await server.raw(
                    method, feed.path, headers: [try #require(HTTPField.Name("Depth")): "0"],
                    body: ByteBuffer(string: XML.root(name, content)))
                return try Multistatus(try answer.expect(207))
            }
            var (token, hrefs): (String?, [String]) = (nil, [])
            repeat {
                let part = try await report(
                    "D:sync-collection",
                    "<D:sync-token>\(token ?? "")</D:sync-token><D:sync-level>1</D:sync-level>"
                        + "<D:limit><D:nresults>1</D:nresults></D:limit><D:prop><D:getetag/></D:prop>")
                let found = part.responses.filter { $0.status == nil }
                hrefs += found.map(\.href)
                token = part.token
                try #require(token != nil)
                if found.count == part.responses.count { break }
            } while hrefs.count < 100
            #expect(hrefs.count > 3 && Set(hrefs.map { ByteString($0) }).count == hrefs.count)
            let asked = hrefs.map { "<D:href>\($0)</D:href>" }.joined()
            let got = try await report("C:calendar-multiget", "<D:prop><C:calendar-data/></D:prop>" + asked)
            #expect(got.hrefs == hrefs)
            for href in hrefs {
                let text = try await server.raw(.get, href).expect(200).body
                #expect(try #require(got[href]?[.caldav, "calendar-data"]).bytes == text)
            }
        }
    }
}
