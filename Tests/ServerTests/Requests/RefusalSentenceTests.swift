// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import NIOCore
import Testing

@testable import ServerTestSupport

@Suite("Reasons of refusals, and missing things")
struct RefusalSentenceTests {
    @Test("A missing, a malformed and an unknown credential are distinguished")
    func credentials() async throws {
        try await TestServer.run { server in
            let none = try await server.raw(.get, "/v1/circles").expect(401)
            #expect(none.json["code"] == "credential-missing")
            #expect(none.headers[.wwwAuthenticate] == "Bearer")
            for (value, code) in [
                ("Bearer x", "credential-malformed"), ("Basic eDp5", "credential-malformed"),
                ("Bearer", "credential-malformed"), ("Bearer a.b.c", "token-invalid"),
                ("Bearer \(Secret.make(.serviceKey).reveal())", "credential-unknown"),
                ("Bearer \(Secret.make(.session).reveal())", "credential-unknown"),
                ("Device \(Secret.make(.device).reveal())", "credential-unknown"),
            ] {
                let answer = try await server.raw(.get, "/v1/circles", headers: [.authorization: value]).expect(401)
                #expect(answer.json["code"]?.string == code, "\(value.prefix(12))")
                #expect(answer.headers[.wwwAuthenticate] == #"Bearer error="invalid_token""#)
            }
            let stale = try await server.raw(.get, "/v1/circles", headers: [.cookie: "kalends_session=old"]).expect(401)
            #expect(stale.json["code"] == "credential-malformed")
            let other = try await server.raw(.get, "/v1/circles", headers: [.cookie: "theme=dark"]).expect(401)
            #expect(other.json["code"] == "credential-missing")
        }
    }

    @Test("Only a missing role is reported as one")
    func roles() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let role = try await server.call(.put, "/v1/circles/c/patients/x", ["displayName": "X"], as: "ben")
            #expect(role.json["code"] == "role-insufficient")
            let installation = try await server.call(.get, "/v1/keys", as: "ann").expect(403)
            #expect(installation.json["code"] == "installation-required")
            let user = try await server.call(.get, "/v1/devices").expect(403)
            #expect(user.json["code"] == "user-required")
            let made = try await server.call(.post, "/v1/keys", ["name": "k", "scopes": ["schedule:read"]]).expect(201)
            let key = try #require(made.json["key"]?.string)
            let scope = try await server.raw(.get, "/v1/keys", headers: [.authorization: "Bearer \(key)"]).expect(403)
            #expect(scope.json["code"] == "scope-missing")
            let limited = try await server.raw(.get, "/v1/webhooks", headers: [.authorization: "Bearer \(key)"])
            #expect(limited.json["code"] == "key-limited")
            let device = try await server.call(.get, "/v1/devices/current", as: "ann").expect(403)
            #expect(device.json["code"] == "device-required")
            for answer in [installation, user, scope, limited, device] {
                #expect(answer.json["detail"]?.string?.contains("role") == false)
            }
        }
    }

    @Test("A 404 names what is missing, and is the same for what is somebody else's")
    func missing() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed(user: "ben").id
            let file =
                "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20260303T090000Z\r\nEND:VEVENT\r\n"
                + "END:VCALENDAR\r\n"
            let made = try await server.raw(
                .post, "/v1/circles/c/imports",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                body: ByteBuffer(string: file)
            ).expect(201)
            let imported = try #require(made.json["id"]?.string)
            for (path, code) in [
                ("/v1/circles/x", "circle-not-found"), ("/v1/circles/c/tasks/x", "task-not-found"),
                ("/v1/circles/c/shifts/x", "shift-not-found"), ("/v1/feeds/x", "feed-not-found"),
                ("/v1/circles/c/appointments/x", "appointment-not-found"), ("/v1/imports/x", "import-not-found"),
                ("/v1/circles/c/follow-ups/x", "follow-up-not-found"), ("/v1/webhooks/x", "webhook-not-found"),
                ("/v1/circles/c/subscriptions/x", "subscription-not-found"), ("/nowhere", "path-not-found"),
                ("/v1/circles/%00/tasks", "circle-not-found"), ("/v1/feeds/%ff", "feed-not-found"),
            ] {
                let answer = try await server.call(.get, path).expect(404)
                #expect(answer.json["code"]?.string == code, "\(path)")
            }
            // Whether it is there is nobody's business.
            for (there, not) in [
                ("/v1/circles/c", "/v1/circles/x"), ("/v1/feeds/\(feed)", "/v1/feeds/x"),
                ("/v1/imports/\(imported)", "/v1/imports/x"), ("/v1/circles/c/tasks", "/v1/circles/x/tasks"),
            ] {
                let (a, b) = (
                    try await server.call(.get, there, as: "zed"), try await server.call(.get, not, as: "zed")
                )
                #expect(a.status == 404 && a.body == b.body, "\(there): \(a.text)")
            }
        }
    }
}
