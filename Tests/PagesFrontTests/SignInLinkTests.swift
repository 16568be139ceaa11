// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Logging
import Server
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Sign-in links")
struct SignInLinkTests {
    /// Makes a link as the host application does.
    private static func link(
        _ server: TestServer, _ body: JSONValue = [:], for user: String = "ann"
    ) async throws -> Secret {
        let made = try await server.call(.post, "/v1/users/\(user)/sign-in-links", body).expect(201)
        let url = try #require(made.json["url"]?.string)
        #expect(url.hasPrefix("http://calendar.example/app/sign-in/links/kal_sl_"))
        return try #require(Secret(.signInLink, text: url.split(separator: "/").last ?? ""))
    }

    private static func name(_ state: SignInLinks.State) -> String {
        switch state {
        case .ready: "ready"
        case .used: "used"
        case .expired: "expired"
        case .unknown: "unknown"
        }
    }

    private static func signIn(_ server: TestServer, _ secret: Secret) async throws -> String {
        switch try await server.services.signInLinks.signIn(secret, client: "test") {
        case .user(_, let token, _): token.reveal()
        case .operatorAtHand: "operator"
        case .refused(let state): name(state)
        }
    }

    @Test("A link signs its user in once and leads where it says; until then looking at it changes nothing")
    func once() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let links = server.services.signInLinks
            let secret = try await Self.link(server, ["to": "/app/circles/c?view=week"])
            for _ in 0..<3 { #expect(Self.name(try await links.state(of: secret)) == "ready") }
            guard case .user(let session, let token, let to) = try await links.signIn(secret, client: "test") else {
                Issue.record("Nobody is signed in.")
                return
            }
            #expect(session.userID == "ann" && to == "/app/circles/c?view=week")
            try await server.bearing(token.reveal(), .get, "/v1/circles/c").expect(200)
            #expect(Self.name(try await links.state(of: secret)) == "used")
            #expect(try await Self.signIn(server, secret) == "used")
            let sessions = try await server.services.store.read {
                try $0.sessions(of: "ann", after: "", limit: 10, now: server.clock.now)
            }
            #expect(sessions.map(\.id) == [session.id])
        }
    }

    @Test("Of twenty that press at once, one is signed in")
    func parallel() async throws {
        try await TestServer.run { server in
            for round in 0..<3 {
                let secret = try await Self.link(server, for: "user-\(round)")
                let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<20 { group.addTask { try await Self.signIn(server, secret) } }
                    return try await group.reduce(into: [String]()) { $0.append($1) }
                }
                #expect(outcomes.count { $0.hasPrefix("kal_ss_") } == 1)
                #expect(outcomes.count { $0 == "used" } == 19)
                let sessions = try await server.services.store.read {
                    try $0.sessions(of: "user-\(round)", after: "", limit: 100, now: server.clock.now)
                }
                #expect(sessions.count == 1)
            }
        }
    }

    @Test("A link ends after its time: 5 minutes, or what was asked for up to an hour; a day later it is forgotten")
    func time() async throws {
        try await TestServer.run { server in
            let made = try await server.call(.post, "/v1/users/ann/sign-in-links").expect(201)
            #expect(made.json["expiresAt"] == "2026-03-02T12:05:00Z")
            let short = try await Self.link(server, ["expiresInSeconds": 1])
            let long = try await Self.link(server, ["expiresInSeconds": 3600])
            server.clock.advance(milliseconds: 999)
            #expect(Self.name(try await server.services.signInLinks.state(of: short)) == "ready")
            server.clock.advance(milliseconds: 1)
            #expect(try await Self.signIn(server, short) == "expired")
            server.clock.advance(seconds: 3598)
            #expect(Self.name(try await server.services.signInLinks.state(of: long)) == "ready")
            server.clock.advance(seconds: 1)
            #expect(try await Self.signIn(server, long) == "expired")
            for seconds in [0, -1, 3601] as [JSONValue] {
                try await server.call(.post, "/v1/users/ann/sign-in-links", ["expiresInSeconds": seconds]).expect(422)
            }
            let housekeeping = Housekeeping(services: server.services, logger: .init(label: "test"))
            try await housekeeping.prune(server.clock.now)
            #expect(Self.name(try await server.services.signInLinks.state(of: long)) == "expired")
            server.clock.advance(seconds: 86_400)
            try await housekeeping.prune(server.clock.now)
            #expect(Self.name(try await server.services.signInLinks.state(of: long)) == "unknown")
            #expect(try await Self.signIn(server, Secret.make(.signInLink)) == "unknown")
        }
    }

    @Test("Links that never were come later and later for whoever tries many, and a link that is there at once")
    func guesses() async throws {
        try await TestServer.run { server in
            let (known, clock) = (try await Self.link(server), ContinuousClock())
            func open(_ secret: Secret) async throws -> (status: Int, time: Duration) {
                let start = clock.now
                let page = try await server.raw(.get, "/app/sign-in/links/\(secret.reveal())")
                return (page.status, clock.now - start)
            }
            for _ in 0..<10 { #expect(try await open(Secret.make(.signInLink)).status == 404) }
            for least in [100, 200, 400] {
                let miss = try await open(Secret.make(.signInLink))
                #expect(miss.status == 404 && miss.time >= .milliseconds(least))
            }
            #expect(try await open(known).status == 200)
            // What does not even look like a link counts too.
            let start = clock.now
            try await server.raw(.get, "/app/sign-in/links/x").expect(404)
            #expect(clock.now - start >= .milliseconds(800))
        }
    }

    @Test("It leads nowhere but below /app/, and only the host application makes one")
    func refusals() async throws {
        try await TestServer.withPasswords { server in
            for to in ["https://evil.example/", "//evil.example", "/app/../v1", "/v1/keys", "/app/%2e%2e/v1"] {
                let answer = try await server.call(.post, "/v1/users/ann/sign-in-links", ["to": .string(to)]).expect(
                    422)
                #expect(answer.json["errors"]?.array?.first?["pointer"] == "/to")
            }
            let path = "/v1/users/ann/sign-in-links"
            try await server.call(.post, path, as: "ann").expect(403)
            try await server.bearing(try await server.session("ann"), .post, path).expect(403)
            try await server.raw(.post, path).expect(401)
            try await server.call(.post, "/v1/users/a%20b/sign-in-links").expect(400)
            let limited = try await server.call(.post, "/v1/keys", ["name": "k", "scopes": ["feeds"]]).expect(201)
            let key = try #require(limited.json["key"]?.string)
            try await server.bearing(key, .post, path).expect(403)
            try await server.bearing(key, .post, "/local/sign-in-links").expect(404)
        }
    }

    @Test("A new password ends the links that nobody used, and of many links the latest twenty remain")
    func ends() async throws {
        try await TestServer.withPasswords { server in
            let old = try await Self.link(server)
            let others = try await Self.link(server, for: "ben")
            try await server.call(.put, "/v1/users/ann/password", ["password": "another password"]).expect(204)
            #expect(try await Self.signIn(server, old) == "unknown")
            #expect(try await Self.signIn(server, others).hasPrefix("kal_ss_"))
            let first = try await Self.link(server)
            var latest = first
            for _ in 0..<20 {
                server.clock.advance(milliseconds: 1)
                latest = try await Self.link(server)
            }
            #expect(try await Self.signIn(server, first) == "unknown")
            #expect(try await Self.signIn(server, latest).hasPrefix("kal_ss_"))
        }
    }

    @Test("The audit trail names link, user and session; the secrets are in neither it nor any other row")
    func kept() async throws {
        try await TestServer.run { server in
            let secret = try await Self.link(server)
            let token = try await Self.signIn(server, secret)
            let entries = try await server.call(.get, "/v1/audit").expect(200).json["items"]?.array ?? []
            let made = try #require(entries.first { $0["action"] == "signInLink.created" })
            #expect(made["detail"]?["user"] == "ann")
            let begun = try #require(entries.first { $0["action"] == "session.created" })
            #expect(begun["actor"] == "user:ann")
            #expect(begun["detail"]?["link"] != nil && begun["detail"]?["link"] == made["subject"])
            let folder = server.folder.path
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let data = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
                for canary in [try Canary("link", secret.reveal()), try Canary("session", token)] {
                    #expect(!canary.stands(in: data), "\(canary.name) in \(name)")
                }
            }
        }
    }

    @Test("The operator's link opens a session of its own that ends by sign-out, by rest and by time")
    func operatorPages() async throws {
        try await TestServer.withPasswords { server in
            let (links, sessions) = (server.services.signInLinks, server.services.operatorSessions)
            let door = Authentication(services: server.services, isLocal: false)
            func open() async throws -> Secret {
                let (_, secret) = try await links.createForOperator(lasting: 300, for: .operatorAtHand)
                guard case .operatorAtHand(_, let token, let to) = try await links.signIn(secret, client: "x") else {
                    throw Refusal.unauthenticated
                }
                #expect(to == "/app/admin")
                #expect(Self.name(try await links.state(of: secret)) == "used")
                return token
            }
            let token = try await open()
            let caller = try #require(try await door.operatorCaller(token))
            #expect(caller.identity == .operatorAtHand)
            try await server.bearing(token.reveal(), .get, "/v1/keys").expect(401)
            try await sessions.signOut(for: caller)
            #expect(try await door.operatorCaller(token) == nil)
            let user = try #require(Secret(.session, text: try await server.session("ann")))
            #expect(try await door.operatorCaller(user) == nil)

            let idle = try await open()
            server.clock.advance(seconds: 29 * 60)
            #expect(try await door.operatorCaller(idle) != nil)
            server.clock.advance(seconds: 30 * 60)
            #expect(try await door.operatorCaller(idle) == nil)
            let busy = try await open()
            for _ in 0..<11 {
                server.clock.advance(seconds: 10 * 60)
                #expect(try await door.operatorCaller(busy) != nil)
                // That it was used is noted after the answer.
                await server.services.uses.close()
            }
            server.clock.advance(seconds: 10 * 60)
            #expect(try await door.operatorCaller(busy) == nil)
            let actions = try await server.call(.get, "/v1/audit").expect(200).json["items"]?.array?.compactMap {
                $0["action"]?.string
            }
            #expect(actions?.contains("operatorSession.ended") == true)
            await #expect(throws: Refusal.self) {
                _ = try await links.createForOperator(lasting: 300, for: .signingIn("ann"))
            }
        }
    }

    @Test("kalends open prints a link, beside a running server and without one")
    func command() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let begin = "http://localhost:\(server.port)/app/sign-in/links/kal_sl_"
        for arguments in [["open", "--admin"], ["open", "--user", "maria-rivera"], ["welcome"]] {
            let result = try await server.kalends(arguments)
            #expect(result.status == 0, "\(result.error)")
            #expect(result.output.contains(begin), "\(result.output)")
        }
        let made = try await server.kalends(["open"])
        #expect(made.status == 0 && made.output.hasPrefix(begin), "\(made.error)")
        for arguments in [
            ["open", "--admin", "--user", "x"], ["open", "--user", "nobody", "--circle", "rivera"],
            ["open", "--circle", "nowhere"],
        ] { #expect(try await server.kalends(arguments).status != 0, "\(arguments)") }
        #expect(await server.stop() == 0)
        let alone = try await server.kalends(["open", "--user", "maria-rivera"])
        #expect(alone.status == 0 && alone.output.contains("/app/sign-in/links/kal_sl_"))
        #expect(alone.error.contains("No server runs on"))
    }
}
