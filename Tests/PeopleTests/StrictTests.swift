// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A strict server")
struct StrictTests {
    private static var strict: ServerSettings {
        var settings = ServerSettings()
        settings.isStrict = true
        settings.tokens.isStrict = true
        return settings
    }

    @Test(
        "A server that is strict starts only where nothing crosses a network without TLS",
        arguments: [
            (["--public-url", "http://a.example"], "strict needs a publicURL with https://"),
            (["--public-url", "https://a.example", "--host", "0.0.0.0"], "only on this machine"),
            (["--public-url", "https://a.example", "--host", "192.0.2.1", "--metrics-port", "9"], "metricsPort"),
            (["--public-url", "https://a.example", "--allow-http-imports"], "allowHTTPImports"),
            (["--public-url", "https://a.example", "--tmr-session-cookie"], "tmrSessionCookie"),
        ])
    func start(flags: [String], sentence: String) async throws {
        let result = try await runProgram(
            Programs.kalends, ["serve", "--strict", "--port", "0", "--database", "/nonexistent/k.sqlite"] + flags)
        #expect(result.status == 2)
        #expect(result.error.contains(sentence), "\(result.error)")
    }

    @Test("A database server is reached with its name proved")
    func databaseServer() async throws {
        let flags = ["strict": "true", "publicURL": "https://a.example"]
        for (address, isRight) in [
            ("postgres://k@db.example/k", false), ("postgres://k@db.example/k?sslmode=require", false),
            ("postgres://k@db.example/k?sslmode=verify-full", true),
        ] {
            var values = SettingValues(
                flags: flags.merging(["database": address]) { $1 }, configFile: nil, environment: [:])
            do {
                _ = try ServerSettings(&values)
                #expect(isRight, "\(address)")
            } catch let refusal as ServerSettings.Invalid {
                #expect(!isRight && refusal.description.contains("verify-full"), "\(refusal)")
            }
        }
    }

    @Test("A sign-in link lasts ten minutes at most")
    func links() async throws {
        try await TestServer.run(settings: Self.strict) { server in
            let path = "/v1/users/ann/sign-in-links"
            try await server.call(.post, path, ["expiresInSeconds": 600]).expect(201)
            let refused = try await server.call(.post, path, ["expiresInSeconds": 601]).expect(422)
            #expect(refused.pointers == ["/expiresInSeconds"])
        }
    }

    /// Signs in with the code of a new step, and returns what the cookie holds.
    private static func cookie(_ user: String, _ app: Authenticator, _ server: TestServer) async throws -> String {
        server.clock.advance(seconds: 30)
        let answer = try await server.signIn(user, code: app.code(server)).expect(201)
        #expect(answer.json["token"] == nil)
        let field = try #require(answer.headers[.setCookie])
        #expect(field.contains("; HttpOnly"))
        let pair = try #require(field.split(separator: ";").first)
        #expect(!answer.text.contains(pair.split(separator: "=").last ?? "="))
        return String(pair)
    }

    @Test("A session's token leaves the server only as a cookie")
    func tokens() async throws {
        try await TestServer.withPasswords(settings: Self.strict) { server in
            let app = try await server.authenticator("ann")
            let cookie = try await Self.cookie("ann", app, server)
            try await server.raw(.get, "/v1/circles/c", headers: [.cookie: cookie]).expect(200)
            let refused = try await server.raw(.get, "/auth/token", headers: [.cookie: cookie]).expect(403)
            #expect(refused.json["code"] == "cookie-only")
        }
    }

    @Test("Other sessions and devices are ended within five minutes of signing in, and one's own at any time")
    func ending() async throws {
        try await TestServer.withPasswords(settings: Self.strict) { server in
            let headers = { (cookie: String) in HTTPFields(named: ["Cookie": cookie, "Sec-Fetch-Site": "same-origin"]) }
            let app = try await server.authenticator("ann")
            let (mine, other) = (try await Self.cookie("ann", app, server), try await Self.cookie("ann", app, server))
            let list = try await server.raw(.get, "/v1/sessions", headers: headers(other)).expect(200).json
            let ids = try #require(list["items"]?.array).map { ($0["id"]?.string ?? "", $0["current"] == .bool(true)) }
            let mineID = try #require(ids.first { !$0.1 }).0
            server.clock.advance(seconds: 5 * 60 - 1)
            try await server.raw(.delete, "/v1/sessions/none", headers: headers(other)).expect(404)
            server.clock.advance(seconds: 1)
            let late = try await server.raw(.delete, "/v1/sessions/\(mineID)", headers: headers(other)).expect(403)
            #expect(late.json["code"] == "sign-in-too-old")
            try await server.raw(.get, "/v1/circles/c", headers: headers(mine)).expect(200)
            let again = try await Self.cookie("ann", app, server)
            try await server.raw(.delete, "/v1/sessions/\(mineID)", headers: headers(again)).expect(204)
            try await server.raw(.get, "/v1/circles/c", headers: headers(mine)).expect(401)
            try await server.raw(.delete, "/v1/sessions/current", headers: headers(other)).expect(204)
            // The host application has asked its user itself.
            let device = try await server.call(.post, "/sync/devices/register", [:], as: "ann")
            let deviceID = try #require(device.json["device"]?["id"]?.string)
            server.clock.advance(seconds: 5 * 60)
            try await server.raw(.delete, "/v1/devices/\(deviceID)", headers: headers(again)).expect(403)
            try await server.call(.delete, "/v1/devices/\(deviceID)", as: "ann").expect(204)
        }
    }

