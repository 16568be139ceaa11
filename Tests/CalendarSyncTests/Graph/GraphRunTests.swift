// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

/// The engine over Outlook's calendars: whole runs against the emulator.
@Suite struct GraphRunTests {
    struct Bench {
        let room: GraphRoom
        let store = SimulatedStore()

        init() async throws {
            room = try await GraphRoom()
            try await room.emulator.settings(["pageSize": 500])
        }

        func put(_ id: String, _ entry: Entry) {
            store.clock += 1
            let key = ItemKey(.appointments, id)
            let revision = (store.items[key]?.revision ?? 0) + 1
            store.items[key] = SimulatedStore.Item(
                entry: entry, revision: revision, changedAt: Instant(seconds: Int(Date().timeIntervalSince1970)))
        }

        func entry(_ id: String) -> Entry? { store.items[ItemKey(.appointments, id)]?.entry }
        func link(_ id: String) -> Link? { store.links[ItemKey(.appointments, id)] }

        /// Makes a run, and returns it with the requests that it took.
        @discardableResult
        func run(through other: GraphCalendar? = nil) async throws -> (record: RunRecord, requests: Int) {
            _ = try await room.emulator.takeLog()
            let policy = SyncPolicy(
                installation: "inst-1", connection: "conn-1", circle: "circle-1",
                fingerprint: Fingerprint(
                    account: "a", calendar: room.calendar, pastDays: 30, futureDays: 400, filter: "", mapping: 1),
                window: GraphRoom.window)
            let now: @Sendable () -> Instant = { Instant(seconds: Int(Date().timeIntervalSince1970)) }
            let sync = SyncRun(
                provider: other ?? room.graph, store: store, policy: policy, now: now, makeID: { UUID().uuidString })
            let record = RunRecord(id: UUID().uuidString, trigger: .schedule, startedAt: now())
            let outcome = try await sync.run(record)
            return (outcome.record, try await room.emulator.takeLog().count)
        }

        func events() async throws -> [JSONValue] { try await room.emulator.events() }
    }

    @Test("A thousand items are there after at most 60 requests, an unchanged run is one, and a change two")
    func cost() async throws {
        let bench = try await Bench()
        for number in 0..<1000 {
            bench.put("i\(number)", .single("E\(number)", start: "2026-12-\(10 + number % 20)T08:00:00Z"))
        }
        let first = try await bench.run()
        #expect(first.record.counts.created == 1000 && first.record.status == .success)
        #expect(first.requests <= 60, "\(first.requests) requests")
        #expect(try await bench.events().count == 1000)
        let echo = try await bench.run()
        #expect(echo.record.counts.created + echo.record.counts.updated + echo.record.counts.pulled == 0)
        #expect(try await bench.run().requests == 1)

        bench.put("i7", .single("Renamed", start: "2026-12-17T08:00:00Z"))
        let ours = try await bench.run()
        #expect(ours.record.counts.updated == 1 && ours.requests == 2)
        #expect(try await bench.run().requests == 1)
        let id = try #require(bench.link("i7")?.externalID)
        // A change within the second of our own write is looked at once more: the listing might be older.
        try await Task.sleep(for: .milliseconds(1100))
        try await bench.room.emulator.person(
            "PATCH", id,
            [
                "start": ["dateTime": "2026-12-17T14:00:00", "timeZone": "W. Europe Standard Time"],
                "end": ["dateTime": "2026-12-17T15:00:00", "timeZone": "W. Europe Standard Time"],
            ])
        let theirs = try await bench.run()
        #expect(theirs.record.counts.pulled == 1 && theirs.requests == 2)
        #expect(bench.entry("i7")?.span == Entry.single(start: "2026-12-17T13:00:00Z").span)
        #expect(try await bench.run().requests == 1)
    }

