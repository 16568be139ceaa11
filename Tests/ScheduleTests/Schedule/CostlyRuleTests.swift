// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Rules that cost too much")
struct CostlyRuleTests {
    private static let sixty = (0..<60).map(String.init).joined(separator: ",")
    private static let hours = (0..<24).map(String.init).joined(separator: ",")
    private static let days = "SU,MO,TU,WE,TH,FR,SA"
    /// The last second of a year, in as many years as the calendar has.
    private static let lastSecond =
        "FREQ=YEARLY;BYDAY=\(days);BYHOUR=\(hours);BYMINUTE=\(sixty);BYSECOND=\(sixty);BYSETPOS=-1;COUNT=1000000"
    private static let costly = [
        lastSecond, "FREQ=WEEKLY;BYDAY=MO;BYMONTH=2;COUNT=1000000", "FREQ=YEARLY;BYWEEKNO=1,2;BYDAY=MO;COUNT=100000",
        "FREQ=HOURLY;BYHOUR=3;BYMONTHDAY=13;BYDAY=FR;COUNT=100000",
    ]

    private static func appointment(_ rule: String, from start: String = "1900-01-01T00:00:00Z") -> JSONValue {
        ["patientId": "mom", "provider": "Dr. Wu", "startAt": .string(start), "recurrence": ["rrule": .string(rule)]]
    }

    private static func line(_ id: String, _ rule: String, from start: String = "1900-01-01T00:00:00Z") throws -> String
    {
        let value = try appointment(rule, from: start).text()
        return "{\"op\":\"put\",\"collection\":\"appointments\",\"id\":\"\(id)\",\"value\":\(value)}\n"
    }

    private static func batch(_ server: TestServer, _ lines: String) async throws -> JSONValue {
        try await server.raw(
            .post, "/v1/circles/c/batch",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
            body: ByteBuffer(string: lines)
        ).expect(200).json
    }

    /// Stores items as no request could, whatever their rules cost.
    private static func store(_ server: TestServer, _ rules: [(id: String, rule: String)]) async throws {
        let now = server.clock.now
        try await server.services.store.write { transaction in
            transaction.concerns(circle: "c")
            for (id, rule) in rules {
                var content = AppointmentContent()
                (content.patient, content.provider) = ("mom", id)
                content.startAt = Instant(seconds: -2_208_988_800)
                content.endAt = Instant(seconds: -2_208_985_200)
                content.recurrence = Repetition(rrule: rule)
                let item = ScheduleItem(
                    circleID: "c", collection: .appointments, id: id, patientID: "mom", ownerID: nil, timeZone: nil,
                    isAllDay: false, startsAt: content.startAt.milliseconds, endsAt: nil,
                    content: try content.stored())
                let put = ItemPut(item, replacing: nil, newUID: "uid-\(id)", isVisible: true, now: now)
                try transaction.putItems([put], in: "c", now: now)
            }
            try transaction.touchCircle("c", now: now)
        }
    }

