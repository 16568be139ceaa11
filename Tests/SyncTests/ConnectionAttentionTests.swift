// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Synchronization
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What a connection asks attention for")
struct ConnectionAttentionTests {
    @Test(
        "Each item that the calendar does not take, or keeps less of, is named, and the rest are counted",
        arguments: [true, false])
    func items(_ prevents: Bool) async throws {
        try await SyncBench.run { bench in
            try await bench.fill(23)
            let id = try await bench.server.connect()
            bench.calendars[id].limits.withLock { limits in
                limits = { _ in [Limitation(field: .title, message: "It is too long.", preventsWriting: prevents)] }
            }
            let run = try await bench.run(id)
            #expect(run.counts.failed == (prevents ? 23 : 0))
            let attention = try #require(try await bench.connection(id)["attention"]?.array)
            let kind: JSONValue = prevents ? "heldBack" : "shortened"
            #expect(attention.count == 21 && attention.allSatisfy { $0["kind"] == kind })
            #expect(attention.prefix(20).allSatisfy { $0["itemId"] != nil && $0["message"] == "It is too long." })
            #expect(Set(attention.prefix(20).compactMap { $0["itemId"]?.string }).count == 20)
            #expect(attention.last?["count"] == 3 && attention.last?["itemId"] == nil)
            bench.calendars[id].limits.withLock { $0 = { _ in [] } }
            bench.server.clock.advance(seconds: 2 * 86_400)
            try await bench.run(id)
            #expect(try await bench.connection(id)["attention"] == [])
        }
    }

    @Test("What somebody took out of the bin is not cancelled by a decision that was made before a run has seen it")
    func rescued() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(3)
            let id = try await bench.server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            calendar.delete(["a1", "a2"])
            try await bench.run(id)
            var open = try await bench.conflicts(id)
            let (one, two) = (
                try #require(open.first { $0.content.contains("\"a1\"") }).id,
                try #require(open.first { $0.content.contains("\"a2\"") }).id
            )
            calendar.restore("a1")
            let answer = try await bench.decide(one, "calendar").expect(409)
            #expect(answer.json["detail"]?.string?.contains("in the calendar again") == true)
            #expect(try await bench.server.item("appointments", "a1")["status"] == "confirmed")
            // A calendar that does not answer decides nothing.
            calendar.fail(ProviderFailure(.unreachable, "No answer."))
            try await bench.decide(two, "calendar").expect(503)
            #expect(try await bench.server.item("appointments", "a2")["status"] == "confirmed")
            try await bench.decide(two, "calendar").expect(200)
            #expect(try await bench.server.item("appointments", "a2")["status"] == "cancelled")
            try await bench.run(id)
            open = try await bench.conflicts(id)
            #expect(open.isEmpty && calendar.event(of: "a1") != nil)
            #expect(try await bench.server.item("appointments", "a1")["status"] == "confirmed")
        }
    }

    @Test("Of deleted occurrences, one that somebody took out of the bin is not cancelled with the others")
    func rescuedInPart() async throws {
        try await SyncBench.run { bench in
            try await bench.server.put(
                "appointments", "a0",
                [
                    "patientId": "mom", "provider": "Dr. Wu", "startAt": "2026-04-06T09:00:00-07:00",
                    "recurrence": ["rrule": "FREQ=DAILY;COUNT=5"],
                ])
            let id = try await bench.server.connect()
            let calendar = bench.calendars[id]
            try await bench.sync.once()
            let starts = try [7, 8].map { day in
                try TimeSpan.at("2026-04-0\(day)T16:00:00Z", "2026-04-0\(day)T17:00:00Z").start
            }
            calendar.edit("a0") { entry in for start in starts { entry.occurrences[start] = .cancelled } }
            try await bench.run(id)
            let conflict = try #require(try await bench.conflicts(id).first).id
            calendar.edit("a0") { $0.occurrences[starts[0]] = nil }
            try await bench.decide(conflict, "calendar").expect(200)
            try await bench.run(id)
            let event = try #require(calendar.event(of: "a0")?.entry)
            let there = event.canonical
            #expect(starts.map { there.effective(at: $0) != nil } == [true, false])
            #expect(try await bench.conflicts(id).isEmpty)
            let cancelled = try await bench.server.call(.get, "/v1/circles/c/appointments/a0/occurrences?limit=10")
                .expect(200).json["items"]?.array
            #expect(cancelled?.map { $0["status"] } == ["cancelled"])
        }
    }

    @Test("What a calendar keeps less of stays named while its runs fail")
    func failing() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(1)
            let id = try await bench.server.connect()
            let calendar = bench.calendars[id]
            calendar.limits.withLock { $0 = { _ in [Limitation(field: .title, message: "It is too long.")] } }
            try await bench.run(id)
            let first = try #require(try await bench.connection(id)["attention"]?.array?.first)
            for _ in 0..<12 {
                calendar.fail(ProviderFailure(.unreachable, "No answer."))
                bench.server.clock.advance(seconds: 86_400)
                try await bench.run(id)
            }
            let later = try await bench.connection(id)["attention"]?.array
            #expect(later?.first { $0["kind"] == "shortened" } == first && first["message"] == "It is too long.")
            calendar.fail()
            bench.server.clock.advance(seconds: 86_400)
            calendar.state.withLock { $0.listsNothing = true }
            let held = try await bench.run(id)
            #expect(held.state == .held)
            let run = try await bench.server.call(.get, "/v1/runs/\(held.id)", as: "ann").expect(200).json
            #expect(run["held"]?["causes"] == ["empty"] && run["held"]?["shared"] == .null)
        }
    }

    @Test("An item is in a calendar within the second of its change, although another item is always held back there")
    func reach() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(3)
            let id = try await bench.server.connect()
            bench.calendars[id].limits.withLock { limits in
                limits = { entry in
                    entry.title.contains("Dr. 1")
                        ? [Limitation(field: .title, message: "No.", preventsWriting: true)] : []
                }
            }
            let run = try await bench.run(id)
            #expect(run.status == .partial)
            func has(_ item: String) async throws -> JSONValue? {
                try await bench.server.call(.get, "/v1/circles/c/appointments/\(item)/reach").expect(200).json["have"]
            }
            #expect(try await has("a0") == 1)
            #expect(try await has("a1") == 0)
            try await bench.server.put(
                "appointments", "a0",
                ["patientId": "mom", "provider": "Dr. New", "startAt": "2026-04-04T09:00:00-07:00"])
            #expect(try await has("a0") == 0)
            try await bench.run(id)
            #expect(try await has("a0") == 1)
        }
    }
}
