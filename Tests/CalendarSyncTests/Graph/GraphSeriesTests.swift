// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct GraphSeriesTests {
    private static let second = "2026-12-10T08:00:00Z"
    private static let third = "2026-12-17T08:00:00Z"
    private static let fourth = "2026-12-24T08:00:00Z"

    private func wanted() -> Entry {
        Entry.series(exdates: [Self.second])
            .changing(Self.third) { $0.title = "Physio, other room" }
            .changing(Self.fourth) {
                $0.span = .timed(
                    start: .at("2026-12-25T14:00:00Z"), end: .at("2026-12-25T14:30:00Z"), zone: "Europe/Berlin")
                $0.notes = "moved"
            }
    }

    @Test("A series with cancelled and changed occurrences is made whole, in few requests, and read back whole")
    func whole() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(wanted())
        #expect(event.whole == wanted())
        #expect(try await room.looked(event.id) == event)
        #expect(try await room.emulator.takeLog().count == 4, "POST, ids of occurrences, their writes; and the look.")
        let stored = try #require(try await room.emulator.events().first)
        #expect(stored["cancelled"] == ["2026-12-10"])
        #expect(stored["exceptionOccurrences"]?.array?.count == 2)
    }

    @Test(
        "A series whose creation was cut short is known for it, and is completed when it is created again",
        arguments: [
            ["path": "batch", "drop": "after", "after": 0], ["path": "batch", "drop": "before", "after": 1],
            ["path": "batch", "drop": "before", "after": 2], ["path": "batch", "drop": "after", "after": 2],
            ["level": "item", "method": "PATCH", "status": 503, "after": 0],
            ["level": "item", "method": "PATCH", "status": 500, "after": 2],
        ] as [JSONValue])
    func cutShort(_ fault: JSONValue) async throws {
        let room = try await GraphRoom()
        try await room.emulator.fault(fault)
        guard case .failed(let failure) = await room.write(.create(wanted())) else {
            throw GraphEmulator.Failure(text: "The fault was not met.")
        }
        #expect(failure.isTransient)
        let found = try await room.graph.find([room.mark("a")], in: room.calendar)
        let event = try #require(found.first)
        #expect(
            event.mark == room.mark("a")
                && event.isUnfinished == (event.whole != wanted() || fault["after"] == 2 && fault["level"] != nil))
        let listed = try await room.graph.changes(in: room.calendar, since: nil, window: GraphRoom.window)
        #expect(listed.changes == [.event(event)])
        let again = await room.write(.create(wanted()))
        switch again {
        case .written(let whole), .taken(.some(let whole)):
            #expect(whole.whole == wanted() && !whole.isUnfinished && whole.id == event.id)
            #expect(try await room.looked(event.id) == whole)
        default: Issue.record("\(again)")
        }
        #expect(try await room.emulator.events().count == 1)
    }

    @Test("Each change of an occurrence is made in place: cancelled, moved, changed again, and put back")
    func occurrences() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.series())
        let first = try #require(event.whole)
        let second = try await room.written(.update(id: event.id, etag: event.etag, from: first, to: wanted()))
        #expect(second.whole == wanted())
        var third = wanted()
        third.occurrences[.at(Self.third)] = nil
        third = third.changing(Self.fourth) {
            $0.span = .timed(
                start: .at("2026-12-24T09:00:00Z"), end: .at("2026-12-24T10:00:00Z"), zone: "Europe/Berlin")
        }
        third.repetition?.exdates.append(.at("2026-12-31T08:00:00Z"))
        let after = try await room.written(.update(id: event.id, etag: second.etag, from: wanted(), to: third))
        #expect(after.whole == third)
        #expect(try await room.looked(event.id)?.whole == third)
        #expect(try await room.emulator.events().count == 1)
    }

    @Test("A deleted occurrence cannot come back in place: the next generation is asked for, and nothing is sent")
    func nextGeneration() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(wanted())
        _ = try await room.emulator.takeLog()
        var back = wanted()
        back.repetition?.exdates = []
        let answer = await room.write(.update(id: event.id, etag: event.etag, from: wanted(), to: back))
        guard case .failed(let failure) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(failure.kind == .needsNewGeneration && !failure.isTransient)
        #expect(try await room.emulator.takeLog().isEmpty)
        // Made again, before the old one goes.
        let made = await room.write(.create(back), generation: 1)
        guard case .written(let next) = made else {
            Issue.record("\(made)")
            return
        }
        #expect(next.whole == back && next.mark?.generation == 1)
        #expect(await room.write(.delete(id: event.id, etag: event.etag)) == .deleted)
    }

    @Test("A moved or repeated-otherwise series keeps its changed occurrences", arguments: [true, false])
    func moved(_ resets: Bool) async throws {
        let room = try await GraphRoom()
        try await room.emulator.settings(["resetsExceptions": .bool(resets)])
        let event = try await room.created(wanted())
        // An hour later, and with it what is cancelled.
        var later = Entry.series(exdates: ["2026-12-10T09:00:00Z"])
        later.span = .timed(start: .at("2026-12-03T09:00:00Z"), end: .at("2026-12-03T10:00:00Z"), zone: "Europe/Berlin")
        later = later.changing("2026-12-17T09:00:00Z") { $0.title = "Physio, other room" }
        let moved = try await room.written(.update(id: event.id, etag: event.etag, from: wanted(), to: later))
        #expect(moved.whole == later)
        var longer = later
        longer.repetition?.rrule = "FREQ=WEEKLY;COUNT=20;BYDAY=TH"
        let extended = try await room.written(.update(id: event.id, etag: moved.etag, from: later, to: longer))
        #expect(extended.whole == longer)
        #expect(try await room.looked(event.id)?.whole == longer)
    }

    @Test("Where Outlook does not say what was cancelled, a series is still written whole")
    func bare() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.series())
        try await room.emulator.settings(["cancelledOccurrences": false])
        var longer = wanted()
        longer.repetition?.rrule = "FREQ=WEEKLY;COUNT=20;BYDAY=TH"
        let old = try #require(event.whole)
        _ = try await room.written(.update(id: event.id, etag: event.etag, from: old, to: longer))
        try await room.emulator.settings(["cancelledOccurrences": true])
        #expect(try await room.looked(event.id)?.whole == longer)
    }

    @Test("A moved series whose occurrences are not yet written again says so, and is completed", arguments: [1, 2])
    func movedAndCutShort(_ after: Int) async throws {
        let room = try await GraphRoom()
        let event = try await room.created(wanted())
        var later = Entry.series(exdates: ["2026-12-10T09:00:00Z"])
        later.span = .timed(start: .at("2026-12-03T09:00:00Z"), end: .at("2026-12-03T10:00:00Z"), zone: "Europe/Berlin")
        later = later.changing("2026-12-17T09:00:00Z") { $0.title = "Physio, other room" }
        try await room.emulator.fault(["path": "batch", "drop": "before", "after": .integer(after)])
        guard
            case .failed = await room.write(.update(id: event.id, etag: event.etag, from: wanted(), to: later))
        else { throw GraphEmulator.Failure(text: "The fault was not met.") }
        let seen = try #require(try await room.looked(event.id))
        #expect(seen.isUnfinished && seen.mark == room.mark("a"))
        let there = try #require(seen.whole)
        #expect(there != later)
        let done = try await room.written(.update(id: event.id, etag: seen.etag, from: there, to: later))
        #expect(done.whole == later && !done.isUnfinished)
        #expect(try await room.looked(event.id) == done)
    }

    @Test("An occurrence that a person changed after the last look is not overwritten")
    func editedThere() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.series())
        let old = try #require(event.whole)
        let id = "\(event.id).OCC.2026-12-17"
        try await room.emulator.person("PATCH", id, ["subject": "Theirs"])
        let new = old.changing(Self.third) { $0.title = "Ours" }
        #expect(await room.write(.update(id: event.id, etag: event.etag, from: old, to: new)) == .mismatch)
        let seen = try #require(try await room.looked(event.id))
        #expect(seen.whole == old.changing(Self.third) { $0.title = "Theirs" })
        // The same without a change key that says so.
        #expect(await room.write(.update(id: event.id, etag: seen.etag, from: old, to: new)) == .mismatch)
        #expect(try await room.looked(event.id) == seen)
    }

    @Test("An occurrence that would pass its neighbour is refused before it is sent, and where Outlook refuses it")
    func boundary() async throws {
        let room = try await GraphRoom()
        let beyond = Entry.series().changing(Self.third) {
            $0.span = .timed(
                start: .at("2026-12-30T08:00:00Z"), end: .at("2026-12-30T09:00:00Z"), zone: "Europe/Berlin")
        }
        #expect(room.graph.expressible(beyond).limitations.contains { $0.field == .recurrence && $0.preventsWriting })
        let event = try await room.created(.series())
        let old = try #require(event.whole)
        try await room.emulator.fault([
            "method": "PATCH", "level": "item", "status": 400, "code": "ErrorOccurrenceCrossingBoundary",
        ])
        let new = old.changing(Self.third) {
            $0.span = .timed(
                start: .at("2026-12-18T08:00:00Z"), end: .at("2026-12-18T09:00:00Z"), zone: "Europe/Berlin")
        }
        let answer = await room.write(.update(id: event.id, etag: event.etag, from: old, to: new))
        guard case .failed(let failure) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(failure.kind == .needsSingleEvents && failure.code == "ErrorOccurrenceCrossingBoundary")
    }

    @Test("Occurrences of Outlook's own series are the calendar library's, over summer time and short months")
    func expansion() async throws {
        let room = try await GraphRoom()
        let rules = [
            ("FREQ=DAILY;INTERVAL=3", "2026-03-01T01:30:00Z"),
            ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU", "2026-03-01T08:00:00Z"),
            ("FREQ=MONTHLY;BYMONTHDAY=-1", "2026-01-31T08:00:00Z"), ("FREQ=MONTHLY;BYDAY=-1SU", "2026-03-29T08:00:00Z"),
            ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1", "2026-03-02T08:00:00Z"),
            ("FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1", "2026-01-30T08:00:00Z"),
            ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1", "2026-02-28T08:00:00Z"),
        ]
        let window = TimeRange(from: .at("2026-01-01T00:00:00Z"), to: .at("2028-12-31T00:00:00Z"))
        for (index, (rule, start)) in rules.enumerated() {
            var entry = Entry.single("E\(index)", start: start)
            entry.repetition = Repetition(rrule: rule)
            let event = try await room.created(entry, "i\(index)")
            let made = try #require(event.whole)
            let listed = try await room.emulator.ask(
                "GET",
                "/v1.0/me/events/\(PercentEncoding.encode(event.id))/instances?startDateTime=2026-01-01T00:00:00Z"
                    + "&endDateTime=2028-12-31T00:00:00Z&$top=1000")
            let theirs = (listed["value"]?.array ?? []).compactMap { try? GraphTimes.instant($0["start"]) }
            #expect(theirs.count > 2)
            #expect(GraphSeries(made)?.starts(from: window.from, to: window.to) == theirs, "\(rule)")
        }
    }
}
