// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Feeds, properties and traces of a person's own calendars")
struct OwnCalendarFeedTests {
    @Test("Feeds that show their owner's own entries show the events at once, and nobody else's feeds do")
    func feeds() async throws {
        try await OwnBench.run { bench in
            let server = bench.server
            try await server.makeCircle()
            try await bench.make("work", [.event, .task, .journal])
            let config: JSONValue = ["includePersonal": true]
            let (feed, bens) = (
                try await server.makeFeed(config: config), try await server.makeFeed(user: "ben", config: config)
            )
            let without = try await server.makeFeed(label: "without")
            func read(_ path: String) async throws -> Answer { try await server.raw(.get, path).expect(200) }
            #expect(try await read(feed.path).values("SUMMARY").isEmpty)
            let others = (try await read(bens.path).headers[.eTag], try await read(without.path).headers[.eTag])
            server.clock.advance(seconds: 2)
            let more = "LOCATION:Hall\r\nATTENDEE:mailto:eve@example.org\r\nX-OWN:secret\r\n"
            try await bench.put("a.ics", OwnBench.event("u", "Choir", more))
            try await bench.put("t.ics", OwnBench.event("t", "Shopping", kind: "VTODO"))
            try await bench.put("j.ics", OwnBench.event("j", "Diary", kind: "VJOURNAL"))
            let shown = try await read(feed.path)
            #expect(shown.values("SUMMARY") == ["Choir"] && shown.values("LOCATION") == ["Hall"])
            #expect(!shown.text.contains("eve@example.org"))
            let uid = try #require(shown.values("UID").first)
            #expect(uid != "u")
            // A change is a revision of the same event.
            server.clock.advance(seconds: 2)
            try await bench.put("a.ics", OwnBench.event("u", "Concert"))
            let changed = try await read(feed.path)
            #expect(changed.values("SUMMARY") == ["Concert"] && changed.values("UID") == [uid])
            #expect(changed.headers[.eTag] != shown.headers[.eTag])
            #expect(
                try #require(changed.values("SEQUENCE").first.flatMap { Int($0) })
                    > #require(shown.values("SEQUENCE").first.flatMap { Int($0) }))
            let preview = try await server.call(.get, "/v1/feeds/\(feed.id)/preview").expect(200).json
            #expect(preview["events"]?.array?.compactMap { $0["summary"]?.string } == ["Concert"])
            let busy = try await server.makeFeed(label: "b", config: ["includePersonal": true, "detail": "busy"])
            #expect(try await read(busy.path).values("SUMMARY") == ["Busy"])
            server.clock.advance(seconds: 2)
            try await bench.delete("a.ics")
            #expect(try await read(feed.path).values("SUMMARY").isEmpty)
            try await bench.put("a.ics", OwnBench.event("u"))
            server.clock.advance(seconds: 2)
            #expect(try await read(feed.path).values("SUMMARY") == ["Choir"])
            server.clock.advance(seconds: 2)
            try await bench.own.remove(try await bench.found(), for: bench.ann)
            #expect(try await read(feed.path).values("SUMMARY").isEmpty)
            #expect(try await read(bens.path).headers[.eTag] == others.0)
            #expect(try await read(without.path).headers[.eTag] == others.1)
        }
    }

    @Test("A series is shown with its changed occurrences, and days and times without a zone on the person's clock")
    func series() async throws {
        try await OwnBench.run { bench in
            let server = bench.server
            try await server.makeCircle()
            try await server.call(.put, "/v1/users/ann", ["timeZone": "Europe/Vienna"]).expect(201)
            try await bench.make()
            let series = OwnBench.event(
                "s", "Choir", start: "20260304T190000", end: "20260304T210000", "RRULE:FREQ=WEEKLY;COUNT=3\r\n")
            let changed = """
                BEGIN:VEVENT\r
                UID:s\r
                DTSTAMP:20260301T120000Z\r
                RECURRENCE-ID:20260311T190000\r
                DTSTART:20260312T190000\r
                DTEND:20260312T210000\r
                SUMMARY:Concert\r
                END:VEVENT\r
                END:VCALENDAR
                """
            try await bench.put("s.ics", series.replacing("END:VCALENDAR", with: changed))
            let day = OwnBench.event("d", "Trip")
                .replacing("DTSTART:20260304T190000Z", with: "DTSTART;VALUE=DATE:20260305")
                .replacing("DTEND:20260304T210000Z", with: "DTEND;VALUE=DATE:20260307")
            try await bench.put("d.ics", day)
            // Beyond the window.
            try await bench.put("z.ics", OwnBench.event("z", "Far", start: "20310304T190000Z", end: "20310304T200000Z"))
            let feed = try await server.makeFeed(config: ["includePersonal": true])
            let shown = try await server.raw(.get, feed.path).expect(200)
            #expect(Set(shown.values("SUMMARY")) == ["Choir", "Concert", "Trip"])
            let lines = shown.calendarLines
            #expect(lines.contains("DTSTART;TZID=Europe/Vienna:20260304T190000"), "\(shown.text)")
            #expect(lines.contains("RECURRENCE-ID;TZID=Europe/Vienna:20260311T190000"))
            #expect(lines.contains("DTSTART;VALUE=DATE:20260305") && lines.contains("DTEND;VALUE=DATE:20260307"))
            #expect(Set(shown.values("UID")).count == 2)
        }
    }

    @Sendable
    private static func property(_ name: String, _ xml: String, _ namespace: String = "DAV:") -> StoredProperty {
        StoredProperty(namespace: namespace, name: name, xml: Array(xml.utf8))
    }

