// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

/// Every operation with every fault: the invariants hold after each run and at rest.
@Suite struct FaultTableTests {
    typealias Move = World.Move

    struct Operation {
        var name: String
        var perform: @Sendable (World) async throws -> Void
    }

    struct Fault {
        var name: String
        /// Called before the operation and after it.
        var arm: @Sendable (World) -> Void
        var isKilled = false
        var isRestored = false
        var isRewriting = false
    }

    static let appointment = ItemKey(.appointments, "a0")
    static let other = ItemKey(.appointments, "a1")
    static let series = ItemKey(.appointments, "s")
    static let task = ItemKey(.tasks, "t0")
    static let second = World.span(0).start.adding(seconds: World.day)

    static let operations: [Operation] = [
        Operation(name: "create") { $0.add(ItemKey(.tasks, "new"), hour: 3) },
        Operation(name: "edit text, both sides") { world in
            world.edit(appointment) { $0.notes = "Edited here" }
            world.editThere(appointment) { $0.title = "Edited there" }
            world.edit(task) { $0.title = "Edited here" }
            world.editThere(task) { $0.title = "Edited there" }
        },
        Operation(name: "move time, zone, all-day") { world in
            world.edit(appointment) { $0.span = World.span(40) }
            world.editThere(appointment) { $0.span = World.span(50) }
            world.editThere(other) {
                $0.span = .days(first: CivilDate(daysSinceEpoch: 25), until: CivilDate(daysSinceEpoch: 26))
            }
            world.edit(task) {
                $0.span = .timed(start: World.span(9).start, end: World.span(10).start, zone: "America/New_York")
            }
        },
        Operation(name: "delete here, delete there") { world in
            world.store.items[task]?.isDeleted = true
            world.deleteThere(other)
        },
        Operation(name: "edit against delete") { world in
            world.edit(appointment) { $0.title = "Edited here" }
            world.deleteThere(appointment)
            world.store.items[other]?.isDeleted = true
            world.editThere(other) { $0.span = World.span(60) }
        },
        Operation(name: "occurrence: move, cancel, restore") { world in
            world.edit(series) { $0.occurrences[second] = .cancelled }
            world.editThere(series) { entry in
                let third = second.adding(seconds: World.day)
                var changed = entry.plain(at: third)
                changed.span = World.span(90)
                entry.occurrences[third] = .changed(changed)
            }
            try await world.run()
            world.edit(series) { $0.occurrences[second] = nil }
        },
        Operation(name: "split series, change rule") { world in
            world.editThere(series) { $0.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=2") }
            try await world.run()
            world.edit(series) { $0.repetition = Repetition(rrule: "FREQ=WEEKLY;COUNT=4") }
        },
        Operation(name: "a person copies a marked event") { world in
            guard var copy = world.event(appointment) else { return }
            copy.id = "z-copy"
            copy.isOurs = false
            world.calendar.put(copy)
            world.foreign[copy.id] = copy.entry
            world.edit(appointment) { $0.title = "Edited here" }
        },
        Operation(name: "window and filter are switched") { world in
            world.filter = "other"
            world.window = TimeRange(from: Instant(seconds: 10 * World.day), to: Instant(seconds: 150 * World.day))
            world.edit(task) { $0.title = "In other words" }
        },
        Operation(name: "disconnect and connect again") { world in
            world.store.links = [:]
            world.store.operations = [:]
            world.store.position = nil
        },
    ]

    static let faults: [Fault] = [
        Fault(name: "none", arm: { _ in }),
        Fault(name: "killed after the call", arm: { _ in }, isKilled: true),
        Fault(name: "answer lost, applied", arm: { $0.calendar.faults = [.lostAnswer] }),
        Fault(name: "request lost", arm: { $0.calendar.faults = [.lostRequest] }),
        Fault(name: "412", arm: { $0.calendar.faults = [.race] }),
        Fault(name: "410", arm: { $0.calendar.faults = [.deadCursor] }),
        Fault(name: "short listing", arm: { $0.calendar.faults = [.deadCursor, .shortListing] }),
        Fault(name: "empty listing", arm: { $0.calendar.faults = [.deadCursor, .emptyListing] }),
        Fault(name: "index lag", arm: { $0.calendar.visible = $0.calendar.change }),
        Fault(name: "429", arm: { $0.calendar.faults = [.throttledWrite] }),
        Fault(name: "not in place", arm: { $0.calendar.faults = [.needsNewGeneration] }),
        Fault(
            name: "rewrites, etag only",
            arm: { world in for event in world.calendar.live { world.calendar.put(event) } }, isRewriting: true),
        Fault(name: "old backup", arm: { _ in }, isRestored: true),
    ]

    /// Returns `ok` when the sides are at rest and equal after two runs, or `held` when a person had to approve first.
    static func cell(_ operation: Operation, _ fault: Fault) async throws -> String {
        let world = try await World.stage(appointments: 3, tasks: 2, linked: false)
        world.brake = DeletionLimit(events: 2, fraction: 5)
        world.add(series, repetition: Repetition(rrule: "FREQ=DAILY;COUNT=6"))
        world.calendar.mayOmit = { _ in true }
        world.calendar.rewrites = fault.isRewriting
        try await world.run()
        let (links, position) = (world.store.links, world.store.position)
        if fault.isRestored {
            // What was made after the backup was taken.
            world.add(ItemKey(.tasks, "late"), hour: 5)
            try await world.run()
        }
        world.clock += 60
        fault.arm(world)
        try await operation.perform(world)
        if fault.isRestored, !world.store.links.isEmpty {
            (world.store.links, world.store.position) = (links, position)
        }
        if fault.isKilled {
            for commits in 2..<5 {
                world.store.commitsLeft = commits
                try await world.run()
            }
            world.store.commitsLeft = nil
        }
        var isHeld = try await world.run()?.state == .held
        world.calendar.visible = nil
        isHeld = try await world.run()?.state == .held || isHeld
        try await world.settle()
        return isHeld ? "held" : "ok"
    }

    @Test("The table of operations and faults in the documentation is what happens")
    func table() async throws {
        var lines = ["| | \(Self.faults.map(\.name).joined(separator: " | ")) |"]
        lines.append("|" + String(repeating: " --- |", count: Self.faults.count + 1))
        for operation in Self.operations {
            var cells: [String] = []
            for fault in Self.faults {
                do {
                    cells.append(try await Self.cell(operation, fault))
                } catch {
                    Issue.record("\(operation.name), \(fault.name): \(error)")
                    cells.append("wrong")
                }
            }
            lines.append("| \(operation.name) | \(cells.joined(separator: " | ")) |")
        }
        try expectTable("faults", in: "docs/sync-merge.md", lines)
    }
}
