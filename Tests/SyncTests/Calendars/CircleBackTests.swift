// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What calendar apps change and delete comes back")
struct CircleBackTests {
    private static func last(_ server: TestServer, as user: String? = nil) async throws -> JSONValue? {
        try await server.call(.get, "/v1/circles/c/activity?limit=1000", as: user).expect(200).json["items"]?.array?
            .last
    }

    private static func undo(
        _ entry: JSONValue?, _ server: TestServer, as user: String? = nil
    ) async throws -> Answer {
        let number = try #require(entry?["number"]?.integer)
        return try await server.call(.post, "/v1/circles/c/activity/\(number)/undo", as: user)
    }

    private static func imported(_ app: CalendarApp) async throws -> String {
        try #require(try await app.members().first { $0.name.hasSuffix("+imported.ics") }?.name)
    }

    @Test("What apps hold of imported events without a zone is not current once the circle moves to another clock")
    func zone() async throws {
        try await TestServer.withCircle { server in
            try await server.bring(
                [["UID:float", "DTSTART:20260310T090000", "SUMMARY:Breakfast"]], as: "ben"
            ).expect(201)
            let app = CalendarApp(server: server, user: "ben")
            let name = try await Self.imported(app)
            let (number, before) = (try await app.collection().number, try await app.text(name))
            try await server.call(
                .put, "/v1/circles/c", ["name": "Family", "timeZone": "Asia/Tokyo"]
            ).expect(200)
            let after = try await app.text(name)
            #expect(after != before, "\(after)")
            let listed = try await app.members().first { $0.name == name }
            let read = try await app.member(name)
            #expect(listed == read && listed != nil)
            let fault = await CalendarApp.fault {
                _ = try await app.source.changes(of: app.collection(), after: number, limit: 100)
            }
            guard case .invalidSyncToken = fault else {
                Issue.record("\(String(describing: fault))")
                return
            }
            let now = try await app.collection().number
            let changes = try await app.source.changes(of: app.collection(), after: now, limit: 100)
            #expect(changes.changed.isEmpty && changes.removed.isEmpty)
        }
    }
}
