// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Passwords of users")
struct UserPasswordTests {
    @Test("A password has 8 to 1024 characters, taken exactly as they are")
    func lengths() async throws {
        try await TestServer.withPasswords { server in
            func set(_ password: JSONValue) async throws -> Answer {
                try await server.call(.put, "/v1/users/ann/password", ["password": password])
            }
            for password in ["1234567", .string(String(repeating: "x", count: 1025)), "", 12_345_678, nil]
                as [JSONValue]
            {
                let answer = try await set(password).expect(422)
                #expect(answer.pointers == ["/password"] && !answer.text.contains("xxxx"))
            }
            for password in ["12345678", String(repeating: "é", count: 1024), " \u{0}\u{1}\n\u{FEFF}ab ", "👩‍👩‍👧‍👦 family"] {
                try await set(.string(password)).expect(204)
                try await server.signIn("ann", password).expect(201)
                try await server.signIn("ann", password.trimmingCharacters(in: .whitespaces) + ".").expect(401)
            }
            try await server.call(.put, "/v1/users/a%20b/password", ["password": "12345678"]).expect(400)
            try await server.call(.put, "/v1/users/ann/password", ["password": "12345678", "x": 1]).expect(422)
        }
    }

    @Test("A user changes only their own password, with the current one, and their other sessions end")
    func changes() async throws {
        try await TestServer.withPasswords { server in
            let (token, other) = (try await server.session("ann"), try await server.session("ann"))
            let bens = try await server.session("ben")
            let path = "/v1/users/ann/password"
            let change: JSONValue = ["currentPassword": "ann's password", "password": "another password"]
            try await server.bearing(bens, .put, path, change).expect(404)
            try await server.bearing(bens, .delete, path).expect(404)
            try await server.bearing(token, .delete, path).expect(403)
            #expect(
                try await server.bearing(token, .put, path, ["password": "x"]).expect(422).pointers == [
                    "/password", "/currentPassword",
                ])
            let wrong = try await server.bearing(
                token, .put, path, ["currentPassword": "not this one", "password": "another password"])
            #expect(try wrong.expect(422).pointers == ["/currentPassword"])
            try await server.bearing(other, .get, "/v1/circles").expect(200)
            try await server.bearing(token, .put, path, change).expect(204)
            try await server.bearing(token, .get, "/v1/circles").expect(200)
            try await server.bearing(other, .get, "/v1/circles").expect(401)
            try await server.bearing(bens, .get, "/v1/circles").expect(200)
            try await server.signIn("ann").expect(401)
            try await server.signIn("ann", "another password").expect(201)
            // Guessing the present one is slowed down as signing in is.
            for _ in 0..<5 {
                let again: JSONValue = ["currentPassword": "not this one", "password": "another password"]
                try await server.bearing(token, .put, path, again).expect(422)
            }
            try await server.bearing(token, .put, path, change).expect(429)
        }
    }

    @Test("The host application sets, replaces and removes passwords, which ends every session")
    func installation() async throws {
        try await TestServer.withPasswords { server in
            let token = try await server.session("ann")
            for _ in 0..<5 { try await server.signIn("ann", "a wrong one").expect(401) }
            try await server.call(.put, "/v1/users/ann/password", ["password": "another password"]).expect(204)
            try await server.bearing(token, .get, "/v1/circles").expect(401)
            // Who was locked out by guesses is let in with the new one.
            let new = try #require(try await server.signIn("ann", "another password").expect(201).json["token"]?.string)
            let list = try await server.call(.get, "/v1/users").expect(200)
            #expect(list.json["items"]?.array?.compactMap { $0["id"]?.string } == ["ann", "ben"])
            #expect(list.json["items"]?.array?.first?["sessions"] == 1)
            #expect(!list.text.contains("scrypt"))
            try await server.call(.get, "/v1/users", as: "ann").expect(403)
            try await server.bearing(new, .get, "/v1/users").expect(403)
            try await server.call(.delete, "/v1/users/ann/password").expect(204)
            try await server.call(.delete, "/v1/users/ann/password").expect(404)
            try await server.bearing(new, .get, "/v1/circles").expect(401)
            try await server.signIn("ann", "another password").expect(401)
            // Narrowed to a user, a key is that user.
            try await server.call(.put, "/v1/users/ben/password", ["password": "another password"], as: "ben")
                .expect(422)
            try await server.call(.put, "/v1/users/ben/password", ["password": "another password"], as: "ann")
                .expect(404)
        }
    }

    @Test("When hashes are to take more work, a stored one is replaced at the next sign-in")
    func rises() async throws {
        try await TestServer.withPasswords { server in
            func stored() async throws -> String? {
                try await server.services.store.read { try $0.password(of: "ann")?.hash }
            }
            let weak = try PasswordHash(Concealed("ann's password"), cost: 2).stored
            try await server.services.store.record { try $0.rehashPassword(of: "ann", hash: weak) }
            try await server.signIn("ann", "a wrong one").expect(401)
            #expect(try await stored() == weak)
            try await server.signIn("ann").expect(201)
            let strong = try #require(try await stored())
            #expect(strong.hasPrefix("scrypt$4$8$3$"))
            try await server.signIn("ann").expect(201)
            #expect(try await stored() == strong)
            // Of the same size, and a third of the work.
            let quick = try PasswordHash(Concealed("ann's password"), cost: 4, parallelism: 1).stored
            try await server.services.store.record { try $0.rehashPassword(of: "ann", hash: quick) }
            try await server.signIn("ann").expect(201)
            #expect(try await stored()?.hasPrefix("scrypt$4$8$3$") == true)
        }
    }

    @Test("A user chooses nothing that is guessed first; a host application sets what it likes")
    func guessable() async throws {
        var settings = ServerSettings()
        settings.brand = BrandSettings(name: "Our Family")
        let guessed = [
            "iloveyou", "ILoveYou", "12345678", "qwerty123", "kalends1", "Kalends!!!", "familyfamily", "calendar123",
            "josephine1", "1josephine",
        ]
        try await TestServer.withPasswords(settings: settings) { server in
            try await server.call(.put, "/v1/users/josephine/password", ["password": "iloveyou"]).expect(201)
            let signedIn = try await server.signIn("josephine", "iloveyou").expect(201)
            let token = try #require(signedIn.json["token"]?.string)
            func choose(_ password: String) async throws -> Answer {
                let change: JSONValue = ["currentPassword": "iloveyou", "password": .string(password)]
                return try await server.bearing(token, .put, "/v1/users/josephine/password", change)
            }
            for password in guessed {
                let answer = try await choose(password).expect(422)
                #expect(answer.pointers == ["/password"] && answer.text.contains("guessable"), "\(password)")
                #expect(!answer.text.lowercased().contains(password.lowercased()))
            }
            // A blank parts the list, and is no way to name two of its words at once.
            try await choose("iloveyou iloveyou1").expect(204)
        }
    }

    @Test("The command line sets a password from its input, lists users, and removes passwords")
    func commands() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let set = try await server.kalends(["user", "set-password", "ann"], input: "correct horse\n")
        #expect(set.status == 0 && set.output == "The password of ann is set.\n", "\(set.error)")
        func signIn(_ password: String) async throws -> String {
            try await runProgram(
                "/usr/bin/curl",
                [
                    "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d",
                    #"{"userId": "ann", "password": "\#(password)"}"#, "http://127.0.0.1:\(server.port)/v1/sessions",
                ]
            ).output
        }
        #expect(try await signIn("correct horse") == "201")
        #expect(try await signIn("correct horse\\n") == "401")
        let list = try await server.kalends(["user", "list"])
        let row = try #require(list.output.split(separator: "\n").last).split(separator: " ")
        #expect(row.first == "ann" && row.suffix(2) == ["1", "0"], "\(list.output)")
        let short = try await server.kalends(["user", "set-password", "ann"], input: "short")
        #expect(short.status == 1 && short.error.contains("8 to 1024") && !short.error.contains("short"))
        let guessed = try await server.kalends(["user", "set-password", "ann"], input: "password1234")
        #expect(guessed.status == 1 && guessed.error.contains("easy to guess"), "\(guessed.error)")
        #expect(!guessed.error.contains("/password"))
        #expect(try await signIn("correct horse") == "201")
        #expect(try await server.kalends(["user", "set-password", "ann", "an argument"]).status == 2)
        let name = try await server.kalends(["user", "log-name", "ann"])
        let logName = name.output.trimmingCharacters(in: .newlines)
        #expect(name.status == 0 && logName.wholeMatch(of: /user\/[0-9a-f]{12}/) != nil, "\(name)")
        let refused = server.log.split(separator: "\n").filter { $0.contains("status=401") }
        #expect(!refused.isEmpty && refused.allSatisfy { $0.contains(" caller=\(logName) credential=password") })
        #expect(list.output.contains("SECOND FACTOR") && row.contains("no"))
        #expect(try await server.kalends(["user", "remove-second-factor", "ann"]).status == 1)
        #expect(try await server.kalends(["user", "remove-password", "ann"]).status == 0)
        #expect(try await server.kalends(["user", "remove-password", "ann"]).status == 1)
        #expect(try await signIn("correct horse") == "401")
        #expect(await server.stop() == 0)
        let alone = try await server.kalends(["user", "set-password", "ben"], input: "battery staple")
        #expect(alone.status == 0, "\(alone.error)")
        #expect(try await server.kalends(["user", "list", "--json"]).output.contains(#""id":"ben""#))
    }

    /// Types each text at its prompt, and prints what the terminal showed and how the program ended.
    private static let typist = """
        import os, pty, signal, sys
        signal.alarm(60)
        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.argv[1], [sys.argv[1], "user", "set-password", "ann", "--database", sys.argv[2]])
        texts, shown, asked = sys.argv[3:], b"", 0
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                data = b""
            if not data:
                break
            shown += data
            if asked < len(texts) and shown.endswith((b"Password: ", b"again: ")):
                os.write(terminal, texts[asked].encode().decode("unicode_escape").encode())
                asked += 1
        print(shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    @Test("On a terminal it is asked for twice and never shown, and Ctrl-C changes nothing")
    func terminal() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        #expect(await server.stop() == 0)
        let database = server.database
        func type(_ texts: String...) async throws -> String {
            let done = try await runProgram(
                "/usr/bin/env", ["python3", "-c", Self.typist, Programs.kalends, database] + texts)
            #expect(done.status == 0, "\(done.error)")
            return done.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let set = try await type("correct horse\\n", "correct horse\\n")
        #expect(set.contains("The password of ann is set.") && set.hasSuffix(" 0"), "\(set)")
        #expect(!set.contains("horse"))
        let different = try await type("correct horse\\n", "correct house\\n")
        #expect(different.contains("differ") && different.hasSuffix(" 3"), "\(different)")
        let interrupted = try await type("correct\\x03")
        #expect(interrupted.contains("Nothing was changed.") && interrupted.hasSuffix(" 3"), "\(interrupted)")
    }
}
