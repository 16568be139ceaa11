// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Logging
import OfficeDays
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// The server's clock begins on Monday, 2026-03-02, at 12:00 UTC, which is 07:00 in New York.
@Suite("Office days over HTTP")
struct OfficeDaysOverHTTPTests {
    static let path = "/v1/users/ann/office-days"
    static let monday = "2026-03-02"

    /// Switches office days on for Ann in New York.
    static func enable(_ server: TestServer, _ more: [ByteString: JSONValue] = [:]) async throws {
        var body: [ByteString: JSONValue] = ["enabled": true, "deviceTimeZone": "America/New_York"]
        body.merge(more) { $1 }
        try await server.call(.patch, "\(path)/settings", .object(body), as: "ann").expect(200)
    }

    @discardableResult
    static func visit(
        _ server: TestServer, _ id: String, _ start: String, _ end: String, status: Int = 201
    ) async throws -> Answer {
        try await server.call(
            .put, "\(path)/visits/\(id)", ["startAt": .string(start), "endAt": .string(end)], as: "ann"
        ).expect(status)
    }

    static func day(_ server: TestServer, _ date: String) async throws -> JSONValue {
        let list = try await server.call(.get, "\(path)?from=\(date)&to=\(date)", as: "ann").expect(200)
        return try #require(list.json["items"]?.array?.first)
    }

    static func nights(_ server: TestServer) async throws {
        try await server.services.officeNights(Logger(label: "test") { _ in server.log }).once()
    }

    @Test("Settings come with their defaults, are changed in part, set whole, and reset")
    func settings() async throws {
        try await TestServer.run { server in
            let usual = try await server.call(.get, "\(Self.path)/settings", as: "ann").expect(200)
            #expect(usual.json["enabled"] == false)
            #expect(usual.json["target"] == ["feed": true])
            #expect(usual.json["officeTitle"] == "Office Day" && usual.json["remoteTitle"] == "Remote Work")
            #expect(usual.json["eventType"] == "timed" && usual.json["availability"] == "free")
            #expect(usual.json["timeZoneMode"] == "device" && usual.json["deviceTimeZone"] == .null)
            #expect(usual.json["officeHours"] == ["start": "09:00", "end": "17:00"])
            #expect(usual.json["trackedDays"] == ["mon", "tue", "wed", "thu", "fri"])
            #expect(usual.json["monthlyGoal"] == 15 && usual.json["createRemoteEvents"] == true)
            let tag = try #require(usual.headers[.eTag])
            try await server.call(.get, "\(Self.path)/settings", as: "ann", headers: [.ifNoneMatch: tag]).expect(304)
            let changed = try await server.call(
                .patch, "\(Self.path)/settings",
                ["officeTitle": "  HQ 🏢 ", "officeHours": ["end": "16:30"], "officeAddress": "1 Main Street"],
                as: "ann", headers: [.ifMatch: tag]
            ).expect(200)
            #expect(changed.json["officeTitle"] == "HQ 🏢")
            #expect(changed.json["officeHours"] == ["start": "09:00", "end": "16:30"])
            try await server.call(
                .patch, "\(Self.path)/settings", ["monthlyGoal": 3], as: "ann", headers: [.ifMatch: tag]
            ).expect(412)
            let cleared = try await server.call(
                .patch, "\(Self.path)/settings", ["officeTitle": .null, "officeAddress": ""], as: "ann"
            ).expect(200)
            #expect(cleared.json["officeTitle"] == "Office Day" && cleared.json["officeAddress"] == .null)
            let whole = try await server.call(.put, "\(Self.path)/settings", ["monthlyGoal": 3], as: "ann").expect(200)
            #expect(whole.json["officeHours"] == ["start": "09:00", "end": "17:00"] && whole.json["monthlyGoal"] == 3)
            let kept: JSONValue = [
                "enabled": true, "homeOfficeTimeZone": "Europe/Berlin", "deviceTimeZone": "Europe/Paris",
                "holidays": ["2026-12-25"], "officeAddress": "Main Street 1",
            ]
            try await server.call(.patch, "\(Self.path)/settings", kept, as: "ann").expect(200)
            try await server.call(
                .patch, "\(Self.path)/settings", ["remoteTitle": "Home", "eventType": "allDay"], as: "ann"
            ).expect(200)
            // How events look and when they are is as at first; what only the person knows stays.
            let reset = try await server.call(.post, "\(Self.path)/settings/reset", as: "ann").expect(200)
            var expected = try #require(usual.json.object)
            for (name, value) in try #require(kept.object) { expected[name] = value }
            #expect(reset.json == .object(expected))
        }
    }

