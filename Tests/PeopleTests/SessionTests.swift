// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Sessions")
struct SessionTests {
    @Test("A user who signs in again in the same browser has one session; those of other users and browsers stay")
    func replaced() async throws {
        try await TestServer.withPasswords { server in
            let (first, elsewhere) = (try await server.session("ann"), try await server.session("ann"))
            let bens = try await server.session("ben")
            let cookies = "kalends_session=\(first)"
            let second = try await server.signIn("ann", headers: [.cookie: cookies]).expect(201)
            try await server.bearing(first, .get, "/v1/sessions").expect(401)
            let token = try #require(second.json["token"]?.string)
            let list = try await server.bearing(token, .get, "/v1/sessions").expect(200)
            #expect(list.json["items"]?.array?.count == 2)
            try await server.bearing(elsewhere, .get, "/v1/sessions").expect(200)
            // A wrong password ends nothing, and nor does somebody else's sign-in.
            try await server.signIn("ann", "a wrong one", headers: [.cookie: "kalends_session=\(token)"]).expect(401)
            try await server.signIn("ben", headers: [.cookie: "kalends_session=\(token)"]).expect(201)
            try await server.bearing(token, .get, "/v1/sessions").expect(200)
            try await server.bearing(bens, .get, "/v1/sessions").expect(200)
            let out = try await server.bearing(token, .delete, "/v1/sessions/current").expect(204)
            #expect(out.headers[.clearSiteData] == "\"cache\"")
            let trail = try await server.call(.get, "/v1/audit?limit=100").expect(200)
            #expect(trail.text.components(separatedBy: "session.ended").count == 3)
        }
    }

