// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import FeedTokens
@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A feed's address in a browser")
struct FeedAgendaTests {
    private static let browser: HTTPFields = [
        .accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        .userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    ]

    private static func fill(_ server: TestServer) async throws {
        try await server.makeCircle()
        try await server.put(
            "tasks", "t", ["title": "Pick up <pills>", "dueAt": .string(server.clock.winterTime(day: 2, hour: 9))])
        try await server.put(
            "shifts", "s",
            ["patientId": "mom", "ownerId": "ben", "startDate": "2026-03-04", "endDate": "2026-03-06"])
    }

    @Test func `a browser gets a page with what the feed shows, which is counted and leaves no trace`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            let page = try await server.raw(.get, feed.path, headers: Self.browser).expect(200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.headers[.referrerPolicy] == "no-referrer")
            #expect(page.headers[.xRobotsTag] == "noindex")
            #expect(page.text.contains("Pick up &lt;pills&gt;"))
            #expect(page.text.contains("Mom - Ben"))
            #expect(page.text.contains("https://calendar.google.com/calendar/r?cid=webcal%3A%2F%2F"))
            #expect(!page.text.contains("/app/circles/") && !page.text.contains("<script"))
            #expect(!page.text.contains("href=\"/app\""))
            // Who reads it elsewhere sees whose clock it is, and the steps for an app find the address that they name.
            #expect(page.text.contains("Times are shown in the time zone America/Los_Angeles."))
            #expect(page.text.contains("readonly value=\"http") && page.text.contains(feed.path))
            var framed = Self.browser
            framed[.secFetchDest] = "iframe"
            let inside = try await server.raw(.get, feed.path, headers: framed).expect(200)
            #expect(inside.text.contains("Pick up") && !inside.text.contains("calendar.google.com"))
            let month = try await server.raw(
                .get, feed.path + "?view=month&date=2026-03-20", headers: Self.browser
            ).expect(200)
            #expect(month.text.contains("<table class=\"month\""))
            try await server.services.counter.fold()
            let shown = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json
            #expect(shown["accessCount"] == 3)
            #expect(shown["clients"]?.array?.compactMap { $0["client"]?.string } == ["Browser"])
        }
    }

    @Test(
        arguments: [
            [.accept: "text/calendar, text/html;q=0.5"], [.accept: "*/*"], [:],
            [.accept: "text/html, */*", .userAgent: "Google-Calendar-Importer"],
            [.accept: "text/html, */*", .userAgent: "iOS/16.5.1 (20F75) dataaccessd/1.0"],
            [.accept: "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", .userAgent: "Java/17.0.9"],
        ] as [HTTPFields])
    func `calendar apps get the calendar, whatever else they accept`(headers: HTTPFields) async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            let answer = try await server.raw(.get, feed.path, headers: headers).expect(200)
            #expect(answer.headers[.contentType] == "text/calendar; charset=utf-8")
        }
    }

    @Test func `the page ends with the feed`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path, headers: Self.browser).expect(200)
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke", [:]).expect(200)
            let ended = try await server.raw(.get, feed.path, headers: Self.browser).expect(410)
            #expect(!ended.text.contains("pills") && ended.text.contains("<h1>This calendar has ended</h1>"))
            #expect(ended.headers[.cacheControl] == "no-store")
            var headers = Self.browser
            headers[.acceptLanguage] = "pl"
            let unknown = try await server.raw(
                .get, "/feeds/kal_fd_0000000000000000000000000000000000000000000/x.ics", headers: headers
            ).expect(404)
            #expect(unknown.text.contains("<h1>Tu nie ma kalendarza</h1>"))
        }
    }

    @Test func `the page of a replaced address says its end in the language of the reader`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            var headers = Self.browser
            headers[.acceptLanguage] = "de-AT"
            let before = try await server.raw(.get, feed.path, headers: headers).expect(200)
            #expect(!before.text.contains("Kalenderadresse") && before.text.contains("lang=\"de\""))
            try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate", ["graceSeconds": 172_800]).expect(200)
            let german = try await server.raw(.get, feed.path, headers: headers).expect(200)
            #expect(german.text.contains("Diese Kalenderadresse endet nach dem 4. März."))
            // Whoever added it would lose it then.
            #expect(!german.text.contains("calendar.google.com"))
            headers[.acceptLanguage] = "fr"
            let french = try await server.raw(.get, feed.path, headers: headers).expect(200)
            #expect(french.text.contains("prend fin après le 4 mars.") && french.text.contains("lang=\"fr\""))
        }
    }

    @Test func `a feed that says when somebody is busy shows neither titles nor kinds`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed(config: ["detail": "busy"])
            let page = try await server.raw(.get, feed.path, headers: Self.browser).expect(200)
            for word in ["pills", "Mom", "Ben", ">Shift<", ">Task<", "Our family"] {
                #expect(!page.text.contains(word), "\(word)")
            }
        }
    }

    @Test func `only the feed's own origins may show its page in a frame`() async throws {
        try await TestServer.run { server in
            try await Self.fill(server)
            let feed = try await server.makeFeed()
            func policies() async throws -> [String] {
                var found: [String] = []
                for view in ["", "?view=month"] {
                    let page = try await server.raw(.get, feed.path + view, headers: Self.browser).expect(200)
                    found.append(page.headers[.contentSecurityPolicy] ?? "")
                }
                return found
            }
            #expect(try await policies().allSatisfy { $0.hasSuffix("; frame-ancestors 'none'") })
            let calendar = try await server.raw(.get, feed.path).expect(200)
            let origins: JSONValue = [
                "https://Family.example/", "https://b.example:8443", "https://family.example:443",
            ]
            let changed = try await server.call(
                .patch, "/v1/feeds/\(feed.id)", ["config": ["embedOrigins": origins]]
            ).expect(200)
            #expect(
                changed.json["config"]?["embedOrigins"] == ["https://b.example:8443", "https://family.example"])
            let suffix = "; frame-ancestors https://b.example:8443 https://family.example"
            #expect(try await policies().allSatisfy { $0.hasSuffix(suffix) })
            // The calendar itself is as it was.
            #expect(try await server.raw(.get, feed.path).expect(200).headers[.eTag] == calendar.headers[.eTag])
            let many = JSONValue.array((0...10).map { .string("https://a\($0).example") })
            for bad in [["http://a.example"], ["https://a.example/x"], ["https://a.example 'self'"], many]
                as [JSONValue]
            {
                let refused = try await server.call(
                    .patch, "/v1/feeds/\(feed.id)", ["config": ["embedOrigins": bad]]
                ).expect(422)
                #expect(refused.pointers == ["/config/embedOrigins"], "\(bad)")
            }
        }
    }
}