    @Test(
        "An event that a person makes an online meeting stays one, whatever is written", arguments: [true, false],
        ["", "Main Street 1"])
    func meeting(_ isSeries: Bool, _ place: String) async throws {
        let bench = try await Bench()
        var entry = isSeries ? Entry.series() : Entry.single("Visit", start: "2026-12-17T08:00:00Z")
        entry.notes = "Bring <all> letters & keys"
        entry.location = place
        bench.put("m", entry)
        try await bench.run()
        let id = try #require(bench.link("m")?.externalID)
        try await bench.room.emulator.person("PATCH", id, ["isOnlineMeeting": true])
        try await Task.sleep(for: .milliseconds(1100))
        try await bench.run()
        #expect(try await bench.room.looked(id)?.whole?.notes == entry.notes)
        #expect(try await bench.room.looked(id)?.whole?.location == place)
        let named = try await bench.events().first?["location"]?["displayName"]?.string
        #expect(named == (place.isEmpty ? "" : place + "; ") + "Microsoft Teams Meeting")
        #expect(bench.store.conflicts.isEmpty)
        entry.notes = "Bring <all> letters & keys\nand the card"
        entry.location = "Main Street 2"
        if isSeries { entry = entry.changing("2026-12-17T08:00:00Z") { $0.notes = "Only the card" } }
        bench.put("m", entry)
        #expect(try await bench.run().record.counts.updated == 1)
        #expect(try await bench.room.looked(id)?.whole == bench.room.graph.expressible(entry).entry)
        let stored = try #require(try await bench.events().first)
        #expect(stored["isOnlineMeeting"] == true)
        #expect(stored["location"]?["displayName"] == "Main Street 2; Microsoft Teams Meeting")
        #expect(try await bench.run().record.counts.updated == 0)
        #expect(bench.store.conflicts.isEmpty)
    }

    @Test("A series goes out whole, a moved occurrence comes in, and a deleted one is created again when it is wanted")
    func series() async throws {
        let bench = try await Bench()
        let entry = Entry.series(exdates: ["2026-12-10T08:00:00Z"]).changing("2026-12-17T08:00:00Z") {
            $0.title = "Other room"
        }
        bench.put("s", entry)
        #expect(try await bench.run().record.counts.created == 1)
        let id = try #require(bench.link("s")?.externalID)
        #expect(try await bench.room.looked(id)?.whole == entry)
        try await bench.room.emulator.person(
            "PATCH", "\(id).OCC.2026-12-24",
            [
                "start": ["dateTime": "2026-12-24T13:00:00", "timeZone": "UTC"],
                "end": ["dateTime": "2026-12-24T14:00:00", "timeZone": "UTC"],
            ])
        #expect(try await bench.run().record.counts.pulled == 1)
        let moved = try #require(bench.entry("s")?.canonical.effective(at: .at("2026-12-24T08:00:00Z")))
        guard case .timed(let start, _, _) = moved.span else { throw GraphEmulator.Failure(text: "\(moved)") }
        #expect(start == .at("2026-12-24T13:00:00Z"))

        // The cancelled occurrence is wanted again: Outlook cannot, so the next generation takes its place.
        var back = try #require(bench.entry("s"))
        back.repetition?.exdates = []
        back.occurrences = back.occurrences.filter { $0.value != .cancelled }
        bench.put("s", back)
        for _ in 0..<3 { try await bench.run() }
        let events = try await bench.events()
        #expect(events.count == 1)
        let next = try #require(bench.link("s"))
        #expect(next.externalID != id && next.generation > 0 && next.leftovers.isEmpty)
        let whole = try #require(try await bench.room.looked(next.externalID ?? ""))
        #expect(whole.whole?.canonical == bench.room.graph.expressible(back).entry.canonical)
        #expect(try await bench.run().requests == 1)
    }