    @Test("A sign-in gives a token that is a user's credential, as a cookie of three names and as Bearer")
    func signIn() async throws {
        try await TestServer.withPasswords { server in
            let answer = try await server.signIn("ann").expect(201)
            let token = try #require(answer.json["token"]?.string)
            #expect(token.hasPrefix("kal_ss_"))
            #expect(answer.json["userId"] == "ann")
            #expect(answer.json["expiresAt"] == "2026-04-01T12:00:00Z")
            #expect(
                answer.headers[.setCookie]
                    == "kalends_session=\(token); Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax")
            #expect(answer.headers[.cacheControl] == "no-store")
            for name in ["__Host-kalends_session", "kalends_session", "tmr_session"] {
                for text in [
                    "\(name)=\(token)", "theme=dark; \(name)=\(token); x", "tmr_session=theirs;\(name)=\(token)",
                ] {
                    try await server.raw(.get, "/v1/circles/c", headers: [.cookie: text]).expect(200)
                }
            }
            for text in ["session=\(token)", "kalends_session=x\(token)", "kalends_session=", "kalends_session"] {
                try await server.raw(.get, "/v1/circles/c", headers: [.cookie: text]).expect(401)
            }
            try await server.bearing(token, .get, "/v1/circles/c").expect(200)
            try await server.bearing(token, .get, "/v1/keys").expect(403)
            try await server.raw(
                .get, "/v1/circles/c", headers: [.authorization: "Bearer \(token)", .kalendsUser: "ben"]
            ).expect(403)
            // A credential that is wrong is wrong, whatever the cookie says.
            try await server.raw(
                .get, "/v1/circles/c", headers: [.authorization: "Bearer x", .cookie: "kalends_session=\(token)"]
            ).expect(401)
        }
    }

    @Test("Over https the cookie is the host's own and never sent in clear")
    func secureCookie() async throws {
        try await TestServer.withPasswords(publicURL: "https://calendar.example") { server in
            let answer = try await server.signIn("ann").expect(201)
            let token = try #require(answer.json["token"]?.string)
            let attributes = "Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure"
            #expect(answer.headers[.setCookie] == "__Host-kalends_session=\(token); \(attributes)")
            let out = try await server.bearing(token, .delete, "/v1/sessions/current").expect(204)
            #expect(
                out.headers[values: .setCookie]
                    == ["__Host-kalends_session", "kalends_session", "tmr_session"].map {
                        "\($0)=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"
                    })
            try await server.bearing(token, .get, "/v1/circles").expect(401)
        }
    }

    @Test("A cookie changes nothing for a page of another origin; a token in a header does")
    func otherOrigins() async throws {
        for publicURL in ["https://calendar.example", "https://calendar.example:8443/base", "http://calendar.example"] {
            try await TestServer.withPasswords(publicURL: publicURL) { server in
                let own = SameOrigin.origin(of: publicURL)
                let token = try await server.session("ann")
                let name = publicURL.hasPrefix("https:") ? "__Host-kalends_session" : "kalends_session"
                let cookie: HTTPFields = [.cookie: "\(name)=\(token)"]
                func put(_ more: HTTPFields) async throws -> Answer {
                    var headers = cookie
                    for field in more { headers.append(field) }
                    let body = ByteBuffer(string: #"{"displayName": "Mom"}"#)
                    return try await server.raw(
                        .put, "/v1/circles/c/patients/mom", headers: headers, body: body)
                }
                try await put([.origin: own]).expect(200)
                try await put([.secFetchSite: "same-origin"]).expect(200)
                try await put([.secFetchSite: "none"]).expect(200)
                for headers in [
                    [:], [.origin: "https://evil.example"], [.origin: "null"], [.origin: own + ".evil.example"],
                    [.origin: own + ":1"], [.origin: ""], [.secFetchSite: "cross-site"], [.secFetchSite: "same-site"],
                    [.secFetchSite: "cross-site", .origin: own], [.referer: own + "/"],
                ] as [HTTPFields] {
                    try await put(headers).expect(403)
                }
                for method in [HTTPRequest.Method.post, .patch, .delete] {
                    try await server.raw(method, "/v1/feeds/x\(method == .post ? "/revoke" : "")", headers: cookie)
                        .expect(403)
                }
                try await server.raw(.get, "/v1/circles/c", headers: cookie).expect(200)
                try await server.bearing(token, .delete, "/v1/circles/c/patients/dad").expect(204)
                let elsewhere: HTTPFields = [.origin: "https://evil.example"]
                try await server.signIn("ann", headers: elsewhere).expect(403)
                try await server.signIn("ann", headers: [.origin: own]).expect(201)
            }
        }
    }

    @Test("A wrong password and an unknown user are the same in answer")
    func enumeration() async throws {
        try await TestServer.withPasswords { server in
            let wrong = try await server.signIn("ann", "not the password").expect(401)
            for (user, password) in [
                ("nobody", "not the password"), ("vic", "ann's password"), ("ann", ""), ("ben", "ann's password"),
                ("ann", "ann's passwor"), ("ann", "ann's password "), ("ann", String(repeating: "x", count: 5000)),
            ] {
                let other = try await server.signIn(user, password)
                #expect(other.status == 401 && other.body == wrong.body, "\(user)")
                #expect(other.headers[.setCookie] == nil && other.headers == wrong.headers)
            }
            #expect(wrong.headers[.wwwAuthenticate] == "Bearer")
            let faults = try await server.raw(.post, "/v1/sessions", body: ByteBuffer(string: #"{"userId": "a b"}"#))
            #expect(try faults.expect(422).pointers == ["/userId", "/password"])
        }
    }

    @Test("Guesses are slowed down for a stated time, and a right password clears the count")
    func throttled() async throws {
        var settings = ServerSettings()
        settings.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
        try await TestServer.withPasswords(settings: settings) { server in
            for _ in 0..<4 { try await server.signIn("ann", "a wrong one").expect(401) }
            try await server.signIn("ann").expect(201)
            for _ in 0..<5 { try await server.signIn("ann", "a wrong one").expect(401) }
            // The right one waits too: whether it is right must not show.
            for password in [nil, "a wrong one"] {
                let early = try await server.signIn("ann", password).expect(429)
                #expect(early.headers[.retryAfter] == "30")
            }
            try await server.signIn("ben").expect(201)
            server.clock.advance(seconds: 30)
            try await server.signIn("ann", "a wrong one").expect(401)
            #expect(try await server.signIn("ann").expect(429).headers[.retryAfter] == "60")
            server.clock.advance(seconds: 60)
            try await server.signIn("ann").expect(201)
            try await server.signIn("ann", "a wrong one").expect(401)
            try await server.signIn("ann").expect(201)
            // A user who is not there is slowed down alike.
            for _ in 0..<5 { try await server.signIn("nobody", "a wrong one").expect(401) }
            try await server.signIn("nobody", "a wrong one").expect(429)
        }
    }

    @Test("Simultaneous guesses count one by one")
    func throttledAtOnce() async throws {
        try await TestServer.withPasswords { server in
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<30 { group.addTask { try await server.signIn("ann", "a wrong one").status } }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses == [401: 5, 429: 25])
        }
    }

    @Test("A session ends after thirty days, or after seven without a request")
    func ends() async throws {
        try await TestServer.withPasswords { server in
            let (used, unused) = (try await server.session("ann"), try await server.session("ann"))
            for _ in 0..<4 {
                server.clock.advance(seconds: 7 * 86_400 - 60)
                try await server.bearing(used, .get, "/v1/circles/c").expect(200)
                // That it was used is noted after the answer.
                await server.services.uses.close()
            }
            try await server.bearing(unused, .get, "/v1/circles/c").expect(401)
            server.clock.advance(seconds: 2 * 86_400 + 4 * 60 - 1)
            try await server.bearing(used, .get, "/v1/circles/c").expect(200)
            server.clock.advance(seconds: 1)
            try await server.bearing(used, .get, "/v1/circles/c").expect(401)
            let new = try await server.session("ann")
            #expect(try await server.bearing(new, .get, "/v1/sessions").json["items"]?.array?.count == 1)
            server.clock.advance(seconds: 7 * 86_400)
            try await server.bearing(new, .get, "/v1/circles/c").expect(401)
            let now = server.clock.now
            try await server.services.store.record { try $0.pruneSessions(now: now) }
            let left = try await server.services.store.read { try $0.rows("SELECT id FROM sessions", []).count }
            #expect(left == 0)
        }
    }

    @Test("A user sees and ends only their own sessions, page by page and without a secret")
    func lists() async throws {
        try await TestServer.withPasswords { server in
            let browser: HTTPFields = [.userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"]
            let token = try #require(try await server.signIn("ann", headers: browser).json["token"]?.string)
            let other = try await server.session("ann")
            let bens = try await server.session("ben")
            let all = try await server.bearing(token, .get, "/v1/sessions").expect(200)
            let items = try #require(all.json["items"]?.array)
            #expect(items.count == 2)
            let own = try #require(items.first { $0["current"] == true })
            #expect(own["client"] == "Browser" && own["createdAt"] == "2026-03-02T12:00:00Z")
            #expect(own.object?.keys.sorted() == ["client", "createdAt", "current", "expiresAt", "id", "lastUsedAt"])
            for secret in [token, other] { #expect(!all.text.contains(secret.dropFirst(7))) }
            let first = try await server.bearing(token, .get, "/v1/sessions?limit=1").json
            let cursor = try #require(first["nextCursor"]?.string)
            let second = try await server.bearing(token, .get, "/v1/sessions?limit=1&cursor=\(cursor)").json
            #expect((first["items"]?.array ?? []) + (second["items"]?.array ?? []) == items)
            let id = try #require(items.first { $0["current"] == false }?["id"]?.string)
            try await server.bearing(bens, .delete, "/v1/sessions/\(id)").expect(404)
            try await server.bearing(token, .delete, "/v1/sessions/\(id)").expect(204)
            try await server.bearing(other, .get, "/v1/sessions").expect(401)
            try await server.bearing(token, .delete, "/v1/sessions/\(id)").expect(404)
            try await server.call(.get, "/v1/sessions").expect(403)
            #expect(try await server.call(.get, "/v1/sessions", as: "ann").json["items"]?.array?.count == 1)
            try await server.bearing(token, .delete, "/v1/sessions/current").expect(204)
            try await server.bearing(token, .get, "/v1/sessions").expect(401)
            try await server.call(.delete, "/v1/sessions/current", as: "ben").expect(401)
        }
    }

    @Test("A hundred sessions are the most, and the least recently used one is removed")
    func limited() async throws {
        try await TestServer.withPasswords { server in
            let first = try await server.session("ann")
            server.clock.advance(seconds: 120)
            let second = try await server.session("ann")
            server.clock.advance(seconds: 120)
            try await server.bearing(first, .get, "/v1/circles").expect(200)
            for _ in 0..<99 { _ = try await server.session("ann") }
            try await server.bearing(second, .get, "/v1/circles").expect(401)
            try await server.bearing(first, .get, "/v1/circles").expect(200)
        }
    }

    @Test("Only a caller with the session's token gets it back")
    func token() async throws {
        try await TestServer.withPasswords { server in
            let token = try await server.session("ann")
            let expected: JSONValue = ["token": .string(token), "expiresAt": 1_775_044_800_000]
            let byCookie = try await server.raw(.get, "/auth/token", headers: [.cookie: "tmr_session=\(token)"])
            #expect(try byCookie.expect(200).json == expected)
            #expect(byCookie.headers[.cacheControl] == "no-store")
            #expect(try await server.bearing(token, .get, "/auth/token").expect(200).json == expected)
            try await server.raw(.get, "/auth/token").expect(401)
            try await server.call(.get, "/auth/token").expect(401)
            try await server.call(.get, "/auth/token", as: "ann").expect(401)
            try await server.bearing(token, .delete, "/v1/sessions/current").expect(204)
            try await server.bearing(token, .get, "/auth/token").expect(401)
        }
    }
}
