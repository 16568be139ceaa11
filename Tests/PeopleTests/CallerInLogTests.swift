// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Who is in the log")
struct CallerInLogTests {
    /// The lines of requests for a route with a status.
    private static func lines(_ server: TestServer, _ route: String, _ status: Int) -> [String] {
        server.log.text.components(separatedBy: "\n").filter {
            $0.contains(" request ") && $0.contains("\"route\": \(route)") && $0.contains("\"status\": \(status)")
        }
    }

    @Test("A wrong password is a line with the user's name in the log and the kind of credential; so is a right one")
    func passwords() async throws {
        try await TestServer.withPasswords { server in
            let name = "user/" + server.services.pseudonym(of: "ann")
            try await server.signIn("ann", "a wrong one").expect(401)
            try await server.signIn("ann").expect(201)
            for status in [401, 201] {
                let line = try #require(Self.lines(server, "/v1/sessions", status).last, "\(server.log.text)")
                #expect(line.contains(name) && line.contains("password"), "\(line)")
            }
            let browser = Browser(server)
            let page = try await browser.open("/app/sign-in").expect(200)
            let typed: [String: String?] = ["user": "ann", "password": "a wrong one"]
            try await browser.send(page, to: "/app/sign-in", typed).expect(422)
            #expect(try #require(Self.lines(server, "/app/sign-in", 422).last).contains(name))
            let requests = server.log.text.components(separatedBy: "\n").filter { $0.contains(" request ") }
            #expect(requests.count > 5)
            for request in requests { #expect(!request.contains(/\bann\b/) && !request.contains("wrong one")) }
        }
    }

    @Test("The line of a refused request names the caller: a key, a device, a user by pseudonym; or what was shown")
    func refused() async throws {
        try await TestServer.withPasswords { server in
            let token = try await server.session("ann")
            try await server.bearing(token, .get, "/v1/keys").expect(403)
            let line = try #require(Self.lines(server, "/v1/keys", 403).last)
            #expect(line.contains("user/" + server.services.pseudonym(of: "ann")) && line.contains("session"))
            let keys = try await server.call(.get, "/v1/keys").expect(200)
            let id = try #require(keys.json["items"]?.array?.first?["id"]?.string)
            try await server.call(.get, "/v1/circles/none").expect(404)
            let missing = try #require(Self.lines(server, "/v1/circles/{circle}", 404).last)
            #expect(missing.contains("key/\(id)") && missing.contains("service-key"), "\(missing)")
            let unknown = Secret.make(.device).reveal()
            try await server.raw(.get, "/v1/devices/current", headers: [.authorization: "Device \(unknown)"]).expect(
                401)
            let shown = try #require(Self.lines(server, "/v1/devices/current", 401).last)
            #expect(shown.contains("\"credential\": device") && !shown.contains("caller"), "\(shown)")
        }
    }

    @Test("A user's name in the log is always the same, another user's differs, and it has nothing of the id")
    func pseudonyms() async throws {
        try await TestServer.run { server in
            let names = ["ann", "ben", "ann"].map { server.services.pseudonym(of: $0) }
            #expect(names[0] == names[2] && names[0] != names[1])
            #expect(names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{12}/) != nil })
        }
    }
}
