// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The calendar's pages")
struct CalendarPageTests {
    private static func fill(_ server: TestServer) async throws {
        try await server.put(
            "tasks", "t1", ["title": "Buy milk", "dueAt": "2026-03-03T09:00:00-08:00", "ownerId": "ben"])
        try await server.put(
            "appointments", "a1",
            [
                "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-02T10:00:00-08:00",
                "endAt": "2026-03-02T11:00:00-08:00", "notes": "Bring the list", "location": "Room 4",
                "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=3"],
            ])
        try await server.put(
            "shifts", "s1",
            ["patientId": "dad", "ownerId": "ann", "startDate": "2026-03-04", "endDate": "2026-03-05"])
    }

    @Test("A user with one circle is led to its month, in which a series is on each of its days")
    func month() async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app").expect(200)
            #expect(ann.history.last == "/app/circles/c")
            #expect(page.text.contains("<h1><bdi>Our family</bdi></h1>") && page.text.contains("Ann – Dad"))
            // The grid has the chip on three days; a list behind it may repeat them.
            #expect(page.text.components(separatedBy: "/app/circles/c/appointments/a1").count >= 4)
            let april = try await ann.open("/app/circles/c?view=month&date=2026-05-01").expect(200)
            #expect(april.text.contains("Nothing is scheduled here") && !april.text.contains("Dr. Lee"))
        }
    }

    @Test("Week and agenda show the days that they say, and filters leave in what they name")
    func filters() async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server)
            let ann = try await Browser.signedIn("ann", server)
            func titles(_ query: String) async throws -> Set<String> {
                let page = try await ann.open("/app/circles/c?\(query)").expect(200)
                let known = ["Buy milk": "task", "Dr. Lee": "appointment", "Ann – Dad": "shift"]
                let main = page.text.components(separatedBy: "<main").last ?? ""
                return Set(known.filter { main.contains($0.key) }.values)
            }
            #expect(try await titles("view=week&date=2026-03-02") == ["task", "appointment", "shift"])
            #expect(try await titles("view=week&date=2026-03-09") == ["appointment"])
            #expect(try await titles("view=agenda&date=2026-03-04") == ["appointment", "shift"])
            #expect(try await titles("view=agenda&date=2026-03-01&kind=task&kind=shift") == ["task", "shift"])
            #expect(try await titles("view=agenda&date=2026-03-01&person=ben&patient=") == ["task"])
            #expect(try await titles("view=agenda&date=2026-03-01&patient=mom") == ["appointment"])
            // What is no day, and what is far away, is today.
            #expect(try await titles("view=week&date=9999-99-99") == ["task", "appointment", "shift"])
            let feed = try await server.makeFeed(config: ["includeTasks": false])
            #expect(try await titles("view=agenda&date=2026-03-01&feed=\(feed.id)") == ["appointment"])
            // A feed has its own rules for people, so that none is shown as chosen beside it.
            let both = "view=agenda&date=2026-03-01&person=ben&feed=\(feed.id)"
            #expect(try await titles(both) == ["appointment"])
            let form = try await ann.open("/app/circles/c?\(both)").expect(200)
            #expect(!form.text.contains("<option value=\"ben\" selected>"))
            #expect(form.text.contains("<option value=\"\(feed.id)\" selected>"))
            let foreign = try await server.makeFeed(user: "ben")
            try await ann.open("/app/circles/c?feed=\(foreign.id)").expect(404)
        }
    }

    @Test("A search finds titles whatever their case, for a year around the day, and keeps the filter")
    func search() async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server)
            try await server.put("tasks", "t2", ["title": "Milk the cow", "dueAt": "2026-09-01T09:00:00-07:00"])
            try await server.put("tasks", "t3", ["title": "Old milk", "dueAt": "2024-03-03T09:00:00-08:00"])
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c?view=month&date=2026-03-02&q=MILK&kind=task").expect(200)
            #expect(page.text.contains("2 entries found"))
            #expect(page.text.contains("Buy milk") && page.text.contains("Milk the cow"))
            #expect(!page.text.contains("Old milk") && !page.text.contains("Dr. Lee"))
            #expect(page.text.contains("<input type=\"hidden\" name=\"kind\" value=\"task\">"))
            #expect(page.text.contains("name=\"q\" type=\"search\" autocomplete=\"off\" value=\"MILK\""))
            let none = try await ann.open("/app/circles/c?q=yoghurt").expect(200)
            #expect(none.text.contains("0 entries found"))
            // The days of a search are another page's, which ends it.
            let end = try #require(page.text.firstMatch(of: /<a class="button plain" href="([^"]*)">End the search/)?.1)
            let back = try await ann.open(String(end).replacing("&amp;", with: "&")).expect(200)
            #expect(!back.text.contains("entries found") && back.text.contains("Buy milk"))
        }
    }

    @Test("Of very many that a search finds, those to come are shown first; a letter and its accent are one letter")
    func manyFound() async throws {
        try await TestServer.withPasswords { server in
            let past: JSONValue = [
                "patientId": "mom", "provider": "Cafe\u{301} daily", "startAt": "2025-07-01T09:00:00-07:00",
                "recurrence": ["rrule": "FREQ=DAILY;COUNT=244"],
            ]
            try await server.put("appointments", "past", past)
            try await server.put(
                "tasks", "ahead", ["title": "Café to come", "dueAt": "2026-06-03T09:00:00-07:00"])
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c?q=CAF%C3%89&date=2026-03-02").expect(200)
            #expect(page.text.contains("200 entries found") && page.text.contains("Café to come"))
            #expect(page.text.contains("There is more than fits here."))
            // The latest of what was is there, too.
            #expect(page.text.contains("2026-03-01") && !page.text.contains("2025-07-01"))
        }
    }

    @Test("A form leads to any day, and keeps the view")
    func jump() async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c?view=week&date=2026-01-05").expect(200)
            let form = try #require(
                HTMLForm.all(in: page.text).first { $0.names.contains("date") && $0.method == "get" })
            let query = form.filled(["date": "2026-03-09"]).map { "\($0.0)=\($0.1)" }.joined(separator: "&")
            #expect(query.contains("view=week"))
            let there = try await ann.open("\(form.action)?\(query)").expect(200)
            #expect(there.text.contains("Dr. Lee") && !there.text.contains("Buy milk"))
        }
    }

    @Test(
        "Weeks begin where the reader's do",
        arguments: [("en-US,en;q=0.8", "Sun"), ("en-GB,en;q=0.8", "Mon"), ("de-DE,en-US;q=0.5", "Mo")])
    func weeks(_ accepted: String, _ first: String) async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open(
                "/app/circles/c?date=2026-03-02", headers: HTTPFields(named: ["Accept-Language": accepted])
            ).expect(200)
            let heading = page.text.firstMatch(of: /<th [^>]*><abbr[^>]*>([^<]*)</)?.1
            #expect(heading.map(String.init) == first)
            // The week of March 8, a Sunday: the shift of March 4 and 5 is in the one before where weeks begin on Sunday.
            let week = try await ann.open(
                "/app/circles/c?view=week&date=2026-03-08", headers: HTTPFields(named: ["Accept-Language": accepted])
            ).expect(200)
            #expect(week.text.contains("Ann – Dad") == (first != "Sun"))
        }
    }

    @Test("An item's page shows all of it, in the reader's zone, and to members only")
    func item() async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server)
            try await server.call(.put, "/v1/users/ann", ["timeZone": "Europe/Berlin"]).expect(201)
            try await server.call(.put, "/v1/circles/d", ["name": "Other", "timeZone": "UTC"]).expect(201)
            try await server.call(
                .put, "/v1/circles/d/tasks/t9", ["title": "Secret of d", "dueAt": "2026-03-03T09:00:00Z"]
            ).expect(201)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c/appointments/a1").expect(200)
            for text in ["Dr. Lee", "Bring the list", "Room 4", "Mom", "7:00 pm", "America/Los_Angeles"] {
                #expect(page.text.contains(text), "\(text)")
            }
            for path in [
                "/app/circles/d", "/app/circles/d/tasks/t9", "/app/circles/c/tasks/t9", "/app/circles/nothing",
                "/app/circles/c/tasks/%20", "/app/circles/d/calendar-sync", "/app/circles/d/conflicts",
            ] {
                let answer = try await ann.open(path).expect(404)
                #expect(!answer.text.contains("Secret of d") && answer.text.contains("There is nothing here"))
            }
        }
    }

    @Test("Private events are only on their owner's pages")
    func privacy() async throws {
        try await TestServer.withPasswords { server in
            let file = """
                BEGIN:VCALENDAR\r
                VERSION:2.0\r
                BEGIN:VEVENT\r
                UID:private-1\r
                DTSTART:20260303T100000Z\r
                SUMMARY:Therapy\r
                CLASS:PRIVATE\r
                END:VEVENT\r
                BEGIN:VEVENT\r
                UID:public-1\r
                DTSTART:20260303T120000Z\r
                SUMMARY:Match\r
                END:VEVENT\r
                END:VCALENDAR\r

                """
            try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [
                    .authorization: "Bearer \(server.key)", .kalendsUser: "ben", .contentType: "text/calendar",
                ], body: ByteBuffer(string: file)
            ).expect(201)
            for (user, isShown) in [("ann", false), ("ben", true)] {
                let browser = try await Browser.signedIn(user, server)
                let page = try await browser.open("/app/circles/c?view=week&date=2026-03-02").expect(200)
                #expect(page.text.contains("Match") && page.text.contains("Therapy") == isShown, "\(user)")
            }
        }
    }

    @Test("Markup in every name is text on every page")
    func markup() async throws {
        try await TestServer.withPasswords { server in
            let hostile = "<script>alert(1)</script>\"'>&"
            try await server.call(.put, "/v1/circles/c", ["name": .string(hostile), "timeZone": "UTC"]).expect(200)
            let person: JSONValue = ["displayName": .string(hostile), "role": "owner"]
            try await server.call(.put, "/v1/circles/c/members/ann", person).expect(200)
            try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": .string(hostile)]).expect(200)
            try await server.put(
                "appointments", "a1",
                [
                    "patientId": "mom", "provider": .string(hostile), "startAt": "2026-03-02T10:00:00Z",
                    "endAt": "2026-03-02T11:00:00Z", "notes": .string(hostile), "location": .string(hostile),
                ])
            let feed = try await server.makeFeed(label: hostile)
            let connection = try await server.connect(label: hostile)
            try await SyncSamples.put(in: server, of: connection, now: server.clock.now)
            let ann = try await Browser.signedIn("ann", server)
            for path in [
                "/app/circles/c", "/app/circles/c?view=week&person=\"><script>", "/app/circles/c?view=agenda",
                "/app/circles/c?feed=\(feed.id)", "/app/circles/c/appointments/a1", "/app/circles/c/calendar-sync",
                "/app/circles/c/feeds/\(feed.id)", "/app/circles/c/connections/\(connection)",
                "/app/circles/c/conflicts",
            ] {
                let address = path.replacing("\"><script>", with: "%22%3E%3Cscript%3E")
                let page = try await ann.open(address).expect(200)
                #expect(!page.text.contains("<script>") && !page.text.contains("\"'>&"), "\(path)")
                #expect(page.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
            }
        }
    }
}
