// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Testing

/// A phone of a user, with its token.
struct Phone: Sendable {
    let server: TestServer
    let token: String

    init(_ server: TestServer, of user: String = "ann", named name: String = "phone-1") async throws {
        let made = try await server.call(
            .post, "/sync/devices/register", ["deviceId": .string(name)], as: user)
        self.server = server
        token = try #require(made.json["deviceToken"]?.string)
    }

    func call(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil) async throws -> Answer {
        let bytes = try body.map { ByteBuffer(bytes: try $0.serialized()) }
        return try await server.raw(method, path, headers: headers, body: bytes)
    }

    func send(_ text: String, to path: String = "/sync/apple/events/upsert") async throws -> Answer {
        try await server.raw(.post, path, headers: headers, body: ByteBuffer(string: text))
    }

    private var headers: HTTPFields { [.authorization: "Device \(token)", .contentType: "application/json"] }

    /// Sends events, and expects that the body is accepted.
    @discardableResult
    func upsert(_ events: JSONValue...) async throws -> JSONValue {
        try await call(.post, "/sync/apple/events/upsert", ["events": .array(events)]).expect(200).json
    }

    /// Returns all events that changed after a time, page by page.
    func changes(
        since: Int = 0, limit: Int = 500, path: String = "/sync/events/changes"
    ) async throws -> (events: [JSONValue], nextSince: Int) {
        var (all, time): ([JSONValue], Int) = ([], since)
        while true {
            let page = try await call(.get, "\(path)?since=\(time)&limit=\(limit)").expect(200).json
            let events = try #require(page["events"]?.array)
            #expect(events.count <= limit)
            all += events
            time = try #require(page["nextSince"]?.integer)
            if page["hasMore"] == false { return (all, time) }
        }
    }
}

extension JSONValue {
    /// Returns an event that a phone sends, with more members.
    static func sent(
        _ externalID: String, _ title: String = "Meeting", _ more: [ByteString: JSONValue] = [:]
    )
        -> JSONValue
    {
        let own: [ByteString: JSONValue] = [
            "externalId": .string(externalID), "title": .string(title), "date": "2026-03-04", "startTime": "09:00",
            "endTime": "10:00",
        ]
        return .object(own.merging(more) { $1 })
    }
}
