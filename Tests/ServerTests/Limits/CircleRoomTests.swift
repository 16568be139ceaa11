// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Room for whole circles")
struct CircleRoomTests {
    @Test("A circle counts with about what its texts take, and the next one waits for the first")
    func counted() async throws {
        var settings = ServerSettings()
        settings.limits.circleMemory = 1 << 20
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            for number in 0..<4 {
                try await server.put(
                    "tasks", "t\(number)",
                    [
                        "title": "T", "dueAt": "2026-03-03T09:00:00Z",
                        "notes": .string(String(repeating: "n", count: 60_000)),
                    ])
            }
            let services = server.services
            let budget = services.memory.circles
            let first = try await services.room(forCircle: "c", for: "ann")
            #expect(budget.used >= 4 * 60_000 * 4 && budget.used <= 1 << 20)
            let second = Task { try await services.room(forCircle: "c", for: "ann") }
            while !budget.isScarce { try await Task.sleep(for: .milliseconds(1)) }
            let used = budget.used
            withExtendedLifetime(first) {}
            _ = consume first
            let room = try await second.value
            #expect(budget.used == used)
            withExtendedLifetime(room) {}
        }
    }

    @Test("A read that finds no room for its circle waits without its snapshot, and reads again")
    func readAgain() async throws {
        var settings = ServerSettings()
        settings.limits.circleMemory = 1 << 20
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let notes = JSONValue.string(String(repeating: "n", count: 60_000))
            let task: JSONValue = ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": notes]
            try await server.put("tasks", "t", task)
            let (services, memory) = (server.services, server.services.memory)
            let others = MemoryShare(memory.circles, network: "others")
            try await others.hold(1 << 20)
            let read = Task {
                try await services.readInTurn(for: "ann") { transaction, room in
                    try room.take("c", andOwnOf: nil, in: transaction)
                }
            }
            try await eventually("The read waits for room.") { memory.circles.isAwaited }
            #expect(memory.pages.used == 0)
            others.keep(0)
            let (_, room) = try await read.value
            #expect(memory.circles.used >= 4 * 60_000)
            withExtendedLifetime((room, others)) {}
        }
    }

    @Test("A circle that is larger than all of the room has it for itself")
    func larger() async throws {
        let budget = MemoryBudget(limit: 1 << 20)
        let share = MemoryShare(budget)
        try await share.hold(64 << 20)
        #expect(budget.used == 1 << 20)
        #expect(!budget.takeNow(1, for: nil))
    }
}
