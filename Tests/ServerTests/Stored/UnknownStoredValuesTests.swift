// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdTesting
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A later version may store values that this one does not know, and the database may be used by this one again.
@Suite("Stored values that this version does not understand")
struct UnknownStoredValuesTests {
    /// Stores a value as another version would have written it.
    private static func store(_ server: TestServer, _ sql: String, _ value: String) async throws {
        let changed = try await server.services.store.write { try $0.execute(sql, [.text(value)]) }
        #expect(changed > 0)
    }

    /// Sends a request that has to fail; a server error is described for no request.
    @discardableResult
    private static func expectFailure(
        _ server: TestServer, _ method: HTTPRequest.Method, _ path: String, by key: String? = nil
    ) async throws -> String {
        let headers: HTTPFields = [.authorization: "Bearer \(key ?? server.key)"]
        let answer = try await server.client.execute(uri: path, method: method, headers: headers, body: nil)
        #expect(answer.status == .internalServerError)
        return String(buffer: answer.body)
    }

    private static func faults(_ server: TestServer) async throws -> [String] {
        try await StoredRows.faults(
            in: server.services.store, server.services.maintenance, .all
        ).map(\.description)
    }

    @Test(
        "A feed whose configuration is not understood shows nothing, and is reported",
        arguments: [
            #"{"detail":"initials"}"#, #"{"detail":"busy","showMinimalDetails":"always"}"#,
            #"{"patientIds":"mom"}"#, #"{"patientIds":[7]}"#, #"{"includeTasks":"none"}"#,
            #"{"completedTasks":"hide"}"#,
            #"{"tasksAs":"notes"}"#, #"{"hideOwners":true}"#, #"{"pastDays":-1}"#,
        ])
    func configuration(_ config: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t", ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00Z"])
            let feed = try await server.makeFeed(config: ["detail": "busy"])
            #expect(try await Self.faults(server).isEmpty)
            try await Self.store(server, "UPDATE feeds SET config = $1", config)
            let text = try await Self.expectFailure(server, .get, feed.path)
            #expect(!text.contains("VCALENDAR") && !text.contains("pills"))
            try await Self.expectFailure(server, .get, "/v1/feeds/\(feed.id)/preview")
            try await Self.expectFailure(server, .patch, "/v1/feeds/\(feed.id)")
            let faults = try await Self.faults(server)
            #expect(faults.count == 1 && faults[0].contains("configuration"), "\(faults)")
            #expect(server.log.text.contains("configuration is not valid"))
        }
    }

    @Test("A key with a scope that is not understood opens nothing and is not shown as a key with fewer scopes")
    func scope() async throws {
        try await TestServer.run { server in
            let made = try await server.call(.post, "/v1/keys", ["name": "k", "scopes": ["keys"]]).expect(201).json
            let (id, key) = (try #require(made["id"]?.string), try #require(made["key"]?.string))
            try await server.bearing(key, .get, "/v1/keys").expect(200)
            try await Self.store(
                server, "UPDATE service_keys SET scopes = $1 WHERE scopes = 'keys'", "keys calendars:sync")
            try await Self.expectFailure(server, .get, "/v1/keys", by: key)
            try await Self.expectFailure(server, .get, "/v1/keys")
            // A key that may do more than the caller is not the caller's to revoke, whatever the rest of it means.
            let keeper = try await server.call(.post, "/v1/keys", ["name": "l", "scopes": ["keys"]]).expect(201).json
            try await Self.expectFailure(
                server, .post, "/v1/keys/\(id)/revoke", by: try #require(keeper["key"]?.string))
            #expect(try await Self.faults(server).contains { $0.contains("unknown scope") })
        }
    }

    @Test(
        "An item with a status that is not understood is not shown as an open one",
        arguments: [
            ("tasks", #"{"title":"T","dueAt":"2026-03-03T09:00:00Z"}"#, "open"),
            (
                "appointments",
                #"{"patientId":"mom","provider":"P","startAt":"2026-03-03T09:00:00Z","endAt":"2026-03-03T10:00:00Z"}"#,
                "confirmed"
            ),
        ])
    func status(_ collection: String, _ content: String, _ known: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put(collection, "x", try JSONValue(parsing: Array(content.utf8)))
            let feed = try await server.makeFeed()
            try await Self.store(
                server, "UPDATE schedule_items SET content = replace(content, '\"\(known)\"', $1)", "\"postponed\"")
            try await Self.expectFailure(server, .get, "/v1/circles/c/\(collection)/x")
            try await Self.expectFailure(server, .get, "/v1/circles/c/\(collection)")
            try await Self.expectFailure(server, .get, feed.path)
            #expect(try await Self.faults(server).count == 1)
        }
    }

    @Test("A webhook that wants unknown kinds is not treated as one that wants less")
    func webhook() async throws {
        try await TestServer.run { server in
            let made = try await server.call(
                .post, "/v1/webhooks", ["url": "https://app.example/kalends", "types": ["item"]]
            ).expect(201)
            let id = try #require(made.json["id"]?.string)
            try await Self.store(server, "UPDATE webhooks SET types = $1", "item visit")
            try await Self.expectFailure(server, .get, "/v1/webhooks/\(id)")
            #expect(try await Self.faults(server).contains { $0.contains("webhook") })
        }
    }
}
