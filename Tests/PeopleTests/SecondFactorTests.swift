// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Second factors")
struct SecondFactorTests {
    @Test("A second factor is active once a code of the app has confirmed it, and ends the other sessions")
    func enrollment() async throws {
        try await TestServer.withPasswords { server in
            let (token, other) = (try await server.session("ann"), try await server.session("ann"))
            let path = "/v1/second-factor"
            let wrong = try await server.bearing(token, .post, path, ["currentPassword": "not this one"]).expect(422)
            #expect(wrong.pointers == ["/currentPassword"])
            #expect(try await server.bearing(token, .post, path, [:]).expect(422).pointers == ["/currentPassword"])
            try await server.bearing(token, .post, "\(path)/confirm", ["code": "123456"]).expect(409)
            let proof: JSONValue = ["currentPassword": "ann's password"]
            let first = try await server.bearing(token, .post, path, proof).expect(201)
            let begun = try await server.bearing(token, .post, path, proof).expect(201)
            let secret = try #require(begun.json["secret"]?.string)
            #expect(secret.wholeMatch(of: /[A-Z2-7]{32}/) != nil && first.json["secret"]?.string != secret)
            #expect(
                begun.json["uri"]?.string
                    == "otpauth://totp/Kalends:ann?secret=\(secret)&issuer=Kalends&algorithm=SHA1&digits=6&period=30")
            // Nothing depends on it yet.
            #expect(try await server.bearing(token, .get, path).expect(200).json["isActive"] == false)
            try await server.signIn("ann").expect(201)
            let app = Authenticator(secret: secret)
            for code in [app.code(server, 5), "", "12345678"] {
                let refused = try await server.bearing(token, .post, "\(path)/confirm", ["code": .string(code)])
                #expect(try refused.expect(422).pointers == ["/code"])
            }
            let made = try await server.bearing(
                token, .post, "\(path)/confirm", ["code": .string(app.code(server))]
            ).expect(200)
            let codes = made.json["recoveryCodes"]?.array?.compactMap(\.string) ?? []
            #expect(Set(codes).count == 10)
            let state = try await server.bearing(token, .get, path).expect(200)
            #expect(
                state.json == ["isActive": true, "since": "2026-03-02T12:00:00Z", "recoveryCodesLeft": 10],
                "\(state.text)")
            try await server.bearing(other, .get, "/v1/circles").expect(401)
            let users = try await server.call(.get, "/v1/users").expect(200).json["items"]?.array ?? []
            #expect(users.map { $0["secondFactorAt"] } == ["2026-03-02T12:00:00Z", .null])
            let again = try await server.bearing(token, .post, path, proof).expect(409)
            #expect(again.json["code"] == "second-factor-state")
            try await server.bearing(token, .post, "\(path)/confirm", ["code": .string(app.code(server, 1))])
                .expect(409)
            // The code that confirmed it is used up.
            #expect(try await server.signIn("ann", code: app.code(server)).expect(401).json["code"] == "code-wrong")
        }
    }

    @Test("Wrong codes at the confirmation are counted like those of a sign-in, and a right one ends the count")
    func guessedConfirmation() async throws {
        try await TestServer.withPasswords { server in
            let (token, path) = (try await server.session("ann"), "/v1/second-factor/confirm")
            func confirm(_ code: String) async throws -> Answer {
                try await server.bearing(token, .post, path, ["code": .string(code)])
            }
            // Where nothing waits for a code, there is nothing to guess.
            for _ in 0..<6 { try await confirm("123456").expect(409) }
            let proof: JSONValue = ["currentPassword": "ann's password"]
            let begun = try await server.bearing(token, .post, "/v1/second-factor", proof).expect(201)
            let app = Authenticator(secret: begun.json["secret"]?.string ?? "")
            for _ in 0..<4 { try await confirm(app.code(server, 5)).expect(422) }
            try await confirm(app.code(server, 5)).expect(422)
            for code in [app.code(server), app.code(server, 5)] {
                let early = try await confirm(code).expect(429)
                #expect(early.headers[.retryAfter] == "30" && early.json["code"] == "too-many-tries")
            }
            // Other places where ann's codes and passwords count wait too.
            try await server.signIn("ann").expect(429)
            server.clock.advance(seconds: 30)
            try await confirm(app.code(server, 5)).expect(422)
            #expect(try await confirm(app.code(server)).expect(429).headers[.retryAfter] == "60")
            server.clock.advance(seconds: 60)
            try await confirm(app.code(server)).expect(200)
            for _ in 0..<4 { try await server.signIn("ann", "a wrong one").expect(401) }
            #expect(try await server.signIn("ann").expect(401).json["code"] == "second-factor-needed")
        }
    }

    @Test("A secret that waits for its confirmation for an hour, or for longer than its password, is forgotten")
    func patience() async throws {
        try await TestServer.withPasswords { server in
            let proof: JSONValue = ["currentPassword": "ann's password"]
            func begin() async throws -> Authenticator {
                let begun = try await server.call(.post, "/v1/second-factor", proof, as: "ann").expect(201)
                return Authenticator(secret: begun.json["secret"]?.string ?? "")
            }
            func confirm(_ app: Authenticator) async throws -> Answer {
                try await server.call(
                    .post, "/v1/second-factor/confirm", ["code": .string(app.code(server))], as: "ann")
            }
            let late = try await begin()
            server.clock.advance(seconds: 3600)
            try await confirm(late).expect(409)
            let former = try await begin()
            try await server.call(.put, "/v1/users/ann/password", ["password": "ann's password"]).expect(204)
            try await confirm(former).expect(409)
            try await confirm(try await begin()).expect(200)
        }
    }

    @Test("A sign-in needs the code only once the password was right, and takes each code once")
    func signIn() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            let needed = try await server.signIn("ann").expect(401)
            #expect(needed.json["code"] == "second-factor-needed" && needed.headers[.wwwAuthenticate] == "Bearer")
            #expect(needed.headers[.setCookie] == nil)
            let wrong = try await server.signIn("ann", code: app.code(server), password: "a wrong one").expect(401)
            #expect(wrong.json["code"] == "password-wrong")
            for code in ["000000", "", "x", app.code(server, -2), app.code(server, 2)]
            where code != app.code(server) && code != app.code(server, 1) {
                #expect(try await server.signIn("ann", code: code).status == 401, "\(code)")
                try await server.services.passwords.brake.forget("ann", now: server.clock.now)
            }
            let spaced = app.code(server).prefix(3) + " " + app.code(server).suffix(3)
            try await server.signIn("ann", code: String(spaced)).expect(201)
            #expect(try await server.signIn("ann", code: app.code(server)).expect(401).json["code"] == "code-wrong")
            #expect(try await server.signIn("ann", code: app.code(server, -1)).status == 401)
            // An app whose clock is fast.
            try await server.signIn("ann", code: app.code(server, 1)).expect(201)
            server.clock.advance(seconds: 30)
            #expect(try await server.signIn("ann", code: app.code(server)).status == 401)
            server.clock.advance(seconds: 30)
            // And one whose clock is slow.
            server.clock.advance(seconds: 30)
            try await server.signIn("ann", code: app.code(server, -1)).expect(201)
            // Others sign in as before, whatever they send along.
            try await server.signIn("ben").expect(201)
            try await server.signIn("ben", code: "000000").expect(201)
            let long = try await server.signIn("ann", code: String(repeating: "1", count: 65)).expect(422)
            #expect(long.pointers == ["/code"])
        }
    }

    @Test("Of several who sign in with one code at the same time, one is signed in")
    func concurrent() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            for code in [app.code(server), app.recoveryCodes[0]] {
                let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<4 { group.addTask { try await server.signIn("ann", code: code).status } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(statuses.sorted() == [201, 401, 401, 401])
                try await server.services.passwords.brake.forget("ann", now: server.clock.now)
            }
        }
    }

    @Test("Guesses of codes are braked as guesses of passwords are, and a right password clears nothing")
    func brake() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            // However often somebody signs in in two steps, nobody has to wait.
            for _ in 0..<25 { #expect(try await server.signIn("ann").status == 401) }
            let wrong = app.code(server, 7)
            for guess in 0..<5 {
                #expect(try await server.signIn("ann", code: wrong).status == 401)
                let first = try await server.signIn("ann").status
                #expect(first == (guess < 4 ? 401 : 429))
            }
            let braked = try await server.signIn("ann", code: app.code(server)).expect(429)
            #expect(braked.headers[.retryAfter] == "30")
            server.clock.advance(seconds: 30)
            #expect(try await server.signIn("ann").status == 401)
            #expect(try await server.signIn("ann", code: wrong).status == 401)
            #expect(try await server.signIn("ann").expect(429).headers[.retryAfter] == "60")
            server.clock.advance(seconds: 60)
            try await server.signIn("ann", code: app.code(server)).expect(201)
            #expect(try await server.signIn("ann", code: wrong).status == 401)
            #expect(try await server.signIn("ann").status == 401)
        }
    }

    @Test("A recovery code works once, also where the app's secret cannot be opened, and new ones replace the rest")
    func recovery() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            let codes = app.recoveryCodes
            try await server.signIn("ann", code: codes[0]).expect(201)
            #expect(try await server.signIn("ann", code: codes[0]).expect(401).json["code"] == "code-wrong")
            try await server.signIn("ann", code: codes[1].lowercased().replacing("-", with: " ")).expect(201)
            let state = try await server.call(.get, "/v1/second-factor", as: "ann").expect(200)
            #expect(state.json["recoveryCodesLeft"] == 8)
            let path = "/v1/second-factor/recovery-codes"
            let password: JSONValue = "ann's password"
            let missing = try await server.call(.post, path, ["currentPassword": password], as: "ann").expect(422)
            #expect(missing.pointers == ["/code"])
            let wrong = try await server.call(
                .post, path, ["currentPassword": password, "code": .string(codes[0])], as: "ann"
            ).expect(422)
            #expect(wrong.pointers == ["/code"] && wrong.text.contains("wrong-code"))
            let proof: JSONValue = ["currentPassword": password, "code": .string(app.code(server))]
            let made = try await server.call(.post, path, proof, as: "ann").expect(200)
            let others = made.json["recoveryCodes"]?.array?.compactMap(\.string) ?? []
            #expect(others.count == 10 && Set(others).isDisjoint(with: codes))
            #expect(try await server.signIn("ann", code: codes[2]).status == 401)
            try await server.call(.post, path, proof, as: "ben").expect(409)
            let strange = try SealingKey(text: String(repeating: "A", count: 43), source: "")
            let sealed = try strange.seal("SHA1 \(app.secret)", for: SecondFactorCheck.purpose("ann"))
            try await server.services.store.record { transaction in
                _ = try transaction.reseal(SealedColumn("second_factors", "sealed", key: "user_id") { $0 }) { _, _ in
                    sealed
                }
            }
            server.clock.advance(seconds: 30)
            let closed = try await server.signIn("ann", code: app.code(server)).expect(409)
            #expect(closed.json["code"] == "sealed-by-another-key")
            try await server.signIn("ann", code: others[0]).expect(201)
        }
    }

    @Test("A user removes their own with password and code; the operator removes one that was lost")
    func removal() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            let path = "/v1/second-factor/remove"
            for (body, pointer) in [
                (["currentPassword": "ann's password"], "/code"),
                (["currentPassword": "ann's password", "code": "000000"], "/code"),
                (["currentPassword": "not this one", "code": .string(app.code(server))], "/currentPassword"),
            ] as [(JSONValue, String)] {
                #expect(try await server.call(.post, path, body, as: "ann").expect(422).pointers == [pointer])
            }
            let token = try #require(
                try await server.signIn("ann", code: app.code(server)).expect(201).json["token"]?.string)
            let proof: JSONValue = ["currentPassword": "ann's password", "code": .string(app.recoveryCodes[3])]
            try await server.bearing(token, .post, path, proof).expect(204)
            try await server.bearing(token, .get, "/v1/circles").expect(200)
            try await server.signIn("ann").expect(201)
            try await server.bearing(token, .post, path, proof).expect(409)
            #expect(try await server.call(.get, "/v1/second-factor", as: "ann").json["recoveryCodesLeft"] == 0)

            let bens = try await server.authenticator("ben")
            let session = try #require(
                try await server.signIn("ben", code: bens.code(server)).expect(201).json["token"]?.string)
            let lost = "/v1/users/ben/second-factor"
            try await server.bearing(session, .delete, lost).expect(403)
            try await server.call(.delete, lost, as: "ben").expect(403)
            try await server.call(.delete, lost).expect(204)
            let gone = try await server.call(.delete, lost).expect(404)
            #expect(gone.json["code"] == "second-factor-not-found")
            try await server.bearing(session, .get, "/v1/circles").expect(401)
            try await server.signIn("ben").expect(201)
            // With its password a user's second factor ends too.
            _ = try await server.authenticator("ben")
            try await server.call(.delete, "/v1/users/ben/password").expect(204)
            try await server.call(.delete, lost).expect(404)
        }
    }

    @Test("A user changes their password with a code too, and keeps the second factor")
    func password() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            let path = "/v1/users/ann/password"
            var change: [ByteString: JSONValue] = [
                "currentPassword": "ann's password", "password": "a meadow, 9 wasps",
            ]
            #expect(try await server.call(.put, path, .object(change), as: "ann").expect(422).pointers == ["/code"])
            change["code"] = "000000"
            #expect(try await server.call(.put, path, .object(change), as: "ann").expect(422).pointers == ["/code"])
            change["code"] = .string(app.code(server))
            change["password"] = "iloveyou"
            #expect(
                try await server.call(.put, path, .object(change), as: "ann").expect(422).pointers == ["/password"])
            change["password"] = "a meadow, 9 wasps"
            try await server.call(.put, path, .object(change), as: "ann").expect(204)
            let again = try await server.signIn("ann", code: app.code(server), password: "a meadow, 9 wasps")
            #expect(try again.expect(401).json["code"] == "code-wrong")
            // What the host application sets needs none, and changes nothing else.
            try await server.call(.put, path, ["password": "ann's password"]).expect(204)
            try await server.call(.put, path, ["password": "ann's password", "code": "1"]).expect(422)
            #expect(try await server.signIn("ann").expect(401).json["code"] == "second-factor-needed")
            server.clock.advance(seconds: 30)
            try await server.signIn("ann", code: app.code(server)).expect(201)
        }
    }

    @Test("Where a second factor is required, a password opens nothing without one, and a link leads to setting it up")
    func required() async throws {
        var settings = ServerSettings()
        settings.requireSecondFactor = true
        try await TestServer.withPasswords(settings: settings) { server in
            for _ in 0..<25 {
                let refused = try await server.signIn("ann").expect(403)
                #expect(refused.json["code"] == "second-factor-missing" && refused.headers[.setCookie] == nil)
            }
            #expect(try await server.signIn("ann", "a wrong one").expect(401).json["code"] == "password-wrong")
            #expect(try await server.signIn("ann", code: "000000").status == 403)
            let made = try await server.call(.post, "/v1/users/ann/sign-in-links", [:]).expect(201)
            let link = String(try #require(made.json["url"]?.string).dropFirst("http://calendar.example".count))
            let browser = Browser(server)
            let page = try await browser.open(link).expect(200)
            try await browser.send(page, to: link).expect(200)
            #expect(browser.hasSession)
            let app = try await server.authenticator("ann")
            try await server.signIn("ann", code: app.code(server)).expect(201)
            // What the host application vouches for is its own affair.
            try await server.call(.get, "/v1/circles", as: "ben").expect(200)
        }
    }

    @Test("Each act is in the trail once, with how the user signed in and without a secret")
    func audit() async throws {
        try await TestServer.withPasswords { server in
            let key = "key:\(try await server.keyID())"
            let (made, lines) = try await AuditTests.noted(server) {
                let app = try await server.authenticator("ann")
                try await server.signIn("ann").expect(401)
                var sessions: [String] = []
                for code in [app.code(server), app.recoveryCodes[0]] {
                    let answer = try await server.signIn("ann", code: code).expect(201)
                    sessions.append(answer.json["id"]?.string ?? "")
                }
                try await server.call(.delete, "/v1/users/ann/second-factor").expect(204)
                return (app, sessions)
            }
            #expect(
                lines == [
                    "user:ann via \(key) secondFactor.begun ann - {}",
                    "user:ann via \(key) secondFactor.enabled ann - {}",
                    "user:ann session.created \(made.1[0]) - {\"secondFactor\":\"code\"}",
                    "user:ann session.created \(made.1[1]) - {\"secondFactor\":\"recoveryCode\"}",
                    "\(key) secondFactor.removed ann - {}",
                ], "\(lines)")
        }
    }
}
