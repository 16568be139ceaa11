// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import CalendarSync

/// A world in which the test determines each step.
extension World {
    static func stage(appointments: Int = 0, tasks: Int = 0, linked: Bool = true) async throws -> World {
        let world = World()
        world.brake = DeletionLimit()
        for index in 0..<appointments { world.add(ItemKey(.appointments, "a\(index)"), hour: index) }
        for index in 0..<tasks { world.add(ItemKey(.tasks, "t\(index)"), hour: index) }
        if linked, appointments + tasks > 0 { try await world.run() }
        return world
    }

    static func span(_ hour: Int) -> TimeSpan {
        let start = Instant(seconds: 20 * World.day + hour * 3_600)
        return .timed(start: start, end: start.adding(seconds: 1_800), zone: "Europe/Berlin")
    }

    func add(_ item: ItemKey, hour: Int = 0, repetition: Repetition? = nil) {
        let entry = Entry(
            title: "Title of \(item.id)", notes: "Notes", span: World.span(hour), repetition: repetition,
            reminders: [10])
        store.items[item] = SimulatedStore.Item(entry: entry, changedAt: Instant(seconds: clock))
    }

    func edit(_ item: ItemKey, _ change: (inout Entry) -> Void) {
        guard var kept = store.items[item] else { return }
        change(&kept.entry)
        kept.revision += 1
        kept.changedAt = Instant(seconds: clock)
        store.items[item] = kept
    }

    /// The live event that we made for an item.
    func event(_ item: ItemKey) -> SimulatedCalendar.Stored? {
        calendar.live.first { $0.isOurs && $0.mark?.item == item }
    }

    func editThere(_ item: ItemKey, _ change: (inout Entry) -> Void) {
        guard var stored = event(item) else { return }
        calendar.clock = clock
        change(&stored.entry)
        calendar.put(stored)
    }

    func deleteThere(_ item: ItemKey) {
        guard var stored = event(item) else { return }
        stored.isLive = false
        calendar.put(stored)
    }

    var open: [ConflictRecord] {
        store.conflicts.values.filter { $0.state == .open }.sorted { $0.id < $1.id }
    }

    func lastRun() -> RunRecord? {
        store.runs.values.max { (Int($0.id.dropFirst(3)) ?? 0) < (Int($1.id.dropFirst(3)) ?? 0) }
    }

    func resolve(_ conflict: ConflictRecord, _ keep: Resolution.Keep) async throws {
        let resolution = try conflict.resolution(
            keep, link: store.links[conflict.item], item: store.ours(conflict.item.whole), at: Instant(seconds: clock))
        var batch = SyncBatch()
        batch.conflicts = [resolution.conflict]
        batch.links = resolution.link.map { [$0] } ?? []
        if let change = resolution.change {
            _ = try await store.apply(change, recording: batch)
        } else {
            try await store.commit(batch)
        }
    }
}
