// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Tokens of users")
struct UserTokenTests {
    @Test("A right token opens what its user may open and nothing else, whichever way it was signed")
    func accepted() async throws {
        let vectors = try TokenVectors.load()
        let (settings, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            #expect(vectors.accepted.count >= 14)
            for (name, good) in vectors.accepted {
                let answer = try await server.asUser(good.token)
                #expect(answer.status == (good.user == "ann" ? 200 : 404), "\(name): \(answer.text)")
                #expect(try await server.asUser(good.token, .get, "/v1/circles/other").status == 404)
                #expect(try await server.asUser(good.token, .get, "/v1/keys").status == 403)
            }
            let token = try #require(vectors.accepted["RS256"]).token
            let task = ByteBuffer(string: #"{"title": "a", "dueAt": "2026-03-03T09:00:00Z"}"#)
            try await server.raw(
                .put, "/v1/circles/c/tasks/t", headers: [.authorization: "bearer \(token)"], body: task
            ).expect(201)
            let other: HTTPFields = [.authorization: "Bearer \(token)", .kalendsUser: "ben"]
            try await server.raw(.get, "/v1/circles/c", headers: other).expect(403)
        }
    }

    @Test("Every forged, expired or malformed token is 401 with one plain sentence")
    func refused() async throws {
        let vectors = try TokenVectors.load()
        let (settings, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            #expect(vectors.refused.count >= 130)
            for (name, bad) in vectors.refused {
                let answer = try await server.asUser(bad.token)
                #expect(answer.status == 401, "\(name): \(answer.text)")
                #expect(answer.headers[.wwwAuthenticate] == #"Bearer error="invalid_token""#, "\(name)")
                #expect(answer.json["detail"]?.string == bad.detail, "\(name)")
                #expect(answer.json.object?.keys.sorted() == ["code", "detail", "status", "title", "type"])
            }
        }
    }

    @Test("An end is kept to the second")
    func expires() async throws {
        let vectors = try TokenVectors.load()
        let (settings, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let token = try #require(vectors.accepted["ES256"]).token
            server.clock.advance(seconds: 3599)
            try await server.asUser(token).expect(200)
            server.clock.advance(seconds: 1)
            #expect(try await server.asUser(token).expect(401).json["detail"] == "The token has expired.")
        }
    }

    @Test("Without a configuration for it no token opens anything, and with one way no token of the other")
    func unconfigured() async throws {
        let vectors = try TokenVectors.load()
        let tokens = try ["HS256", "RS256", "ES256"].map { try #require(vectors.accepted[$0]).token }
        let (both, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        var (secretAlone, keysAlone) = (both, both)
        secretAlone.tokens.jwksFile = nil
        keysAlone.tokens.secret = nil
        let cases = [
            (ServerSettings(), [401, 401, 401]), (secretAlone, [200, 401, 401]), (keysAlone, [401, 200, 200]),
        ]
        for (settings, expected) in cases {
            try await TestServer.run(settings: settings) { server in
                try await server.makeCircle()
                for (token, status) in zip(tokens, expected) { try await server.asUser(token).expect(status) }
            }
        }
    }

    @Test("Hundreds of changed tokens: none opens anything, none makes the server fail")
    func mutations() async throws {
        let vectors = try TokenVectors.load()
        let (settings, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            var generator = SplitMix(seed: 7)
            let originals = vectors.accepted.values.map(\.token).sorted()
            let known = Set(originals)
            let alphabet = Array("ABCXYZabcxyz0189-_.=+/~ \"{}%\\".utf8)
            for round in 0..<600 {
                var bytes = Array(originals[round % originals.count].utf8)
                for _ in 0...Int.random(in: 0...2, using: &generator) {
                    let index = Int.random(in: 0..<bytes.count, using: &generator)
                    let new = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                    switch Int.random(in: 0..<5, using: &generator) {
                    case 0: bytes[index] = new
                    case 1: bytes.insert(new, at: index)
                    case 2: bytes.remove(at: index)
                    case 3: bytes.removeSubrange(index..<min(bytes.count, index + 30))
                    default: bytes.insert(contentsOf: bytes.prefix(index).suffix(20), at: index)
                    }
                    if bytes.isEmpty { bytes = [46] }
                }
                let token = String(decoding: bytes, as: UTF8.self)
                if known.contains(token.trimmingCharacters(in: .whitespaces)) { continue }
                let answer = try await server.asUser(token)
                #expect(answer.status == 401, "\(token)")
            }
            // Bytes that no header field carries.
            for round in 0..<300 {
                var bytes = Array(originals[round % originals.count].utf8)
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
                    UInt8.random(in: 128...255, using: &generator)
                let token = Concealed(String(decoding: bytes, as: UTF8.self))
                await #expect(throws: Refusal.self) {
                    try await server.services.userTokens.bearer(of: token, now: server.clock.now)
                }
            }
        }
    }

    @Test("A changed file of keys counts from the next request on, and a broken one leaves the keys as they were")
    func reloads() async throws {
        let vectors = try TokenVectors.load()
        let (settings, file) = try vectors.settings()
        defer { try? FileManager.default.removeItem(at: file) }
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let old = try #require(vectors.accepted["RS256"]).token
            try await server.asUser(old).expect(200)
            try await server.asUser(vectors.byRotated).expect(401)
            try Data("{".utf8).write(to: file)
            try await server.asUser(old).expect(200)
            try FileManager.default.removeItem(at: file)
            try await server.asUser(old).expect(200)
            try Data(try vectors.rotated.serialized()).write(to: file)
            try await server.asUser(old).expect(401)
            try await server.asUser(vectors.byRotated).expect(200)
        }
    }

    @Test("Impossible settings are reported at the start, in sentences that show no secret")
    func settings() async throws {
        func faults(_ values: [String: String]) async -> String {
            do {
                _ = try await ServerSettings(flags: [:], configFile: nil, environment: values)
                return ""
            } catch {
                return "\(error)"
            }
        }
        let short = "a secret of 31 bytes, not more."
        #expect(short.utf8.count == 31)
        let reported = await faults(["KALENDS_JWT_SECRET": short])
        #expect(reported == "jwtSecret must have at least 32 bytes: a shorter one can be guessed.")
        #expect(await faults(["KALENDS_JWT_SECRET": short + "!"]).isEmpty)
        for (address, isSafe) in [
            ("https://host.example/keys", true), ("http://127.0.0.1:9/keys", true), ("http://localhost/keys", true),
            ("http://[::1]:9/keys", true), ("http://host.example/keys", false), ("http://10.0.0.1/keys", false),
            ("http://127.0.0.1.evil.example/", false), ("http://localhost@evil.example/", false),
            ("https://user:word@host.example/", false), ("file:///etc/keys", false), ("keys", false),
            ("https://bücher.example/keys", false), ("https://xn--bcher-kva.example/keys", true),
        ] {
            let reported = await faults(["KALENDS_JWT_JWKS_URL": address])
            #expect(reported.isEmpty == isSafe, "\(address)")
            #expect(!reported.contains(address))
        }
        #expect(await faults(["KALENDS_JWT_AUDIENCE": ""]) == "jwtAudience must not be empty: leave it out.")
        let both = ["KALENDS_JWT_JWKS_URL": "https://a.example/", "KALENDS_JWT_JWKS_FILE": "/keys"]
        #expect(await faults(both) == "jwtJwksFile and jwtJwksURL must not be given together.")
        let read = try await ServerSettings(
            flags: ["jwtIssuer": "flag"], configFile: nil,
            environment: ["KALENDS_JWT_ISSUER": "variable", "KALENDS_JWT_AUDIENCE": "a"])
        #expect(read.tokens.issuer == "flag" && read.tokens.audience == "a")
        var dumped = ""
        var holding = ServerSettings()
        holding.tokens.secret = Concealed(short)
        dump(holding, to: &dumped)
        #expect(!dumped.contains(short) && !"\(holding)".contains(short))
    }

    @Test("A file without a key that can be used keeps the server from starting")
    func uselessFile() async throws {
        let vectors = try TokenVectors.load()
        for document in [["keys": []], ["keys": [["kty": "oct", "k": "AAAA"]]], [:], "keys"] as [JSONValue] {
            let (settings, file) = try vectors.settings(document)
            defer { try? FileManager.default.removeItem(at: file) }
            await #expect(throws: ServerSettings.Invalid.self) {
                try await TestServer.run(settings: settings) { _ in }
            }
            let database = file.path + ".sqlite"
            let program = try await runProgram(
                Programs.kalends, ["serve", "--port", "0", "--database", database, "--jwt-jwks-file", file.path])
            #expect(program.status == 2 && program.error.hasPrefix("jwtJwksFile must be"), "\(program.error)")
            #expect(!FileManager.default.fileExists(atPath: database))
        }
    }
}
