// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Logging
import Storage
import Testing

@testable import KalendsCore

/// A server whose circle's items go to phones.
struct PhoneBench: Sendable {
    let server: TestServer

    static func run(
        _ settings: ServerSettings = ServerSettings(), _ body: @escaping @Sendable (PhoneBench) async throws -> Void
    ) async throws {
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            try await body(PhoneBench(server: server))
        }
    }

    /// Creates an apple connection of a user in the circle `c`.
    func connect(
        user: String = "ann", label: String? = nil, _ config: JSONValue = [:]
    ) async throws -> String {
        let made = try await server.call(
            .post, "/v1/circles/c/connections",
            ["provider": "apple", "label": label.map(JSONValue.string) ?? .null, "config": config], as: user
        ).expect(201)
        return try #require(made.json["id"]?.string)
    }

    func change(_ id: String, _ change: JSONValue) async throws {
        try await server.call(.patch, "/v1/connections/\(id)", change, as: "ann").expect(200)
    }

    /// Stores an appointment of one hour.
    func appointment(_ id: String, _ start: String, _ more: [ByteString: JSONValue] = [:]) async throws {
        let own: [ByteString: JSONValue] = [
            "patientId": "mom", "provider": .string("Dr. \(id)"), "startAt": .string(start), "endAt": .null,
        ]
        var members = own.merging(more) { $1 }
        if members["endAt"] == .null {
            let end = try instant(start).adding(seconds: 3600)
            members["endAt"] = .string(end.rfc3339(offset: 0))
        }
        try await server.put("appointments", id, .object(members))
    }

    /// An event as a phone sends it back, with its own id for it.
    func sent(_ event: JSONValue, as externalID: String, _ more: [ByteString: JSONValue] = [:]) -> JSONValue {
        var members = event.object ?? [:]
        for name in [
            "circleId", "collection", "itemId", "connectionId", "mark", "createdAt", "updatedAt", "deletedAt",
            "provider", "syncState", "turn",
        ] {
            members[ByteString(name)] = nil
        }
        members["externalId"] = .string(externalID)
        members.merge(more) { $1 }
        return .object(members)
    }

    func open(_ id: String) async throws -> [JSONValue] {
        let all = try await server.call(.get, "/v1/connections/\(id)/conflicts", as: "ann").expect(200).json
        return (all["items"]?.array ?? []).filter { $0["state"] == "open" }
    }

    /// Returns how many runs there have been.
    func runs(_ id: String) async throws -> Int {
        try await server.services.store.read { try $0.syncRuns(of: id, before: .max, limit: 10_000).count }
    }

    /// Runs the connection as the server's own schedule does.
    func look(_ id: String) async throws -> Int {
        let now = server.clock.now
        try await server.services.store.record { transaction in
            guard var own = try transaction.connection(id) else { return }
            own.nextSyncAt = now
            try transaction.recordConnection(own)
        }
        return try await server.services.connectionSync(Logger(label: "t") { _ in server.log }).once()
    }
}
