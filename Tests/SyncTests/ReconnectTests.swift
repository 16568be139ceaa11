// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Outbound
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A connection after one whose events stayed, and the end of both")
struct ReconnectTests {
    /// Returns the titles of all events in the calendars of an emulator's account.
    private static func titles(_ provider: String, _ emulator: ProviderEmulator) async throws -> [String] {
        guard provider == "outlook" else {
            return try await ProviderSyncTests.events(emulator).compactMap { $0["summary"]?.string }.sorted()
        }
        let all = try JSONValue(parsing: try await emulator.call("GET", "\(emulator.address)/control/events").body)
        return (all.array ?? []).compactMap { $0["subject"]?.string }.sorted()
    }

    private static func own(_ id: String, _ server: TestServer) async throws -> JSONValue {
        try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
    }

    @Test(
        "What the first connection kept is adopted by the next one, and not written again",
        arguments: ["google", "outlook"])
    func adopted(provider: String) async throws {
        try await ProviderSyncTests.run(provider) { server, sync, emulator, first in
            try await ProviderSyncTests.fill(server, 12)
            _ = try await ProviderSyncTests.run(first, server, sync)
            let before = try await Self.titles(provider, emulator)
            #expect(before.count == 13 && Set(before).count == 13)
            let calendar = try await Self.own(first, server)["calendarId"]
            try await server.call(.delete, "/v1/connections/\(first)?events=keep", as: "ann").expect(204)
            #expect(try await Self.titles(provider, emulator) == before)
            // What changes while nobody keeps the calendar in step is made good afterwards.
            try await server.put(
                "appointments", "a3",
                ["patientId": "mom", "provider": "Dr. Wu", "startAt": ProviderSyncTests.day(4, server)])
            let second = try await ProviderSyncTests.connect(provider, server, emulator)
            #expect(try await Self.own(second, server)["calendarId"] == calendar)
            var run = try await ProviderSyncTests.run(second, server, sync)
            #expect(run["status"] == "success" && run["counts"]?["created"] == 0, "\(run)")
            let after = try await Self.titles(provider, emulator)
            #expect(
                after.count == 13 && after.count { $0.contains("Dr. Wu") } == 1
                    && !after.contains { $0.contains("Dr. 3") })
            #expect(try await Self.own(second, server)["counts"]?["linked"] == 13)
            run = try await ProviderSyncTests.run(second, server, sync)
            #expect(run["counts"]?["updated"] == 0 && run["counts"]?["pulled"] == 0, "\(run)")

            // From here on they are the second one's: they change, go, and come once more to a third.
            try await server.call(.delete, "/v1/circles/c/appointments/a5").expect(204)
            run = try await ProviderSyncTests.run(second, server, sync)
            #expect(run["counts"]?["deleted"] == 1, "\(run)")
            try await server.call(.delete, "/v1/connections/\(second)?events=keep", as: "ann").expect(204)
            let third = try await ProviderSyncTests.connect(provider, server, emulator)
            run = try await ProviderSyncTests.run(third, server, sync)
            #expect(run["counts"]?["created"] == 0 && run["counts"]?["updated"] == 0, "\(run)")
            #expect(try await Self.titles(provider, emulator).count == 12)
        }
    }

    @Test(
        "With events=remove nothing stays that was written: neither what left the window, nor what an earlier one kept",
        arguments: ["google", "outlook"])
    func removed(provider: String) async throws {
        try await ProviderSyncTests.run(provider) { server, sync, emulator, first in
            try await ProviderSyncTests.fill(server, 12)
            _ = try await ProviderSyncTests.run(first, server, sync)
            try await server.call(.delete, "/v1/connections/\(first)?events=keep", as: "ann").expect(204)
            // Tasks were not there before; appointments beyond the next days are not adopted, or are dropped.
            try await server.put(
                "tasks", "pills", ["title": "Pills", "dueAt": ProviderSyncTests.day(3, server)])
            let second = try await ProviderSyncTests.connect(provider, server, emulator)
            _ = try await ProviderSyncTests.run(second, server, sync)
            try await server.call(
                .patch, "/v1/connections/\(second)", ["config": ["futureDays": 5]], as: "ann"
            ).expect(200)
            let run = try await ProviderSyncTests.run(second, server, sync)
            #expect(run["status"] == "success", "\(run)")
            #expect(try await Self.titles(provider, emulator).count == 14)
            let states = try await server.services.store.read { try $0.syncLinks(of: second).map(\.state) }
            #expect(states.count { $0 == "untracked" } >= 5, "\(states)")
            try await server.call(.delete, "/v1/connections/\(second)?events=remove", as: "ann").expect(204)
            try await sync.once()
            #expect(try await Self.titles(provider, emulator).isEmpty)
            #expect(try await server.services.store.read { try $0.connectionEverKnown(second) } == nil)
        }
    }

    @Test(
        "With a real CalDAV server: adopted, changed under its own name, let go of, and removed to the last one",
        .enabled(if: Programs.python != nil), arguments: ["radicale", "xandikos"])
    func calDAV(name: String) async throws {
        try await CalDAVSyncTests.Scene.play(name) { scene in
            let (server, person) = (scene.server, scene.person)
            try await person.put(CalDAVSyncTests.foreign)
            // Of so long an id, the UID holds no more than a digest of the mark.
            let long = String(repeating: "l", count: 120)
            try await server.put(
                "appointments", long,
                [
                    "patientId": "mom", "provider": "Dr. Long",
                    "startAt": .string(server.clock.winterTime(day: 9, hour: 9)),
                ])
            try await scene.run()
            var (last, paths) = (scene, try await person.resources().map(\.path))
            #expect(paths.count == 5)
            for number in 0..<3 {
                try await server.call(.delete, "\(last.path)?events=keep", as: "ann").expect(204)
                last = try await last.another()
                try await server.call(
                    .put, "\(last.path)/calendar", ["calendarId": .string(person.calendar)], as: "ann"
                ).expect(200)
                // Later than the five minutes in which the calendar's side is believed; its clock is the machine's.
                server.clock.advance(seconds: 6 * 3600)
                // Every connection changes each event once, and the next one finds it all the same.
                try await server.put(
                    "appointments", long,
                    [
                        "patientId": "mom", "provider": .string("Dr. Long \(number)"),
                        "startAt": .string(server.clock.winterTime(day: 9, hour: 10 + number)),
                    ])
                try await last.move("a1", day: 6, hour: 10 + number)
                let run = try await last.run()
                // Xandikos states of no event when it was changed, so its times are believed; the title is ours.
                let isTimed = name == "radicale"
                #expect(run["counts"]?["created"] == 0, "\(run)")
                #expect(run["counts"]?["updated"] == (isTimed ? 2 : 1), "\(run)")
                #expect(try await person.resources().map(\.path) == paths)
            }
            try await server.call(.patch, last.path, ["config": ["futureDays": 6]], as: "ann").expect(200)
            try await last.run()
            #expect(try await person.resources().map(\.path) == paths)
            try await server.call(.delete, "\(last.path)?events=remove", as: "ann").expect(204)
            try await last.sync.once()
            paths = try await person.resources().map(\.text).filter { !$0.contains("X-MINE:yes") }
            #expect(paths.isEmpty, "\(paths)")
            #expect(try await person.resources().count == 1)
        }
    }
}
