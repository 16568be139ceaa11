// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Names of cookies")
struct CookieNameTests {
    /// Signs in with a link and returns the cookie that the browser was given, with what opens the pages behind it.
    private static func cookie(_ server: TestServer, for user: String?) async throws -> (name: String, token: String) {
        let links = server.services.signInLinks
        let (_, secret) =
            if let user {
                try await links.create(for: user, to: .home, lasting: 300, for: .operatorAtHand)
            } else {
                try await links.createForOperator(lasting: 300, for: .operatorAtHand)
            }
        let (browser, path) = (Browser(server), "/app/sign-in/links/\(secret.reveal())")
        let given = try await browser.send(try await browser.open(path), to: path, follows: false).expect(303)
        let field = try #require(given.headers[values: .setCookie].first { $0.contains("kalends_") })
        let pair = try #require(field.split(separator: ";").first).split(separator: "=", maxSplits: 1)
        return (String(pair[0]), String(pair[1]))
    }

    private static func status(_ server: TestServer, _ path: String, _ cookie: String) async throws -> Int {
        try await server.raw(.get, path, headers: [.cookie: cookie]).status
    }

    @Test(
        "Over https a session counts only under a name that no neighbouring host can set, and tmr_session by a setting",
        arguments: [(false, false), (false, true), (true, false)])
    func planted(isStrict: Bool, takesSpecified: Bool) async throws {
        var settings = ServerSettings()
        (settings.isStrict, settings.tmrSessionCookie) = (isStrict, takesSpecified)
        try await TestServer.run(settings: settings, publicURL: "https://calendar.example") { server in
            try await server.makeCircle()
            let own = try await Self.cookie(server, for: "ann")
            #expect(own.name == "__Host-kalends_session")
            let names = [own.name: true, "kalends_session": false, "tmr_session": takesSpecified]
            for (name, opens) in names {
                let cookie = "\(name)=\(own.token)"
                #expect(try await Self.status(server, "/v1/circles/c", cookie) == (opens ? 200 : 401), "\(name)")
                #expect(try await Self.status(server, "/app/circles/c", cookie) == (opens ? 200 : 303), "\(name)")
            }
            try await server.bearing(own.token, .get, "/v1/circles/c").expect(200)
            // A planted cookie takes nothing from the one that the host set.
            let both = "kalends_session=\(Secret.make(.session).reveal()); \(own.name)=\(own.token)"
            #expect(try await Self.status(server, "/v1/circles/c", both) == 200)
            let operators = try await Self.cookie(server, for: nil)
            #expect(operators.name == "__Host-kalends_operator")
            for (name, status) in [operators.name: 200, "kalends_operator": 403] {
                #expect(try await Self.status(server, "/app/admin", "\(name)=\(operators.token)") == status)
            }
        }
    }

    @Test("A sign-out removes the session under each name", arguments: ["http", "https"])
    func cleared(scheme: String) async throws {
        let isSecure = scheme == "https"
        try await TestServer.run(publicURL: "\(scheme)://calendar.example") { server in
            try await server.makeCircle()
            let plain = ["kalends_session", "tmr_session"]
            for isOperator in [false, true] {
                let own = try await Self.cookie(server, for: isOperator ? nil : "ann")
                let browser = Browser(server, cookies: [own.name: own.token])
                let (page, action) =
                    isOperator ? ("/app/admin", "/app/admin/sign-out") : ("/app/account", "/app/sign-out")
                let out = try await browser.send(try await browser.open(page), to: action, follows: false).expect(303)
                let names = isOperator ? ["kalends_operator"] : plain
                #expect(
                    out.headers[values: .setCookie].map { String($0.prefix { $0 != "=" }) }
                        == (isSecure ? ["__Host-\(names[0])"] : []) + names)
                #expect(out.headers[values: .setCookie].allSatisfy { $0.contains("=; Path=/; Max-Age=0;") })
            }
        }
    }
}
