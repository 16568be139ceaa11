// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

extension AuditTests {
    @Test("Feeds: made, changed, renewed, shown, ended and deleted, each once and without label or address")
    func feeds() async throws {
        try await TestServer.run { server in
            let key = "key:\(try await server.keyID())"
            try await server.makeCircle()
            let (id, lines) = try await Self.noted(server) {
                let (id, address) = try await server.makeFeed(label: "Xylophone")
                let path = "/v1/feeds/\(id)"
                try await server.raw(.get, address).expect(200)
                try await server.call(.patch, path, ["label": "Xylophone"]).expect(200)
                try await server.call(.patch, path, ["attention": []]).expect(200)
                server.clock.advance(seconds: 8 * 86_400)
                try await server.raw(.get, address, headers: [.userAgent: "vdirsyncer/0.19"]).expect(200)
                for _ in 0..<2 { try await server.call(.patch, path, ["attention": []]).expect(200) }
                try await server.call(
                    .patch, path, ["label": "Marimba", "config": ["detail": "busy"]], as: "ann"
                ).expect(200)
                try await server.call(.post, "\(path)/regenerate", [:]).expect(200)
                try await server.call(.post, "\(path)/regenerate", ["graceSeconds": 60]).expect(200)
                try await server.call(.post, "\(path)/reveal", as: "ann").expect(200)
                try await server.call(.post, "\(path)/revoke").expect(200)
                try await server.call(.post, "\(path)/revoke").expect(200)
                try await server.call(.delete, path).expect(204)
                return id
            }
            let narrowed = "user:ann via \(key)"
            #expect(
                lines == [
                    "\(key) feed.created \(id) c {\"user\":\"ann\"}",
                    "\(key) feed.changed \(id) c {\"fields\":[\"attention\"]}",
                    "\(narrowed) feed.changed \(id) c {\"fields\":[\"config\",\"label\"]}",
                    "\(key) feed.regenerated \(id) c {\"former\":\"ended\"}",
                    "\(key) feed.regenerated \(id) c {\"former\":\"grace\"}",
                    "\(narrowed) feed.revealed \(id) c {}", "\(key) feed.revoked \(id) c {}",
                    "\(key) feed.deleted \(id) c {}",
                ])
            #expect(!lines.joined().contains("Xylophone") && !lines.joined().contains("Marimba"))
            // Who leaves takes their feeds along, and the trail names them.
            let (other, left) = try await Self.noted(server) {
                let other = try await server.makeFeed(user: "ben").id
                try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
                return other
            }
            #expect(left.last?.contains("\"revokedFeeds\":[\"\(other)\"]") == true)
        }
    }

    @Test("Imports, subscriptions and webhooks: reading is not an act, a change is one")
    func comingAndGoing() async throws {
        try await TestServer.run { server in
            let key = "key:\(try await server.keyID())"
            try await server.makeCircle()
            let (ids, lines) = try await Self.noted(server) {
                let preview = try await Self.post(server, "preview", NumberedEvents.calendar(3))
                try await server.call(.post, "/v1/imports/\(preview)/commit", ["exclude": ["none"]]).expect(422)
                let accepted = try await server.call(
                    .post, "/v1/imports/\(preview)/commit", [:], headers: [.prefer: "respond-async"]
                ).expect(202)
                let path = try #require(accepted.headers[.location])
                try await eventually("The import is committed.") {
                    try await server.call(.get, path).json["state"] == "committed"
                }
                try await server.call(.post, "\(path)/undo").expect(200)
                try await server.call(.post, "\(path)/undo").expect(409)
                let whole = try await Self.post(server, "commit", NumberedEvents.calendar(2))

                let subscriptions = "/v1/circles/c/subscriptions"
                let address: JSONValue = ["url": "https://cal.example.org/hidden.ics", "label": "Xylophone"]
                let made = try await server.call(.post, subscriptions, address, as: "ann").expect(201).json
                let subscription = try #require(made["id"]?.string)
                for _ in 0..<2 {
                    try await server.call(
                        .patch, "\(subscriptions)/\(subscription)", ["state": "paused", "refreshMinutes": 360]
                    ).expect(200)
                }
                try await server.call(.delete, "\(subscriptions)/\(subscription)").expect(204)

                let hook = try await server.makeWebhook("https://receiver.example.org/hidden").id
                for url in ["hidden", "other"] {
                    try await server.call(
                        .patch, "/v1/webhooks/\(hook)", ["url": .string("https://receiver.example.org/\(url)")]
                    ).expect(200)
                }
                try await server.call(.post, "/v1/webhooks/\(hook)/rotate", [:]).expect(200)
                try await server.call(.delete, "/v1/webhooks/\(hook)").expect(204)
                return (preview, whole, subscription, hook)
            }
            #expect(
                lines == [
                    "\(key) import.committed \(ids.0) c {}", "\(key) import.undone \(ids.0) c {}",
                    "\(key) import.committed \(ids.1) c {}",
                    "user:ann via \(key) subscription.created \(ids.2) c {}",
                    "\(key) subscription.changed \(ids.2) c {\"fields\":[\"state\"]}",
                    "\(key) subscription.deleted \(ids.2) c {}", "\(key) webhook.created \(ids.3) - {}",
                    "\(key) webhook.changed \(ids.3) - {\"fields\":[\"url\"]}",
                    "\(key) webhook.rotated \(ids.3) - {\"former\":\"grace\"}", "\(key) webhook.deleted \(ids.3) - {}",
                ])
            #expect(!lines.joined().contains("hidden") && !lines.joined().contains("Xylophone"))
        }
    }

    @Test("Keys, passwords, sessions and devices: each act once, and no secret with it")
    func credentials() async throws {
        try await TestServer.withPasswords { server in
            let key = "key:\(try await server.keyID())"
            let (ids, lines) = try await Self.noted(server) {
                let made = try await server.call(
                    .post, "/v1/keys", ["name": "Xylophone", "scopes": ["feeds", "audit"]]
                ).expect(201).json
                let other = try #require(made["id"]?.string)
                for _ in 0..<2 { try await server.call(.post, "/v1/keys/\(other)/revoke").expect(200) }
                let sign: JSONValue = ["userId": "ann", "password": "ann's password"]
                let session = try await server.call(.post, "/v1/sessions", sign).expect(201).json
                let bearer = "Bearer \(session["token"]?.string ?? "")"
                var fields: HTTPFields = [.authorization: bearer, .contentType: "application/json"]
                let device = try await server.raw(
                    .post, "/sync/devices/register", headers: fields,
                    body: ByteBuffer(string: #"{"deviceId": "phone", "name": "Marimba"}"#)
                ).expect(201).json["device"]?["id"]?.string
                try await server.call(.post, "/sync/devices/register", ["deviceId": "phone"], as: "ann").expect(200)
                try await server.call(.delete, "/v1/devices/\(device ?? "")", as: "ben").expect(404)
                try await server.call(.delete, "/v1/devices/\(device ?? "")", as: "ann").expect(204)
                try await server.raw(.delete, "/v1/sessions/current", headers: fields).expect(204)
                fields[.authorization] = "Bearer \(server.key)"
                try await server.call(.put, "/v1/users/ann/password", ["password": "another password"]).expect(204)
                try await server.call(.post, "/v1/sessions", sign).expect(401)
                for status in [204, 404] {
                    try await server.call(.delete, "/v1/users/ann/password").expect(status)
                }
                return (other, session["id"]?.string ?? "", device ?? "")
            }
            #expect(
                lines == [
                    "\(key) key.created \(ids.0) - {\"scopes\":[\"feeds\",\"audit\"]}",
                    "\(key) key.revoked \(ids.0) - {}", "user:ann session.created \(ids.1) - {}",
                    "user:ann device.registered \(ids.2) - {\"token\":\"first\",\"user\":\"ann\"}",
                    "user:ann via \(key) device.registered \(ids.2) - {\"token\":\"replaced\",\"user\":\"ann\"}",
                    "user:ann via \(key) device.removed \(ids.2) - {\"user\":\"ann\"}",
                    "user:ann session.ended \(ids.1) - {}", "\(key) password.set ann - {}",
                    "\(key) password.removed ann - {}",
                ])
            #expect(!lines.joined().contains("Xylophone") && !lines.joined().contains("Marimba"))
        }
    }
}
