// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Secrets stay where they belong")
struct SecretScanTests {
    @Test("After every kind of use no secret is in the database, the log or an error")
    func scan() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var secrets = [server.key]
            func note(_ answer: Answer) {
                for name in ["token", "key", "secret"] {
                    if let secret = answer.json[name]?.string { secrets.append(secret) }
                }
            }
            let made = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(201)
            note(made)
            let (id, path) = (try #require(made.json["id"]?.string), try TestServer.path(made))
            var errors = ""
            for method in [HTTPRequest.Method.get, .head, .put, .post] {
                let answer = try await server.raw(method, path)
                if answer.status >= 400 { errors += answer.text }
            }
            note(try await server.call(.post, "/v1/feeds/\(id)/regenerate"))
            errors += try await server.raw(.get, path).expect(410).text
            errors += try await server.raw(.get, path.replacing("/feeds/", with: "/feeds/x")).text
            errors += try await server.raw(.get, path + "/deeper").text
            note(try await server.call(.post, "/v1/keys", ["name": "second"]).expect(201))
            errors += try await server.raw(
                .get, "/v1/circles", headers: [.authorization: "Bearer \(server.key)x"]
            ).expect(401).text
            try await server.call(.post, "/v1/feeds/\(id)/reveal").expect(200)
            errors += try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(409).text
            errors += try await server.call(.get, "/v1/feeds/\(id)/accesses").text
            errors += try await server.call(.get, "/v1/circles/c/feeds").text
            try await server.call(.post, "/v1/feeds/\(id)/revoke").expect(200)

            note(try await server.call(.post, "/v1/webhooks", ["url": "https://app.example/hook"]).expect(201))

            #expect(secrets.count == 5)
            var stored = Data()
            for file in try FileManager.default.contentsOfDirectory(at: server.folder, includingPropertiesForKeys: nil)
            {
                stored += (try? Data(contentsOf: file)) ?? Data()
            }
            #expect(stored.count > 10_000)
            #expect(stored.holds(Data("Our family".utf8)), "the scan reads the database")
            for secret in secrets {
                // The bits alone, without a prefix, and their raw bytes too.
                let bits = secret.replacing("kal_sk_", with: "").replacing("kal_wh_", with: "")
                #expect(!stored.holds(Data(bits.utf8)))
                let base64 = bits.replacing("-", with: "+").replacing("_", with: "/") + "="
                let raw = try #require(Data(base64Encoded: base64))
                #expect(!stored.holds(raw))
                #expect(!server.log.text.contains(bits))
                #expect(!errors.contains(bits))
            }
            #expect(server.log.text.contains("/feeds/{token}/{name}"))
        }
    }

    @Test("Neither is a user's password, token or session, nor a device's token")
    func users() async throws {
        let vectors = try TokenVectors.load()
        let (settings, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        try await TestServer.withPasswords(settings: settings) { server in
            let session = try await server.session("ann")
            let device = try #require(
                try await server.bearing(session, .post, "/sync/devices/register", ["deviceId": "d"])
                    .json["deviceToken"]?.string)
            let token = try #require(vectors.accepted["HS256"]).token
            var output = ""
            for (headers, method, path) in [
                ([.authorization: "Bearer \(token)"], .get, "/v1/circles/c"),
                ([.authorization: "Bearer \(token)x"], .get, "/v1/circles/c"),
                ([.authorization: "Bearer \(session)x"], .get, "/v1/circles/c"),
                ([.authorization: "Bearer \(device)"], .get, "/v1/devices/current"),
                ([.authorization: "Device \(device)"], .get, "/v1/devices/current"),
                ([.authorization: "Device \(device)"], .get, "/v1/circles/\(device)"),
                ([.authorization: "Device \(session)"], .get, "/v1/devices/current"),
                ([.cookie: "kalends_session=\(session)"], .get, "/v1/sessions"),
                ([.cookie: "kalends_session=\(session)"], .put, "/v1/circles/\(session)"),
                ([.cookie: "kalends_session=\(session)"], .get, "/auth/token/\(session)"),
                ([:], .get, "/v1/sessions/\(session)"), ([:], .get, "/v1/circles?cursor=\(token)"),
            ] as [(HTTPFields, HTTPRequest.Method, String)] {
                output += try await server.raw(method, path, headers: headers).text
            }
            output += try await server.signIn("ann", "ann's passwort").text
            output += try await server.bearing(session, .put, "/v1/users/ann/password", ["password": "ann's password"])
                .text
            output += try await server.call(.put, "/v1/users/ann/password", ["password": "ann's password", "x": 1]).text
            let app = try await server.authenticator("ben")
            output += try await server.signIn("ben").text
            for code in [app.recoveryCodes[0], app.recoveryCodes[0], app.secret, app.code(server)] {
                output += try await server.signIn("ben", code: code).text
            }
            let paths = ["second-factor", "second-factor/\(app.secret)", "users/\(app.secret)/second-factor"]
            for path in paths.map({ "/v1/\($0)" }) {
                output += try await server.call(.get, path, as: "ben").text
            }
            for part in ["confirm", "recovery-codes", "remove"] {
                output += try await server.call(
                    .post, "/v1/second-factor/\(part)",
                    ["currentPassword": "ben's password", "code": .string(app.recoveryCodes[0]), "x": 1], as: "ben"
                ).text
            }
            let made = try await server.makeAppPassword()
            let (appPassword, profile) = (
                try #require(made["password"]?.string),
                try #require(made["profileURL"]?.string?.split(separator: "/").last.map { String($0) })
            )
            try await server.raw(.get, "/profiles/\(profile)").expect(200)
            output += try await server.raw(.get, "/profiles/\(profile)").expect(410).text
            for name in ["ann", "ben", appPassword] { output += try await server.door(name, appPassword) }
            output += try await server.call(.get, "/v1/app-passwords", as: "ann").text
            output += try await server.call(.get, "/v1/users").text + server.services.metrics.exposition
            output += try await server.call(.get, "/v1/audit").text
            var stored = Data()
            for file in try FileManager.default.contentsOfDirectory(at: server.folder, includingPropertiesForKeys: nil)
            {
                stored += (try? Data(contentsOf: file)) ?? Data()
            }
            #expect(stored.holds(Data("scrypt$".utf8)), "the scan reads the database")
            let own = Data(try #require(Base32.decode(app.secret.utf8)))
            #expect(!stored.holds(own))
            let codes = app.recoveryCodes.flatMap { [$0, $0.replacing("-", with: "")] }
            let canaries = [
                Canary("authenticator secret", chosen: app.secret), try Canary("session", session),
                try Canary("device", device),
                try Canary("token", String(token.suffix(43))), Canary("password", chosen: "ann's password"),
                Canary("wrong password", chosen: "ann's passwort"), Canary("secret", chosen: vectors.secret),
                Canary("app password", chosen: appPassword),
                Canary("app password", chosen: appPassword.replacing("-", with: "")),
                try Canary("profile", profile),
            ]
            for canary in canaries + codes.map({ Canary("recovery code", chosen: $0) }) {
                #expect(!canary.stands(in: stored), "\(canary.name) is stored")
                #expect(!canary.stands(in: Data(server.log.text.utf8)), "\(canary.name) is logged")
                #expect(!canary.stands(in: Data(output.utf8)), "\(canary.name) is told")
            }
        }
    }

    @Test("Only its owner can read the key file, and also the folder and the database")
    func permissions() async throws {
        try await TestServer.run { server in
            for (name, mode) in [("k.sqlite.key", 0o600), ("k.sqlite", 0o600), ("", 0o700)] {
                let path = name.isEmpty ? server.folder.path : server.folder.appending(path: name).path
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
            }
        }
    }
}
