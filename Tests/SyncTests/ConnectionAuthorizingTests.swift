// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import Outbound
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Signing in at a provider")
struct ConnectionAuthorizingTests {
    private static func google(
        _ body: @escaping @Sendable (TestServer, ProviderEmulator) async throws -> Void
    ) async throws {
        let emulator = try await ProviderEmulator("google_emulator.py")
        defer { emulator.stop() }
        try await TestServer.run(settings: .emulated(google: emulator.address)) { server in
            try await server.makeCircle()
            try await body(server, emulator)
        }
    }

    private static func begin(
        _ server: TestServer, _ provider: String = "google", user: String = "ann", label: String? = nil
    ) async throws -> String {
        let made = try await server.call(
            .post, "/v1/circles/c/connections",
            ["provider": .string(provider), "label": label.map(JSONValue.string) ?? .null], as: user
        ).expect(201)
        return "/v1/connections/\(try #require(made.json["id"]?.string))"
    }

    /// Signs in and returns where the browser ended.
    private static func signIn(
        _ server: TestServer, _ emulator: ProviderEmulator, _ path: String, user: String = "ann",
        returnTo: String = "/app/here?x=1#part"
    ) async throws -> String {
        let begun = try await server.call(
            .post, "\(path)/authorize", ["returnTo": .string(returnTo)], as: user
        ).expect(200)
        return try await arrive(server, try await emulator.consent(try #require(begun.json["authorizeURL"]?.string)))
    }

    private static func code(in destination: String) throws -> String {
        try #require(
            destination.firstMatch(of: /[?&]code=(kal_cc_[A-Za-z0-9_-]{43})/).map { String($0.1) }, "\(destination)")
    }

    /// Signs in, and redeems what that brought, as the user whose connection it is.
    @discardableResult
    private static func connect(
        _ server: TestServer, _ emulator: ProviderEmulator, _ path: String, user: String = "ann"
    ) async throws -> Answer {
        let destination = try await signIn(server, emulator, path, user: user)
        return try await server.call(.post, "\(path)/redeem", ["code": .string(try code(in: destination))], as: user)
    }

    private static func arrive(
        _ server: TestServer, _ address: String, headers: HTTPFields = [:]
    ) async throws -> String {
        #expect(address.hasPrefix("http://calendar.example/v1/connections/callback?"))
        let target = String(address.dropFirst("http://calendar.example".count))
        let answer = try await server.raw(.get, target, headers: headers).expect(303)
        #expect(answer.headers[.cacheControl] == "no-store")
        return try #require(answer.headers[.location])
    }

    @Test("A person signs in at Google, chooses a calendar, and the first run is due at once")
    func whole() async throws {
        try await Self.google { server, emulator in
            let path = try await Self.begin(server)
            let id = String(path.split(separator: "/").last ?? "")
            try await server.call(.get, "\(path)/calendars", as: "ann").expect(409)
            let location = try await Self.signIn(server, emulator, path)
            let code = try Self.code(in: location)
            #expect(location == "/app/here?x=1&connection=\(id)&result=pending&code=\(code)#part")
            #expect(try await server.call(.get, path, as: "ann").json["state"] == "unauthorized")
            let redeemed = try await server.call(.post, "\(path)/redeem", ["code": .string(code)], as: "ann")
            let shown = try await server.call(.get, path, as: "ann").expect(200)
            #expect(try redeemed.expect(200).json == shown.json && redeemed.headers[.eTag] == shown.headers[.eTag])
            #expect(shown.json["state"] == "choosing" && shown.json["accountName"] == "alice@example.test")
            let calendars = try await server.call(.get, "\(path)/calendars", as: "ann").expect(200)
            let primary = try #require(calendars.json["items"]?.array?.first { $0["isPrimary"] == true })
            #expect(primary["canWrite"] == true && primary["isOurs"] == false)
            let made = try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
            #expect(made.json["calendarName"] == "CK - Our family" && made.json["state"] == "active")
            #expect(made.json["nextSyncAt"] == .string(rfc3339(milliseconds: server.clock.now)))
            // Asked again, the calendar that was made before is found by its sign.
            let again = try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
            #expect(again.json["calendarId"] == made.json["calendarId"])
            let at = server.clock.now
            try await server.services.store.record { transaction in
                for number in 0..<100 {
                    try transaction.putSyncLink(
                        SyncLinkRow(
                            connectionID: id, collection: "tasks", itemID: "t\(number)", state: "pending",
                            externalID: nil, lastSyncedAt: nil, since: at, content: "{}"))
                }
            }
            let chosen = try await server.call(
                .put, "\(path)/calendar", ["calendarId": try #require(primary["calendarId"])], as: "ann"
            ).expect(200)
            #expect(chosen.json["calendarId"] == primary["calendarId"])
            // No run has ended, and the next one knows nothing of the calendar before.
            try await server.services.store.read { transaction throws in
                #expect(try transaction.syncLinks(of: id).isEmpty)
                #expect(try transaction.syncPosition(of: id) == nil && !transaction.hasSyncLease(id, now: at))
            }
            // Who paused it has not resumed it by choosing another calendar.
            try await server.call(.patch, path, ["paused": true], as: "ann").expect(200)
            let paused = try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
            #expect(paused.json["state"] == "paused" && paused.json["calendarId"] == made.json["calendarId"])
            #expect(paused.json["nextSyncAt"] == nil || paused.json["nextSyncAt"] == .null)
            let resumed = try await server.call(.patch, path, ["paused": false], as: "ann").expect(200)
            #expect(resumed.json["state"] == "active")
            for (body, pointer) in [
                (["calendarId": "nothing"], "/calendarId"), ([:], "/calendarId"), (["calendarId": ""], "/calendarId"),
                (["calendarId": "x", "create": [:]], "/create"),
            ] as [(JSONValue, String)] {
                #expect(
                    try await server.call(.put, "\(path)/calendar", body, as: "ann").expect(422).pointers == [pointer])
            }
            try await emulator.control(
                "calendar", ["id": try #require(primary["calendarId"]), "role": "reader"])
            let refused = try await server.call(
                .put, "\(path)/calendar", ["calendarId": try #require(primary["calendarId"])], as: "ann"
            ).expect(422)
            #expect(refused.json["errors"]?.array?.first?["message"] == "This calendar is read-only.")
        }
    }

    @Test("A sign-in serves once, for ten minutes, and what nobody began leads nowhere")
    func once() async throws {
        try await Self.google { server, emulator in
            let path = try await Self.begin(server)
            func begin() async throws -> String {
                let begun = try await server.call(.post, "\(path)/authorize", nil, as: "ann").expect(200)
                return try await emulator.consent(try #require(begun.json["authorizeURL"]?.string))
            }
            let first = try await begin()
            let target = String(first.dropFirst("http://calendar.example".count))
            #expect(try await Self.arrive(server, first).hasPrefix("/app/connected?connection="))
            #expect(try await server.raw(.get, target).expect(400).json["code"] == "authorization-unknown")
            let late = try await begin()
            server.clock.advance(seconds: 601)
            try await server.raw(.get, String(late.dropFirst("http://calendar.example".count))).expect(400)
            for query in ["", "?state=x&code=y", "?code=y", "?state=a&state=b&code=c"] {
                let answer = try await server.raw(.get, "/v1/connections/callback\(query)")
                #expect(answer.status == 400 && answer.headers[.location] == nil)
            }
        }
    }

    @Test("What a browser's session began ends in that session, and no other person's browser ends anybody's sign-in")
    func bound() async throws {
        try await Self.google { server, emulator in
            for user in ["ann", "ben"] {
                try await server.call(.put, "/v1/users/\(user)/password", ["password": "a garden, 7 bees"]).expect(201)
            }
            func session(_ user: String) async throws -> HTTPFields {
                let made = try await server.raw(
                    .post, "/v1/sessions", headers: [.contentType: "application/json"],
                    body: .init(string: #"{"userId": "\#(user)", "password": "a garden, 7 bees"}"#)
                ).expect(201)
                let token = try #require(made.json["token"]?.string)
                return [.cookie: "kalends_session=\(token)", .origin: "http://calendar.example"]
            }
            let (anns, other, bens) = (try await session("ann"), try await session("ann"), try await session("ben"))
            let path = try await Self.begin(server)
            func state() async throws -> JSONValue? { try await server.call(.get, path, as: "ann").json["state"] }
            func begin(_ headers: HTTPFields?) async throws -> String {
                let begun =
                    if let headers {
                        try await server.raw(.post, "\(path)/authorize", headers: headers).expect(200)
                    } else {
                        try await server.call(.post, "\(path)/authorize", nil, as: "ann").expect(200)
                    }
                return try await emulator.consent(try #require(begun.json["authorizeURL"]?.string))
            }
            for browser in [[:], other, bens] as [HTTPFields] {
                let ended = try await Self.arrive(server, try await begin(anns), headers: browser)
                #expect(ended.hasSuffix("&result=failed"))
            }
            #expect(try await Self.arrive(server, try await begin(nil), headers: bens).hasSuffix("&result=failed"))
            #expect(try await state() == "unauthorized")
            #expect(try await Self.arrive(server, try await begin(anns), headers: anns).hasSuffix("&result=connected"))
            #expect(try await state() == "choosing")
            for browser in [[:], anns] as [HTTPFields] {
                let destination = try await Self.arrive(server, try await begin(nil), headers: browser)
                #expect(destination.contains("&result=pending&code="))
            }
        }
    }

    @Test("What no browser's session began waits for its beginner, who alone redeems it, once, within ten minutes")
    func redeemed() async throws {
        try await Self.google { server, emulator in
            let (path, second) = (try await Self.begin(server), try await Self.begin(server, label: "second"))
            let bens = try await Self.begin(server, user: "ben")
            func redeem(_ code: String, _ path: String, as user: String?) async throws -> Answer {
                try await server.call(.post, "\(path)/redeem", ["code": .string(code)], as: user)
            }
            let destination = try await Self.signIn(server, emulator, path, returnTo: "https://app.example/back")
            let code = try Self.code(in: destination)
            #expect(destination.hasPrefix("https://app.example/back?connection="))
            // Nothing was asked of the provider yet, and whoever has the code has nothing without the connection.
            try await redeem(code, path, as: "ben").expect(404)
            for (other, user) in [(bens, "ben"), (second, "ann")] {
                let refused = try await redeem(code, other, as: user).expect(422)
                #expect(refused.pointers == ["/code"])
            }
            #expect(try await server.call(.get, path, as: "ann").json["state"] == "unauthorized")
            for wrong in ["", "x", String(code.dropLast()), Secret.make(.connectionCode).reveal()] {
                #expect(try await redeem(wrong, path, as: "ann").expect(422).pointers == ["/code"])
            }
            // The code is no state, and a state is no code.
            try await server.raw(.get, "/v1/connections/callback?code=x&state=\(code)").expect(400)
            let begun = try await server.call(.post, "\(path)/authorize", nil, as: "ann").expect(200)
            let consented = try await emulator.consent(try #require(begun.json["authorizeURL"]?.string))
            let state = try #require(consented.firstMatch(of: /[?&]state=([^&]+)/).map { String($0.1) })
            try await redeem("kal_cc_\(state)", path, as: "ann").expect(422)
            try await redeem(code, path, as: "ann").expect(200)
            try await redeem(code, path, as: "ann").expect(422)
            // The host application redeems what it began for a user without naming them.
            let hosts = try Self.code(in: try await Self.signIn(server, emulator, second))
            try await redeem(hosts, second, as: nil).expect(200)
            let late = try Self.code(in: try await Self.signIn(server, emulator, path))
            server.clock.advance(seconds: 601)
            try await redeem(late, path, as: "ann").expect(422)
        }
    }

    @Test("Without an address to return to, a page shows the code to whoever signed in, who may have no session")
    func shownCode() async throws {
        try await Self.google { server, emulator in
            let path = try await Self.begin(server)
            let begun = try await server.call(.post, "\(path)/authorize", nil, as: "ann").expect(200)
            let back = try await emulator.consent(try #require(begun.json["authorizeURL"]?.string))
            let destination = try await Self.arrive(server, back)
            let code = try Self.code(in: destination)
            let page = try await Browser(server).open(destination).expect(200)
            #expect(page.text.contains("value=\"\(code)\"") && page.headers[.cacheControl] == "no-store")
            for (query, shows) in [("?result=pending&code=%3Cb%3E", false), ("?result=denied", false), ("", false)] {
                let other = try await Browser(server).open("/app/connected\(query)").expect(200)
                #expect(other.text.contains("id=\"code\"") == shows && !other.text.contains("<b>"))
            }
            try await server.call(.post, "\(path)/redeem", ["code": .string(code)], as: "ann").expect(200)
            try await emulator.control("oauth", ["denies": true])
            let again = try await server.call(.post, "\(path)/authorize", nil, as: "ann").expect(200)
            let refused = try await emulator.consent(try #require(again.json["authorizeURL"]?.string))
            #expect(try await Self.arrive(server, refused).hasSuffix("&result=denied"))
        }
    }

    @Test("Nobody leads a browser elsewhere with returnTo")
    func returns() async throws {
        try await Self.google { server, _ in
            let path = try await Self.begin(server)
            for good in ["/app/", "/app/x/y?z=1", "https://app.example", "https://APP.example:443/x?y#z"] {
                try await server.call(.post, "\(path)/authorize", ["returnTo": .string(good)], as: "ann").expect(200)
            }
            for bad in [
                "/", "/app", "/apps/", "//evil.example/app/", "/\\evil.example", "/app/\\x", "/app/../v1/keys",
                "/app/%2e%2E/v1", "/app/x y", "https://evil.example/", "https://app.example.evil.example/",
                "https://app.example@evil.example/", "https://app.example:8443/", "http://app.example/",
                "https://evil.example\\@app.example/", "javascript:alert(1)", "app/x", "https:app.example",
                "/app/\u{7}",
                "https://app.example%2eevil.example/", "HTTPS://app.example.:443/",
            ] {
                let answer = try await server.call(
                    .post, "\(path)/authorize", ["returnTo": .string(bad)], as: "ann"
                ).expect(422)
                #expect(answer.pointers == ["/returnTo"], "\(bad)")
            }
            try await server.call(.post, "\(path)/authorize", nil, as: "ben").expect(404)
            let phone = try await Self.begin(server, "apple")
            let refused = try await server.call(.post, "\(phone)/authorize", nil, as: "ann").expect(409)
            #expect(refused.json["code"] == "provider-mismatch")
        }
    }

    @Test("A person who declines, grants too little, or meets a failing provider keeps the connection as it was")
    func endings() async throws {
        try await Self.google { server, emulator in
            let path = try await Self.begin(server)
            try await emulator.control("oauth", ["denies": true])
            #expect(try await Self.signIn(server, emulator, path).contains("&result=denied"))
            try await emulator.control(
                "oauth",
                ["denies": false, "withheld": ["https://www.googleapis.com/auth/calendar.events"]])
            let little = try await Self.connect(server, emulator, path).expect(409)
            #expect(little.json["code"] == "authorization-denied")
            try await emulator.control("oauth", ["withheld": []])
            try await emulator.control("fault", ["method": "token", "status": 503])
            try await Self.connect(server, emulator, path).expect(503)
            #expect(try await server.call(.get, path, as: "ann").json["state"] == "unauthorized")
            try await Self.connect(server, emulator, path).expect(200)
        }
    }

    @Test("The end of a connection ends its grant at Google, unless another connection uses the account")
    func revocation() async throws {
        try await Self.google { server, emulator in
            /// Returns how many there were since the last call, which emptied the emulator's log.
            func revocations() async throws -> Int {
                let log = try JSONValue(
                    parsing: try await emulator.call("GET", "\(emulator.address)/control/log").body)
                return log["calls"]?.array?.count { $0 == "revoke" } ?? -1
            }
            let (one, two) = (try await Self.begin(server), try await Self.begin(server, label: "second"))
            for path in [one, two] {
                try await Self.connect(server, emulator, path).expect(200)
            }
            try await server.call(.delete, one, as: "ann").expect(204)
            #expect(try await revocations() == 0)
            try await server.call(.delete, two, as: "ann").expect(204)
            #expect(try await revocations() == 1)
            let kept = try await server.services.store.read { transaction in
                try transaction.credential(ofConnection: String(two.split(separator: "/").last ?? ""))
            }
            #expect(kept == nil)
            // All connections of a person who is erased end together, and each account's grant once.
            for path in [try await Self.begin(server), try await Self.begin(server, label: "second")] {
                try await Self.connect(server, emulator, path).expect(200)
            }
            try await server.call(.delete, "/v1/users/ann?erase=true").expect(200)
            #expect(try await revocations() == 1)
        }
    }

    @Test("An account that no longer lets us in is shown as such, with what to do, and is restored by a sign-in")
    func reconnects() async throws {
        try await Self.google { server, emulator in
            let path = try await Self.begin(server)
            try await Self.connect(server, emulator, path).expect(200)
            try await server.call(.put, "\(path)/calendar", ["create": ["name": "Care"]], as: "ann").expect(200)
            try await emulator.control("oauth", ["revokeAll": true])
            server.clock.advance(seconds: 4000)
            let refused = try await server.call(.get, "\(path)/calendars", as: "ann").expect(409)
            #expect(refused.json["code"] == "connection-unauthorized")
            let shown = try await server.call(.get, path, as: "ann").expect(200)
            #expect(shown.json["state"] == "needsReconnect" && shown.json["nextSyncAt"] == .null)
            #expect(shown.json["attention"]?.array?.first?["kind"] == "needsReconnect")
            try await Self.connect(server, emulator, path).expect(200)
            let again = try await server.call(.get, path, as: "ann").expect(200)
            #expect(again.json["state"] == "active" && again.json["calendarName"] == "Care")
            #expect(again.json["attention"] == [])
        }
    }

    @Test("However many ask at once, a token that has ended is renewed once, and stored before it is used")
    func renewal() async throws {
        try await Self.google { server, emulator in
            let path = try await Self.begin(server)
            try await Self.connect(server, emulator, path).expect(200)
            server.clock.advance(seconds: 4000)
            try await emulator.control("oauth", ["expireAccess": true])
            _ = try await emulator.call("GET", "\(emulator.address)/control/log")
            await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<8 {
                    group.addTask { try? await server.call(.get, "\(path)/calendars", as: "ann").status }
                }
                var statuses: [Int?] = []
                for await status in group { statuses.append(status) }
                // A person has two such questions under way.
                #expect(statuses.count { $0 == 200 } >= 2 && statuses.allSatisfy { $0 == 200 || $0 == 429 })
            }
            let log = try JSONValue(parsing: try await emulator.call("GET", "\(emulator.address)/control/log").body)
            #expect(log["calls"]?.array?.count { $0 == "token" } == 1)
        }
    }

    @Test("A person signs in at Microsoft and chooses a calendar")
    func microsoft() async throws {
        let emulator = try await ProviderEmulator("graph_emulator.py")
        defer { emulator.stop() }
        try await TestServer.run(settings: .emulated(graph: emulator.address)) { server in
            try await server.makeCircle()
            let path = try await Self.begin(server, "outlook")
            try await Self.connect(server, emulator, path).expect(200)
            let shown = try await server.call(.get, path, as: "ann").expect(200)
            #expect(shown.json["state"] == "choosing" && shown.json["accountName"]?.string?.isEmpty == false)
            let made = try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
            #expect(made.json["calendarName"] == "CK - Our family" && made.json["state"] == "active")
            try await server.call(.delete, path, as: "ann").expect(204)
        }
    }
}
