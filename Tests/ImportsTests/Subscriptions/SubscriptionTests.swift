// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Subscriptions")
struct SubscriptionTests {
    private static let path = "/v1/circles/c/subscriptions"

    private static func make(
        _ host: CalendarHost, _ server: TestServer, _ more: [ByteString: JSONValue] = [:]
    ) async throws -> String {
        let body = more.merging(["url": .string(host.url)]) { old, _ in old }
        let answer = try await server.call(.post, path, .object(body), as: "ann").expect(201)
        return try #require(answer.json["id"]?.string)
    }

    private static func refreshDue(_ server: TestServer) async throws {
        try await server.services.subscriptionRefresh(Logger(label: "test") { _ in server.log })
            .once()
    }

    private static func get(_ server: TestServer, _ id: String) async throws -> JSONValue {
        try await server.call(.get, "\(path)/\(id)").expect(200).json
    }

    /// Returns the titles that a feed of the circle shows.
    private static func titles(_ server: TestServer, _ path: String) async throws -> [String] {
        try await server.raw(.get, path).expect(200).values("SUMMARY").sorted()
    }

    @Test("To-dos of a calendar that is followed come and go with it, in feeds that show to-dos")
    func toDos() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed(config: ["tasksAs": "todos"]).path
            host.serve(CalendarHost.Content(body: ToDoFiles.all))
            _ = try await Self.make(host, server, ["refreshMinutes": 60])
            try await Self.refreshDue(server)
            let shown = try await server.raw(.get, feed).expect(200)
            #expect(shown.components("VTODO") == 5 && shown.components("VEVENT") == 1)
            #expect(try await server.export().components("VJOURNAL") == 1)
            host.serve(["event": "Market"])
            server.clock.advance(seconds: 66 * 60)
            try await Self.refreshDue(server)
            #expect(try await Self.titles(server, feed) == ["Market"])
            #expect(try await server.export().components("VTODO") == 0)
        }
    }

    @Test("Events come, change and go with the calendar that is followed, and go with the subscription")
    func following() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed().path
            // An event of a file is nobody's but the file's, also when the calendar has it too.
            host.serve(["own": "From a file"])
            try await server.call(.post, "/v1/circles/c/imports?mode=commit", ["url": .string(host.url)]).expect(201)
            host.serve(["own": "From a file", "u1": "Gym", "u2": "Choir"], etag: "\"1\"")
            let id = try await Self.make(host, server, ["label": "Club", "refreshMinutes": 60])
            #expect(try await Self.titles(server, feed) == ["From a file"])
            try await Self.refreshDue(server)
            #expect(try await Self.titles(server, feed) == ["Choir", "From a file", "Gym"])
            var own = try await Self.get(server, id)
            #expect(own["counts"] == ["events": 2, "created": 2, "updated": 0, "deleted": 0])
            #expect(own["label"] == "Club" && own["host"] == "cal.example" && own["state"] == "active")
            #expect(own["urlHint"]?.string?.hasPrefix("http://cal.example/…") == true)

            // Nothing is due, then nothing is new.
            let asked = host.requests.count
            try await Self.refreshDue(server)
            #expect(host.requests.count == asked)
            server.clock.advance(seconds: 66 * 60)
            try await Self.refreshDue(server)
            #expect(host.requests.last?[.ifNoneMatch] == "\"1\"")
            #expect(try await Self.get(server, id)["lastChangedAt"] == own["lastChangedAt"])

            host.serve(["u1": "Gym and sauna", "u3": "Swimming"], etag: "\"2\"")
            server.clock.advance(seconds: 66 * 60)
            try await Self.refreshDue(server)
            #expect(try await Self.titles(server, feed) == ["From a file", "Gym and sauna", "Swimming"])
            own = try await Self.get(server, id)
            #expect(own["counts"] == ["events": 2, "created": 1, "updated": 1, "deleted": 1])

            // What went comes back with a higher SEQUENCE.
            host.serve(["u1": "Gym and sauna", "u2": "Choir"])
            try await server.call(.post, "\(Self.path)/\(id)/refresh", as: "ben").expect(200)
            #expect(try await Self.titles(server, feed) == ["Choir", "From a file", "Gym and sauna"])
            let changes = try await server.call(.get, "/v1/circles/c/changes?limit=1000").json["items"]?.array ?? []
            let mine = changes.filter { $0["type"] == "subscription" && $0["id"] == .string(id) }
            #expect(mine.map { $0["change"]?.string } == ["created", "updated", "updated", "updated"])
            #expect(changes.filter { $0["type"] == "import" }.count == 1)

            try await server.call(.delete, "\(Self.path)/\(id)", as: "ben").expect(204)
            #expect(try await Self.titles(server, feed) == ["From a file"])
            try await server.call(.get, "\(Self.path)/\(id)").expect(404)
            try await expectNoTrace(of: "5ecret", in: server)
        }
    }

    @Test("No answer that is not a whole calendar takes an event away")
    func badAnswers() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed().path
            host.serve(["u1": "Gym", "u2": "Choir"])
            let id = try await Self.make(host, server)
            try await Self.refreshDue(server)
            let whole = CalendarHost.calendar(["u1": "Gym", "u2": "Choir"])
            let bad: [(CalendarHost.Content, Bool)] = [
                (.init(body: ""), true), (.init(body: "<html>Sign in</html>"), true), (.init(body: "{}"), true),
                (.init(status: 500, body: whole), true), (.init(status: 404), true), (.init(status: 204), true),
                (.init(status: 302), true), (.init(body: String(repeating: "\u{0}", count: 100)), true),
                // Cut off within the second event, and behind the first.
                (.init(body: String(whole.prefix(whole.count - 40))), true),
                (.init(body: CalendarHost.calendar(["u1": "Gym"]).replacing("END:VCALENDAR\r\n", with: "")), true),
                // The second is there but cannot be read.
                (.init(body: whole.replacing("DTSTART:20260311T090000Z", with: "DTSTART:soon")), false),
                // Empty, but well-formed: once.
                (.init(body: CalendarHost.calendar([:])), true),
            ]
            for (content, isProblem) in bad {
                host.serve(content)
                let answer = try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
                #expect(
                    (answer.json["lastProblem"] != .null) == isProblem, "\(content.status) \(content.body.prefix(60))")
                #expect(try await Self.titles(server, feed) == ["Choir", "Gym"], "\(content.body.prefix(60))")
                #expect(!answer.text.contains("5ecret"))
            }
            // Empty again: its owner has emptied it.
            try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
            #expect(try await Self.titles(server, feed) == [])
        }
    }

    @Test("What could not be read stays, however much of it there is, and so does the series of an unreadable change")
    func unreadable() async throws {
        try await CalendarHost.run { host, server in
            let id = try await Self.make(host, server)
            /// Returns how many events there are once these are served.
            func count(serving events: [[String]]) async throws -> JSONValue? {
                host.serve(.init(body: OneCalendar.text(events)))
                let answer = try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
                #expect(answer.json["lastProblem"] == .null)
                return answer.json["counts"]?["events"]
            }
            let many = (0..<2_100).map { OneCalendar.event("u\($0)", "Event \($0)") }
            #expect(try await count(serving: many) == 2_100)
            let unread = many.dropFirst().map { [$0[0], "DTSTART:soon", $0[2]] }
            #expect(try await count(serving: [many[0]] + unread) == 2_100)

            let series = OneCalendar.event("s@x", "Choir", "RRULE:FREQ=WEEKLY")
            let changed = ["UID:s@x", "DTSTART:20260317T100000Z", "SUMMARY:Concert", "SEQUENCE:1"]
            #expect(try await count(serving: [series, changed + ["RECURRENCE-ID:20260317T090000Z"]]) == 2)
            #expect(try await count(serving: [series, changed + ["RECURRENCE-ID:20260230T090000Z"]]) == 2)
            let feed = try await server.makeFeed().path
            #expect(try await Self.titles(server, feed) == ["Choir", "Concert"])
        }
    }

    @Test("A calendar whose events have new UIDs each time keeps its events")
    func newUIDs() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed().path
            host.serve(["a1": "Gym", "a2": "Choir"])
            let id = try await Self.make(host, server)
            for events: KeyValuePairs in [
                ["a1": "Gym", "a2": "Choir"], ["b1": "Gym", "b2": "Choir"], ["c1": "Gym", "c2": "Choir"],
            ] {
                host.serve(events)
                try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
                #expect(try await Self.titles(server, feed) == ["Choir", "Gym"])
            }
            host.serve(["d1": "Gym"])
            try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
            #expect(try await Self.titles(server, feed) == ["Gym"])
        }
    }

    @Test("Failures wait longer and longer, a host's own wish is heeded, and 410 is the end")
    func failures() async throws {
        try await CalendarHost.run { host, server in
            host.serve(CalendarHost.Content(status: 500))
            let id = try await Self.make(host, server, ["refreshMinutes": 60])
            func wait() async throws -> Double {
                let own = try await Self.get(server, id)
                let next = try #require(own["nextFetchAt"]?.string.flatMap { Instant(rfc3339: $0) })
                return Double(next.milliseconds - server.clock.now) / 3_600_000
            }
            for hours in [1.0, 2, 4, 8, 16, 24, 24, 24] {
                try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
                #expect((hours - 0.01...hours * 1.1).contains(try await wait()))
            }
            host.serve(CalendarHost.Content(status: 503, headers: [.retryAfter: "172800"]))
            try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
            #expect((48...52.8).contains(try await wait()))
            host.serve(["u": "Gym"])
            let well = try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
            #expect(well.json["lastProblem"] == .null)
            #expect((0.99...1.1).contains(try await wait()))
            host.serve(CalendarHost.Content(status: 410))
            try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200)
            #expect(try await Self.get(server, id)["state"] == "failed")
            try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(409)
            let asked = host.requests.count
            server.clock.advance(seconds: 7 * 86_400)
            try await Self.refreshDue(server)
            #expect(host.requests.count == asked)
            host.serve(["u": "Gym"])
            try await server.call(.patch, "\(Self.path)/\(id)", ["state": "active"]).expect(200)
            try await Self.refreshDue(server)
            #expect(try await Self.get(server, id)["lastProblem"] == .null)
        }
    }

    @Test("When files cannot be read on this machine, the host is not asked again and again")
    func ownFault() async throws {
        try await CalendarHost.run(worker: "/nowhere/kalends") { host, server in
            host.serve(["u": "Gym"])
            let id = try await Self.make(host, server)
            for _ in 0..<3 { try await Self.refreshDue(server) }
            #expect(host.requests.count == 1)
            let own = try await Self.get(server, id)
            #expect(own["lastProblem"]?.string?.hasPrefix("The calendar could not be stored") == true)
            #expect(own["state"] == "active")
        }
    }

    @Test("Members who may write in a circle follow calendars for it; every fault is reported; none is followed twice")
    func calls() async throws {
        try await CalendarHost.run { host, server in
            host.serve(["u": "Gym"])
            let body: JSONValue = ["url": .string(host.url)]
            try await server.call(.post, Self.path, body, as: "vic").expect(403)
            try await server.call(.post, Self.path, body, as: "stranger").expect(404)
            let bad = try await server.call(
                .post, Self.path, ["url": "https://10.0.0.1/", "refreshMinutes": 59, "more": 1]
            ).expect(422)
            #expect(Set(bad.pointers) == ["/url", "/refreshMinutes", "/more"])
            let id = try await Self.make(host, server)
            let twice = try await server.call(.post, Self.path, body).expect(409)
            #expect(twice.json["subscriptionId"] == .string(id))
            #expect(try await server.call(.get, Self.path, as: "vic").expect(200).json["items"]?.array?.count == 1)
            try await server.call(.get, "\(Self.path)/\(id)", as: "stranger").expect(404)
            try await server.call(.patch, "\(Self.path)/\(id)", ["label": "x"], as: "vic").expect(403)
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            try await server.call(.get, "/v1/circles/d/subscriptions/\(id)").expect(404)
            let etag = try #require(try await server.call(.get, "\(Self.path)/\(id)").headers[.eTag])
            try await server.call(.patch, "\(Self.path)/\(id)", ["state": "paused"], headers: [.ifMatch: etag]).expect(
                200)
            server.clock.advance(seconds: 1)
            try await Self.refreshDue(server)
            #expect(host.requests.isEmpty)
            try await server.call(.patch, "\(Self.path)/\(id)", ["state": "failed"]).expect(422)
            try await server.call(.patch, "\(Self.path)/\(id)", ["label": "x"], headers: [.ifMatch: etag]).expect(412)
            try await server.call(.delete, "/v1/circles/c").expect(204)
            try await Self.refreshDue(server)
        }
    }
}
