// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What a feed asks attention for")
struct AttentionTests {
    private static let agents = [
        "iOS": "iOS/16.5.1 (20F75) dataaccessd/1.0", "Thunderbird": "Mozilla/5.0 Gecko/20100101 Thunderbird/128.0",
        "Google": "Google-Calendar-Importer", "Browser": "Mozilla/5.0 (X11; Linux x86_64) Firefox/133.0",
    ]

    private static func read(
        _ server: TestServer, _ path: String, _ agent: String, from address: String = "192.0.2.7"
    ) async throws {
        var headers: HTTPFields = [.userAgent: try #require(agents[agent])]
        headers[.xForwardedFor] = address
        try await server.raw(.get, path, headers: headers).expect(200)
    }

    /// The settings of a server behind a proxy, so that a test can choose a reader's address.
    private static var settings: ServerSettings {
        get throws {
            var settings = ServerSettings()
            settings.trustedProxies = [try #require(AddressRange("127.0.0.0/8"))]
            return settings
        }
    }

    private static func attention(_ server: TestServer, _ id: String) async throws -> [JSONValue] {
        let one = try await server.call(.get, "/v1/feeds/\(id)", as: "ann").expect(200).json["attention"]?.array
        let list = try await server.call(.get, "/v1/circles/c/feeds").expect(200).json["items"]?.array
        #expect(list?.first { $0["id"]?.string == id }?["attention"]?.array == one)
        return try #require(one)
    }

    @Test("A new client is reported after the first week, once, until the feed's owner clears it")
    func newClient() async throws {
        try await TestServer.run(live: true, settings: Self.settings) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            // Made long before anybody subscribes.
            server.clock.advance(seconds: 30 * 86_400)
            for _ in 0..<8 {
                try await Self.read(server, feed.path, "iOS")
                #expect(try await Self.attention(server, feed.id).isEmpty)
                server.clock.advance(seconds: 6 * 86_400 / 8)
            }
            try await Self.read(server, feed.path, "Thunderbird")
            #expect(try await Self.attention(server, feed.id).isEmpty)
            server.clock.advance(seconds: 86_400)
            let etag = try await server.call(.get, "/v1/feeds/\(feed.id)").headers[.eTag]
            for _ in 1...3 { try await Self.read(server, feed.path, "Browser") }
            let reported = try await Self.attention(server, feed.id)
            #expect(reported.count == 1)
            #expect(reported.first?["kind"] == "newClient" && reported.first?["client"] == "Browser")
            #expect(reported.first?["at"] == "2026-04-08T12:00:00Z")
            #expect(reported.first?["message"]?.string?.contains("Browser") == true)
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").headers[.eTag] == etag)
            for wrong: JSONValue in ["x", [1], ["kind": "newClient"], true] {
                let answer = try await server.call(.patch, "/v1/feeds/\(feed.id)", ["attention": wrong]).expect(422)
                #expect(answer.pointers == ["/attention"])
            }
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["attention": []], as: "ben").expect(404)
            let cleared = try await server.call(.patch, "/v1/feeds/\(feed.id)", ["attention": []], as: "ann")
            #expect(try cleared.expect(200).json["attention"] == [])
            try await Self.read(server, feed.path, "Browser")
            #expect(try await Self.attention(server, feed.id).isEmpty)
            try await Self.read(server, feed.path, "Google")
            #expect(try await Self.attention(server, feed.id).count == 1)
        }
    }

    @Test("Reads from more than eight networks within a day are reported; the same networks are not reported again")
    func manyNetworks() async throws {
        try await TestServer.run(live: true, settings: Self.settings) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            // One network more than a day ago, which no longer counts, and many addresses of one.
            try await Self.read(server, feed.path, "iOS", from: "198.51.100.1")
            server.clock.advance(seconds: 86_400)
            for number in 1...20 { try await Self.read(server, feed.path, "iOS", from: "10.0.1.\(number)") }
            for number in 2...8 {
                server.clock.advance(seconds: 3600)
                try await Self.read(server, feed.path, number < 5 ? "iOS" : "Thunderbird", from: "10.0.\(number).1")
            }
            // Google comes from networks of its own.
            for number in 1...20 { try await Self.read(server, feed.path, "Google", from: "10.9.\(number).1") }
            #expect(try await Self.attention(server, feed.id).isEmpty)
            server.clock.advance(seconds: 3600)
            try await Self.read(server, feed.path, "iOS", from: "2001:db8::1")
            let reported = try await Self.attention(server, feed.id)
            #expect(reported.map { $0["kind"] } == ["manyNetworks"])
            #expect(reported.first?["networks"] == 9 && reported.first?["at"] == "2026-03-03T20:00:00Z")
            try await Self.read(server, feed.path, "iOS", from: "10.0.20.1")
            #expect(try await Self.attention(server, feed.id).count == 1)
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["attention": []]).expect(200)
            server.clock.advance(seconds: 60)
            for number in 1...8 { try await Self.read(server, feed.path, "iOS", from: "10.0.\(number).1") }
            #expect(try await Self.attention(server, feed.id).isEmpty)
            for number in 30...40 { try await Self.read(server, feed.path, "iOS", from: "10.0.\(number).1") }
            let more = try await Self.attention(server, feed.id).first?["networks"]?.integer
            #expect((9...19).contains(more ?? 0))
        }
    }

    @Test("A reveal is recorded on the feed with its time")
    func reveal() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").json["lastRevealedAt"] == .null)
            server.clock.advance(seconds: 9)
            try await server.call(.post, "/v1/feeds/\(feed.id)/reveal").expect(200)
            #expect(
                try await server.call(.get, "/v1/feeds/\(feed.id)").json["lastRevealedAt"] == "2026-03-02T12:00:09Z")
        }
    }
}