    @Test("What a person sets of a collection is kept for them alone, all of it or none, up to 64 kB")
    func properties() async throws {
        try await OwnBench.run { bench in
            let color = Self.property("calendar-color", "<c xmlns='x'>#FF0000FF</c>", "http://apple.com/ns/ical/")
            let work = try await bench.own.make(
                "own~work", components: [.event], properties: [Self.property("displayname", "<d>Wörk</d>"), color],
                for: bench.ann)
            #expect(work.displayName == "work")
            #expect(work.properties == [Self.property("displayname", "<d>Wörk</d>"), color])
            try await bench.own.set(
                [Self.property("displayname", "<d>Work</d>"), Self.property("x", "<x/>", "")],
                removing: [("http://apple.com/ns/ical/", "calendar-color"), ("none", "none")], of: work, for: bench.ann)
            func kept() async throws -> [StoredProperty] { try await bench.found("own~work").properties }
            let now = [Self.property("x", "<x/>", ""), Self.property("displayname", "<d>Work</d>")]
            #expect(try await kept() == now)
            let large = Self.property("big", String(repeating: "x", count: CollectionProperties.mostBytes))
            #expect(
                await fault {
                    try await bench.own.set(
                        [Self.property("y", "<y/>"), large], removing: [("DAV:", "displayname")], of: work,
                        for: bench.ann)
                } == "storage")
            #expect(try await kept() == now)
            // Those of a circle's collections are each person's.
            try await bench.server.makeCircle()
            let store = bench.server.services.store
            let kinds: [CalendarCollection.Kind] = [.events(circle: "c"), .tasks(circle: "c")]
            try await store.record { transaction in
                for (kind, user) in [(kinds[0], "ann"), (kinds[1], "ann"), (kinds[0], "ben")] {
                    try CollectionProperties.set(
                        [Self.property("displayname", "<d>\(user) \(kind)</d>")], removing: [], of: kind, user: user,
                        in: transaction)
                }
            }
            let found = try await store.read { transaction in
                try kinds.map { try CollectionProperties.properties(of: $0, user: "ann", in: transaction) }
            }
            #expect(found == kinds.map { [Self.property("displayname", "<d>ann \($0)</d>")] })
            // They go with their collection.
            try await bench.own.remove(work, for: bench.ann)
            try await bench.server.call(.delete, "/v1/circles/c").expect(204)
            await bench.server.services.turns.settle()
            let left = try await store.read { try $0.rows("SELECT 1 AS value FROM collection_properties", []) }
            #expect(left.isEmpty)
        }
    }

    @Test("A calendar has any name of up to 255 bytes that is none of the person's circles'")
    func names() async throws {
        try await OwnBench.run { bench in
            try await bench.server.makeCircle()
            try await bench.server.call(.put, "/v1/circles/x~y", ["name": "X", "timeZone": "UTC"]).expect(201)
            try await bench.server.call(
                .put, "/v1/circles/x~y/members/ann", ["displayName": "Ann", "role": "owner"]
            ).expect(201)
            for name in ["c", "c~tasks", "x~~y", "x~~y~tasks"] {
                #expect(await fault { try await bench.make(name) } == "exists", "\(name)")
            }
            let long = String(repeating: "é", count: 127) + "x"
            for name in ["x~y", "c~", "Familie & Freunde ☕", "%41", long] {
                try await bench.make(name)
                #expect(try await bench.found(name).segment == name)
            }
            for name in ["", long + "x", "a/b", "a\u{0}", ".", ".."] {
                #expect(await fault { try await bench.make(name) } == "forbidden", "\(name)")
            }
            // Somebody who is in no circle may have its name.
            let eve = CalDAVCaller(passwordID: "e", userID: "eve", mayWrite: true, circleIDs: nil, own: true)
            try await bench.make("c", for: eve)
            let segments = try await bench.own.collections(of: bench.ann).map(\.segment)
            #expect(segments == ["%41", "Familie & Freunde ☕", "c~", "x~y", long])
        }
    }

    @Test("The audit trail names the app password that made or removed a calendar, and nothing of what is in it")
    func audit() async throws {
        try await OwnBench.run { bench in
            let work = try await bench.make()
            try await bench.put("a.ics", OwnBench.event("u"))
            try await bench.own.remove(work, for: bench.ann)
            let entries = try await bench.server.auditTrail().filter {
                $0["action"]?.string?.hasPrefix("ownCalendar.") == true
            }
            #expect(entries.compactMap { $0["action"]?.string } == ["ownCalendar.created", "ownCalendar.deleted"])
            #expect(entries.allSatisfy { $0["actor"] == "user:ann with app-password:phone" })
            let details = try await bench.server.auditTrail().map { try $0["detail"]?.text() ?? "" }
            #expect(details.allSatisfy { !$0.contains("a.ics") && !$0.contains("work") })
        }
    }

    @Test(
        "Every stored row is looked at",
        arguments: [
            ("UPDATE own_resources SET text = 'x'", "own_resources"),
            ("UPDATE own_resources SET size = 1", "own_resources"),
            ("UPDATE own_resources SET shown = 'x'", "own_resources"),
            ("UPDATE own_resources SET is_long = 2", "own_resources"),
            ("UPDATE own_resources SET sequence = -1", "own_resources"),
            ("UPDATE own_calendars SET components = 'VEVENT VFUN'", "own_calendars"),
            ("UPDATE own_calendars SET components = ''", "own_calendars"),
        ])
    func inspection(_ sql: String, _ table: String) async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            try await bench.put("a.ics", OwnBench.event("u"))
            #expect(try await bench.server.services.upkeep.faults().isEmpty)
            try await bench.server.services.store.record { _ = try $0.execute(sql, []) }
            #expect(try await bench.server.services.upkeep.faults().contains { $0.hasPrefix(table) })
        }
    }
}
