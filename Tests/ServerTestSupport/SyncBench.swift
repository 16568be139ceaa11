// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Storage
import Synchronization
import Testing

@testable import KalendsCore

/// A server with calendars in memory instead of people's accounts.
struct SyncBench: Sendable {
    let server: TestServer
    let calendars: MemoryCalendars
    var sync: ConnectionSync {
        server.services.connectionSync(Logger(label: "t") { _ in server.log })
    }

    static func run(
        publicURL: String = "http://calendar.example", _ body: @escaping @Sendable (SyncBench) async throws -> Void
    ) async throws {
        let clock = TestClock()
        let calendars = MemoryCalendars(clock)
        try await TestServer.run(clock: clock, publicURL: publicURL, calendars: calendars) { server in
            try await server.makeCircle()
            try await body(SyncBench(server: server, calendars: calendars))
        }
    }

    /// Stores the appointments `a0`, `a1`… on the days after today.
    func fill(_ count: Int) async throws {
        for number in 0..<count {
            let day = number < 9 ? "0\(number + 1)" : "\(number + 1)"
            try await server.put(
                "appointments", "a\(number)",
                [
                    "patientId": "mom", "provider": .string("Dr. \(number)"),
                    "startAt": .string("2026-04-\(day)T09:00:00-07:00"),
                ])
        }
    }

    func connection(_ id: String) async throws -> JSONValue {
        try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
    }

    /// Requests a run, carries it out, and returns it.
    @discardableResult
    func run(_ id: String) async throws -> RunRecord {
        let answer = try await server.call(.post, "/v1/connections/\(id)/sync", as: "ann").expect(202)
        let run = try #require(answer.json["runId"]?.string)
        try await sync.once()
        return try await record(run)
    }

    func record(_ run: String) async throws -> RunRecord {
        let row = try await server.services.store.read { try $0.syncRun(run) }
        return try storedRecord(try #require(row).content)
    }

    func conflicts(_ id: String) async throws -> [SyncConflictRow] {
        try await server.services.store.read { try $0.openSyncConflicts(of: id) }
    }

    func decide(_ conflict: String, _ keep: String) async throws -> Answer {
        try await server.call(.post, "/v1/conflicts/\(conflict)/resolve", ["keep": .string(keep)], as: "ann")
    }
}
