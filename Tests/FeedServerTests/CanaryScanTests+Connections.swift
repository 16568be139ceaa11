// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CalendarSync
import FeedTokens
import Foundation
import NIOHTTP1
import Server
import Storage
import StorageSQLite
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

extension CanaryScanTests {
    @Test("The same holds for the credentials of people's external calendars")
    func connections() async throws {
        let emulator = try await ProviderEmulator("google_emulator.py")
        defer { emulator.stop() }
        let settings = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: settings) }
        let google = ServerSettings.emulated(google: emulator.address).connections
        let chosen: JSONValue = [
            "googleClientID": .string(try #require(google.googleClientID)), "googleClientSecret": "GOCSPX-x",
            "googleAuthorizeURL": .string(google.googleAuthorizeURL), "googleTokenURL": .string(google.googleTokenURL),
            "googleRevokeURL": .string(google.googleRevokeURL), "googleApiURL": .string(google.googleApiURL),
            "microsoftClientID": "m", "microsoftClientSecret": "a secret of Microsoft's, 9 wasps",
        ]
        try Data(try chosen.serialized()).write(to: settings)
        let metrics = try await ServerPorts.usablePort("127.0.0.1", 0)
        let server = try await RunningServer([
            "--log-level", "trace", "--metrics-port", "\(metrics)", "--config", settings.path,
        ])
        defer { server.remove() }
        let transcript = Transcript()
        let client = Client(base: "http://127.0.0.1:\(server.port)", transcript: transcript)
        let password = "an app password, 7 bees"
        var canaries = [
            Canary("client secret", chosen: "GOCSPX-x"), Canary("password", chosen: password),
            Canary("client secret of Microsoft", chosen: "a secret of Microsoft's, 9 wasps"),
        ]
        let made = try await server.kalends(["key", "create", "--name", "host"])
        let key = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        canaries.append(try Canary("key", key))
        for (path, body) in [
            ("", #"{"name": "Our secret garden", "timeZone": "Europe/Berlin"}"#),
            ("/members/ann", #"{"displayName": "Ann", "role": "owner"}"#),
        ] {
            #expect(try await client.call("PUT", "/v1/circles/c\(path)", key: key, body: body).status == 201)
        }
        func connect(_ body: String) async throws -> String {
            let made = try await client.call("POST", "/v1/circles/c/connections", key: key, body: body)
            return "/v1/connections/\(try #require(try JSONValue(parsing: made.body)["id"]?.string))"
        }
        let path = try await connect(#"{"provider": "google", "userId": "ann"}"#)
        func depart() async throws -> String {
            let begun = try await client.call("POST", "\(path)/authorize", key: key, handsOut: true)
            let url = try #require(try JSONValue(parsing: begun.body)["authorizeURL"]?.string)
            let back = try await emulator.consent(url)
            let query = try #require(URLComponents(string: back)?.queryItems)
            for name in ["state", "code"] {
                let value = try #require(query.first { $0.name == name }?.value)
                canaries.append(Canary("\(name) \(canaries.count)", chosen: value))
            }
            return try #require(back.firstRange(of: "/v1/connections/callback").map { String(back[$0.lowerBound...]) })
        }
        /// Comes back from the provider and redeems what that brought; returns the status of the second.
        func redeem(_ arrival: String) async throws -> UInt {
            let answer = try await client.call("GET", arrival, handsOut: true)
            let location = try #require(answer.headers.first(name: "Location"))
            let code = try #require(location.split(separator: "&code=").last)
            canaries.append(try Canary("code \(canaries.count)", String(code)))
            let body = #"{"code": "\#(code)"}"#
            return try await client.call("POST", "\(path)/redeem", key: key, body: body).status
        }
        let arrival = try await depart()
        #expect(try await redeem(arrival) == 200)
        // Again, broken, and by a provider in trouble.
        #expect(try await client.call("GET", arrival).status == 400)
        #expect(try await client.call("GET", arrival + "x&state=y").status == 400)
        for fault in [["status": 500], ["status": 400, "reason": "invalid_grant"]] as [JSONValue] {
            var request = fault.object ?? [:]
            request["method"] = "token"
            try await emulator.control("fault", .object(request))
            #expect([409, 503].contains(try await redeem(try await depart())))
        }
        let caldav = try await connect(#"{"provider": "caldav", "userId": "ann"}"#)
        for url in ["https://127.0.0.1", "http://a.example", "https://\(password)@a.example", "x"] {
            let body = #"{"url": "\#(url)", "username": "jane", "password": "\#(password)"}"#
            #expect(
                try await client.call("PUT", "\(caldav)/account", key: key, body: body, handsOut: url.contains("@"))
                    .status == 422)
        }
        for part in ["", "/calendars", "/runs", "/mappings", "/conflicts", "/journal"] {
            #expect(try await client.call("GET", path + part, key: key).status == 200, "\(part)")
        }
        #expect(
            try await client.call("PUT", "\(path)/calendar", key: key, body: #"{"create": {"name": "Care"}}"#).status
                == 200)
        for other in ["/v1/circles/c/connections", "/v1/audit", "/v1/circles/c/changes", "/v1/stats"] {
            #expect(try await client.call("GET", other, key: key).status == 200)
        }
        for command in [
            ["connection", "list"], ["connection", "list", "--json"], ["stats"], ["settings"], ["doctor"],
            ["audit", "list", "--json"],
        ] {
            let result = try await server.kalends(
                command + (command == ["settings"] ? ["--config", settings.path] : []))
            for canary in canaries {
                #expect(!canary.stands(in: Data((result.output + result.error).utf8)), "\(command)")
            }
        }
        // What the scan looks for in log and metrics, to see that it sees them.
        let feed = try await client.call(
            "POST", "/v1/circles/c/feeds", key: key, body: #"{"userId": "ann"}"#, handsOut: true)
        let token = try #require(try JSONValue(parsing: feed.body)["token"]?.string)
        canaries.append(try Canary("token", token))
        #expect(try await client.call("GET", "/feeds/\(token)/x.ics").status == 200)
        try await scan(server, canaries, transcript, whileRunning: metrics)
        #expect(await server.stop() == 0)
        canaries += try await Self.tokens(server)
        try await scan(server, canaries, transcript, whileRunning: nil)
        try await client.http.shutdown()
        #expect(canaries.count == 16)
    }

    /// The values that are sealed in the database, which only the key opens.
    private static func tokens(_ server: RunningServer) async throws -> [Canary] {
        let store = try SQLiteStore(path: server.database)
        defer { try? store.close() }
        let key = try SealingKey(file: server.database + ".key")
        let stored = try await store.read { transaction in
            try transaction.connections(in: "c", after: "", limit: 10).compactMap {
                try transaction.credential(ofConnection: $0.id)
            }
        }
        #expect(stored.count == 1)
        guard case .oauth(let grant) = try AccountCredential(try #require(stored.first), key) else {
            Issue.record("No grant is stored.")
            return []
        }
        return [
            Canary("access token", chosen: grant.accessToken.reveal()),
            Canary("refresh token", chosen: try #require(grant.refreshToken).reveal()),
        ]
    }
}
