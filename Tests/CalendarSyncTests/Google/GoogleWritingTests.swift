// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import Synchronization
import Testing

@testable import CalendarSync

@Suite struct GoogleWritingTests {
    typealias Bench = GoogleBench

    @Test("What is written is what Google keeps of it: single events, whole days and series with their occurrences")
    func created() async throws {
        let bench = try await Bench()
        var whole = Bench.single("Holiday")
        whole.span = .days(
            first: try #require(CivilDate(iso: "2026-12-24")), until: try #require(CivilDate(iso: "2026-12-27")))
        whole.availability = .free
        whole.status = .tentative
        let entries = [("a", Bench.single("Haircut <b>&amp;</b> 🙂")), ("b", whole), ("c", Bench.series("Walk"))]
        let answers = await bench.create(entries)
        for ((item, entry), answer) in zip(entries, answers) {
            let event = try #require(answer.written)
            #expect(event.entry == bench.provider.expressible(entry).entry)
            #expect(event.mark == Bench.mark(item))
            #expect(event.etag != nil)
            #expect(event.updatedAt != nil)
        }
        let listed = try await bench.changes(since: nil)
        #expect(listed.isFull)
        #expect(Set(listed.events) == Set(answers.compactMap(\.written)))
        #expect(try await bench.stored().allSatisfy { $0["attendees"] == nil })
    }

    @Test("A thousand items to an empty calendar take 25 requests at most, no change one, and one change two")
    func cost() async throws {
        let bench = try await Bench()
        _ = try await bench.provider.calendars()
        let first = try await bench.changes(since: nil)
        let answers = await bench.create((0..<1000).map { ("item\($0)", Bench.single("Visit \($0)", hours: $0 % 300)) })
        #expect(answers.allSatisfy { $0.written != nil })
        #expect(bench.http.takeSent().count <= 25)
        #expect(try await bench.stored().count == 1000)

        let echo = try await bench.changes(since: first.cursor)
        #expect(echo.events.count == 1000)
        bench.http.takeSent()
        let quiet = try await bench.changes(since: echo.cursor)
        #expect(quiet.changes.isEmpty)
        #expect(bench.http.takeSent().count == 1)

        let event = try #require(answers[7].written)
        var entry = try #require(event.entry)
        entry.title = "Visit at last"
        _ = try await bench.changes(since: quiet.cursor)
        #expect(try await bench.update("item7", event, to: entry).written?.entry == entry)
        #expect(bench.http.takeSent().count == 2)
    }

    @Test("An update sends only what differs, and leaves what a person added")
    func patched() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("Haircut"))
        let edited = try await bench.edit("PATCH", "/" + event.id, ["colorId": "7", "visibility": "private"])
        var now = event
        now.etag = edited["etag"]?.string
        var entry = try #require(event.entry)
        entry.span = .timed(start: Bench.day(1), end: Bench.day(1).adding(seconds: 1800), zone: "America/New_York")
        entry.reminders = []
        let answer = try await bench.update("a", now, to: entry)
        #expect(answer.written?.entry == entry)
        let stored = try #require(try await bench.stored().first)
        #expect(stored["colorId"] == "7" && stored["visibility"] == "private")
        #expect(GoogleMark.read(stored["extendedProperties"]?["private"]) == Bench.mark("a"))

        var days = entry
        days.span = .days(
            first: try #require(CivilDate(iso: "2026-12-24")), until: try #require(CivilDate(iso: "2026-12-25")))
        let first = try #require(answer.written)
        let second = try #require(try await bench.update("a", first, to: days).written)
        #expect(second.entry == days)
        #expect(try await bench.update("a", second, to: entry).written?.entry == entry)
    }

