// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct GraphChangesTests {
    private func listed(
        _ room: GraphRoom, _ cursor: String? = nil, window: TimeRange = GraphRoom.window
    ) async throws
        -> ChangeSet
    {
        try await room.graph.changes(in: room.calendar, since: cursor, window: window)
    }

    private func requests(_ room: GraphRoom) async throws -> Int { try await room.emulator.takeLog().count }

    @Test("A full listing has every event once, ours with their marks and series whole, a stranger's without")
    func full() async throws {
        let room = try await GraphRoom()
        let single = try await room.created(.single(), "single")
        let series = try await room.created(
            Entry.series(exdates: ["2026-12-10T08:00:00Z"]).changing("2026-12-17T08:00:00Z") { $0.title = "Other" },
            "series")
        _ = try await room.created(.single(start: "2030-01-01T08:00:00Z"), "outside")
        try await room.emulator.ask(
            "POST", "/v1.0/me/calendars/\(PercentEncoding.encode(room.calendar))/events", GraphRoom.foreign)
        let set = try await listed(room)
        #expect(set.isFull && set.cursor != nil && set.removed.isEmpty)
        #expect(set.events.count == 3)
        #expect(set.events.first { $0.id == single.id } == single)
        #expect(set.events.first { $0.id == series.id } == series)
        let foreign = try #require(set.events.first { $0.mark == nil })
        #expect(foreign.whole?.title == "Dentist")
        guard case .timed(let start, _, let zone)? = foreign.whole?.span else { throw GraphEmulator.Failure(text: "") }
        #expect(start == .at("2026-12-07T15:00:00Z") && zone == "America/New_York")
    }

    @Test("An unchanged run is one request, a change two, and our own echo one")
    func cost() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.single(), "single")
        let series = try await room.created(.series(), "series")
        var cursor = try await listed(room).cursor
        _ = try await requests(room)
        let nothing = try await listed(room, cursor)
        #expect(nothing.changes.isEmpty && !nothing.isFull)
        #expect(try await requests(room) == 1)
        try await room.emulator.person("PATCH", event.id, ["subject": "Theirs"])
        let one = try await listed(room, nothing.cursor)
        #expect(one.events.map { $0.whole?.title } == ["Theirs"] && one.events.first?.mark == room.mark("single"))
        #expect(try await requests(room) == 2)
        // Ours: what was written is known by its etag.
        let old = try #require(series.whole)
        var new = old
        new.title = "Physio (new)"
        let written = try await room.written(
            .update(id: series.id, etag: series.etag, from: old, to: new), "series")
        _ = try await requests(room)
        let known: [ByteString: String] = [ByteString(series.id): try #require(written.etag)]
        let echo = try await room.graph.changes(
            in: room.calendar, since: one.cursor, window: GraphRoom.window, known: known)
        #expect(echo.changes.isEmpty)
        #expect(try await requests(room) == 1)
        cursor = echo.cursor
        #expect(try await listed(room, cursor).changes.isEmpty)
    }

    @Test("Occurrences that a person moves or deletes make their series come again, whole")
    func occurrences() async throws {
        let room = try await GraphRoom()
        let series = try await room.created(.series())
        let entry = try #require(series.whole)
        var set = try await listed(room)
        let id = "\(series.id).OCC.2026-12-17"
        try await room.emulator.person(
            "PATCH", id,
            [
                "start": ["dateTime": "2026-12-17T13:00:00", "timeZone": "UTC"],
                "end": ["dateTime": "2026-12-17T14:00:00", "timeZone": "UTC"],
            ])
        set = try await listed(room, set.cursor)
        let moved = entry.changing("2026-12-17T08:00:00Z") {
            $0.span = .timed(
                start: .at("2026-12-17T13:00:00Z"), end: .at("2026-12-17T14:00:00Z"), zone: "Europe/Berlin")
        }
        #expect(set.events.map(\.whole) == [moved])
        try await room.emulator.person("DELETE", "\(series.id).OCC.2026-12-24")
        set = try await listed(room, set.cursor)
        var without = moved
        without.repetition?.exdates = [.at("2026-12-24T08:00:00Z")]
        #expect(set.events.map(\.whole) == [without])
        // An id that nobody knows: the occurrence's.
        #expect(set.removed == ["\(series.id).OCC.2026-12-24"])
        #expect(try await listed(room, set.cursor).changes.isEmpty)
    }

    @Test("A deleted occurrence of which Graph says nothing is found when the window moves")
    func silent() async throws {
        let room = try await GraphRoom()
        try await room.emulator.settings(["silentCancellations": true])
        let series = try await room.created(.series())
        let set = try await listed(room)
        try await room.emulator.person("DELETE", "\(series.id).OCC.2026-12-24")
        #expect(try await listed(room, set.cursor).events.isEmpty)
        var window = GraphRoom.window
        window.to = window.to.adding(seconds: 2 * 86_400)
        let next = try await listed(room, set.cursor, window: window)
        #expect(next.isFull)
        #expect(next.events.first?.whole?.repetition?.exdates == [.at("2026-12-24T08:00:00Z")])
    }

    @Test("Without `cancelledOccurrences` a series is put together from what takes place in the window")
    func byInstances() async throws {
        let room = try await GraphRoom()
        let entry = Entry.series(exdates: ["2026-12-10T08:00:00Z"]).changing("2026-12-17T08:00:00Z") {
            $0.title = "Other"
        }
        let series = try await room.created(entry)
        try await room.emulator.settings(["cancelledOccurrences": false])
        let set = try await listed(room)
        #expect(set.events.map(\.whole) == [entry])
        #expect(try await room.looked(series.id)?.whole == entry)
    }

    @Test("What is removed is reported, also ids that nobody knows: the window does not say which kind it is")
    func removed() async throws {
        let room = try await GraphRoom()
        let gone = try await room.created(.single("gone"), "gone")
        let away = try await room.created(.single("away"), "away")
        let outside = try await room.created(.single("outside", start: "2030-01-01T08:00:00Z"), "outside")
        let set = try await listed(room)
        try await room.emulator.person("DELETE", gone.id)
        try await room.emulator.person("PATCH", outside.id, ["subject": "Still outside"])
        try await room.emulator.person(
            "PATCH", away.id,
            [
                "start": ["dateTime": "2029-12-17T13:00:00", "timeZone": "UTC"],
                "end": ["dateTime": "2029-12-17T14:00:00", "timeZone": "UTC"],
            ])
        let next = try await listed(room, set.cursor)
        #expect(Set(next.removed) == Set([gone.id, away.id, outside.id]) && !next.isFull)
        let looks = try await room.graph.look(at: [gone.id, away.id], in: room.calendar).map(\.look)
        #expect(looks[0] == .gone)
        guard case .present(let there) = looks[1] else { throw GraphEmulator.Failure(text: "\(looks[1])") }
        #expect(there.whole?.title == "away" && there.mark == room.mark("away"))
    }

    @Test("The cursor carries its window: within it the round goes on, beyond it and elsewhere a new one begins")
    func window() async throws {
        let room = try await GraphRoom()
        _ = try await room.created(.single())
        let cursor = try await listed(room).cursor
        var window = GraphRoom.window
        window.to = window.to.adding(seconds: 80_000)
        window.from = window.from.adding(seconds: 80_000)
        #expect(try await listed(room, cursor, window: window).isFull == false)
        window.to = window.to.adding(seconds: 80_000)
        #expect(try await listed(room, cursor, window: window).isFull)
        let other = try await room.graph.createCalendar(named: "Other", timeZone: "UTC")
        let set = try await room.graph.changes(in: other.id, since: cursor, window: GraphRoom.window)
        #expect(set.isFull && set.changes.isEmpty)
        #expect(try await listed(room, "nonsense").isFull)
    }

    @Test("A dead cursor is a full listing in the same call, whatever its error is called")
    func dead() async throws {
        let room = try await GraphRoom()
        _ = try await room.created(.single())
        var cursor = try await listed(room).cursor
        try await room.emulator.ask("POST", "/control/expire-deltas")
        let set = try await listed(room, cursor)
        #expect(set.isFull && set.events.count == 1)
        cursor = set.cursor
        try await room.emulator.fault(["path": "deltatoken", "status": 400, "code": "resyncRequired"])
        #expect(try await listed(room, cursor).isFull)
        // A page of a round that dies on its way: the run fails for now, and nothing is taken for gone.
        try await room.emulator.settings(["emptyPages": true])
        try await room.emulator.fault(["path": "skiptoken", "status": 410, "code": "syncStateNotFound"])
        await #expect { _ = try await listed(room) } throws: { ($0 as? ProviderFailure)?.isTransient ?? false }
    }

    @Test("Empty pages, repeated events, and a page that changes underneath lose and double nothing")
    func pages() async throws {
        let room = try await GraphRoom()
        let requests = (0..<30).map {
            WriteRequest(key: "k\($0)", mark: room.mark("i\($0)"), kind: .create(.single("E\($0)")))
        }
        let answers = await room.graph.write(requests, in: room.calendar)
        let ids = answers.compactMap { if case .written(let event) = $0 { event.id } else { nil } }
        #expect(ids.count == 30)
        try await room.emulator.settings([
            "pageSize": 7, "emptyPages": true, "repeats": true,
            "betweenPages": ["id": .string(ids[0]), "body": ["subject": "Changed while listed"]],
        ])
        let set = try await listed(room)
        #expect(set.isFull && set.events.map(\.id).sorted() == ids.sorted())
        #expect(set.events.compactMap(\.mark).count == 30)
        let next = try await listed(room, set.cursor)
        #expect(next.events.map { $0.whole?.title } == ["Changed while listed"])
    }

    @Test("An event that the listing does not show yet is shown later, and is never reported as removed")
    func lag() async throws {
        let room = try await GraphRoom()
        let first = try await listed(room)
        try await room.emulator.settings(["lag": 600])
        let event = try await room.created(.single())
        let early = try await listed(room, first.cursor)
        #expect(
            early.events.isEmpty && early.removed == [event.id],
            "As outside of the range: its look says that it is there.")
        #expect(try await room.looked(event.id) == event)
        try await room.emulator.settings(["lag": 0])
        #expect(try await listed(room, early.cursor).events == [event])
    }

    @Test(
        "All-day events are the days of the zone in which they were made",
        arguments: [
            "Pacific/Auckland", "America/Los_Angeles", "Tokyo Standard Time", "UTC", "India Standard Time",
        ])
    func allDay(_ zone: String) async throws {
        let room = try await GraphRoom()
        try await room.emulator.ask(
            "POST", "/v1.0/me/calendars/\(PercentEncoding.encode(room.calendar))/events",
            [
                "subject": "Trip", "isAllDay": true,
                "start": ["dateTime": "2026-12-24T00:00:00", "timeZone": .string(zone)],
                "end": ["dateTime": "2026-12-26T00:00:00", "timeZone": .string(zone)],
            ])
        let event = try #require(try await listed(room).events.first)
        let first = try #require(CivilDate(iso: "2026-12-24"))
        #expect(event.whole?.span == .days(first: first, until: first.adding(days: 2)))
    }

    @Test("A thousand events of ours and a hundred strangers are listed in few requests, each with its mark")
    func thousand() async throws {
        let room = try await GraphRoom()
        try await room.emulator.settings(["pageSize": 500])
        let first = try await listed(room)
        let requests = (0..<1000).map {
            WriteRequest(
                key: "k\($0)", mark: room.mark("i\($0)"),
                kind: .create(.single("E\($0)", start: "2026-12-\(10 + $0 % 20)T08:00:00Z")))
        }
        let answers = await room.graph.write(requests, in: room.calendar)
        let written = answers.compactMap { if case .written(let event) = $0 { event } else { nil } }
        #expect(written.count == 1000)
        let first1000 = try await self.requests(room)
        #expect(first1000 <= 60, "\(first1000) requests")
        #expect(room.http.most <= MailboxGate.width)
        for number in 0..<100 {
            try await room.emulator.ask(
                "POST", "/v1.0/me/calendars/\(PercentEncoding.encode(room.calendar))/events",
                [
                    "subject": .string("Foreign \(number)"),
                    "start": ["dateTime": "2026-12-07T10:00:00", "timeZone": "UTC"],
                    "end": ["dateTime": "2026-12-07T11:00:00", "timeZone": "UTC"],
                ])
        }
        let known = Dictionary(uniqueKeysWithValues: written.map { (ByteString($0.id), $0.etag ?? "") })
        let echo = try await room.graph.changes(
            in: room.calendar, since: first.cursor, window: GraphRoom.window, known: known)
        #expect(echo.events.count == 100 && echo.events.allSatisfy { $0.mark == nil })
        let afterwards = try await self.requests(room)
        #expect(afterwards <= 10, "\(afterwards) requests")
        #expect(try await listed(room, echo.cursor).changes.isEmpty)
        #expect(try await self.requests(room) == 1)
        let full = try await listed(room)
        #expect(full.isFull && full.events.count == 1100 && full.events.compactMap(\.mark).count == 1000)
    }
}
