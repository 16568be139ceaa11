// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Reading a feed")
struct FeedReadingTests {
    private static let task: JSONValue = ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00-08:00"]

    @Test("A live token answers with the headers that calendar apps and privacy need")
    func headers() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let answer = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(answer.headers[.contentType] == "text/calendar; charset=utf-8")
            #expect(answer.headers[.cacheControl] == "private, no-cache")
            #expect(answer.headers[.xRobotsTag] == "noindex")
            #expect(answer.headers[.referrerPolicy] == "no-referrer")
            #expect(answer.headers[.eTag]?.hasPrefix("\"") == true)
            #expect(answer.headers[.lastModified] != nil)
            #expect(answer.headers[.contentDisposition] == nil)
        }
    }

    @Test("All three forms of the address serve the same bytes")
    func forms() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            let token = path.split(separator: "/")[1]
            let bytes = try await server.raw(.get, path).expect(200).body
            for other in ["/feeds/\(token).ics", "/functions/v1/ical-feed/\(token)", "/feeds/\(token)/anything.ics"] {
                #expect(try await server.raw(.get, other).expect(200).body == bytes)
            }
            try await server.raw(.get, "/feeds/\(token)/picture.png").expect(404)
        }
    }

    @Test("HEAD has the headers of GET, its length too, and no body, and is not counted")
    func head() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let head = try await server.raw(.head, feed.path).expect(200)
            let get = try await server.raw(.get, feed.path).expect(200)
            #expect(head.body.isEmpty)
            #expect(head.headers[.eTag] == get.headers[.eTag])
            #expect(head.headers[.contentLength] == String(get.body.count))
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").json["accessCount"] == 1)
        }
    }

    @Test("An unchanged poll is 304 with both validators again, by tag, list, weak tag, star or date")
    func notModified() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            server.clock.advance(seconds: 10)
            let first = try await server.raw(.get, path).expect(200)
            let (etag, date) = (try #require(first.headers[.eTag]), try #require(first.headers[.lastModified]))
            for value in [etag, "W/\(etag)", "\"a,b\", \(etag)", "*"] {
                let answer = try await server.raw(.get, path, headers: [.ifNoneMatch: value]).expect(304)
                #expect(answer.headers[.eTag] == etag)
                #expect(answer.headers[.lastModified] == date)
                #expect(answer.body.isEmpty)
            }
            try await server.raw(.get, path, headers: [.ifModifiedSince: date]).expect(304)
            for value in ["\"other\"", "\"\(etag.dropFirst(2))", "W/\"x\", \"y\""] {
                try await server.raw(.get, path, headers: [.ifNoneMatch: value, .ifModifiedSince: date]).expect(200)
            }
            for value in ["yesterday", "Sun, 01 Mar 2026 00:00:00 GMT", "Mon, 32 Mar 2026 00:00:00 GMT"] {
                try await server.raw(.get, path, headers: [.ifModifiedSince: value]).expect(200)
            }
        }
    }

    @Test("304 exactly when the bytes would be the same: through every kind of change")
    func exactness() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            var last = try await server.raw(.get, feed.path).expect(200)
            func changes(_ what: String, _ isChange: Bool, _ act: () async throws -> Void) async throws {
                server.clock.advance(seconds: 3)
                try await act()
                let etag = try #require(last.headers[.eTag])
                let conditional = try await server.raw(.get, feed.path, headers: [.ifNoneMatch: etag])
                let whole = try await server.raw(.get, feed.path).expect(200)
                #expect((conditional.status == 304) == (whole.body == last.body), "\(what)")
                #expect((conditional.status == 200) == isChange, "\(what)")
                last = whole
            }
            try await changes("nothing", false) {}
            try await changes("a new task", true) { try await server.put("tasks", "t1", Self.task) }
            try await changes("the same task again", false) { try await server.put("tasks", "t1", Self.task) }
            try await changes("a task outside the window", false) {
                try await server.put("tasks", "far", ["title": "Far", "dueAt": "2036-03-03T09:00:00Z"])
            }
            try await changes("a shift", true) {
                try await server.put(
                    "shifts", "s1",
                    ["patientId": "mom", "ownerId": "ben", "startDate": "2026-03-03", "endDate": "2026-03-03"])
            }
            try await changes("a patient's name", true) {
                try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": "Mum"]).expect(200)
            }
            try await changes("a member who is in no title", false) {
                try await server.call(.put, "/v1/circles/c/members/vic", ["displayName": "Victor", "role": "viewer"])
                    .expect(200)
            }
            try await changes("another feed", false) { _ = try await server.makeFeed(user: "ben") }
            try await changes("the feed's configuration", true) {
                try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": ["detail": "titles"]]).expect(200)
            }
            try await changes("the feed's label", false) {
                try await server.call(.patch, "/v1/feeds/\(feed.id)", ["label": "home"]).expect(200)
            }
            try await changes("a removed task", true) {
                try await server.call(.delete, "/v1/circles/c/tasks/t1").expect(204)
            }
            try await changes("the next day", false) { server.clock.advance(seconds: 86_400) }
            try await changes("the day on which the shift leaves the window", true) {
                server.clock.advance(seconds: 95 * 86_400)
            }
        }
    }

    @Test("Two changes within one second are both seen by a client that has only the date")
    func sameSecond() async throws {
        try await TestServer.run(clock: TestClock(1_772_452_800_100)) { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            try await server.put("tasks", "t1", Self.task)
            let first = try await server.raw(.get, path).expect(200)
            server.clock.advance(milliseconds: 300)
            try await server.put("tasks", "t2", Self.task)
            server.clock.advance(seconds: 5)
            let date = try #require(first.headers[.lastModified])
            let second = try await server.raw(.get, path, headers: [.ifModifiedSince: date]).expect(200)
            #expect(second.text.contains("t2") || second.values("UID").count == 2)
        }
    }

    @Test("Last-Modified moves when an item is removed")
    func removalMovesDate() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            try await server.put("tasks", "t1", Self.task)
            server.clock.advance(seconds: 10)
            let date = try #require(try await server.raw(.get, path).expect(200).headers[.lastModified])
            try await server.call(.delete, "/v1/circles/c/tasks/t1").expect(204)
            server.clock.advance(seconds: 10)
            try await server.raw(.get, path, headers: [.ifModifiedSince: date]).expect(200)
        }
    }

    @Test("A reader that has only the date sees every change although the clock was set back; no date is in the future")
    func clockSetBack() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed(config: ["includePersonal": true])
            func date(_ answer: Answer) throws -> String {
                let text = try #require(answer.headers[.lastModified])
                #expect(try #require(Instant(httpDate: text)) <= Instant(milliseconds: server.clock.now))
                return text
            }
            func event(_ id: String) async throws {
                let event: JSONValue = [
                    "title": "Choir", "date": "2026-03-04", "startTime": "19:00", "endTime": "21:00",
                ]
                try await server.call(.put, "/v1/users/ann/events/\(id)", event).expect(201)
            }
            func configure(_ days: Int) async throws {
                let config: JSONValue = ["config": ["includePersonal": true, "futureDays": .integer(days)]]
                try await server.call(.patch, "/v1/feeds/\(feed.id)", config).expect(200)
            }
            let changes: [(String, () async throws -> Void)] = [
                ("an item", { try await server.put("tasks", "t1", Self.task) }),
                ("another item", { try await server.put("tasks", "t2", Self.task) }),
                ("an event of its owner", { try await event("e1") }),
                ("another event of its owner", { try await event("e2") }),
                ("the configuration", { try await configure(300) }),
                ("the configuration again", { try await configure(200) }),
            ]
            var known = try date(try await server.raw(.get, feed.path).expect(200))
            for (index, (what, change)) in changes.enumerated() {
                // The second of each pair comes while the clock shows a time before the first.
                server.clock.advance(seconds: index.isMultiple(of: 2) ? 100 : -100)
                try await change()
                let first = try await server.raw(.get, feed.path, headers: [.ifModifiedSince: known])
                #expect(first.status == 200, "\(what)")
                let second = try await server.raw(
                    .get, feed.path, headers: [.ifModifiedSince: try date(first)])
                #expect(second.body.isEmpty || second.body == first.body, "\(what)")
                server.clock.advance(seconds: 60)
                known = try date(try await server.raw(.get, feed.path).expect(200))
                try await server.raw(.get, feed.path, headers: [.ifModifiedSince: known]).expect(304)
            }
        }
    }

    @Test("A request for another state than this is 412 and is not counted; If-Match goes before the date")
    func preconditions() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            server.clock.advance(seconds: 60)
            let first = try await server.raw(.get, feed.path).expect(200)
            let (etag, date) = (try #require(first.headers[.eTag]), try #require(first.headers[.lastModified]))
            let old = "Sun, 01 Mar 2026 00:00:00 GMT"
            let cases: [(HTTPFields, Int)] = [
                ([.ifMatch: etag], 200), ([.ifMatch: "\"x\", \(etag)"], 200), ([.ifMatch: "*"], 200),
                ([.ifMatch: "\"x\""], 412), ([.ifMatch: "W/\(etag)"], 412), ([.ifUnmodifiedSince: date], 200),
                ([.ifUnmodifiedSince: old], 412), ([.ifUnmodifiedSince: "yesterday"], 200),
                ([.ifMatch: etag, .ifUnmodifiedSince: old], 200), ([.ifMatch: "\"x\"", .ifUnmodifiedSince: date], 412),
                ([.ifMatch: "\"x\"", .ifNoneMatch: etag], 412), ([.ifMatch: etag, .ifNoneMatch: etag], 304),
                ([.ifUnmodifiedSince: date, .ifModifiedSince: date], 304),
            ]
            var counted = 1
            for (headers, status) in cases {
                let answer = try await server.raw(.get, feed.path, headers: headers)
                #expect(answer.status == status, "\(headers)")
                try await server.raw(.head, feed.path, headers: headers).expect(status)
                if status == 412 {
                    #expect(answer.headers[.xRobotsTag] == "noindex" && answer.headers[.eTag] == nil)
                } else {
                    counted += 1
                }
            }
            #expect(try await server.call(.get, "/v1/feeds/\(feed.id)").json["accessCount"] == .integer(counted))
            // What has ended has no state.
            try await server.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
            try await server.raw(.get, feed.path, headers: [.ifMatch: "\"x\""]).expect(410)
        }
    }

    @Test("Unknown, malformed and foreign-looking tokens answer the same 404")
    func unknown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var bodies: Set<[UInt8]> = []
            let unknown = String(repeating: "A", count: 43)
            for path in [
                "/feeds/\(unknown).ics", "/feeds/short/x.ics", "/feeds/\(unknown)B.ics",
                "/functions/v1/ical-feed/..%2f",
            ] {
                let answer = try await server.raw(.get, path).expect(404)
                bodies.insert(answer.body)
                #expect(answer.headers[.contentType] == "text/plain; charset=utf-8")
            }
            #expect(bodies.count == 1)
        }
    }

    @Test(
        "Other methods are 405 with Allow, for live and unknown tokens alike",
        arguments: ["POST", "PATCH", "LOCK", "TRACE"])
    func otherMethods(method: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = try await server.makeFeed().path
            let verb = try #require(HTTPRequest.Method(rawValue: method))
            let allow = "OPTIONS, GET, HEAD, PROPFIND, REPORT"
            #expect(try await server.raw(verb, path).expect(405).headers[.allow] == allow)
            try await server.raw(verb, "/feeds/unknown/x.ics").expect(405)
        }
    }

    @Test("An empty circle is a valid calendar without events")
    func empty() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(answer.calendarLines.first == "BEGIN:VCALENDAR")
            #expect(answer.calendarLines.suffix(2) == ["END:VCALENDAR", ""])
            #expect(!answer.text.contains("VEVENT"))
            #expect(answer.values("X-WR-CALNAME") == ["Our family"])
        }
    }

    @Test("The same state gives the same bytes at any time of the day, also after a restart of the cache")
    func deterministic() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let (one, two) = (try await server.makeFeed(), try await server.makeFeed(label: "second"))
            let first = try await server.raw(.get, one.path).expect(200)
            server.clock.advance(seconds: 3600)
            let second = try await server.raw(.get, two.path).expect(200)
            #expect(first.body == second.body)
            #expect(first.headers[.eTag] == second.headers[.eTag])
        }
    }

    @Test("A client that tries one unknown token after another waits longer and longer, up to a bound")
    func brake() {
        let brake = GuessThrottle()
        let delays = (0..<30).map { _ in brake.delay(forMissFrom: "192.0.2.0/24", now: 1000) }
        #expect(delays.prefix(10).allSatisfy { $0 == 0 })
        #expect(delays.dropFirst(10).first == 100)
        #expect(delays.last == 5000)
        #expect(brake.delay(forMissFrom: "198.51.100.0/24", now: 1000) == 0)
        #expect(brake.delay(forMissFrom: "192.0.2.0/24", now: 61_001) == 0)
    }

    @Test("The brake's memory is bounded: full of networks that miss now, it slows every other one, and then forgets")
    func brakeIsBounded() {
        let brake = GuessThrottle()
        for number in 0..<10_000 { _ = brake.delay(forMissFrom: "2001:db8:\(number)::/48", now: 1000) }
        #expect(brake.delay(forMissFrom: "192.0.2.0/24", now: 2000) == 5000)
        #expect(brake.delay(forMissFrom: "2001:db8:1::/48", now: 2000) == 0)
        #expect(brake.delay(forMissFrom: "192.0.2.0/24", now: 61_000) == 0)
    }
}