    @Test("An event that has changed since is not overwritten, nor one whose version is unknown")
    func stale() async throws {
        let bench = try await Bench()
        var event = try await bench.createOne("a", Bench.single("Haircut"))
        try await bench.edit("PATCH", "/" + event.id, ["summary": "Hairdresser"])
        var entry = try #require(event.entry)
        entry.location = "Elsewhere"
        #expect(try await bench.update("a", event, to: entry) == .mismatch)
        #expect(await bench.delete("a", event) == .mismatch)
        event.etag = nil
        #expect(try await bench.update("a", event, to: entry) == .mismatch)
        #expect(await bench.delete("a", event) == .mismatch)
        #expect(try await bench.stored().first?["summary"] == "Hairdresser")
    }

    @Test("Occurrences are moved, deleted and brought back, each under its own version")
    func occurrences() async throws {
        let bench = try await Bench()
        var event = try await bench.createOne("a", Bench.series("Walk"))
        func write(_ change: (inout Entry) -> Void) async throws -> WriteAnswer {
            var entry = try #require(event.entry)
            change(&entry)
            let answer = try await bench.update("a", event, to: entry)
            if let written = answer.written {
                #expect(written.entry == bench.provider.expressible(entry).entry)
                event = written
            }
            return answer
        }
        // Another one is changed, the first changed one as well.
        #expect(
            try await write { entry in
                entry.occurrences[Bench.day(6)] = .changed(Bench.later("Long walk", day: 6))
                entry.occurrences[Bench.day(4)] = .changed(Bench.later("Other walk", day: 4))
            }.written != nil)
        // One that was changed is deleted, one that was as the series, too.
        #expect(
            try await write { entry in
                entry.occurrences[Bench.day(6)] = .cancelled
                entry.occurrences[Bench.day(7)] = .cancelled
            }.written != nil)
        #expect(event.entry?.repetition?.exdates == [Bench.day(2), Bench.day(6), Bench.day(7)])
        // All of them come back, and the changed one is as the series again.
        #expect(
            try await write { entry in
                entry.repetition?.exdates = []
                entry.occurrences = [:]
            }.written != nil)
        #expect(event.entry?.occurrences == [:])
        // The series moves, with one occurrence elsewhere.
        #expect(
            try await write { entry in
                let start = Bench.morning.adding(seconds: 7200)
                entry.span = .timed(start: start, end: start.adding(seconds: 1800), zone: "Europe/Berlin")
                entry.occurrences = [
                    start.adding(seconds: 86_400): .changed(Bench.later("Moved walk", day: 1))
                ]
            }.written != nil)
        // It ends being one.
        #expect(
            try await write { entry in
                entry.repetition = nil
                entry.occurrences = [:]
            }.written != nil)
        let looks = try await bench.provider.look(at: [event.id], in: bench.calendar)
        #expect(looks.map(\.look) == [.present(event)])
    }

    @Test("An occurrence that a person has changed since is not overwritten")
    func staleOccurrence() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.series("Walk"))
        for number in [4, 5] {
            try await bench.edit("PATCH", Bench.instanceID(event.id, Bench.day(number)), ["summary": "With Anna"])
            var entry = try #require(event.entry)
            entry.occurrences[Bench.day(number)] = .changed(Bench.later("Alone", day: number))
            #expect(try await bench.update("a", event, to: entry) == .mismatch)
        }
        try await bench.edit("DELETE", Bench.instanceID(event.id, Bench.day(6)))
        var entry = try #require(event.entry)
        entry.occurrences[Bench.day(6)] = .changed(Bench.later("Alone", day: 6))
        #expect(try await bench.update("a", event, to: entry) == .mismatch)
        let look = try await bench.provider.look(at: [event.id], in: bench.calendar)[0].look
        guard case .present(let now) = look, let found = now.entry else {
            Issue.record("The series cannot be read.")
            return
        }
        #expect(found.repetition?.exdates == [Bench.day(2), Bench.day(6)])
        #expect(
            found.occurrences.values.filter { if case .changed(let c) = $0 { c.title == "With Anna" } else { false } }
                .count == 2)
    }

    @Test("A deletion is done once, and counts when it was done before")
    func deleted() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("Haircut"))
        let series = try await bench.createOne("b", Bench.series("Walk"))
        #expect(await bench.delete("a", event) == .deleted)
        #expect(await bench.delete("b", series) == .deleted)
        #expect(try await bench.stored().isEmpty)
        // Its version is another one now.
        #expect(await bench.delete("a", event) == .mismatch)
        try await bench.knob(["vanish": true])
        #expect(await bench.delete("a", event) == .deleted)
        let looks = try await bench.provider.look(at: [event.id, series.id], in: bench.calendar)
        #expect(looks.map(\.look) == [.gone, .gone])
    }

    @Test("The identity of a deleted event stays taken, and the next generation is free", arguments: [false, true])
    func tombstones(_ vanishes: Bool) async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("Haircut"))
        #expect(await bench.delete("a", event) == .deleted)
        if vanishes { try await bench.knob(["vanish": true]) }
        #expect(await bench.create([("a", Bench.single("Haircut"))]) == [.taken(nil)])
        let request = WriteRequest(
            key: "k", mark: Bench.mark("a", generation: 1), kind: .create(Bench.single("Haircut")))
        let again = await bench.provider.write([request], in: bench.calendar)[0].written
        #expect(again?.mark?.generation == 1)
        #expect(again?.id != event.id)
        #expect(try await bench.stored().count == 1)
    }

    @Test("An event that is gone cannot be updated, and says so")
    func gone() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("Haircut"))
        try await bench.edit("DELETE", "/" + event.id)
        try await bench.knob(["vanish": true])
        var entry = try #require(event.entry)
        entry.title = "x"
        #expect(try await bench.update("a", event, to: entry) == .gone)
    }

    @Test("Writes of all kinds in one call are answered in their order")
    func mixed() async throws {
        let bench = try await Bench()
        let first = try await bench.createOne("a", Bench.single("A"))
        let second = try await bench.createOne("b", Bench.single("B"))
        var entry = try #require(first.entry)
        entry.title = "A2"
        let before = try #require(first.entry)
        let answers = await bench.provider.write(
            [
                WriteRequest(key: "1", mark: Bench.mark("b"), kind: .delete(id: second.id, etag: second.etag)),
                WriteRequest(key: "2", mark: Bench.mark("c"), kind: .create(Bench.single("C"))),
                WriteRequest(
                    key: "3", mark: Bench.mark("a"),
                    kind: .update(id: first.id, etag: first.etag, from: before, to: entry)),
                WriteRequest(key: "4", mark: Bench.mark("a"), kind: .create(Bench.single("A"))),
            ], in: bench.calendar)
        #expect(answers[0] == .deleted)
        #expect(answers[1].written?.entry?.title == "C")
        #expect(answers[2].written?.entry?.title == "A2")
        guard case .taken(let event?) = answers[3] else {
            Issue.record("The identity is taken.")
            return
        }
        #expect(event.id == first.id)
        #expect(await bench.provider.write([], in: bench.calendar).isEmpty)
    }

    @Test("Writing an unchanged entry costs a look and changes nothing")
    func unchanged() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        let entry = try #require(event.entry)
        #expect(try await bench.update("a", event, to: entry) == .written(event))
    }
}

@Suite struct GoogleWeightTests {
    /// Notes as how many requests each one counts.
    private final class Scales: ProviderHTTP {
        private let noted = Mutex<[Int]>([])

        var counts: [Int] { noted.withLock { $0 } }

        func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
            noted.withLock { $0.append(request.calls) }
            return ProviderAnswer(status: 404)
        }
    }

    @Test("A PATCH counts as three requests, also in a batch, and every other one as one")
    func weight() async throws {
        let scales = Scales()
        let wire = GoogleWire(
            http: scales, tokens: FixedToken(token: "t"), base: "http://127.0.0.1:1", pause: { _ in },
            random: { _ in 0 })
        let calls = ["GET", "PATCH", "PUT", "POST", "DELETE"].map {
            GoogleCall(method: $0, path: "calendars/c/events/e")
        }
        for call in calls { _ = try await wire.send(call) }
        _ = await wire.send(calls)
        #expect(scales.counts == [1, 3, 1, 1, 1, 7])
    }
}
