// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

extension ClientRulesTests {
    @Test("An address comes as https or http and as webcal, never as webcals")
    func schemes() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(201).json
            let (url, webcal) = (try #require(made["url"]?.string), try #require(made["webcalUrl"]?.string))
            #expect(url.hasPrefix("http://calendar.example/"))
            #expect(webcal == url.replacing("http://", with: "webcal://"))
            var settings = ServerSettings()
            settings.publicURL = "https://calendar.example"
            let links = settings.links(.make(.feed), name: "x")
            #expect(links.url.hasPrefix("https://"))
            #expect(links.webcalURL.hasPrefix("webcal://calendar.example/"))
        }
    }

    /// An address can be shown to its owner again; it is stored sealed for that.
    @Test("A token is 256 bits of base64url, listed by a hint with its last use and its readers")
    func tokens() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var tokens: Set<String> = []
            for number in 0..<20 {
                let feed = try await server.makeFeed(label: "\(number)")
                let token = try #require(feed.path.split(separator: "/").dropFirst().first)
                #expect(token.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
                tokens.insert(String(token))
                if number > 0 { continue }
                try await server.raw(.get, feed.path, headers: [.userAgent: "Google-Calendar-Importer"]).expect(200)
            }
            #expect(tokens.count == 20)
            let list = try await server.call(.get, "/v1/circles/c/feeds", as: "ann").expect(200)
            for token in tokens { #expect(!list.text.contains(token)) }
            let first = try #require(list.json["items"]?.array?.first { $0["label"] == "0" })
            #expect(first["lastAccessedAt"] == "2026-03-02T12:00:00Z")
            #expect(first["clients"]?.array?.first?["client"] == "Google Calendar")
            let hint = try #require(first["tokenHint"]?.string)
            #expect(!hint.isEmpty && hint.count <= 8)
        }
    }

    @Test("A person has an address for each purpose; each ends alone, and all when they leave")
    func addressPerPurpose() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (phone, desk, ann) = (
                try await server.makeFeed(user: "ben", label: "phone"),
                try await server.makeFeed(user: "ben", label: "desk"), try await server.makeFeed()
            )
            try await server.call(.post, "/v1/feeds/\(phone.id)/revoke", as: "ben").expect(200)
            try await server.raw(.get, phone.path).expect(410)
            try await server.raw(.get, desk.path).expect(200)
            // A changed role counts from the next read; a viewer may read.
            try await server.call(.put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "viewer"])
                .expect(200)
            try await server.raw(.get, desk.path).expect(200)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            try await server.raw(.get, desk.path).expect(410)
            try await server.raw(.get, ann.path).expect(200)
        }
    }

    @Test("A token opens its feed, for reading, and no wish in the address widens it")
    func tokenOpensOnlyItsFeed() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed(config: ["detail": "busy", "includeShifts": false])
            let bytes = try await server.raw(.get, feed.path).expect(200).body
            for query in ["detail=full", "includeShifts=true", "config=%7B%7D", "userId=ben", "pastDays=3660"] {
                #expect(try await server.raw(.get, "\(feed.path)?\(query)").expect(200).body == bytes)
            }
            let token = String(feed.path.split(separator: "/")[1])
            for scheme in ["Bearer", "Device"] {
                for path in ["/v1/circles", "/v1/circles/c/tasks", "/v1/feeds/\(feed.id)"] {
                    try await server.raw(.get, path, headers: [.authorization: "\(scheme) \(token)"]).expect(401)
                }
            }
        }
    }

    @Test("A token is in no log, no error and no header")
    func tokenIsNowhere() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let token = String(feed.path.split(separator: "/")[1])
            var output = ""
            for (method, path) in [
                (.get, feed.path), (.head, feed.path), (.put, feed.path), (.get, feed.path + "/deeper"),
                (.get, "/feeds/\(token)x/x.ics"), (.get, feed.path + "?a=b"),
            ] as [(HTTPRequest.Method, String)] {
                let answer = try await server.raw(method, path)
                output += answer.text + answer.headers.map { "\($0.name): \($0.value)\n" }.joined()
                if answer.status == 200 { #expect(answer.headers[.referrerPolicy] == "no-referrer") }
            }
            #expect(!output.contains(token) && !server.log.text.contains(token))
            #expect(server.log.text.contains("/feeds/{token}"))
        }
    }

    @Test("There are levels of detail, each within the one before, and the limits of revoking are explained")
    func levelsOfDetail() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            var output: [Set<String>] = []
            for (label, config) in [
                ("1", ["detail": "full"]), ("2", ["detail": "titles"]), ("3", ["showMinimalDetails": true]),
                ("4", ["detail": "busy"]),
            ] as [(String, JSONValue)] {
                let feed = try await server.raw(.get, try await server.makeFeed(label: label, config: config).path)
                let names = feed.events.flatMap(\.lines).map { String($0.prefix { $0 != ":" && $0 != ";" }) }
                output.append(Set(names))
            }
            #expect(output[1].isStrictSubset(of: output[0]))
            #expect(output[2].isSubset(of: output[1]) && output[3].isSubset(of: output[2]))
        }
        #expect(
            try Self.document("README.md").contains("What they have fetched stays with them after a feed is revoked."))
        #expect(try Self.document("SECURITY.md").contains("A calendar app that has read a feed keeps its copy."))
    }
}
