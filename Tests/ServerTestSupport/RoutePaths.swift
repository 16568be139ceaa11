// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront

/// Paths of every route to existing things, and bodies that it accepts.
struct RoutePaths: Sendable {
    private var values: [String: String]

    /// With an item of each kind, a feed of `owner`, an import, a key, and a user without rights, `xia`.
    init(_ server: TestServer, circle: String = "c", owner: String = "ann") async throws {
        let path = "/v1/circles/\(circle)"
        _ = try await server.call(.put, "\(path)/members/xia", ["displayName": "Xia", "role": "viewer"])
        _ = try await server.call(.put, "\(path)/patients/mom", ["displayName": "Mom"])
        for (kind, name) in [
            ("tasks", "Task"), ("shifts", "Shift"), ("appointments", "Appointment"), ("follow-ups", "FollowUp"),
        ] {
            let example = try #require(Components.all(.all)["\(name)Input"]?.example)
            _ = try await server.call(.put, "\(path)/\(kind)/x", example)
        }
        _ = try await server.call(.put, "\(path)/appointments/x/occurrences/20260122T180000Z", ["status": "cancelled"])
        values = [
            "circle": circle, "user": "xia", "patient": "dad", "start": "20260122T180000Z", "id": "x",
            "name": "calendar.ics",
        ]
        let event = try #require(Components.all(.all)["PersonalEventInput"]?.example)
        _ = try await server.call(.put, "/v1/users/xia/events/x", event)
        let label = JSONValue.string("\(server.clock.now)-\(FeedLedger.makeID())")
        let feed = try await server.call(.post, "\(path)/feeds", ["userId": .string(owner), "label": label]).expect(201)
        values["feeds"] = feed.json["id"]?.string
        values["token"] = feed.json["token"]?.string
        // Committed, since a preview would be its maker's alone.
        let made = try await server.raw(
            .post, "\(path)/imports?mode=commit",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"], body: Self.file
        ).expect(201)
        values["imports"] = made.json["id"]?.string
        let password = try await server.call(
            .post, "/v1/app-passwords", ["userId": .string(owner), "label": label]
        ).expect(201).json
        values["app-passwords"] = password["id"]?.string
        values["profile"] = password["profileURL"]?.string?.split(separator: "/").last.map { String($0) }
        values["keys"] = try await server.call(.post, "/v1/keys", ["name": "of the walk"]).expect(201).json["id"]?
            .string
        let hook = try await server.call(.post, "/v1/webhooks", ["url": "https://app.example/kalends"]).expect(201)
        values["webhooks"] = hook.json["id"]?.string
        // Paused, since nothing is fetched here; every time under another address, since a circle follows each once.
        let url = JSONValue.string("https://calendar.example/\(FeedLedger.makeID()).ics")
        let known = try await server.call(.get, "\(path)/subscriptions").expect(200).json["items"]?.array?.first
        let followed =
            if let known { known } else {
                try await server.call(.post, "\(path)/subscriptions", ["url": url]).expect(201).json
            }
        let id = try #require(followed["id"]?.string)
        try await server.call(.patch, "\(path)/subscriptions/\(id)", ["state": "paused"]).expect(200)
        values["subscription"] = id
        let connections = try await server.call(.get, "\(path)/connections", as: owner).expect(200)
        let kept = connections.json["items"]?.array?.first { $0["label"] == "walk" }
        let connection: JSONValue = ["provider": "caldav", "label": "walk"]
        let connected =
            if let kept { kept } else {
                try await server.call(.post, "\(path)/connections", connection, as: owner).expect(201).json
            }
        let own = try #require(connected["id"]?.string)
        values["connections"] = own
        (values["runs"], values["conflicts"]) = ("run-\(own)", "conflict-\(own)")
        try await SyncSamples.put(in: server, of: own, now: server.clock.now)
        let visit = try #require(Components.all(.all)["OfficeVisitInput"]?.example)
        _ = try await server.call(.put, "/v1/users/xia/office-days/visits/x", visit)
        values["date"] = "2026-03-02"
    }

    /// Whether a route concerns a user's own data, so that a service key has to name the user.
    static func needsUser(_ access: Access) -> Bool { [.user, .oneself, .phone, .companion].contains(access) }

    static let file = ByteBuffer(
        string: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:walk\r\nDTSTART:20260303T100000Z\r\n"
            + "SUMMARY:Walk\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")

    func path(of route: RouteTable.Route) -> String {
        let parts = route.path.split(separator: "/").map(String.init)
        return "/"
            + parts.enumerated().map { index, part in
                guard part.hasPrefix("{") else { return part }
                let name = String(part.dropFirst().dropLast())
                let kind = index > 0 ? parts[index - 1] : ""
                return (name == "id" ? values[kind] : nil) ?? values[name] ?? "x"
            }.joined(separator: "/")
    }

    /// Returns the body to send, which is the example in the document.
    static func body(of route: RouteTable.Route) throws -> (type: String, bytes: ByteBuffer)? {
        guard let (type, schema) = route.operation.body?.contents.first else { return nil }
        switch type {
        case "text/calendar": return (type, file)
        case "application/x-ndjson":
            let line = try #require(Components.all(.all)["BatchLine"]?.example)
            return (type, ByteBuffer(bytes: try line.serialized()))
        default:
            let name = String(schema.json["$ref"]?.string?.split(separator: "/").last ?? "")
            var example = try #require(Components.all(.all)[name]?.example ?? schema.example, "\(name) has no example")
            // Of oneself, as whoever calls.
            if name == "SubscriptionInput" {
                example = ["url": .string("https://calendar.example/\(FeedLedger.makeID()).ics")]
            }
            if name == "ConnectionInput" {
                example = ["provider": "apple", "label": .string(FeedLedger.makeID())]
            }
            // This very machine, which nobody is led to.
            if name == "AccountInput" {
                example = ["url": "https://127.0.0.1/", "username": "jane", "password": "wrong"]
            }
            if name == "ConnectionChange" { example = ["config": ["detail": "titles"]] }
            if name == "FeedInput" { example = ["label": .string(FeedLedger.makeID())] }
            return (type, ByteBuffer(bytes: try example.serialized()))
        }
    }
}
