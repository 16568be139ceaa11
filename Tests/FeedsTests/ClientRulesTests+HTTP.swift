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
    @Test("An ended address is 410, an unknown one 404: no password, nothing to press, no way elsewhere")
    func endedAndUnknown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (revoked, left) = (try await server.makeFeed(), try await server.makeFeed(user: "ben"))
            try await server.call(.post, "/v1/feeds/\(revoked.id)/revoke").expect(200)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            let unknown = "/feeds/\(String(repeating: "A", count: 43))/x.ics"
            for (path, status) in [(revoked.path, 410), (left.path, 410), (unknown, 404)] {
                for method in [HTTPRequest.Method.get, .head] {
                    // A person with a browser reads it in their language, and all others as text.
                    for (accept, type) in [
                        ("text/html", "text/html"), ("*/*", "text/plain"), ("text/calendar", "text/plain"),
                    ] {
                        let answer = try await server.raw(method, path, headers: [.accept: accept]).expect(status)
                        #expect(answer.headers[.wwwAuthenticate] == nil && answer.headers[.location] == nil)
                        #expect(answer.headers[.contentType] == "\(type); charset=utf-8")
                        #expect(!answer.text.contains("<form") && !answer.text.contains(/<a [^>]*href="[^#]/))
                    }
                }
            }
        }
    }

    @Test("An address is the token, then a friendly name, without a query")
    func addressForm() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (name, last) in [
                ("Our family", "Our-family.ics"), ("Oma & Opa / Pflege?", "Oma-Opa-Pflege.ics"), ("家族", "calendar.ics"),
                ("../x.y%2F", "x-y-2F.ics"),
            ] {
                try await server.call(
                    .put, "/v1/circles/c", ["name": .string(name), "timeZone": "America/Los_Angeles"]
                ).expect(200)
                let feed = try await server.makeFeed(label: name)
                let parts = feed.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
                #expect(parts.count == 3 && parts.first == "feeds")
                #expect(parts.last.map(String.init) == last)
                try await server.raw(.get, feed.path).expect(200)
            }
        }
    }

    @Test("Both validators work, the tag goes first, and the date moves when something goes")
    func bothValidators() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t", ["title": "T", "dueAt": "2026-03-03T09:00:00-08:00"])
            try await server.put("tasks", "u", ["title": "U", "dueAt": "2026-03-09T09:00:00-08:00"])
            let feed = try await server.makeFeed(config: ["pastDays": 1])
            // Each change so far has a second of its own.
            server.clock.advance(seconds: 15)
            var last = try await server.raw(.get, feed.path).expect(200)
            func validators() throws -> (etag: String, date: String) {
                (try #require(last.headers[.eTag]), try #require(last.headers[.lastModified]))
            }
            for what in ["deleted", "out of the window"] {
                let old = try validators()
                for headers in [[.ifNoneMatch: old.etag], [.ifModifiedSince: old.date]] as [HTTPFields] {
                    let same = try await server.raw(.get, feed.path, headers: headers).expect(304)
                    #expect(same.headers[.eTag] == old.etag && same.headers[.lastModified] == old.date)
                }
                try await server.raw(
                    .get, feed.path, headers: [.ifNoneMatch: "\"x\"", .ifModifiedSince: old.date]
                ).expect(200)
                try await server.raw(.get, feed.path, headers: [.ifModifiedSince: "soon"]).expect(200)
                if what == "deleted" {
                    server.clock.advance(seconds: 60)
                    try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
                } else {
                    server.clock.advance(seconds: 10 * 86_400)
                }
                last = try await server.raw(.get, feed.path, headers: [.ifModifiedSince: old.date]).expect(200)
                #expect(last.values("SUMMARY") == (what == "deleted" ? ["CK: U"] : []))
                let new = try validators()
                #expect(try #require(Instant(httpDate: new.date)) > #require(Instant(httpDate: old.date)), "\(what)")
                server.clock.advance(seconds: 5)
                last = try await server.raw(.get, feed.path).expect(200)
            }
        }
    }

    /// With gzip, subscriptions in Outlook ended.
    @Test("The bytes are sent as they are, to Microsoft's programs whatever they accept")
    func bytesAsTheyAre() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let path = try await server.makeFeed().path
            let plain = try await server.raw(.get, path).expect(200).body
            for agent in [
                "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17126; Pro)",
                "Microsoft.Exchange/15.20 (Windows NT 10.0; Win64; x64)",
            ] {
                let answer = try await server.raw(
                    .get, path, headers: [.userAgent: agent, .acceptEncoding: "gzip, deflate, br"]
                ).expect(200)
                #expect(answer.headers[.contentEncoding] == nil && answer.body == plain)
            }
        }
    }

    @Test("The type has its charset; UTF-8 without a BOM, CRLF, at most 75 octets a line")
    func textForm() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.put(
                "tasks", "long",
                ["title": .string(String(repeating: "Größe 👩🏽‍⚕️", count: 30)), "dueAt": "2026-03-03T09:00:00Z"])
            let answer = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(answer.headers[.contentType] == "text/calendar; charset=utf-8")
            #expect(String(validating: answer.body, as: UTF8.self) != nil)
            #expect(answer.body.starts(with: "BEGIN:VCALENDAR\r\n".utf8))
            let lines = answer.body.split(separator: 10, omittingEmptySubsequences: false)
            #expect(lines.last?.isEmpty == true)
            for line in lines.dropLast() {
                #expect(line.last == 13 && line.count <= 76)
                #expect(String(validating: line, as: UTF8.self) != nil)
                #expect(!line.dropLast().contains(13))
            }
        }
    }

    @Test("HEAD is GET without the body; a write is refused, and changes nothing")
    func headAndWrites() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            let get = try await server.raw(.get, feed.path).expect(200)
            let head = try await server.raw(.head, feed.path).expect(200)
            #expect(head.body.isEmpty)
            for field in get.headers where field.name != .date {
                #expect(head.headers[field.name] == field.value, "\(field.name)")
            }
            for (method, status) in [("PUT", 403), ("DELETE", 403), ("POST", 405), ("PATCH", 405)] {
                let verb = try #require(HTTPRequest.Method(rawValue: method))
                try await server.raw(verb, feed.path, headers: [.ifMatch: "nothing"]).expect(status)
            }
            #expect(try await server.raw(.get, feed.path).expect(200).body == get.body)
        }
    }

    @Test("No reader is refused for its name, robots.txt forbids nothing, and no feed is indexed")
    func anyReader() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let bytes = try await server.raw(.get, feed.path).expect(200).body
            for agent in [
                "", "Google-Calendar-Importer", "Mac+OS+X/10.12.2 (16C67) CalendarAgent/384", "Python-urllib/3.11",
                "HomeAssistant/2025.5.0.dev0 httpx/0.28.1 Python/3.13", "curl/8.0", "Nextcloud Webcal Service", "bot",
            ] {
                let answer = try await server.raw(.get, feed.path, headers: [.userAgent: agent]).expect(200)
                #expect(answer.body == bytes && answer.headers[.xRobotsTag] == "noindex")
            }
            let robots = try await server.raw(.get, "/robots.txt")
            #expect(robots.status == 404 || !robots.text.lowercased().contains("disallow: /"))
        }
    }

    @Test("A reader of a live feed is never slowed or refused, whatever else comes from there")
    func neverSlowed() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            let feed = try await server.makeFeed()
            // As many as cost nothing: a test waits for no brake.
            for index in 0..<10 { try await server.raw(.get, "/feeds/wrong\(index)/x.ics").expect(404) }
            for _ in 0..<50 {
                let answer = try await server.raw(.get, feed.path)
                #expect(answer.status == 200 && answer.headers[.retryAfter] == nil)
            }
        }
    }

    @Test("Every form of an address answers by itself, without a redirect")
    func formsOfAddress() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            let token = path.split(separator: "/")[1]
            for path in [path, "/feeds/\(token).ics", "/functions/v1/ical-feed/\(token)"] {
                #expect(try await server.raw(.get, path).expect(200).headers[.location] == nil)
            }
        }
    }

    @Test("A shared cache keeps nothing, neither a calendar nor an end")
    func sharedCaches() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let first = try await server.raw(.get, feed.path).expect(200)
            let etag = try #require(first.headers[.eTag])
            let second = try await server.raw(.get, feed.path, headers: [.ifNoneMatch: etag]).expect(304)
            for answer in [first, second] { #expect(answer.headers[.cacheControl] == "private, no-cache") }
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            #expect(try await server.raw(.get, feed.path).expect(410).headers[.cacheControl] == "no-store")
            #expect(try await server.raw(.get, "/feeds/x/x.ics").expect(404).headers[.cacheControl] == "no-store")
        }
    }

    @Test("A subscription is not an attachment; a download is")
    func disposition() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.headers[.contentDisposition] == nil)
            let file = try await server.call(.get, "/v1/circles/c/export.ics").expect(200)
            #expect(file.headers[.contentDisposition]?.hasPrefix("attachment") == true)
        }
    }
}
