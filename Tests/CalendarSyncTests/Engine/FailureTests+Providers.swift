// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

/// Failures in what providers are sent and answer.
extension FailureTests {
    @Test("A server that gives back far more text than it was given fills nothing", arguments: [50, 100])
    func padding(_ kibibytes: Int) async throws {
        let world = try await World.stage(tasks: 400, linked: false)
        world.window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 900 * World.day))
        world.calendar.padding = String(repeating: "x", count: kibibytes << 10)
        for _ in 0..<3 { try await world.run() }
        let stored = world.store.links.values.reduce(0) { $0 + $1.surplus }
        #expect(stored <= RunSession.mostSurplusOfAll)
        #expect(world.store.heaviest < 2 * SyncBatch.mostWeight)
        let held = world.store.links.values.filter { $0.state == .quarantined }
        #expect(held.allSatisfy { $0.reason == "The event has far more text in the calendar than its item." })
        // The first that fit are linked; alone, 100 KiB are too much.
        #expect(held.count == (kibibytes == 100 ? 400 : 400 - (RunSession.mostSurplusOfAll >> 10) / kibibytes))
        #expect(world.calendar.live.count == 400)
    }

    private static func caldav(_ http: ScriptedHTTP = ScriptedHTTP([])) throws -> CalDAVCalendar {
        try CalDAVCalendar(
            account: CalDAVAccount(
                principal: "https://x.test/", homes: ["https://x.test/"], entrance: "https://x.test/"),
            username: "a", password: "b", calendarKey: "k", floatingZone: "Europe/Berlin", objects: DirectObjects(),
            http: http, clock: { 0 })
    }

    private static func graph(_ http: ScriptedHTTP = ScriptedHTTP([])) -> GraphCalendar {
        GraphCalendar(http: http, tokens: FixedToken(token: "t"), now: { Instant(seconds: 0) }, pause: { _ in })
    }

    private static func google(_ http: ScriptedHTTP = ScriptedHTTP([])) -> GoogleCalendar {
        GoogleCalendar(
            http: http, tokens: FixedToken(token: "t"), baseURL: "https://www.googleapis.com",
            now: { Instant(seconds: 0) }, pause: { _ in }, random: { _ in 0 })
    }

    @Test("No write names a guest or an organiser, and Google is told to send nothing", arguments: 0..<3)
    func noGuests(_ number: Int) async throws {
        let http = ScriptedHTTP([])
        let providers: [any CalendarProvider] = [try Self.caldav(http), Self.google(http), Self.graph(http)]
        let entry = Entry.series("Visit").changing("2026-12-17T08:00:00Z") { $0.notes = "Bring the key" }
        var other = entry
        other.title = "Other"
        let calendars = ["https://x.test/c/", "c@group.calendar.google.com", "AAkALg="]
        let id = number == 0 ? "/c/kalends-x.ics" : "abcde"
        let etag = number == 0 ? "p0 \"x\"" : "\"x\""
        for kind: WriteRequest.Kind in [
            .create(entry), .update(id: id, etag: etag, from: entry, to: other), .delete(id: id, etag: etag),
        ] {
            let request = WriteRequest(key: "k", mark: CalDAVRoom.mark("a"), kind: kind)
            _ = await providers[number].write([request], in: calendars[number])
        }
        let sent = http.requests
        #expect(!sent.isEmpty)
        // What is read of an event names its guests.
        let texts = sent.map {
            String(decoding: $0.body ?? [], as: UTF8.self).replacingOccurrences(of: GraphEvent.selection, with: "")
        }
        #expect(texts.contains { $0.contains("Visit") })
        for word in ["attendee", "organizer", "mailto:"] {
            #expect(!texts.contains { $0.lowercased().contains(word) }, "\(word)")
        }
        guard number == 1 else { return }
        // Each call that changes something says so itself, in a batch and by itself.
        for (request, text) in zip(sent, texts) where request.method != "GET" {
            let calls = text.components(separatedBy: "\n").filter { line in
                ["POST /", "PATCH /", "PUT /", "DELETE /"].contains(where: line.hasPrefix)
            }
            let lines = calls.isEmpty ? [request.url] : calls
            #expect(lines.allSatisfy { $0.contains("sendUpdates=none") }, "\(lines)")
        }
    }

    @Test(
        "Whole days are the same days on the way there and back, whatever the clock of the machine",
        arguments: ["2026-12-24", "2027-03-28", "2027-10-31", "2028-02-29"])
    func wholeDays(_ day: String) async throws {
        let first = try #require(CivilDate(iso: day))
        for length in 1...3 {
            let entry = Entry(title: "Away", span: .days(first: first, until: first.adding(days: length)))
            let stamp = ObjectStamp(uid: "u", mark: CalDAVRoom.mark("a"), now: Instant(seconds: 0), sequence: 0)
            let text = String(decoding: entry.calendar(stamp).serialized(), as: UTF8.self)
            #expect(text.contains("DTSTART;VALUE=DATE:" + day.replacingOccurrences(of: "-", with: "")))
            #expect(!text.contains("TZID"))
            for provider: any CalendarProvider in [try Self.caldav(), Self.google(), Self.graph()] {
                #expect(provider.expressible(entry).entry.span == entry.span)
            }
        }
        let bench = try await GoogleBench()
        let entry = Entry(title: "Away", span: .days(first: first, until: first.adding(days: 2)))
        let event = try await bench.createOne("days", entry)
        let stored = try #require(try await bench.stored().first)
        #expect(stored["start"]?["date"]?.string == day && stored["start"]?["dateTime"] == nil)
        #expect(stored["end"]?["date"]?.string == "\(first.adding(days: 2))")
        guard case .present(let seen)? = try await bench.provider.look(at: [event.id], in: bench.calendar).first?.look
        else {
            Issue.record("It is not there.")
            return
        }
        #expect(seen.entry?.span == entry.span)
    }

    /// Returns nine o'clock on a day of each week, by Foundation's calendar.
    private static func mornings(_ zone: String, weeks: Int) throws -> [Instant] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        return try (0..<weeks).map { week in
            let date = DateComponents(year: 2027, month: 3, day: 4 + 7 * week, hour: 9)
            return Instant(seconds: Int(try #require(calendar.date(from: date)).timeIntervalSince1970))
        }
    }

    @Test(
        "A series keeps its time of day when the clocks change, wherever it is",
        arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "UTC"])
    func clocks(_ zone: String) async throws {
        let mornings = try Self.mornings(zone, weeks: 40)
        let span = TimeSpan.timed(start: mornings[0], end: mornings[0].adding(seconds: 1800), zone: zone)
        let entry = Entry(title: "Visit", span: span, repetition: Repetition(rrule: "FREQ=WEEKLY;COUNT=40"))
        for provider: any CalendarProvider in [try Self.caldav(), Self.google(), Self.graph()] {
            let (kept, limits) = provider.expressible(entry)
            #expect(limits.isEmpty)
            #expect(zone == "UTC" || kept.span == entry.span)
            let rule = try RecurrenceRule(try #require(kept.repetition?.rrule))
            let time = try #require(kept.span.eventTime)
            #expect(rule.instants(startingAt: time, floatingIn: FixedOffset.utc).instants == mornings)
        }
        let stamp = ObjectStamp(uid: "u", mark: CalDAVRoom.mark("a"), now: Instant(seconds: 0), sequence: 0)
        let text = String(decoding: entry.calendar(stamp).serialized(), as: UTF8.self)
        #expect(text.contains(zone == "UTC" ? "DTSTART:20270304T090000Z" : "DTSTART;TZID=\(zone):20270304T090000"))
        // Moved by a day in a week before the clocks change, what was left out after it is left out on the new days.
        var gaps = entry
        gaps.repetition?.exdates = [mornings[30]]
        let next = TimeSpan.timed(
            start: mornings[0].adding(seconds: 86_400), end: mornings[0].adding(seconds: 88_200), zone: zone)
        let moved = gaps.applying([.times(next)])
        let day = try #require(TimeZoneReference(zone)).rules
        let wall = day.civil(at: mornings[30]).adding(seconds: 86_400)
        #expect(moved.canonical.occurrences == [day.instant(of: wall): .cancelled])
    }

    @Test(
        "Google has the occurrences of a series when its own clock says so",
        arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
    func googleClocks(_ zone: String) async throws {
        let mornings = try Self.mornings(zone, weeks: 20)
        let span = TimeSpan.timed(start: mornings[0], end: mornings[0].adding(seconds: 1800), zone: zone)
        let bench = try await GoogleBench()
        let event = try await bench.createOne(
            "s", Entry(title: "Visit", span: span, repetition: Repetition(rrule: "FREQ=WEEKLY;COUNT=20")))
        let found = try await bench.edit("GET", "/\(event.id)/instances")["items"]?.array ?? []
        #expect(found.compactMap { $0["start"]?["dateTime"]?.string.flatMap { Instant(rfc3339: $0) } } == mornings)
    }

    @Test(
        "A time with an invalid zone keeps its instant, and never fails the listing",
        arguments: ["tzone://Microsoft/Custom", "tzone://Microsoft/Utc", "Customized Time Zone", "x", ""])
    func oddZones(_ name: String) throws {
        // Graph is asked for times in UTC; where somebody made the event is said beside them.
        let json: JSONValue = [
            "id": "AAA", "type": "singleInstance", "subject": "Visit", "originalStartTimeZone": .string(name),
            "start": ["dateTime": "2026-12-03T08:00:00.0000000", "timeZone": "UTC"],
            "end": ["dateTime": "2026-12-03T09:00:00.0000000", "timeZone": "UTC"], "showAs": "busy",
            "body": ["contentType": "text", "content": ""], "location": ["displayName": ""], "isAllDay": false,
        ]
        guard case .entry(let entry)? = GraphEvent(json)?.content else {
            Issue.record("The event is not read.")
            return
        }
        #expect(entry.span.start == CalDAVSamples.start)
        // A calendar object says the offset itself.
        guard !name.isEmpty else { return }
        let text = """
            BEGIN:VCALENDAR\r
            VERSION:2.0\r
            PRODID:-//x//EN\r
            BEGIN:VTIMEZONE\r
            TZID:\(name)\r
            BEGIN:STANDARD\r
            DTSTART:16010101T000000\r
            TZOFFSETFROM:+0330\r
            TZOFFSETTO:+0330\r
            END:STANDARD\r
            END:VTIMEZONE\r
            BEGIN:VEVENT\r
            UID:u\r
            DTSTAMP:20260101T000000Z\r
            DTSTART;TZID="\(name)":20261203T113000\r
            DTEND;TZID="\(name)":20261203T123000\r
            SUMMARY:Visit\r
            END:VEVENT\r
            END:VCALENDAR\r

            """
        let read = try CalendarObject(Array(text.utf8), floatingZone: "Europe/Berlin").entry.get()
        #expect(read.span.start == CalDAVSamples.start)
    }

    @Test("No time is written floating, and floating times are read in the calendar's zone")
    func floating() throws {
        let stamp = ObjectStamp(uid: "u", mark: CalDAVRoom.mark("a"), now: Instant(seconds: 0), sequence: 1)
        for entry in CalDAVSamples.all {
            let text = String(decoding: entry.calendar(stamp).serialized(), as: UTF8.self)
            for line in text.components(separatedBy: "\r\nBEGIN:VEVENT").dropFirst().joined().components(
                separatedBy: "\r\n")
            where ["DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE"].contains(where: line.hasPrefix) {
                #expect(line.contains("TZID=") || line.contains("VALUE=DATE") || line.hasSuffix("Z"), "\(line)")
            }
        }
        let text =
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:u\r\nDTSTAMP:20260101T000000Z\r\n"
            + "DTSTART:20261203T090000\r\nDTEND:20261203T100000\r\nSUMMARY:x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        let object = try CalendarObject(Array(text.utf8), floatingZone: "Europe/Berlin")
        let from = try object.entry.get()
        #expect(from.span == CalDAVSamples.single().span)
        func edited(_ change: (inout Entry) -> Void) throws -> String {
            var to = from
            change(&to)
            let edit = ObjectEdit(theirs: object, from: from, to: to, stamp: stamp)
            return String(decoding: try #require(edit.text()), as: UTF8.self)
        }
        // What nobody moves stays as its person wrote it; what we move has a zone.
        #expect(try edited { $0.title = "y" }.contains("DTSTART:20261203T090000\r\n"))
        let moved = try edited { $0.span = CalDAVSamples.single(start: CalDAVSamples.start.adding(seconds: 3600)).span }
        #expect(moved.contains("DTSTART;TZID=Europe/Berlin:20261203T100000\r\n"))
    }

    @Test("A changed occurrence has no rule of its own, and a series of which nothing is left is read as it is")
    func overrides() throws {
        let stamp = ObjectStamp(uid: "u", mark: CalDAVRoom.mark("a"), now: Instant(seconds: 0), sequence: 0)
        var series = CalDAVSamples.series
        let text = String(decoding: series.calendar(stamp).serialized(), as: UTF8.self)
        let events = text.components(separatedBy: "BEGIN:VEVENT").dropFirst()
        let override = try #require(events.first { $0.contains("RECURRENCE-ID") })
        for name in ["RRULE", "RDATE", "EXDATE"] {
            #expect(!override.contains("\r\n\(name)"))
            #expect(events.contains { $0.contains("\r\n\(name)") })
        }
        series.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=3")
        series.occurrences = [:]
        for day in 0..<3 { series.occurrences[CalDAVSamples.start.adding(seconds: day * 86_400)] = .cancelled }
        for provider: any CalendarProvider in [try Self.caldav(), Self.google()] {
            let kept = provider.expressible(series).entry.canonical
            #expect(kept.occurrences == series.occurrences && kept.rule == series.rule)
        }
    }

    @Test("One event that a server will not take keeps back itself, and no other")
    func oneRefused() async throws {
        let world = try await World.stage(appointments: 5, linked: false)
        world.calendar.faults = [.refusedWrite]
        let record = try await world.run()
        #expect(record?.counts.created == 4 && record?.counts.failed == 1 && record?.status == .partial)
        #expect(world.store.links.values.count { $0.state == .quarantined } == 1)
        #expect(world.store.position != nil)
        world.clock += 2 * World.day
        #expect(try await world.run()?.status == .success)
        #expect(world.calendar.live.count == 5)
    }

    @Test(
        "A run that was throttled in the middle goes on with the rest, and drops nothing", arguments: [1, 3, 20])
    func throttledRun(_ times: Int) async throws {
        let room = try await GraphRoom()
        let store = SimulatedStore()
        for number in 0..<60 {
            store.items[ItemKey(.appointments, "i\(number)")] = SimulatedStore.Item(
                entry: .single("E\(number)"), changedAt: Instant(seconds: 0))
        }
        let policy = SyncPolicy(
            installation: "inst-1", connection: "conn-1", circle: "circle-1",
            fingerprint: Fingerprint(
                account: "a", calendar: room.calendar, pastDays: 30, futureDays: 400, filter: "", mapping: 1),
            window: GraphRoom.window)
        try await room.emulator.fault([
            "method": "POST", "path": "/events", "level": "item", "status": 429, "retryAfter": 2,
            "times": .number(Double(times)), "after": 7,
        ])
        for number in 0..<4 {
            let sync = SyncRun(
                provider: room.graph, store: store, policy: policy, now: { Instant(seconds: 1_796_000_000 + number) },
                makeID: { UUID().uuidString })
            _ = try await sync.run(
                RunRecord(id: "r\(number)", trigger: .manual, startedAt: Instant(seconds: 1_796_000_000)))
        }
        #expect(try await room.emulator.events().count == 60)
        #expect(store.links.values.allSatisfy { $0.state == .linked })
        #expect(room.http.most <= MailboxGate.width)
    }

    @Test(
        "Whatever Google calls a change counts as one, and an unknown channel has already ended",
        arguments: ["exists", "not_exists", "add", "update", "x"])
    func anyState(_ state: String) async throws {
        let notice = GooglePush.notice(
            headers: [
                ("X-Goog-Channel-ID", "c"), ("X-Goog-Resource-State", state), ("X-Goog-Message-Number", "10"),
                ("X-Goog-Resource-ID", "r"), ("X-Goog-Channel-Token", "secret"),
            ].map { (name: $0.0, value: $0.1) })
        #expect(notice?.what == .changed)
        for status in [204, 404] {
            try await Self.google(ScriptedHTTP([.answer(status, "")])).unwatch(
                WatchChannel(id: "c", resourceID: "r", expiresAt: Instant(seconds: 0)))
            try await Self.graph(ScriptedHTTP([.answer(status, "")])).unwatch(
                WatchChannel(id: "c", expiresAt: Instant(seconds: 0)))
        }
    }
}