    @Test("A series that a person moves between our write and the look at what became of it moves here, too")
    func movedMeanwhile() async throws {
        let bench = try await Bench()
        bench.put("s", .series())
        for _ in 0..<2 { try await bench.run() }
        let (room, id) = (bench.room, try #require(bench.link("s")?.externalID))
        bench.put("s", .series("Physio, in the pool"))
        let graph = room.graph {
            try await room.emulator.person(
                "PATCH", id,
                [
                    "start": ["dateTime": "2026-12-03T10:00:00", "timeZone": "W. Europe Standard Time"],
                    "end": ["dateTime": "2026-12-03T11:00:00", "timeZone": "W. Europe Standard Time"],
                ])
        }
        #expect(try await bench.run(through: graph).record.counts.updated == 1)
        #expect(bench.entry("s") == .series("Physio, in the pool"))
        #expect(try await bench.run().record.counts.pulled == 1)
        var moved = Entry.series("Physio, in the pool")
        moved.span = Entry.single(start: "2026-12-03T09:00:00Z").span
        #expect(bench.entry("s")?.canonical == moved.canonical)
        #expect(try await room.looked(id)?.whole?.canonical == moved.canonical)
    }

    @Test("An occurrence that a person moves while its series is being made is moved here by the next run")
    func movedWhileMade() async throws {
        let bench = try await Bench()
        bench.put("s", .series().changing("2026-12-17T08:00:00Z") { $0.title = "Other room" })
        let room = bench.room
        // The first PATCH is that of the changed occurrence.
        let graph = room.graph {
            let id = try await room.emulator.events().first?["id"]?.string ?? ""
            try await room.emulator.person(
                "PATCH", "\(id).OCC.2026-12-24",
                [
                    "start": ["dateTime": "2026-12-24T13:00:00", "timeZone": "UTC"],
                    "end": ["dateTime": "2026-12-24T14:00:00", "timeZone": "UTC"],
                ])
        }
        #expect(try await bench.run(through: graph).record.counts.created == 1)
        #expect(try await bench.run().record.counts.pulled == 1)
        let found = try #require(bench.entry("s")?.canonical.effective(at: .at("2026-12-24T08:00:00Z")))
        #expect(found.span == Entry.single(start: "2026-12-24T13:00:00Z").span)
        #expect(try await bench.events().count == 1)
    }

    @Test(
        "Whatever happens to a request, runs end with one event for each item, equal on both sides",
        arguments: [
            ["path": "batch", "drop": "after"], ["path": "batch", "drop": "before"],
            ["path": "batch", "drop": "after", "after": 1], ["path": "batch", "drop": "after", "after": 2],
            ["path": "batch", "status": 503, "apply": true], ["path": "batch", "status": 429, "retryAfter": 90],
            ["path": "delta", "status": 503], ["path": "delta", "status": 410, "code": "SyncStateNotFound"],
            ["method": "POST", "path": "/events", "level": "item", "status": 500, "apply": true, "times": 2],
            ["method": "PATCH", "level": "item", "status": 409, "code": "ErrorIrresolvableConflict"],
        ] as [JSONValue])
    func faults(_ fault: JSONValue) async throws {
        let bench = try await Bench()
        try await bench.room.emulator.settings(["namesExisting": false])
        let series = Entry.series().changing("2026-12-17T08:00:00Z") { $0.notes = "Bring the key" }
        bench.put("s", series)
        bench.put("a", .single("A"))
        bench.put("b", .single("B"))
        try await bench.room.emulator.fault(fault)
        for _ in 0..<4 { try await bench.run() }
        #expect(try await bench.events().count == 3)
        bench.put("a", .single("A again"))
        var without = series
        without.repetition?.exdates = [.at("2026-12-24T08:00:00Z")]
        bench.put("s", without)
        try await bench.room.emulator.fault(fault)
        for _ in 0..<4 { try await bench.run() }
        try await bench.room.emulator.ask("DELETE", "/control/faults")
        let last = try await bench.run()
        #expect(try await bench.events().count == 3)
        for (id, wanted) in [("s", without), ("a", Entry.single("A again")), ("b", Entry.single("B"))] {
            let external = try #require(bench.link(id)?.externalID)
            let there = try #require(try await bench.room.looked(external))
            #expect(there.whole == wanted && bench.entry(id)?.canonical == wanted.canonical)
        }
        #expect(bench.store.conflicts.values.allSatisfy { $0.state == .resolved })
        #expect(last.record.counts.updated + last.record.counts.created + last.record.counts.pulled == 0)
    }
}