    @Test("An appointment with such a rule is refused with a pointer to it", arguments: costly)
    func refused(_ rule: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.call(.put, "/v1/circles/c/appointments/a", Self.appointment(rule)).expect(422)
            #expect(answer.pointers == ["/recurrence/rrule"])
            #expect(answer.json["errors"]?.array?.first?["code"] == "rule-too-costly")
            try await server.call(.get, "/v1/circles/c/appointments/a").expect(404)
            // Said more simply it is taken.
            try await server.call(
                .put, "/v1/circles/c/appointments/a",
                Self.appointment(
                    rule.replacing("COUNT=1000000", with: "COUNT=100").replacing("COUNT=100000", with: "COUNT=50"))
            ).expect(201)
        }
    }

    @Test("A thousand of them in a batch are reported one by one, and their neighbours are stored")
    func batch() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var lines = ""
            for number in 0..<1000 {
                lines += try Self.line("a\(number)", Self.costly[number % Self.costly.count])
                if number % 100 == 0 {
                    lines += try Self.line("good\(number)", "FREQ=WEEKLY;COUNT=12", from: "2026-03-03T09:00:00Z")
                }
            }
            let answer = try await Self.batch(server, lines)
            #expect(answer["applied"] == 10)
            let rejected = answer["rejected"]?.array ?? []
            #expect(rejected.count == 1000)
            #expect(rejected.allSatisfy { $0["errors"]?.array?.first?["pointer"] == "/value/recurrence/rrule" })
            #expect(try await server.raw(.get, try await server.makeFeed().path).values("SUMMARY").count == 10)
        }
    }

    @Test("All rules of a batch share one budget; rules beyond it are reported and may be sent again")
    func sharedBudget() async throws {
        // Each of them is just within what one rule may take.
        let rule = "FREQ=YEARLY;BYDAY=MO;BYSETPOS=1;COUNT=1100"
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        var drafts: [Bool] = []
        let zone = try #require(TimeZoneReference("America/Los_Angeles"))
        while !budget.isSpent, drafts.count < 100_000 {
            var draft = ItemDraft(AppointmentContent.self, "a", in: "c", from: Self.appointment(rule))
            draft.follow(in: zone, changed: [], budget: &budget)
            drafts.append(draft.faults.isEmpty)
            if !draft.faults.isEmpty {
                #expect(draft.faults.first?.code == .callTooCostly)
                #expect(draft.faults.first?.pointer == "/recurrence/rrule")
            }
        }
        #expect(drafts.count > 900 && drafts.count < 10_000)
        #expect(drafts.dropLast().allSatisfy(\.self) && drafts.last == false)
    }

    @Test("What is stored already is left out of feeds, preview and health by its reason, and its neighbours stay")
    func stored() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            // Every second of an hour that its other parts never let pass.
            let silent = "FREQ=HOURLY;INTERVAL=7;BYDAY=MO;BYMONTHDAY=31;BYMONTH=2,4,6;BYHOUR=3"
            let busy = "FREQ=SECONDLY;INTERVAL=61;BYSECOND=0;BYMINUTE=1;BYHOUR=1;COUNT=1000000"
            try await Self.store(server, [("costly", Self.lastSecond), ("silent", silent), ("busy", busy)])
            try await server.put("appointments", "good", Self.appointment("FREQ=WEEKLY", from: "2026-03-03T09:00:00Z"))
            let feed = try await server.makeFeed()
            let shown = try await server.raw(.get, feed.path).expect(200)
            let titles = shown.values("SUMMARY")
            #expect(titles.contains("CK Appt: Mom - Dr. Wu"))
            let preview = try await server.call(.get, "/v1/feeds/\(feed.id)/preview").expect(200).json
            let left = preview["leftOut"]?.array ?? []
            let costly = left.filter { $0["rule"] == "rule-too-costly" }.compactMap { $0["id"]?.string }
            #expect(costly.contains("busy"))
            #expect(preview["events"]?.array?.count == titles.count)
            let health = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["health"]
            #expect(health?["leftOut"]?["rule-too-costly"] == .integer(costly.count))
            #expect(health?["bytes"] == .integer(shown.body.count))
            // An export holds all of it, whatever its rules cost.
            let export = try await server.call(.get, "/v1/circles/c/export.ics").expect(200)
            #expect(export.values("SUMMARY").count == 4)
        }
    }

    @Test("A feed's rules share one budget: what comes later is left out, the same in every way of making the feed")
    func feedBudget() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            // Some thousand steps each: sixty years of weeks counted until the window, and no date in it.
            let rule = "FREQ=WEEKLY;BYMONTH=12;BYDAY=MO,TU,WE,TH,FR;COUNT=100000"
            let used = try Self.steps(of: rule)
            #expect(used > 6000)
            let many = SeriesWork.ofFeed / used + 20
            try await Self.store(server, (0..<many).map { (String(format: "a%05d", $0), rule) })
            // Later than all of them, so that it is asked about last.
            try await server.put("tasks", "late", ["title": "Late", "dueAt": "2026-03-03T09:00:00Z"])
            let feed = try await server.makeFeed(config: ["pastDays": 1, "futureDays": 2])
            let shown = try await server.raw(.get, feed.path).expect(200)
            #expect(shown.values("SUMMARY") == ["CK: Late"])
            let health = try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200).json["health"]?["leftOut"]
            let (beyond, outside) = (
                health?["rule-too-costly"]?.integer ?? 0, health?["outside-window"]?.integer ?? 0
            )
            #expect(beyond > 0 && outside > 0 && beyond + outside == many)
            #expect(abs(outside - SeriesWork.ofFeed / used) <= 2)
            // The schedule is brought up to date and not made again.
            try await server.put("tasks", "later", ["title": "Later", "dueAt": "2026-03-03T10:00:00Z"])
            let again = try await server.raw(.get, feed.path).expect(200)
            #expect(again.values("SUMMARY") == ["CK: Late", "CK: Later"])
            let xcal = try await server.raw(.get, feed.path, headers: [.accept: CalendarForm.jCal.mediaType]).expect(
                200)
            #expect(CalendarReader().read(anyForm: xcal.body).events.count == 2)
        }
    }

    /// Returns how many steps it takes to search such a series for a window around today.
    private static func steps(of rule: String) throws -> Int {
        var event = Event(uid: "a", start: .utc(Instant(seconds: -2_208_988_800)))
        event.recurrence.rules = [try RecurrenceRule(rule)]
        var budget = RecurrenceBudget(steps: 1 << 40)
        let from = Instant(seconds: 1_772_352_000)
        _ = Series(master: event, overrides: []).overlaps(
            from: from, to: from.adding(seconds: 4 * 86_400), floatingIn: FixedOffset.utc, budget: &budget)
        return 1 << 40 - budget.left
    }

    private static func event(_ uid: String, _ lines: String) -> String {
        "BEGIN:VEVENT\r\nUID:\(uid)\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:\(uid)\r\n\(lines)END:VEVENT\r\n"
    }

    private static func calendar(_ events: String...) -> String {
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\n\(events.joined())END:VCALENDAR\r\n"
    }

    private static let file = calendar(
        event("before", "DTSTART:20260303T090000Z\r\nRRULE:FREQ=WEEKLY\r\n"),
        event("costly", "DTSTART:19000101T000000Z\r\nRRULE:\(lastSecond)\r\n"),
        event(
            "seconds",
            "DTSTART:20200101T000000Z\r\nRRULE:FREQ=SECONDLY;INTERVAL=7;BYSECOND=1;BYDAY=MO;COUNT=9999999\r\n"),
        event("after", "DTSTART:20260304T090000Z\r\n"))

    @Test("Such events of a file are left out of an import with their reason, and the others come in")
    func imported() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                body: ByteBuffer(string: Self.file)
            ).expect(201).json
            #expect(answer["counts"]?["created"] == 2 && answer["counts"]?["skipped"] == 2)
            let problems = answer["problems"]?.array?.filter { $0["code"] == "rule-too-costly" } ?? []
            #expect(problems.compactMap { $0["uid"]?.string } == ["costly", "seconds"])
            #expect(problems.first?["line"] == 11)
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            #expect(feed.values("SUMMARY").sorted() == ["after", "before"])
            // `check` says it too.
            let file = server.folder.appending(path: "costly.ics")
            try Data(Self.file.utf8).write(to: file)
            let checked = try await runProgram(Programs.kalends, ["check", file.path, "--json"])
            #expect(checked.status == 1)
            #expect(checked.output.components(separatedBy: "rule-too-costly").count == 3)
            let expanded = try await runProgram(
                Programs.kalends, ["expand", file.path, "--from", "2026-03-01", "--to", "2026-03-08", "--json"])
            #expect(expanded.output.contains("before") && expanded.output.contains("after"))
        }
    }

    @Test("A followed calendar keeps its other events, and what was there before it cost too much")
    func followed() async throws {
        try await CalendarHost.run { host, server in
            let plain = Self.calendar(
                Self.event("before", "DTSTART:20260303T090000Z\r\nRRULE:FREQ=WEEKLY\r\n"),
                Self.event("costly", "DTSTART:20260303T120000Z\r\n"))
            host.serve(CalendarHost.Content(body: plain))
            let id =
                try await server.call(
                    .post, "/v1/circles/c/subscriptions", ["url": .string(host.url)], as: "ann"
                ).expect(201).json["id"]?.string ?? ""
            try await server.call(.post, "/v1/circles/c/subscriptions/\(id)/refresh", as: "ann").expect(200)
            let feed = try await server.makeFeed().path
            #expect(try await server.raw(.get, feed).values("SUMMARY").sorted() == ["before", "costly"])
            host.serve(CalendarHost.Content(body: Self.file))
            try await server.call(.post, "/v1/circles/c/subscriptions/\(id)/refresh", as: "ann").expect(200)
            #expect(try await server.raw(.get, feed).values("SUMMARY").sorted() == ["after", "before", "costly"])
        }
    }
}
