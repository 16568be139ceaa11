// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Base
import FeedTokens
import Foundation
import NIOCore
import NIOHTTP1
import Server
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

extension CanaryScanTests {
    @Test("The same holds for the secrets of users, their browsers and their devices")
    func users() async throws {
        let vectors = try TokenVectors.load()
        let settings = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: settings) }
        let chosen: JSONValue = [
            "jwtSecret": .string(vectors.secret), "jwtIssuer": .string(vectors.issuer),
            "jwtAudience": .string(vectors.audience),
        ]
        try Data(try chosen.serialized()).write(to: settings)
        let metrics = try await ServerPorts.usablePort("127.0.0.1", 0)
        let server = try await RunningServer([
            "--log-level", "trace", "--metrics-port", "\(metrics)", "--config", settings.path,
        ])
        defer { server.remove() }
        let transcript = Transcript()
        let client = Client(base: "http://127.0.0.1:\(server.port)", transcript: transcript)
        let (password, wrong, next) = ("a garden, 7 bees", "a garden, 8 bees", "a meadow, 9 wasps")
        var canaries = [
            Canary("jwtSecret", chosen: vectors.secret), Canary("password", chosen: password),
            Canary("wrong password", chosen: wrong), Canary("next password", chosen: next),
            try Canary("signature", String(vectors.lasting.suffix(43))),
            Canary("claims", chosen: String(vectors.lasting.split(separator: ".")[1])),
        ]
        let set = try await server.kalends(["user", "set-password", "ann"], input: password)
        #expect(set.status == 0, "\(set.error)")
        let made = try await server.kalends(["key", "create", "--name", "host"])
        let key = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        canaries.append(try Canary("key", key))
        for (path, body) in [
            ("", #"{"name": "Our secret garden", "timeZone": "Europe/Berlin"}"#),
            ("/members/ann", #"{"displayName": "Ann", "role": "owner"}"#),
        ] {
            #expect(try await client.call("PUT", "/v1/circles/c\(path)", key: key, body: body).status == 201)
        }

        func secret(_ name: String, _ answer: (status: UInt, body: Data, headers: HTTPHeaders)) throws -> String {
            let text = try #require(try JSONValue(parsing: answer.body)[name]?.string)
            canaries.append(try Canary("\(name) \(canaries.count)", text))
            return text
        }
        func signIn(
            _ password: String, handsOut: Bool = false
        ) async throws
            -> (status: UInt, body: Data, headers: HTTPHeaders)
        {
            try await client.call(
                "POST", "/v1/sessions", body: #"{"userId": "ann", "password": "\#(password)"}"#, handsOut: handsOut)
        }
        let session = try secret("token", try await signIn(password, handsOut: true))
        #expect(try await signIn(wrong).status == 401)
        let feed = try await client.call("POST", "/v1/circles/c/feeds", key: session, body: "{}", handsOut: true)
        let address = "/feeds/\(try secret("token", feed))/x.ics"
        #expect(try await client.call("GET", address).status == 200)
        let register = try await client.call(
            "POST", "/sync/devices/register", key: vectors.lasting, body: #"{"deviceId": "d"}"#, handsOut: true)
        let device = try secret("deviceToken", register)
        canaries += try await Self.appPassword(client, session)
        let link = try await client.call(
            "POST", "/v1/users/ann/sign-in-links", key: key, body: #"{"expiresInSeconds": 60}"#, handsOut: true)
        let url = try #require(try JSONValue(parsing: link.body)["url"]?.string)
        canaries.append(try Canary("link", String(url.split(separator: "/").last ?? "")))
        let opened = try await server.kalends(["open", "--admin"])
        let admin = opened.output.trimmingCharacters(in: .whitespacesAndNewlines)
        canaries.append(try Canary("operator's link", String(admin.split(separator: "/").last ?? "")))
        for address in [url, admin] {
            for (method, path) in [("GET", address), ("POST", address), ("GET", address + "/x")] {
                let path = String(path.dropFirst("http://localhost:\(server.port)".count))
                try await client.call(method, path, handsOut: method == "GET")
            }
        }
        let unknown = Secret.make(.session).reveal()
        canaries.append(try Canary("unknown session", unknown))
        let cookie = [("Cookie", "kalends_session=\(session)")]
        for (method, path, key, fields) in [
            ("GET", "/v1/circles/c", vectors.lasting, []), ("GET", "/v1/circles/c", vectors.lasting + "x", []),
            ("GET", "/v1/circles/\(vectors.lasting)", key, []), ("GET", "/v1/sessions", nil, cookie),
            ("PUT", "/v1/circles/c", nil, cookie), ("DELETE", "/v1/sessions/\(session)", nil, cookie),
            ("GET", "/v1/sessions?cursor=\(session)", session, []), ("GET", "/auth/token/\(session)", nil, cookie),
            ("GET", "/v1/devices/current", nil, [("Authorization", "Device \(device)")]),
            ("GET", "/v1/circles", nil, [("Authorization", "Device \(device)")]),
            ("GET", "/v1/devices/\(device)", session, []), ("GET", "/v1/circles", unknown, []),
            ("GET", "/v1/circles", nil, [("Cookie", "tmr_session=\(unknown)")]), ("GET", "/v1/users", key, []),
        ] as [(String, String, String?, [(String, String)])] {
            try await client.call(method, path, key: key, fields)
        }
        for body in [
            #"{"currentPassword": "\#(wrong)", "password": "\#(next)"}"#, #"{"password": "\#(next)"}"#, next,
            #"{"currentPassword": "\#(password)", "password": "\#(next)"}"#,
        ] {
            try await client.call("PUT", "/v1/users/ann/password", key: session, body: body)
        }
        canaries += try await Self.secondFactor(server, client, key)
        let handed = try await client.call("GET", "/auth/token", cookie, handsOut: true)
        #expect(handed.status == 200)
        for command in [["user", "list"], ["user", "list", "--json"], ["key", "list"], ["doctor"]] {
            let result = try await server.kalends(command)
            for canary in canaries {
                #expect(!canary.stands(in: Data((result.output + result.error).utf8)), "\(command)")
            }
        }
        try await scan(server, canaries, transcript, whileRunning: metrics)
        #expect(await server.stop() == 0)
        try await scan(server, canaries, transcript, whileRunning: nil)
        try await client.http.shutdown()
        #expect(canaries.count == 29)
        #expect(await transcript.statuses.isSuperset(of: [200, 204, 400, 401, 403, 404, 422]))
    }

    /// Makes an app password, fetches its profile and lets an app in; returns their secrets.
    private static func appPassword(_ client: Client, _ session: String) async throws -> [Canary] {
        let made = try await client.call(
            "POST", "/v1/app-passwords", key: session, body: #"{"label": "Phone"}"#, handsOut: true)
        let json = try JSONValue(parsing: made.body)
        let password = try #require(json["password"]?.string)
        let profile = try #require(json["profileURL"]?.string?.split(separator: "/").last.map { String($0) })
        for (path, status) in [("/profiles/\(profile)", 200), ("/profiles/\(profile)", 410), ("/profiles/x", 404)] {
            #expect(try await client.call("GET", path, handsOut: status == 200).status == status)
        }
        let begun = try await client.call("POST", "/index.php/login/v2", handsOut: true)
        let token = try #require(try JSONValue(parsing: begun.body)["poll"]?["token"]?.string)
        #expect(try await client.call("POST", "/index.php/login/v2/poll", body: "token=\(token)").status == 404)
        for path in ["/v1/app-passwords", "/v1/app-passwords/\(password)"] {
            try await client.call("GET", path, key: session)
        }
        return [
            Canary("app password", chosen: password),
            Canary("typed app password", chosen: password.replacing("-", with: "")),
            try Canary("profile", profile), try Canary("app's sign-in", token),
        ]
    }

    /// Sets up a second factor and uses it; returns its secret, its recovery codes and its user's password.
    private static func secondFactor(
        _ server: RunningServer, _ client: Client, _ key: String
    ) async throws -> [Canary] {
        let (password, path, ben) = ("a river, 6 trout", "/v1/second-factor", [("Kalends-User", "ben")])
        let set = try await server.kalends(["user", "set-password", "ben"], input: password)
        #expect(set.status == 0, "\(set.error)")
        let begun = try await client.call(
            "POST", path, key: key, ben, body: #"{"currentPassword": "\#(password)"}"#, handsOut: true)
        let secret = try #require(try JSONValue(parsing: begun.body)["secret"]?.string)
        let step = OneTimeCode.step(at: Int(Date().timeIntervalSince1970 * 1000))
        let code = OneTimeCode.code(of: UInt64(step), secret: Base32.decode(secret.utf8) ?? [])
        let made = try await client.call(
            "POST", "\(path)/confirm", key: key, ben, body: #"{"code": "\#(code)"}"#, handsOut: true)
        let codes = try JSONValue(parsing: made.body)["recoveryCodes"]?.array?.compactMap(\.string) ?? []
        #expect(codes.count == 10)
        func signIn(_ code: String, handsOut: Bool = false) async throws -> UInt {
            let body = #"{"userId": "ben", "password": "\#(password)", "code": "\#(code)"}"#
            return try await client.call("POST", "/v1/sessions", body: body, handsOut: handsOut).status
        }
        #expect(try await signIn(codes[0], handsOut: true) == 201)
        for wrong in [codes[0], secret, code] { #expect(try await signIn(wrong) == 401) }
        for (method, path) in [
            ("GET", path), ("GET", "\(path)/\(secret)"), ("DELETE", "/v1/users/\(secret)/second-factor"),
        ] {
            try await client.call(method, path, key: key, method == "GET" ? ben : [])
        }
        #expect(try await server.kalends(["user", "remove-second-factor", "ann"]).status == 1)
        return [Canary("authenticator secret", chosen: secret), Canary("ben's password", chosen: password)]
            + codes.map { Canary("recovery code", chosen: $0) }
    }
}
