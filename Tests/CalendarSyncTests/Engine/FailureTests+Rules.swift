// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// Series whose rule and occurrences change in one interval, and writes that do not leave what was meant.
extension FailureTests {
    @Test("A series that is cut there is left, and waits for a person")
    func split() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=20"))
        try await world.run()
        world.editThere(Self.item) { $0.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=5") }
        let writes = world.calendar.writes
        try await world.run()
        #expect(world.calendar.writes == writes)
        let conflict = try #require(world.open.first)
        #expect(conflict.kind == .editedThere)
        #expect(conflict.fields.map(\.field) == [.recurrence])
        try await world.resolve(conflict, .calendar)
        try await world.run()
        #expect(world.store.items[Self.item]?.entry.repetition?.rrule == "FREQ=DAILY;COUNT=5")
        #expect(world.calendar.writes == writes)
    }

    @Test(
        "Of a series that is cut there, an earlier occurrence that was moved moves here, and one that was deleted is asked"
    )
    func cutAndMoved() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=20"))
        try await world.run()
        let start = World.span(0).start
        let (second, third, ninth) = (
            start.adding(seconds: World.day), start.adding(seconds: 2 * World.day), start.adding(seconds: 8 * World.day)
        )
        world.editThere(Self.item) { entry in
            entry.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=5")
            var changed = entry.plain(at: second)
            changed.span = changed.span.moved(to: second.adding(seconds: 7_200))
            entry.occurrences = [second: .changed(changed), third: .cancelled]
        }
        try await world.run()
        let here = try #require(world.store.items[Self.item]?.entry)
        #expect(here.repetition?.rrule == "FREQ=DAILY;COUNT=20")
        #expect(here.effective(at: second)?.span == World.span(26))
        #expect(world.open.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.deletedThere, .editedThere])
        // What is beyond the cut has no event there.
        world.edit(Self.item) { entry in
            var changed = entry.plain(at: ninth)
            changed.title = "Other"
            entry.occurrences[ninth] = .changed(changed)
        }
        let writes = world.calendar.writes
        try await world.run()
        #expect(world.calendar.writes == writes)
        let cut = try #require(world.open.first { $0.kind == .editedThere })
        try await world.resolve(cut, .kalends)
        try await world.run()
        var there = try #require(world.event(Self.item)?.entry.canonical)
        #expect(there.occurrences.removeValue(forKey: third) == .cancelled)
        #expect(there == world.store.items[Self.item]?.entry.canonical)
    }

    @Test("A move of one occurrence there holds when only the rule changed here, and what the rule ends is reported")
    func ruleHereOccurrenceThere() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY"))
        try await world.run()
        let start = World.span(0).start
        let (second, ninth) = (start.adding(seconds: World.day), start.adding(seconds: 8 * World.day))
        world.editThere(Self.item) { entry in
            for each in [second, ninth] {
                var changed = entry.plain(at: each)
                changed.span = changed.span.moved(to: each.adding(seconds: 7_200))
                entry.occurrences[each] = .changed(changed)
            }
        }
        world.edit(Self.item) { $0.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=5") }
        try await world.run()
        let here = try #require(world.store.items[Self.item]?.entry)
        #expect(here.repetition?.rrule == "FREQ=DAILY;COUNT=5")
        #expect(here.effective(at: second)?.span == World.span(26))
        #expect(here.occurrences[ninth] == nil)
        #expect(world.event(Self.item)?.entry.canonical == here.canonical)
        let lost = world.store.conflicts.values.flatMap(\.starts)
        #expect(lost == [ninth])
        let writes = world.calendar.writes
        try await world.run()
        #expect(world.calendar.writes == writes)
    }

    @Test("What a server leaves as it was is written again, and is named when it always does")
    func writesThatFallShort() async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY"))
        let second = World.span(0).start.adding(seconds: World.day)
        world.edit(Self.item) { entry in
            var changed = entry.plain(at: second)
            changed.span = changed.span.moved(to: second.adding(seconds: 7_200))
            entry.occurrences[second] = .changed(changed)
        }
        try await world.run()
        world.calendar.keepsOccurrences = 1
        world.edit(Self.item) {
            $0.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=5")
            $0.occurrences = [:]
        }
        try await world.run()
        #expect(world.event(Self.item)?.entry.occurrences.isEmpty == true)
        #expect(world.store.links[Self.item]?.state == .linked)

        world.edit(Self.item) { $0.occurrences = [second: .cancelled] }
        world.calendar.keepsOccurrences = 99
        let run = try #require(try await world.run())
        #expect(run.counts.failed == 1)
        #expect(world.store.links[Self.item]?.state == .quarantined)
        #expect(world.store.links[Self.item]?.reason == "The calendar shows other times than were written.")
        world.calendar.keepsOccurrences = 0
        world.clock += 2 * World.day
        try await world.run()
        #expect(world.event(Self.item)?.entry.canonical.occurrences == [second: .cancelled])
        #expect(world.store.links[Self.item]?.state == .linked)
    }

    @Test(
        "A text that a server leaves as it was is written again, and is named when it always does",
        arguments: [true, false])
    func textsThatFallShort(_ isOfOccurrence: Bool) async throws {
        let world = try await World.stage()
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY"))
        let second = World.span(0).start.adding(seconds: World.day)
        func change(_ place: String) {
            world.edit(Self.item) { entry in
                guard isOfOccurrence else {
                    entry.location = place
                    return
                }
                var changed = entry.plain(at: second)
                changed.location = place
                entry.occurrences[second] = changed == entry.plain(at: second) ? nil : .changed(changed)
            }
        }
        change("Elsewhere")
        try await world.run()
        var written: [Int] = []
        for (place, times) in [("", 1), ("Somewhere", 1), ("", 99)] {
            if isOfOccurrence { world.calendar.keepsOccurrences = times } else { world.calendar.keepsPlaces = times }
            change(place)
            let (run, lines) = (try #require(try await world.run()), world.store.journal.count)
            let isThere = world.event(Self.item)?.entry.canonical == world.store.items[Self.item]?.entry.canonical
            #expect(isThere == (times == 1) && run.counts.updated == 1)
            #expect(run.shortened?.count == (isThere ? nil : 1))
            written.append(lines)
        }
        #expect(written[1] == written[0] + 1 && written[2] == written[1])
        #expect(world.store.links[Self.item]?.state == .linked)
        let writes = world.calendar.writes
        let run = try #require(try await world.run())
        #expect(run.status == .success && world.calendar.writes == writes)
        #expect(run.shortened?.items.map(\.item) == [Self.item])
        #expect(run.shortened?.items.first?.message.hasSuffix("is written: location.") == true)
        (world.calendar.keepsOccurrences, world.calendar.keepsPlaces) = (0, 0)
        change("Nowhere else")
        try await world.run()
        #expect(world.event(Self.item)?.entry.canonical == world.store.items[Self.item]?.entry.canonical)
        let last = try #require(try await world.run())
        #expect(last.shortened == nil)
    }

    @Test(
        "Of a new event, and of a changed one, a text of which the calendar keeps only a part is named at once",
        arguments: [true, false])
    func textsThatAreCut(_ isOfOccurrence: Bool) async throws {
        let world = try await World.stage()
        world.calendar.longestNotes = 10
        world.add(Self.item, repetition: Repetition(rrule: "FREQ=DAILY"))
        let second = World.span(0).start.adding(seconds: World.day)
        func change(_ notes: String) {
            world.edit(Self.item) { entry in
                guard isOfOccurrence else {
                    entry.notes = notes
                    return
                }
                var changed = entry.plain(at: second)
                changed.notes = notes
                entry.occurrences[second] = .changed(changed)
            }
        }
        change("Bring the letter")
        let created = try #require(try await world.run())
        #expect(created.counts.created == 1 && world.calendar.writes == 1)
        #expect(created.shortened?.items.map(\.message) == ["The calendar keeps less than was written: notes."])
        #expect(created.shortened?.items.first?.title == "Title of a0")
        // What else is written does not make it whole.
        world.edit(Self.item) { $0.location = "Elsewhere" }
        for _ in 0..<2 { #expect(try await world.run()?.shortened?.count == 1) }
        #expect(world.calendar.writes == 2)
        change("Bring the other letter")
        #expect(try await world.run()?.shortened?.count == 1)
        world.calendar.longestNotes = nil
        change("Bring the card")
        #expect(try await world.run()?.shortened == nil)
        #expect(world.event(Self.item)?.entry.canonical == world.store.items[Self.item]?.entry.canonical)
        #expect(try await world.run()?.shortened == nil)
    }
}
