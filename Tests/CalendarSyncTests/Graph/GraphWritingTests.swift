// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct GraphWritingTests {
    @Test("Each kind of single event is there as it was sent, and is read back as it was answered")
    func singles() async throws {
        let room = try await GraphRoom()
        let day = try #require(CivilDate(iso: "2026-12-24"))
        let entries: [Entry] = [
            .single("Übung 🦆", notes: "One\nTwo", location: "Praxis", reminders: [30]),
            .single("Free", availability: .free), .single("Perhaps", status: .tentative),
            .single("Long", minutes: 3 * 1440), .single("No time", minutes: 0),
            Entry(title: "Days", span: .days(first: day, until: day.adding(days: 3))),
            .single("In the repeated hour", start: "2026-10-25T01:30:00Z", minutes: 15),
            Entry(
                title: "Vienna",
                span: .timed(
                    start: .at("2026-12-03T08:00:00Z"), end: .at("2026-12-03T09:00:00Z"), zone: "Europe/Vienna")),
        ]
        for (index, entry) in entries.enumerated() {
            let event = try await room.created(entry, "i\(index)")
            var wanted = room.graph.expressible(entry).entry
            if entry.title == "In the repeated hour", case .timed(let start, let end, _) = wanted.span {
                wanted.span = .timed(start: start, end: end, zone: "Etc/UTC")
            }
            #expect(event.whole == wanted)
            #expect(event.mark == room.mark("i\(index)"))
            let looked = try #require(try await room.looked(event.id))
            #expect(looked == event)
        }
        #expect(room.graph.expressible(entries[7]).entry.span != entries[7].span, "Vienna's clock is Berlin's.")
        #expect(try await room.emulator.events().count == entries.count)
    }

    @Test("Limitations of Outlook are reported: second reminders, long titles, tentative and free")
    func limitations() async throws {
        let room = try await GraphRoom()
        let entry = Entry.single(
            String(repeating: "🦆", count: 200), reminders: [10, 1440], status: .tentative, availability: .free)
        let (expressed, limitations) = room.graph.expressible(entry)
        #expect(Set(limitations.map(\.field)) == [.title, .reminders, .status])
        #expect(limitations.allSatisfy { !$0.preventsWriting })
        #expect(expressed.reminders == [10] && expressed.title.utf16.count == 254)
        #expect(try await room.created(entry).whole == expressed)
        #expect(room.graph.expressible(expressed).limitations.isEmpty)
        #expect(room.graph.expressible(expressed).entry == expressed)
    }

    @Test("A series that Outlook cannot represent is refused with the reason, and nothing is sent")
    func unsayable() async throws {
        let room = try await GraphRoom()
        var entry = Entry.series(rule: "FREQ=MONTHLY;BYMONTHDAY=3,17")
        let answer = await room.write(.create(entry))
        guard case .failed(let failure) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(failure.kind == .refused && !failure.isTransient)
        #expect(room.graph.expressible(entry).limitations.first?.message == failure.message)
        entry = .series()
        entry.repetition?.rdates = [.at("2026-12-05T08:00:00Z")]
        #expect(room.graph.expressible(entry).limitations.contains { $0.preventsWriting })
        #expect(try await room.emulator.takeLog().isEmpty)
    }

    @Test(
        "Creating the same mark again makes no second event",
        arguments: [
            (400, true, 0), (409, true, 0), (400, false, 0), (409, false, 0), (400, false, 600), (400, true, 600),
        ])
    func idempotent(_ status: Int, _ names: Bool, _ lag: Int) async throws {
        let room = try await GraphRoom()
        try await room.emulator.settings([
            "duplicateStatus": .integer(status), "namesExisting": .bool(names), "lag": .integer(lag),
        ])
        let event = try await room.created(.single())
        let again = await room.write(.create(.single("Other")))
        #expect(again == .taken(event))
        #expect(try await room.emulator.events().count == 1)
        // Deleted there: the identity stays taken, and nobody has it.
        try await room.emulator.person("DELETE", event.id)
        #expect(await room.write(.create(.single())) == .taken(nil))
        let next = await room.write(.create(.single()), generation: 1)
        guard case .written(let other) = next else {
            Issue.record("\(next)")
            return
        }
        #expect(other.id != event.id)
    }

    @Test("An event that was made and not answered is found by its mark, and taken over")
    func unanswered() async throws {
        let room = try await GraphRoom()
        try await room.emulator.fault(["method": "POST", "path": "batch", "drop": "after"])
        let answer = await room.write(.create(.single()))
        guard case .failed(let failure) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(failure.kind == .unanswered && failure.isTransient)
        let found = try await room.graph.find([room.mark("a"), room.mark("b")], in: room.calendar)
        #expect(found.count == 1 && found.first?.mark == room.mark("a"))
        #expect(await room.write(.create(.single())) == .taken(found.first))
        #expect(try await room.emulator.events().count == 1)
    }

    @Test("A search among many marks lists them once, and a stranger's event is never among them")
    func findMany() async throws {
        let room = try await GraphRoom()
        let requests = (0..<60).map {
            WriteRequest(key: "k\($0)", mark: room.mark("i\($0)"), kind: .create(.single("E\($0)")))
        }
        _ = await room.graph.write(requests, in: room.calendar)
        try await room.emulator.ask(
            "POST", "/v1.0/me/calendars/\(PercentEncoding.encode(room.calendar))/events", GraphRoom.foreign)
        _ = try await room.emulator.takeLog()
        let marks = requests.map(\.mark)
        let found = try await room.graph.find(marks + [room.mark("unknown")], in: room.calendar)
        #expect(Set(found.compactMap(\.mark)) == Set(marks) && found.count == 60)
        #expect(try await room.emulator.takeLog().count == 4)
    }

    @Test("An update sends what differs only: what a person added stays")
    func updates() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.single(reminders: [30]))
        try await room.emulator.person(
            "PATCH", event.id,
            ["categories": ["Red"], "showAs": "oof", "sensitivity": "private", "reminderMinutesBeforeStart": 5])
        let seen = try #require(try await room.looked(event.id))
        let now = try #require(seen.whole)
        var next = now
        next.title = "Physio (new)"
        next.span = Entry.single(start: "2026-12-04T08:00:00Z").span
        let updated = try await room.written(.update(id: event.id, etag: seen.etag, from: now, to: next))
        #expect(updated.whole == next && updated.etag != seen.etag)
        let stored = try #require(try await room.emulator.events().first)
        #expect(stored["categories"] == ["Red"] && stored["showAs"] == "oof" && stored["sensitivity"] == "private")
        #expect(stored["reminderMinutesBeforeStart"] == 5)

        // Nothing differs: the event is only looked at.
        _ = try await room.emulator.takeLog()
        let same = await room.write(.update(id: event.id, etag: updated.etag, from: next, to: next))
        #expect(same == .written(updated))
        let log = try await room.emulator.takeLog()
        #expect(log.count == 1 && log[0].array?[3].array?.first?.array?.first == "GET")
        #expect(await room.write(.update(id: event.id, etag: seen.etag, from: next, to: next)) == .mismatch)
    }

    @Test("A field is sent only if it differs, because Microsoft mails guests what is sent")
    func guests() async throws {
        let entry = Entry.series()
        func sent(_ change: (inout Entry) -> Void) -> Set<ByteString> {
            var other = entry
            change(&other)
            return Set(GraphExpression(other).changes(from: GraphExpression(entry)).keys)
        }
        #expect(sent { _ in }.isEmpty)
        #expect(sent { $0.title = "Other" } == ["subject"])
        #expect(sent { $0.notes = "Other" } == ["body"])
        #expect(sent { $0.location = "Other" } == ["location"])
        #expect(sent { $0.reminders = [5] } == ["isReminderOn", "reminderMinutesBeforeStart"])
        #expect(sent { $0.availability = .free } == ["showAs"])
        #expect(sent { $0 = $0.changing("2026-12-10T08:00:00Z") { $0.title = "Other" } }.isEmpty)
        #expect(
            sent { $0.span = Entry.single(start: "2026-12-03T09:00:00Z").span }
                == ["isAllDay", "start", "end", "recurrence"])

        let room = try await GraphRoom()
        let event = try await room.created(.single())
        let guest: JSONValue = ["emailAddress": ["address": "guest@example.org"], "type": "required"]
        try await room.emulator.person("PATCH", event.id, ["attendees": [guest]])
        let seen = try #require(try await room.looked(event.id))
        var next = try #require(seen.whole)
        next.title = "Other"
        _ = try await room.written(.update(id: event.id, etag: seen.etag, from: try #require(seen.whole), to: next))
        let stored = try #require(try await room.emulator.events().first)
        #expect(stored["attendees"]?.array?.count == 1 && stored["subject"] == "Other")
    }

    @Test("Whole days become a time, a series becomes single, and back")
    func shapes() async throws {
        let room = try await GraphRoom()
        let day = try #require(CivilDate(iso: "2026-12-24"))
        let shapes: [Entry] = [
            Entry(title: "x", span: .days(first: day, until: day.adding(days: 1))), .single("x"), .series("x"),
            .single("x"),
            .series("x", rule: "FREQ=DAILY;COUNT=3"),
        ]
        var event = try await room.created(shapes[0])
        for shape in shapes.dropFirst() {
            let from = try #require(event.whole)
            event = try await room.written(.update(id: event.id, etag: event.etag, from: from, to: shape))
            #expect(event.whole == shape)
            #expect(try await room.looked(event.id) == event)
        }
    }

    @Test("A change or deletion of what is no longer the same is not done, and what is gone is gone")
    func conditions() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.single())
        let old = try #require(event.whole)
        try await room.emulator.person("PATCH", event.id, ["subject": "Edited there"])
        var new = old
        new.notes = "ours"
        #expect(await room.write(.update(id: event.id, etag: event.etag, from: old, to: new)) == .mismatch)
        #expect(await room.write(.delete(id: event.id, etag: event.etag)) == .mismatch)
        #expect(await room.write(.update(id: event.id, etag: nil, from: old, to: new)) == .mismatch)
        #expect(await room.write(.delete(id: event.id, etag: nil)) == .mismatch)
        let seen = try #require(try await room.looked(event.id))
        #expect(seen.whole?.title == "Edited there" && seen.whole?.notes == "")
        // Exchange says so without a condition, too, when two writes meet.
        try await room.emulator.fault([
            "method": "DELETE", "level": "item", "status": 409, "code": "ErrorIrresolvableConflict",
        ])
        #expect(await room.write(.delete(id: event.id, etag: seen.etag)) == .mismatch)
        #expect(await room.write(.delete(id: event.id, etag: seen.etag)) == .deleted)
        #expect(await room.write(.delete(id: event.id, etag: seen.etag)) == .deleted)
        #expect(await room.write(.update(id: event.id, etag: seen.etag, from: old, to: new)) == .gone)
        #expect(try await room.looked(event.id) == nil)
    }

    @Test("Writes of many kinds in one call are answered one by one, in order")
    func mixed() async throws {
        let room = try await GraphRoom()
        let kept = try await room.created(.single("kept"), "kept")
        let gone = try await room.created(.single("gone"), "gone")
        let keptEntry = try #require(kept.whole)
        var renamed = keptEntry
        renamed.title = "renamed"
        let requests: [(String, WriteRequest.Kind)] = [
            ("new", .create(.single("new"))),
            ("kept", .update(id: kept.id, etag: kept.etag, from: keptEntry, to: renamed)),
            ("bad", .create(.series(rule: "FREQ=HOURLY"))), ("gone", .delete(id: gone.id, etag: gone.etag)),
            ("series", .create(.series(exdates: ["2026-12-10T08:00:00Z"]))),
            ("stale", .delete(id: kept.id, etag: "W/\"old\"")), ("kept", .create(.single())),
        ]
        let answers = await room.graph.write(
            requests.map { WriteRequest(key: $0.0, mark: room.mark($0.0), kind: $0.1) }, in: room.calendar)
        let kinds = answers.map { answer in
            switch answer {
            case .written: "written"
            case .deleted: "deleted"
            case .mismatch: "mismatch"
            case .taken: "taken"
            case .gone: "gone"
            case .failed: "failed"
            }
        }
        #expect(kinds == ["written", "written", "failed", "deleted", "written", "mismatch", "taken"])
    }
}

extension GraphRoom {
    /// An event of the person's own.
    static let foreign: JSONValue = [
        "subject": "Dentist", "start": ["dateTime": "2026-12-07T10:00:00", "timeZone": "Eastern Standard Time"],
        "end": ["dateTime": "2026-12-07T11:00:00", "timeZone": "Eastern Standard Time"],
    ]
}