    @Test("Everything that is wrong with settings is named at once, with its place")
    func faults() async throws {
        try await TestServer.run { server in
            let answer = try await server.call(
                .patch, "\(Self.path)/settings",
                [
                    "officeTitle": .string(String(repeating: "👩‍👩‍👧", count: 51)), "remoteTitle": " ",
                    "deviceTimeZone": "Mars/Olympus", "timeZoneMode": "homeOffice",
                    "officeHours": ["start": "17:00", "end": "09:00"], "trackedDays": ["mon", "someday"],
                    "holidays": ["2026-02-30"], "monthlyGoal": 0, "officeAddress": "47.3769, 8.5417",
                    "target": ["feed": true, "device": true], "latitude": 47,
                ], as: "ann"
            ).expect(422)
            #expect(
                Set(answer.pointers) == [
                    "/officeTitle", "/remoteTitle", "/deviceTimeZone", "/homeOfficeTimeZone", "/officeHours/end",
                    "/trackedDays", "/holidays/0", "/monthlyGoal", "/officeAddress", "/target", "/latitude",
                ])
            let fifty = JSONValue.string(String(repeating: "👩‍👩‍👧", count: 50))
            try await server.call(.patch, "\(Self.path)/settings", ["officeTitle": fifty], as: "ann").expect(200)
            let unknown = try await server.call(
                .patch, "\(Self.path)/settings", ["target": ["connectionId": "nobody"], "holidayCalendar": "none"],
                as: "ann"
            ).expect(422)
            #expect(Set(unknown.pointers) == ["/target/connectionId", "/holidayCalendar"])
            #expect(unknown.json["errors"]?.array?.allSatisfy { $0["code"] == "unknown-reference" } == true)
            try await server.call(.patch, "\(Self.path)/settings", ["target": ["device": true]], as: "ann").expect(200)
        }
    }

    @Test("An hour of visits makes an office day, with its event")
    func officeDay() async throws {
        try await TestServer.run { server in
            try await Self.enable(server, ["officeAddress": "1 Main Street"])
            try await Self.visit(server, "a", "2026-03-02T10:00:00-05:00", "2026-03-02T10:59:59-05:00")
            #expect(try await Self.day(server, Self.monday)["status"] == "none")
            try await Self.visit(server, "a", "2026-03-02T15:00:00Z", "2026-03-02T16:00:00Z", status: 200)
            let day = try await Self.day(server, Self.monday)
            #expect(day["status"] == "inOffice" && day["source"] == "visits" && day["officeMinutes"] == 60)
            let event = try #require(day["event"])
            #expect(event["start"] == "2026-03-02T09:00:00-05:00" && event["end"] == "2026-03-02T17:00:00-05:00")
            #expect(event["title"] == "Office Day" && event["allDay"] == false && event["state"] == "managed")
            #expect(event["location"] == "1 Main Street" && event["availability"] == "free")
            let uid = try #require(event["uid"]?.string)
            #expect(uid.hasPrefix("iod-2026-03-02-inOffice-"))
            #expect(
                event["notes"]
                    == .string(
                        "Status: In Office\nOffice Hours: 9:00 AM – 5:00 PM\nTotal Office Days This Month: 1/15\nUID: \(uid)"
                    ))
            let visits = try await server.call(.get, "\(Self.path)/visits?from=2026-03-02&to=2026-03-02", as: "ann")
                .expect(200)
            #expect(visits.json["items"]?.array?.first?["startAt"] == "2026-03-02T10:00:00-05:00")
            #expect(try await server.call(.get, "\(Self.path)/visits?to=2026-03-01", as: "ann").json["items"] == [])
            try await server.call(.delete, "\(Self.path)/visits/a", as: "ann").expect(204)
            let gone = try await server.call(.delete, "\(Self.path)/visits/a", as: "ann").expect(404)
            #expect(gone.json["code"] == "visit-not-found")
            #expect(try await Self.day(server, Self.monday)["event"] == nil)
        }
    }

    @Test("At 23:59 of the person's zone a tracked day becomes remote, and nights that were missed are made up")
    func nights() async throws {
        try await TestServer.run { server in
            try await Self.enable(server, ["holidays": ["2026-03-04"]])
            // 23:58:59 in New York.
            server.clock.advance(seconds: 16 * 3600 + 58 * 60 + 59)
            try await Self.nights(server)
            #expect(try await Self.day(server, Self.monday)["status"] == "none")
            server.clock.advance(seconds: 1)
            try await Self.nights(server)
            let day = try await Self.day(server, Self.monday)
            #expect(day["status"] == "remote" && day["source"] == "endOfDay")
            #expect(day["event"]?["title"] == "Remote Work")
            // A week without the server.
            server.clock.advance(seconds: 7 * 86_400)
            try await Self.nights(server)
            let list = try await server.call(.get, "\(Self.path)?from=2026-03-02&to=2026-03-09", as: "ann").expect(200)
            let found = list.json["items"]?.array?.compactMap { $0["status"]?.string } ?? []
            #expect(found == ["remote", "remote", "none", "remote", "remote", "none", "none", "remote"])
            // A visit that comes late swaps remote for office, and later days count it.
            try await Self.visit(server, "late", "2026-03-03T09:00:00-05:00", "2026-03-03T12:00:00-05:00")
            #expect(try await Self.day(server, "2026-03-03")["event"]?["title"] == "Office Day")
            let later = try await Self.day(server, "2026-03-09")["event"]?["notes"]?.string ?? ""
            #expect(later.contains("Total Office Days This Month: 1/15"))
        }
    }

    @Test("A stored day that is not understood keeps one user waiting, and nobody else")
    func notUnderstood() async throws {
        try await TestServer.run { server in
            try await Self.enable(server)
            let ben: JSONValue = ["enabled": true]
            try await server.call(.put, "/v1/users/ben/office-days/settings", ben, as: "ben").expect(200)
            _ = try await server.services.store.record {
                try $0.execute("UPDATE office_profiles SET settings = '{}' WHERE user_id = 'ann'", [])
            }
            #expect(
                try await StoredRows.faults(
                    in: server.services.store, server.services.maintenance, .all
                ).count == 1)
            server.clock.advance(seconds: 2 * 86_400)
            try await Self.nights(server)
            let list = try await server.call(.get, "/v1/users/ben/office-days?from=2026-03-02&to=2026-03-02", as: "ben")
                .expect(200)
            #expect(list.json["items"]?.array?.first?["status"] == "remote")
            #expect(server.log.text.contains("cannot be decided"))
        }
    }

    @Test("A person's word is over the visits until it is taken back")
    func word() async throws {
        try await TestServer.run { server in
            try await Self.enable(server)
            try await Self.visit(server, "a", "2026-03-02T08:00:00-05:00", "2026-03-02T12:00:00-05:00")
            let day = "\(Self.path)/days/\(Self.monday)"
            let put = try await server.call(.put, day, ["status": "remote"], as: "ann").expect(200)
            #expect(put.json["status"] == "remote" && put.json["source"] == "person")
            #expect(put.json["officeMinutes"] == 240)
            #expect(put.json == (try await Self.day(server, Self.monday)))
            try await server.call(.put, day, ["status": "none"], as: "ann").expect(200)
            #expect(try await Self.day(server, Self.monday)["event"] == nil)
            try await server.call(.delete, day, as: "ann").expect(204)
            #expect(try await Self.day(server, Self.monday)["source"] == "visits")
            try await server.call(.put, day, ["status": "away"], as: "ann").expect(422)
            for wrong in ["2026-02-30", "today", "2026-3-2"] {
                try await server.call(.put, "\(Self.path)/days/\(wrong)", ["status": "none"], as: "ann").expect(400)
            }
        }
    }

    @Test("Changed settings write again from today on, the past stays, and off leaves everything")
    func changes() async throws {
        try await TestServer.run { server in
            try await Self.enable(server)
            server.clock.advance(seconds: 86_400)
            try await Self.nights(server)
            let past = try await Self.day(server, Self.monday)["event"]
            try await Self.visit(server, "a", "2026-03-03T05:00:00-05:00", "2026-03-03T07:00:00-05:00")
            try await server.call(.patch, "\(Self.path)/settings", ["eventType": "allDay"], as: "ann").expect(200)
            let today = try await Self.day(server, "2026-03-03")["event"]
            #expect(today?["allDay"] == true && today?["start"] == "2026-03-03" && today?["end"] == "2026-03-04")
            #expect(try await Self.day(server, Self.monday)["event"] == past)
            try await server.call(.patch, "\(Self.path)/settings", ["enabled": false], as: "ann").expect(200)
            #expect(try await Self.day(server, "2026-03-03")["event"] == today)
            server.clock.advance(seconds: 3 * 86_400)
            try await Self.nights(server)
            #expect(try await Self.day(server, "2026-03-04")["status"] == "none")
        }
    }

    @Test("A preview shows two weeks, a status counts, and a clean-up takes away what a preview named")
    func overview() async throws {
        try await TestServer.run { server in
            let before = try await server.call(.get, "\(Self.path)/preview", as: "ann").expect(200)
            #expect(before.json["items"]?.array?.count == 14)
            #expect(before.json["items"]?.array?.count { $0["event"] != nil } == 10)
            #expect(try await server.call(.get, "\(Self.path)/status", as: "ann").json["state"] == "off")
            try await Self.enable(server)
            server.clock.advance(seconds: 3 * 86_400)
            try await Self.nights(server)
            let status = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200)
            #expect(status.json["state"] == "active" && status.json["banner"] == .null)
            #expect(status.json["lastSyncStatus"] == "success")
            #expect(status.json["counts"]?["remoteDaysThisMonth"] == 3 && status.json["counts"]?["managed"] == 3)
            let mode = "\(Self.path)/cleanup?mode="
            for _ in 0..<2 {
                #expect(try await server.call(.post, mode + "preview", as: "ann").expect(200).json["count"] == 3)
            }
            #expect(try await server.call(.post, "\(Self.path)/cleanup", as: "ann").expect(200).json["count"] == 3)
            #expect(try await server.call(.post, mode + "commit", as: "ann").expect(200).json["count"] == 0)
            #expect(try await Self.day(server, Self.monday)["status"] == "remote")
            try await server.call(.post, mode + "all", as: "ann").expect(422)
        }
    }

    @Test("A list has every date, both ends included, in pages")
    func pages() async throws {
        try await TestServer.run { server in
            var dates: [String] = []
            var query = "from=2026-02-27&to=2026-03-05&limit=3"
            while true {
                let page = try await server.call(.get, "\(Self.path)?\(query)", as: "ann").expect(200).json
                dates += page["items"]?.array?.compactMap { $0["date"]?.string } ?? []
                guard let next = page["nextCursor"]?.string else { break }
                query = "from=2026-02-27&to=2026-03-05&limit=3&cursor=\(next)"
            }
            #expect(
                dates == [
                    "2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05",
                ])
            let month = try await server.call(.get, Self.path, as: "ann").expect(200)
            #expect(month.json["items"]?.array?.count == 31)
            for wrong in ["from=2026-03-05&to=2026-03-01", "from=yesterday", "from=1901-01-01&to=2026-01-01"] {
                try await server.call(.get, "\(Self.path)?\(wrong)", as: "ann").expect(422)
            }
        }
    }

    @Test("Office days are a user's own: another user finds nothing, the host application everything")
    func rights() async throws {
        try await TestServer.run { server in
            try await Self.enable(server)
            try await Self.visit(server, "a", "2026-03-02T08:00:00-05:00", "2026-03-02T12:00:00-05:00")
            for path in ["", "/settings", "/status", "/preview", "/visits"] {
                try await server.call(.get, Self.path + path, as: "ben").expect(404)
                try await server.call(.get, Self.path + path).expect(200)
            }
            try await server.call(.delete, "\(Self.path)/visits/a", as: "ben").expect(404)
            try await server.call(.delete, "\(Self.path)/visits/a").expect(204)
        }
    }

    @Test("Whatever carries events elsewhere sees them as they are to be, and what it says of them is kept")
    func carried() async throws {
        try await TestServer.run { server in
            try await Self.enable(server, ["target": ["device": true]])
            server.clock.advance(seconds: 3 * 86_400)
            try await Self.nights(server)
            let store = server.services.store
            let events = try await store.read { try OfficeDayEvents.entries(of: "ann", for: .device, in: $0) }
            #expect(events.map(\.date.description) == ["2026-03-02", "2026-03-03", "2026-03-04"])
            let now = server.clock.now
            try await store.write { transaction in
                try OfficeDayEvents.note(
                    [.init(date: events[0].date, kind: .edited), .init(date: events[1].date, kind: .deleted)],
                    written: 1, failed: 1, problem: .permissionRevoked, of: "ann", now: now, in: transaction)
            }
            try await Self.visit(server, "a", "2026-03-02T08:00:00-05:00", "2026-03-02T12:00:00-05:00")
            let after = try await store.read { try OfficeDayEvents.entries(of: "ann", for: .device, in: $0) }
            #expect(after.map(\.state) == [.unmanaged, .removed, .managed])
            #expect(after[0].title == "Remote Work" && after[2].notes.contains("1/15"))
            #expect(after[2].identity == events[2].identity && after[2].revision > events[2].revision)
            let status = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200)
            #expect(status.json["state"] == "paused" && status.json["lastSyncStatus"] == "partial")
            #expect(status.json["banner"]?["text"] == "Calendar sync paused — permission revoked. Fix")
            #expect(status.json["banner"]?["action"] == "openSettings")
            // Another target has problems of its own.
            try await server.call(.patch, "\(Self.path)/settings", ["target": ["feed": true]], as: "ann").expect(200)
            #expect(try await server.call(.get, "\(Self.path)/status", as: "ann").json["banner"] == .null)
            let figures = try await store.read { try $0.officeFigures(now: now, day: now / 86_400_000) }
            #expect(figures.users == 1 && figures.enabled == 1 && figures.errors == 1)
        }
    }

    @Test("A connection of one's own can be chosen, and what it waits for is a banner")
    func connection() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make(_ user: String) async throws -> JSONValue {
                let body: JSONValue = ["provider": "caldav"]
                return try #require(
                    try await server.call(.post, "/v1/circles/c/connections", body, as: user).expect(201).json["id"])
            }
            let (own, other) = (try await make("ann"), try await make("ben"))
            let request: JSONValue = ["target": ["connectionId": other]]
            try await server.call(.patch, "\(Self.path)/settings", request, as: "ann").expect(422)
            try await Self.enable(server, ["target": ["connectionId": own]])
            let status = try await server.call(.get, "\(Self.path)/status", as: "ann").expect(200)
            #expect(status.json["state"] == "paused" && status.json["banner"]?["action"] == "reconnect")
        }
    }

    @Test("All-day events of a followed calendar are holidays while the person is in its circle")
    func followedHolidays() async throws {
        try await CalendarHost.run { host, server in
            let file = """
                BEGIN:VCALENDAR\r
                VERSION:2.0\r
                BEGIN:VEVENT\r
                UID:h\r
                DTSTART;VALUE=DATE:20200303\r
                RRULE:FREQ=YEARLY\r
                SUMMARY:A day off\r
                END:VEVENT\r
                BEGIN:VEVENT\r
                UID:m\r
                DTSTART:20260305T090000Z\r
                SUMMARY:A meeting\r
                END:VEVENT\r
                END:VCALENDAR\r

                """
            host.serve(CalendarHost.Content(body: file))
            let made = try await server.call(.post, "/v1/circles/c/subscriptions", ["url": .string(host.url)])
                .expect(201)
            let id = try #require(made.json["id"]?.string)
            try await server.services.subscriptionRefresh(Logger(label: "test") { _ in server.log })
                .once()
            let request: JSONValue = ["holidayCalendar": .string(id)]
            try await server.call(.patch, "/v1/users/eve/office-days/settings", request, as: "eve").expect(422)
            try await Self.enable(server, ["holidayCalendar": .string(id)])
            server.clock.advance(seconds: 4 * 86_400)
            try await Self.nights(server)
            let list = try await server.call(.get, "\(Self.path)?from=2026-03-02&to=2026-03-05", as: "ann").expect(200)
            #expect(
                list.json["items"]?.array?.compactMap { $0["status"]?.string } == [
                    "remote", "none", "remote", "remote",
                ])
        }
    }
}