    @Test("The page of devices leads to the sign-in page where the sign-in was too long ago, and back")
    func endingOnPages() async throws {
        try await TestServer.withPasswords(settings: Self.strict) { server in
            let app = try await server.authenticator("ann")
            _ = try await Self.cookie("ann", app, server)
            server.clock.advance(seconds: 30)
            let browser = Browser(server)
            _ = try await browser.signIn(try await browser.open("/app/sign-in").expect(200), "ann", app).expect(200)
            let actions = { (page: Answer) in
                HTMLForm.all(in: page.text).map(\.action).filter { $0.hasPrefix("/app/sessions/") }
            }
            let page = try await browser.open("/app/devices").expect(200)
            let action = try #require(actions(page).first)
            server.clock.advance(seconds: 300)
            let asked = try await browser.send(page, to: action).expect(200)
            #expect(browser.history.last == "/app/sign-in?to=%2Fapp%2Fdevices")
            let back = try await browser.signIn(asked, "ann", app).expect(200)
            #expect(browser.history.last == "/app/devices")
            let rest = try await browser.send(back, to: try #require(actions(back).first)).expect(200)
            #expect(actions(rest).count < actions(back).count)
        }
    }

    @Test("A password needs a second factor beside it, whose code is taken in its own 30 seconds only")
    func secondFactors() async throws {
        try await TestServer.withPasswords(settings: Self.strict) { server in
            let refused = try await server.signIn("ann").expect(403)
            #expect(refused.json["code"] == "second-factor-missing")
            let app = try await server.authenticator("ann")
            #expect(app.algorithm == .sha256 && app.secret.utf8.count == 52)
            for offset in [-1, 1] where app.code(server, offset) != app.code(server) {
                #expect(try await server.signIn("ann", code: app.code(server, offset)).status == 401)
            }
            try await server.signIn("ann", code: app.code(server)).expect(201)
        }
    }

    @Test("A service key lasts 90 days, and says so")
    func keys() async throws {
        try await TestServer.run(settings: Self.strict) { server in
            let made = try await server.call(.post, "/v1/keys", ["name": "next"]).expect(201)
            #expect(made.json["expiresAt"] == "2026-05-31T12:00:00Z")
            server.clock.advance(seconds: 90 * 86_400 - 1)
            try await server.call(.get, "/v1/keys").expect(200)
            server.clock.advance(seconds: 1)
            #expect(try await server.call(.get, "/v1/keys").expect(401).json["code"] == "credential-unknown")
        }
        try await TestServer.run { server in
            let made = try await server.call(.post, "/v1/keys", ["name": "next"]).expect(201)
            #expect(made.json["expiresAt"] == .null)
            server.clock.advance(seconds: 10 * 365 * 86_400)
            try await server.call(.get, "/v1/keys").expect(200)
        }
    }

    @Test("A browser keeps nothing, and feeds have the fields that calendar apps know")
    func caches() async throws {
        try await TestServer.run(settings: Self.strict) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            for path in ["/v1/circles/c", "/app/sign-in"] {
                #expect(try await server.call(.get, path).expect(200).headers[.cacheControl] == "no-store", "\(path)")
            }
            #expect(try await server.raw(.get, feed.path).expect(200).headers[.cacheControl] == "private, no-cache")
        }
    }

    @Test("Messages go to https, and over http no farther than this machine")
    func webhooks() async throws {
        try await TestServer.run(settings: Self.strict) { server in
            let refused = try await server.call(.post, "/v1/webhooks", ["url": "http://hook.example/x"]).expect(422)
            #expect(refused.pointers == ["/url"])
            try await server.call(.post, "/v1/webhooks", ["url": "http://127.0.0.1:9/x"]).expect(201)
            let made = try await server.call(.post, "/v1/webhooks", ["url": "https://hook.example/x"]).expect(201)
            let path = "/v1/webhooks/\(try #require(made.json["id"]?.string))"
            try await server.call(.patch, path, ["url": "http://hook.example/x"]).expect(422)
        }
    }
}
