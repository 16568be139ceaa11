// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Outbound
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Accounts with a password")
struct ConnectionAccountTests {
    private static func connection(_ server: TestServer) async throws -> String {
        try await server.makeCircle()
        let made = try await server.call(.post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann")
            .expect(201)
        return "/v1/connections/\(try #require(made.json["id"]?.string))"
    }

    private static func account(_ url: String, _ password: String = "secret") -> JSONValue {
        ["url": .string(url), "username": "alice", "password": .string(password)]
    }

    @Test(
        "A CalDAV account is found from its server's address, and a calendar is made in it",
        .enabled(if: Programs.python != nil))
    func caldav() async throws {
        let radicale = try await CalDAVHost("radicale")
        defer { radicale.stop() }
        var settings = ServerSettings()
        settings.connections.privateCaldavHosts = [radicale.host]
        try await TestServer.run(settings: settings) { server in
            let path = try await Self.connection(server)
            let wrong = try await server.call(
                .put, "\(path)/account", Self.account(radicale.address, "wrong"), as: "ann"
            ).expect(422)
            #expect(wrong.pointers == ["/password"])
            let found = try await server.call(.put, "\(path)/account", Self.account(radicale.address), as: "ann")
                .expect(200)
            #expect(found.json["principal"]?.string?.hasSuffix("/alice/") == true)
            #expect(found.json["homes"]?.array?.count == 1 && !found.text.contains("secret"))
            let shown = try await server.call(.get, path, as: "ann").expect(200)
            #expect(shown.json["state"] == "choosing" && shown.json["accountName"] == "alice")
            let made = try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
            #expect(made.json["state"] == "active" && made.json["calendarName"] == "CK - Our family")
            let list = try await server.call(.get, "\(path)/calendars", as: "ann").expect(200)
            let own = try #require(list.json["items"]?.array?.first { $0["calendarId"] == made.json["calendarId"] })
            #expect(own["canWrite"] == true && own["isOurs"] == true)
            // The same account again: what was chosen stays.
            try await server.call(.put, "\(path)/account", Self.account(radicale.address), as: "ann").expect(200)
            #expect(try await server.call(.get, path, as: "ann").json["calendarId"] == made.json["calendarId"])
            // Somebody else who would write the same circle into it learns who does, and is asked.
            let other = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "caldav", "label": "other"], as: "ben"
            ).expect(201)
            let second = "/v1/connections/\(other.json["id"]?.string ?? "")"
            try await server.call(.put, "\(second)/account", Self.account(radicale.address), as: "ben").expect(200)
            let choice: JSONValue = ["calendarId": made.json["calendarId"] ?? .null]
            let shared = try await server.call(.put, "\(second)/calendar", choice, as: "ben").expect(409)
            #expect(shared.json["code"] == "calendar-shared" && shared.text.contains("Ann"), "\(shared.text)")
            try await server.call(
                .put, "\(second)/calendar",
                ["calendarId": made.json["calendarId"] ?? .null, "shareWith": true], as: "ben"
            ).expect(200)
            // A key of the circle gives the connection no other account, where it would read what is the user's own.
            let bound = try await server.call(.post, "/v1/keys", ["name": "bound", "circles": ["c"]]).expect(201)
            let key = try #require(bound.json["key"]?.string)
            func give() async throws -> Answer {
                try await server.bearing(key, .put, "\(path)/account", Self.account(radicale.address))
            }
            try await give().expect(200)
            let id = String(path.dropFirst("/v1/connections/".count))
            try await server.services.store.record { transaction in
                var own = try #require(try transaction.connection(id))
                own.accountID = "another"
                try transaction.putConnection(own, .updated, now: 1)
            }
            try await give().expect(404)
            try await server.call(.put, "\(path)/account", Self.account(radicale.address), as: "ann").expect(200)
            try await server.call(.delete, path, as: "ann").expect(204)
        }
    }

    @Test("Nobody has the server ask an inner network, this machine, or anything in clear")
    func guarded() async throws {
        let transport = ConnectRecorder { _ in OutboundAnswer(status: 401, headers: []) }
        var settings = ServerSettings()
        settings.fetching.transport = transport
        settings.fetching.resolver = NamedHosts(
            ["dav.example.org": [["198.51.101.7"]], "inner.example.org": [["10.0.0.7"]]], otherwise: ["127.0.0.1"])
        settings.fetching.services = NamedServices()
        settings.connections.privateCaldavHosts = ["cal.lan", "10.9.9.9:5232"]
        try await TestServer.run(settings: settings) { server in
            let path = try await Self.connection(server)
            for url in [
                "https://127.0.0.1/", "https://10.0.0.7/", "https://[::1]/", "https://inner.example.org/",
                "https://localhost/", "https://169.254.169.254/", "https://any.example.org:22/",
                "http://dav.example.org/", "ftp://dav.example.org/", "http://10.0.0.7/", "https://0x7f.1/",
                "https://10.9.9.9:5233/",
            ] {
                let refused = try await server.call(.put, "\(path)/account", Self.account(url), as: "ann").expect(422)
                #expect(refused.pointers == ["/url"], "\(url): \(refused.text)")
            }
            #expect(transport.connected.isEmpty)
            let asked = try await server.call(
                .put, "\(path)/account", Self.account("https://dav.example.org/"), as: "ann"
            ).expect(422)
            #expect(asked.pointers == ["/password"] && !transport.connected.isEmpty)
            #expect(transport.connected.allSatisfy { $0.text == "198.51.101.7" })
            for body in [
                ["url": "https://dav.example.org", "username": "a", "password": ""],
                ["url": "", "username": "", "password": 1], [:],
            ] as [JSONValue] {
                try await server.call(.put, "\(path)/account", body, as: "ann").expect(422)
            }
            let phone = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "apple"], as: "ann"
            ).expect(201)
            let refused = try await server.call(
                .put, "/v1/connections/\(try #require(phone.json["id"]?.string))/account",
                Self.account("https://dav.example.org"), as: "ann"
            ).expect(409)
            #expect(refused.json["code"] == "provider-mismatch")
        }
    }
}
