// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What is refused of a sign-in at a provider")
struct ProviderRefusalTests {
    /// What is wrong with the provider's answers, and why nobody is signed in then.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int
        let reason: String
        let change: @Sendable (inout OpenIDServer.State) -> Void

        init(
            _ name: String, _ status: Int, _ reason: String,
            _ change: @escaping @Sendable (inout OpenIDServer.State) -> Void
        ) { (testDescription, self.status, self.reason, self.change) = (name, status, reason, change) }

        static func claim(_ name: String, _ value: JSONValue, _ reason: String) -> Wrong {
            Wrong("\(name) is \((try? value.text()) ?? "")", 502, reason) { $0.claims[ByteString(name)] = value }
        }
    }

    private static let now = TestClock().now / 1000
    private static let otherIssuer = "The ID token comes from another issuer."
    private static let otherAudience = "The ID token is for another client."
    private static let otherParty = "The ID token was made for another client."
    private static let noEnd = "The ID token has expired, or has no expiry."
    private static let otherTime = "The ID token was made before the sign-in began, or in the future."
    private static let otherSignIn = "The ID token belongs to another sign-in."
    private static let nobody = "The ID token names nobody."
    private static let noToken = "The provider gave no ID token that is signed with RS256, PS256 or ES256."

    static let wrongAnswers: [Wrong] = [
        .claim("iss", "https://evil.example", otherIssuer), .claim("iss", .null, otherIssuer),
        .claim("aud", "another", otherAudience), .claim("aud", ["another"], otherAudience),
        .claim("aud", .null, otherAudience), .claim("aud", ["kalends", "another"], otherParty),
        .claim("azp", "another", otherParty),
        .claim("exp", .integer(now), noEnd), .claim("exp", .null, noEnd), .claim("exp", "soon", noEnd),
        .claim("iat", .null, otherTime), .claim("iat", .integer(now + 31), otherTime),
        .claim("iat", .integer(now - 301), otherTime),
        .claim("nbf", .integer(now + 31), "The ID token is not valid yet."),
        .claim("nonce", .null, otherSignIn), .claim("nonce", "of-another-sign-in", otherSignIn),
        .claim("at_hash", "of-another-token", "The ID token belongs to another access token."),
        .claim("sub", .null, nobody), .claim("sub", "", nobody), .claim("sub", 7, nobody),
        .claim("sub", .string(String(repeating: "s", count: 256)), nobody),
        Wrong("alg none", 502, noToken) { $0.signing = .none },
        Wrong("HS256 with the client secret", 502, noToken) { $0.signing = .secret(OpenIDServer.clientSecret) },
        Wrong("HS256 with a published key", 502, noToken) {
            $0.signing = .secret("secret-that-everybody-can-read")
        },
        Wrong("another key", 502, "The ID token is signed with none of the provider's keys.") {
            $0.signing = .unknownKey
        },
        Wrong("PS256 with a key for RS256", 502, "The ID token is signed with none of the provider's keys.") {
            $0.signing = .pss
        },
        Wrong("no ID token", 502, noToken) { $0.givesIDToken = false },
        Wrong("invalid_client", 502, "The provider does not accept oidcClientID and oidcClientSecret.") {
            $0.refusal = (401, "invalid_client")
        },
        Wrong("invalid_grant", 400, "The provider no longer accepts the code.") {
            $0.refusal = (400, "invalid_grant")
        },
        Wrong("a failing token endpoint", 503, "The provider does not redeem codes at present.") {
            $0.refusal = (500, "server_error")
        },
        Wrong("userinfo of another person", 502, "The provider's answer is about another person.") {
            $0.claims["sub"] = "s-new"
            $0.userInfo = ["sub": "s-other", "email": "new@example.org", "email_verified": true]
        },
        Wrong("an address that is not verified", 403, "The account's e-mail address is not verified.") {
            $0.claims = ["sub": "s-new", "email": "new@example.org", "email_verified": "true"]
        },
        Wrong("no claim for the user", 403, "The account's e-mail address is not verified.") {
            $0.claims = ["sub": "s-new"]
            $0.userInfo = ["sub": "s-new"]
        },
        Wrong("a name that is no id", 403, "The claim that oidcUserClaim names is missing, or is not a valid id.") {
            $0.claims = ["sub": "s-new", "email": "a b@example.org", "email_verified": true]
        },
    ]

    @Test(
        "An answer with one thing wrong signs nobody in, and shows nothing of the provider's", arguments: wrongAnswers)
    func answers(wrong: Wrong) async throws {
        try await OpenIDServer.run {
            ($0.userClaim, $0.accounts) = ("email", .anyone)
        } _: { server, provider in
            provider.change(wrong.change)
            let browser = Browser(server)
            let answer = try await browser.signIn(at: provider).expect(wrong.status)
            #expect(!browser.hasSession && answer.text.contains("<h1>The sign-in did not work</h1>"))
            #expect(server.log.text.contains(wrong.reason), "\(server.log.text.suffix(600))")
            #expect(!answer.text.contains("hostile") && !server.log.text.contains("hostile"))
            let accounts = try await server.services.store.read { transaction in
                try ["s-ann", "s-new"].compactMap { try transaction.joinedAccount($0, at: provider.issuer) }
            }
            #expect(accounts.isEmpty)
        }
    }

    static let wrongDocuments: [Wrong] = [
        Wrong("another issuer", 502, "The discovery document names an issuer other than oidcIssuer.") {
            $0.document = ["issuer": "https://evil.example"]
        },
        Wrong("no issuer", 502, "The discovery document names an issuer other than oidcIssuer.") {
            $0.document = ["issuer": .null]
        },
        Wrong("no keys", 502, "The discovery document lacks an address, or has one without https.") {
            $0.document = ["jwks_uri": .null]
        },
        Wrong("a token endpoint without TLS", 502, "The discovery document lacks an address, or has one without https.")
        {
            $0.document = ["token_endpoint": "http://login.example/token"]
        },
        Wrong("a script as sign-in page", 502, "The discovery document lacks an address, or has one without https.") {
            $0.document = ["authorization_endpoint": "javascript:alert(1)"]
        },
        Wrong("no codes", 502, "The provider does not support the response type code.") {
            $0.document = ["response_types_supported": ["id_token"]]
        },
        Wrong("only HS256", 502, "The provider signs ID tokens with none of RS256, PS256 and ES256.") {
            $0.document = ["id_token_signing_alg_values_supported": ["HS256"]]
        },
    ]

    @Test("With a document that cannot be relied on no browser is sent to the provider", arguments: wrongDocuments)
    func documents(wrong: Wrong) async throws {
        try await OpenIDServer.run { server, provider in
            provider.change(wrong.change)
            let browser = Browser(server)
            let page = try await browser.open("/app/sign-in").expect(200)
            #expect(provider.read { $0.requests["document"] } == nil, "It is fetched when it is needed.")
            let answer = try await browser.send(page, to: "/app/sign-in/provider", follows: false)
            try answer.expect(wrong.status)
            #expect(server.log.text.contains(wrong.reason))
            // What is wrong is asked about once a minute, however many press the button.
            for _ in 0..<5 { _ = try await browser.send(page, to: "/app/sign-in/provider", follows: false) }
            #expect(provider.read { $0.requests["document"] } == 1)
            provider.change { $0.document = [:] }
            server.clock.advance(seconds: 61)
            _ = try await browser.leave()
        }
    }

    @Test("A private host that the document names besides the issuer's is asked for nothing")
    func privateHosts() async throws {
        try await OpenIDServer.run { server, provider in
            provider.change { $0.document = ["token_endpoint": "https://127.0.0.1:1/token"] }
            let browser = Browser(server)
            try await browser.signIn(at: provider).expect(503)
            #expect(!browser.hasSession && provider.read { $0.requests["token"] } == nil)
        }
    }

    /// What is wrong with the way back, as a change of its path.
    static let wrongReturns: [(name: String, status: Int, change: @Sendable (String) -> String)] = [
        ("another state", 400, { $0.replacing("&state=", with: "&state=x") }),
        ("no state", 400, { $0.replacing("&state=", with: "&other=") }),
        ("two states", 400, { $0 + "&state=x" }),
        (
            "another issuer", 502,
            { $0.prefix { $0 != "&" } + "&state=" + state($0) + "&iss=https%3A%2F%2Fevil.example" }
        ),
        ("two issuers", 502, { $0 + "&iss=https%3A%2F%2Fevil.example" }),
        ("no issuer, which was promised", 502, { $0.replacing("&iss=", with: "&other=") }),
        ("no code", 502, { $0.replacing("code=", with: "other=") }),
        ("two codes", 502, { $0 + "&code=x" }),
        ("a refusal", 403, { $0.replacing("?code=", with: "?error=access_denied&other=") }),
        (
            "a hostile error", 502,
            { $0.replacing("?code=", with: "?error=%3Cb%3Ehostile&error_description=%3Cb%3Ehostile&other=") }
        ),
        ("a code beside an error", 502, { $0 + "&error=server_error" }),
    ]

    private static func state(_ path: String) -> String {
        path.components(separatedBy: "&state=")[1].components(separatedBy: "&")[0]
    }

    @Test("A way back with one thing wrong signs nobody in, and nothing is asked of the provider")
    func returns() async throws {
        try await OpenIDServer.run {
            $0.accounts = .anyone
        } _: { server, provider in
            for wrong in Self.wrongReturns {
                let browser = Browser(server)
                let back = try provider.consent(try await browser.leave())
                let answer = try await browser.open(wrong.change(back), follows: false)
                #expect(answer.status == wrong.status, "\(wrong.name)")
                #expect(!browser.hasSession && !answer.text.contains("hostile"), "\(wrong.name)")
                #expect(!server.log.text.contains("hostile"))
                // What the browser kept is gone, so that the true way back comes too late.
                try await browser.open(back, follows: false).expect(400)
            }
            #expect(provider.read { $0.requests["token"] } == nil)
        }
    }

    @Test("Only the browser that began a sign-in ends it, once, and within ten minutes")
    func browsers() async throws {
        try await OpenIDServer.run {
            $0.accounts = .anyone
        } _: { server, provider in
            let (browser, other, slow) = (Browser(server), Browser(server), Browser(server))
            provider.change { ($0.takesCodesTwice, $0.claims) = (true, ["sub": "new"]) }
            let first = try await browser.send(
                try await browser.open("/app/sign-in"), to: "/app/sign-in/provider", follows: false)
            let cookie = try #require(first.headers[values: .setCookie].first { $0.hasPrefix("kalends_sign_in=") })
            let back = try provider.consent(first.onward)
            // Whoever lures somebody to an address of their own signs nobody in as themselves.
            try await other.open(back, follows: false).expect(400)
            _ = try await other.leave()
            try await other.open(back, follows: false).expect(400)
            #expect(!other.hasSession)
            try await browser.open(back, follows: false).expect(303)
            #expect(browser.hasSession)
            // A provider that redeems a code twice does not help whoever has the cookie, too.
            let pair = String(cookie.prefix { $0 != ";" }).split(separator: "=", maxSplits: 1)
            let again = Browser(server, cookies: [String(pair[0]): String(pair[1])])
            try await again.open(back, follows: false).expect(400)
            #expect(!again.hasSession && server.log.text.contains("The sign-in was used before."))
            let late = try provider.consent(try await slow.leave())
            server.clock.advance(seconds: 600)
            try await slow.open(late, follows: false).expect(400)
        }
    }

    @Test("Another server ends a sign-in, whose clock is up to a minute behind")
    func clocks() throws {
        let key = try SealingKey(text: String(repeating: "A", count: 43), source: "")
        let now = 1_800_000_000_000
        let sealed = try ProviderAttempt(.session, to: "/app", session: nil, now: now).sealed(with: key)
        for (time, counts) in [(-60_001, false), (-60_000, true), (0, true), (599_999, true), (600_000, false)] {
            #expect((ProviderAttempt(sealed: sealed, with: key, now: now + time) != nil) == counts, "\(time)")
        }
    }

    @Test("A form that is not the server's own begins no sign-in, and none leads to another site")
    func foreign() async throws {
        try await OpenIDServer.run {
            $0.accounts = .anyone
        } _: { server, provider in
            let browser = Browser(server)
            let page = try await browser.open("/app/sign-in").expect(200)
            let token = try #require(HTMLForm.all(in: page.text).first { $0.action == "/app/sign-in/provider" }?.token)
            let path = "/app/sign-in/provider"
            try await browser.post(path, [("to", "/app")]).expect(403)
            for site in ["cross-site", "same-site"] {
                try await browser.post(
                    path, [("token", token)], headers: HTTPFields(named: ["Sec-Fetch-Site": site])
                ).expect(403)
            }
            provider.change { $0.claims = ["sub": "new"] }
            for to in ["https://evil.example/", "//evil.example", "/app\\evil", "/app/../v1", "/app/sign-out"] {
                let other = Browser(server)
                let page = try await other.open("/app/sign-in").expect(200)
                let away = try await other.send(page, to: path, ["to": to], follows: false).expect(200)
                let back = try await other.open(
                    try provider.consent(away.onward), follows: false
                ).expect(303)
                #expect(back.headers[.location] == "/app" && other.hasSession)
            }
        }
    }

    @Test("Over https the browser keeps a sign-in under a name that no neighbouring host can set")
    func cookie() async throws {
        try await OpenIDServer.run(publicURL: "https://calendar.example") { server, provider in
            let browser = Browser(server)
            let away = try await browser.send(
                try await browser.open("/app/sign-in"), to: "/app/sign-in/provider", follows: false
            ).expect(200)
            let field = try #require(away.headers[values: .setCookie].first { $0.contains("kalends_sign_in") })
            #expect(field.hasPrefix("__Host-kalends_sign_in="))
            #expect(field.hasSuffix("; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure"))
            #expect(away.headers[.referrerPolicy] == "same-origin" && away.headers[.cacheControl] == "no-store")
            let address = try away.onward
            #expect(address.contains("redirect_uri=https%3A%2F%2Fcalendar.example%2Fapp%2Fsign-in%2Freturn"))
            #expect(!address.contains("cret"))
        }
    }

    @Test("A network that ends sign-ins without end asks the provider thirty times")
    func pace() async throws {
        try await OpenIDServer.run { server, provider in
            for _ in 0..<35 {
                let browser = Browser(server)
                _ = try await browser.signIn(at: provider)
            }
            #expect(provider.read { $0.requests["token"] } == 30)
        }
    }
}
