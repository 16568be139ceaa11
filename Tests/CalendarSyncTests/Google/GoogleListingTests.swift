// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import ICalBridge
import Testing

@Suite struct GoogleListingTests {
    typealias Bench = GoogleBench

    @Test("A calendar of ours is known by its sign, however a person renames it")
    func calendars() async throws {
        let bench = try await Bench()
        try await bench.knob(["summary": "Grandma"])
        let calendars = try await bench.provider.calendars()
        #expect(calendars.map(\.isOurs) == [false, true])
        #expect(calendars.map(\.name) == ["alice", "Grandma"])
        #expect(calendars.map(\.isPrimary) == [true, false])
        #expect(calendars.allSatisfy { $0.canWrite && $0.color == "#9fe1e7" })
        #expect(calendars[1].timeZone == "Europe/Berlin")
        try await bench.knob(["role": "reader"])
        #expect(try await bench.provider.calendars().map(\.canWrite) == [true, false])
        try await bench.knob(["role": "freeBusyReader"])
        #expect(try await bench.provider.calendars().count == 1)
    }

    @Test("What a person does is listed once: a title, a deletion, a new event that is not ours")
    func incremental() async throws {
        let bench = try await Bench()
        let events = await bench.create([("a", Bench.single("A")), ("b", Bench.single("B"))]).compactMap(\.written)
        let start = try await bench.changes(since: nil)
        try await bench.edit("PATCH", "/" + events[0].id, ["summary": "A by Anna"])
        try await bench.edit("DELETE", "/" + events[1].id)
        try await bench.edit(
            "POST", "",
            ["summary": "Private", "start": ["date": "2026-12-24"], "end": ["date": "2026-12-25"]])
        let next = try await bench.changes(since: start.cursor)
        #expect(!next.isFull)
        #expect(next.removed == [events[1].id])
        #expect(next.events.count == 2)
        #expect(next.events.first { $0.mark == Bench.mark("a") }?.entry?.title == "A by Anna")
        #expect(next.events.first { $0.mark == nil }?.entry?.title == "Private")
        #expect(try await bench.changes(since: next.cursor).changes.isEmpty)
        let full = try await bench.changes(since: nil)
        #expect(full.isFull && full.events.count == 2 && full.removed.isEmpty)
    }

