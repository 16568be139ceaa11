// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// A feed's secret address as a collection that can only be read.
@Suite struct FeedAddressTests {
    private func send(
        _ server: TestServer, _ method: String, _ path: String, _ body: String? = nil, depth: String = "0"
    ) async throws -> Answer {
        try await server.raw(
            try #require(HTTPRequest.Method(rawValue: method)), path,
            headers: [try #require(HTTPField.Name("Depth")): depth], body: body.map { ByteBuffer(string: $0) })
    }

    @Test("It is found, listed and read without a password, and each of that is counted as a read")
    func reading() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            let options = try await send(server, "OPTIONS", feed.path).expect(200)
            #expect(options.headers[try #require(HTTPField.Name("DAV"))]?.contains("calendar-access") == true)
            let names = XML.root(
                "D:propfind",
                "<D:prop><D:resourcetype/><D:current-user-principal/><D:current-user-privilege-set/><D:getetag/>"
                    + "<D:sync-token/></D:prop>")
            let answer = try Multistatus(try await send(server, "PROPFIND", feed.path, names, depth: "1").expect(207))
            let own = try #require(answer["\(feed.path)/"])
            #expect(own[.dav, "resourcetype"]?.children.map(\.name) == ["collection", "calendar"])
            #expect(own[.dav, "current-user-principal"]?.children.map(\.name) == ["unauthenticated"])
            let rights = own[.dav, "current-user-privilege-set"]?.children.flatMap(\.children).map(\.name) ?? []
            #expect(rights.contains { $0 == "read" } && !rights.contains { $0.hasPrefix("write") })
            #expect(answer.responses.count > 3)
            for headers: HTTPFields in [[:], [.connection: "close"]] {
                // An app that speaks CalDAV is led to it by the feed.
                let file = try await server.raw(.get, feed.path, headers: headers).expect(200)
                #expect(file.headers[.link] == "<>; rel=\"subscribe-caldav\"")
            }
            let member = try #require(answer.responses.last?.href)
            let text = try await send(server, "GET", member).expect(200)
            #expect(text.text.contains("BEGIN:VEVENT"))
            #expect(text.headers[.eTag] == answer.responses.last?[.dav, "getetag"]?.text)
            try await send(server, "GET", "\(feed.path)/none.ics").expect(404)
            try await server.front.services.counter.fold()
            let shown = try await server.call(.get, "/v1/feeds/\(feed.id)", as: "ann").expect(200)
            #expect(shown.json["accessCount"] == 4)
        }
    }

    @Test("A write is 403 with need-privileges; an address that never was is 404, and one that ended 410")
    func writing() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            for method in ["PUT", "DELETE", "PROPPATCH", "MKCALENDAR", "MKCOL", "MOVE", "COPY"] {
                for path in [feed.path, "\(feed.path)/x.ics"] {
                    #expect(try await send(server, method, path).expect(403).condition == "need-privileges")
                }
                try await send(server, method, "/feeds/unknown/x.ics").expect(404)
            }
            try await send(server, "POST", feed.path).expect(405)
            try await server.call(.delete, "/v1/feeds/\(feed.id)", as: "ann").expect(204)
            for path in [feed.path, "\(feed.path)/x.ics"] { try await send(server, "PROPFIND", path).expect(410) }
        }
    }
}
