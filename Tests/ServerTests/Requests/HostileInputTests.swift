// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Input that could crash the server or reveal too much")
struct HostileInputTests {
    @Test(
        "A host of numbers that no address has is refused, and ends nothing",
        arguments: [
            "-549755813888.-1.1", "-1.-1.-1.1", "0x-5.1.1.1", "0-5.1.1.1", "+1.1.1.1", "9999999999999999999.1.1",
        ])
    func hosts(host: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let body: JSONValue = ["url": .string("https://\(host)/x.ics")]
            #expect(try await server.call(.post, "/v1/circles/c/subscriptions", body).expect(422).pointers == ["/url"])
            #expect(try await server.call(.post, "/v1/circles/c/imports", body).expect(422).pointers == ["/url"])
            // Nobody learns of a circle by what is wrong with an address.
            try await server.call(.post, "/v1/circles/none/subscriptions", body, as: "ann").expect(404)
        }
    }

    @Test(
        "A webhook's port is one that there can be",
        arguments: [
            ("http://127.0.0.1:99999/", false), ("http://h:0/", false), ("http://h:99999999999999999999/", false),
            ("http://h:-1/", false), ("http://%41/", false), ("http://u:p@h/", false), ("http://[::1]:65536/", false),
            ("http://127.0.0.1:65535/", true), ("https://app.example/hook?x=1:2", true), ("http://[::1]:8080/", true),
        ])
    func webhooks(url: String, isFine: Bool) async throws {
        try await TestServer.run { server in
            #expect(WebhookAddress.isUsable(url) == isFine)
            try await server.call(.post, "/v1/webhooks", ["url": .string(url)]).expect(isFine ? 201 : 422)
        }
    }

    @Test("A former member no longer sees, changes or previews any of their feeds in the circle")
    func left() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed(user: "ben")
            try await server.call(.get, "/v1/feeds/\(feed.id)/preview", as: "ben").expect(200)
            try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            for (method, path) in [
                (HTTPRequest.Method.get, ""), (.get, "/preview"), (.get, "/accesses"), (.patch, ""), (.delete, ""),
                (.post, "/reveal"), (.post, "/regenerate"), (.post, "/revoke"),
            ] {
                try await server.call(method, "/v1/feeds/\(feed.id)\(path)", as: "ben").expect(404)
            }
            try await server.raw(.get, feed.path).expect(410)
            try await server.call(.get, "/v1/feeds/\(feed.id)").expect(200)
        }
    }

    @Test("A document that names an address is short; a calendar in JSON may be long")
    func documents() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func post(_ bytes: Int, _ first: String) async throws -> Int {
                let body = ByteBuffer(string: first + String(repeating: " ", count: bytes))
                return try await server.raw(
                    .post, "/v1/circles/c/imports",
                    headers: [.authorization: "Bearer \(server.key)", .contentType: "application/json"], body: body
                ).status
            }
            #expect(try await post(1 << 20, "{") == 413)
            #expect(try await post(1 << 20, " ") == 413)
            #expect(try await post(2 << 20, "[") == 422)
        }
    }

    @Test("Times of other than the years of calendars are refused wherever they stand")
    func years() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let visit: JSONValue = [
                "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-03-03T09:00:00Z",
                "recurrence": ["rdates": ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]],
            ]
            let refused = try await server.call(.put, "/v1/circles/c/appointments/a", visit).expect(422)
            #expect(refused.pointers == ["/recurrence/rdates/0", "/recurrence/rdates/1"])
            try await server.put(
                "tasks", "old", ["title": "a", "dueAt": "1950-01-01T00:00:00Z", "timeZone": "Africa/Monrovia"])
            let answer = try await server.call(.get, "/v1/circles/c/tasks/old").json
            let again = try await server.call(.put, "/v1/circles/c/tasks/old", answer).expect(200)
            // The same instant, although its zone was 44 minutes and 30 seconds behind.
            #expect(again.json["sequence"] == 0 && again.json["dueAt"] == answer["dueAt"])
            #expect(answer["dueAt"] == "1949-12-31T23:16:00-00:44")
        }
    }

    @Test("A SEQUENCE never goes beyond what an integer of RFC 5545 can be")
    func sequence() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for title in ["One", "Two", "Three"] {
                try await server.importFile(
                    "UID:top", "DTSTART:20260303T100000Z", "SEQUENCE:2147483647", "SUMMARY:\(title)")
            }
            let text = try await server.call(.get, "/v1/circles/c/export.ics").expect(200).text
            let shown = text.split(separator: "\r\n").filter { $0.hasPrefix("SEQUENCE:") }
            #expect(shown.count == 1 && shown.allSatisfy { Int32($0.dropFirst(9)) != nil }, "\(shown)")
            #expect(text.contains("SUMMARY:Three"))
        }
    }

    @Test("A cursor of another list is reported, and a newly set password removes devices")
    func cursorsAndDevices() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.call(.get, "/v1/feeds/\(feed.id)/accesses?cursor=eA").expect(422)
            let made = try await server.call(.post, "/sync/devices/register", ["deviceId": "d"], as: "ann").expect(201)
            let token = try #require(made.json["deviceToken"]?.string)
            let headers: HTTPFields = [.authorization: "Device \(token)"]
            try await server.raw(.get, "/v1/devices/current", headers: headers).expect(200)
            try await server.call(.put, "/v1/users/ann/password", ["password": "correct horse battery"]).expect(201)
            try await server.raw(.get, "/v1/devices/current", headers: headers).expect(401)
        }
    }
}