    @Test("A series is listed whole, whichever part of it has changed")
    func series() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.series("Walk"))
        var cursor = try await bench.changes(since: nil).cursor
        func next() async throws -> RemoteEvent {
            let set = try await bench.changes(since: cursor)
            cursor = set.cursor
            try #require(set.changes.count == 1)
            return try #require(set.events.first)
        }
        try await bench.edit("PATCH", Bench.instanceID(event.id, Bench.day(6)), ["location": "Park"])
        var now = try await next()
        #expect(now.id == event.id && now.mark == event.mark)
        #expect(now.entry?.occurrences.count == 2)
        try await bench.edit("DELETE", Bench.instanceID(event.id, Bench.day(7)))
        #expect(try await next().entry?.repetition?.exdates == [Bench.day(2), Bench.day(7)])
        try await bench.edit("PATCH", Bench.instanceID(event.id, Bench.day(7)), ["status": "confirmed"])
        try await bench.edit("PATCH", Bench.instanceID(event.id, Bench.day(6)), ["location": "Main Street 1"])
        now = try await next()
        #expect(now.entry == event.entry)
        try await bench.edit("PATCH", "/" + event.id, ["summary": "Long walk"])
        now = try await next()
        #expect(now.entry?.title == "Long walk")
        #expect(now.entry?.repetition == event.entry?.repetition)
        try await bench.edit("DELETE", "/" + event.id)
        #expect(try await bench.changes(since: cursor).changes == [.removed(id: event.id)])
    }

    @Test("A series that this side wrote itself is not fetched again")
    func echo() async throws {
        let bench = try await Bench()
        let start = try await bench.changes(since: nil)
        var entry = Bench.series("Walk")
        entry.occurrences = [:]
        let event = try await bench.createOne("a", entry)
        bench.http.takeSent()
        let set = try await bench.provider.changes(
            in: bench.calendar, since: start.cursor, window: Bench.window,
            known: [ByteString(event.id): event.etag ?? ""])
        #expect(set.changes.isEmpty)
        #expect(bench.http.takeSent().count == 1)
        #expect(try await bench.changes(since: start.cursor).events == [event])
    }

    @Test("Short pages, empty pages and a calendar that changes between them lose nothing")
    func pages() async throws {
        let bench = try await Bench()
        _ = await bench.create((0..<23).map { ("item\($0)", Bench.single("Visit \($0)")) })
        try await bench.knob(["pageSize": 5, "emptyPages": 3])
        try await bench.knob([
            "insertBetweenPages": [
                "summary": "Late", "start": ["date": "2026-12-24"], "end": ["date": "2026-12-25"],
            ]
        ])
        bench.http.takeSent()
        let first = try await bench.changes(since: nil)
        #expect(first.isFull)
        #expect(bench.http.takeSent().count == 8)
        let second = try await bench.changes(since: first.cursor)
        #expect(Set((first.events + second.events).map(\.id)).count == 24)
        try await bench.knob(["newEtags": true, "emptyPages": 1])
        #expect(try await bench.changes(since: second.cursor).events.count == 24)
    }

    @Test("A dead or unreadable token leads to a full listing", arguments: [false, true])
    func deadToken(_ isForeign: Bool) async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        let cursor = try await bench.changes(since: nil).cursor
        if !isForeign { try await bench.knob(["expireTokens": true]) }
        let again = try await bench.changes(since: isForeign ? "foreign" : cursor)
        #expect(again.isFull && again.events == [event])
        #expect(try await bench.changes(since: again.cursor).isFull == false)
    }

    @Test("Where the index of listings is behind, a series is as it was written all the same")
    func lag() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.series("Walk"))
        try await bench.knob(["lag": 3])
        var entry = try #require(event.entry)
        entry.occurrences[Bench.day(6)] = .changed(Bench.later("Long walk", day: 6))
        let written = try #require(try await bench.update("a", event, to: entry).written)
        #expect(written.entry == entry)
        let found = try await bench.provider.find([Bench.mark("a")], in: bench.calendar)
        #expect(found.map(\.id) == [event.id])
    }

    @Test("An event to which somebody else is invited says so")
    func guests() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        #expect(event.hasGuests == false)
        let own: JSONValue = ["email": "me@example.org", "self": true]
        for (guests, isHeld) in [([own], false), ([own, ["email": "guest@example.org"]], true), ([], false)] {
            try await bench.edit("PATCH", "/" + event.id, ["attendees": .array(guests)])
            #expect(try await bench.changes(since: nil).events.map(\.hasGuests) == [isHeld])
        }
    }

    @Test("A copy that a person made has our properties and is not ours, also when the original is gone")
    func find() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        let stored = try #require(try await bench.stored().first { $0["id"]?.string == event.id })
        let copied = try await bench.edit(
            "POST", "",
            [
                "summary": "Copy", "start": ["date": "2026-12-24"], "end": ["date": "2026-12-25"],
                "extendedProperties": stored["extendedProperties"] ?? [:],
            ])["id"]?.string
        let marks = [Bench.mark("a"), Bench.mark("never")]
        #expect(try await bench.provider.find(marks, in: bench.calendar) == [event])
        try await bench.edit("DELETE", "/" + event.id)
        #expect(try await bench.provider.find(marks, in: bench.calendar).isEmpty)
        let listed = try await bench.changes(since: nil).events
        #expect(listed.map(\.id) == [copied] && listed.map(\.mark) == [nil])
    }

    @Test("Events of a calendar that is gone are not gone: the calendar is missing")
    func missingCalendar() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        let cursor = try await bench.changes(since: nil).cursor
        try await bench.knob(["hide": true])
        #expect(await bench.failure { try await bench.changes(since: cursor) } == .calendarMissing)
        #expect(await bench.failure { try await bench.changes(since: nil) } == .calendarMissing)
        let look = await bench.failure { try await bench.provider.look(at: [event.id], in: bench.calendar) }
        #expect(look == .calendarMissing)
        #expect(await bench.delete("a", event).failedKind == .calendarMissing)
        var entry = try #require(event.entry)
        entry.title = "x"
        #expect(try await bench.update("a", event, to: entry).failedKind == .calendarMissing)
    }

    @Test("Notes that Google rewrites as HTML are read as what was written")
    func rewritten() async throws {
        let bench = try await Bench()
        try await bench.knob(["rewrites": true])
        let event = try await bench.createOne("a", Bench.single("A"))
        #expect(event.entry == Bench.single("A"))
        #expect(try await bench.stored().first?["description"] == "<p>Bring the card.<br>Second line.</p>")
    }

    @Test(
        "An event that an entry cannot represent is listed with its reason",
        arguments: [
            (
                #"{"recurrence":["RRULE:FREQ=DAILY"],"start":{"date":"2026-12-24"},"end":{"date":"2026-12-25"}}"#,
                "whole days"
            ),
            (
                #"{"recurrence":["RRULE:FREQ=DAILY","RRULE:FREQ=WEEKLY"],"start":{"dateTime":"2026-12-24T10:00:00Z","timeZone":"UTC"},"end":{"dateTime":"2026-12-24T10:00:00Z","timeZone":"UTC"}}"#,
                "more than one rule"
            ),
        ])
    func unreadable(_ body: String, _ reason: String) async throws {
        let bench = try await Bench()
        try await bench.edit("POST", "", try JSONValue(parsing: Array(body.utf8)))
        let events = try await bench.changes(since: nil).events
        #expect(events.count == 1)
        guard case .unreadable(let sentence)? = events.first?.content else {
            Issue.record("It was read: \(events)")
            return
        }
        #expect(sentence.contains(reason))
    }
}
