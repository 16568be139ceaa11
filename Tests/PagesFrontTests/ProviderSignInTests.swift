// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Sign-in at a provider")
struct ProviderSignInTests {
    private static func account(
        _ subject: String, _ server: TestServer, _ provider: OpenIDServer
    ) async throws -> String? {
        let issuer = provider.issuer
        return try await server.services.store.read { try $0.joinedAccount(subject, at: issuer)?.userID }
    }

    private static func audited(_ server: TestServer, _ action: String) async throws -> [JSONValue] {
        let entries = try await server.call(.get, "/v1/audit").expect(200).json["items"]?.array ?? []
        return entries.filter { $0["action"] == .string(action) }
    }

    @Test(
        "The button leads to the provider and back to the page, with a session like any other",
        arguments: [OpenIDServer.Signing.rsa, .pss, .elliptic])
    func there(signing: OpenIDServer.Signing) async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            provider.change {
                ($0.signing, $0.claims) = (signing, ["sub": "vic"])
                if case .pss = signing { $0.keyAlgorithm = "PS256" }
            }
            let browser = Browser(server)
            let page = try await browser.open("/app/circles/c?view=week").expect(200)
            #expect(page.text.contains("Sign in at Example &amp; Co"))
            #expect(page.headers[.contentSecurityPolicy]?.contains("form-action 'self';") == true)
            let away = try await browser.send(page, to: "/app/sign-in/provider", follows: false).expect(200)
            let back = try await browser.open(
                try provider.consent(away.onward), follows: false
            ).expect(303)
            #expect(back.headers[.location] == "/app/circles/c?view=week" && browser.hasSession)
            try await browser.open("/app/circles/c").expect(200)
            let sessions = try await server.call(.get, "/v1/sessions", as: "vic").expect(200).json["items"]?.array
            #expect(sessions?.count == 1)
            let made = try #require(try await Self.audited(server, "session.created").first)
            #expect(made["actor"] == "user:vic" && made["detail"]?["means"] == "provider")
            #expect(made["subject"] == sessions?[0]["id"])
            let joined = try #require(try await Self.audited(server, "providerAccount.joined").first)
            #expect(joined["subject"] == "vic" && joined["detail"]?["account"] == "vic")
            // The second time, nothing is joined, and the name in the claims does not count.
            provider.change { $0.claims = ["sub": "vic", "email": "ann@example.org"] }
            try await Browser(server).signIn(at: provider).expect(303)
            #expect(try await Self.audited(server, "providerAccount.joined").count == 1)
            let form = provider.read { $0.lastForm }
            let secret = OpenIDServer.clientSecret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(form["client_secret"] == nil && form["client_id"] == nil)
            #expect(
                provider.read(\.lastAuthorization)
                    == "Basic " + Data("kalends:\(secret)".utf8).base64EncodedString())
        }
    }

    @Test("A provider that takes the secret in the body only gets it there")
    func inBody() async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            provider.change {
                $0.claims = ["sub": "vic"]
                $0.document = ["token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"]]
            }
            try await Browser(server).signIn(at: provider).expect(303)
            #expect(provider.read { $0.lastForm["client_secret"] } == OpenIDServer.clientSecret)
            #expect(provider.read(\.lastAuthorization) == nil)
        }
    }

    /// Whom a setting lets in by the claim alone: Ann has a password, Vic is only a member, nobody knows Zoe.
    static let rules: [(OpenIDSettings.Accounts, user: String, status: Int)] = [
        (.joined, "ann", 403), (.joined, "vic", 403), (.joined, "zoe", 403),
        (.members, "ann", 403), (.members, "vic", 303), (.members, "zoe", 403),
        (.anyone, "ann", 403), (.anyone, "vic", 303), (.anyone, "zoe", 303),
    ]

    @Test("A claim alone takes over nobody who has a credential here, and lets others in as the setting says")
    func accounts() async throws {
        for accounts in OpenIDSettings.Accounts.allCases {
            try await OpenIDServer.run {
                ($0.accounts, $0.userClaim) = (accounts, "preferred_username")
            } _: { server, provider in
                for rule in Self.rules where rule.0 == accounts {
                    provider.change {
                        $0.claims = ["sub": .string("s-\(rule.user)"), "preferred_username": .string(rule.user)]
                    }
                    let browser = Browser(server)
                    let answer = try await browser.signIn(at: provider)
                    #expect(answer.status == rule.status, "\(accounts) \(rule.user)")
                    #expect(browser.hasSession == (rule.status == 303))
                    let owner = try await Self.account("s-\(rule.user)", server, provider)
                    #expect(owner == (rule.status == 303 ? rule.user : nil))
                    // Another account with the same name is another person's.
                    provider.change { $0.claims["sub"] = "s-other" }
                    let other = try await Browser(server).signIn(at: provider).expect(403)
                    if rule.status == 303 { #expect(other.text.contains("belongs to another user here")) }
                }
                _ = try await Browser.signedIn("ann", server)
            }
        }
    }

    @Test(
        "An e-mail address names a user only once it is verified, with a colon for the @; more is asked for if needed")
    func email() async throws {
        try await OpenIDServer.run {
            ($0.userClaim, $0.accounts) = ("email", .anyone)
        } _: { server, provider in
            provider.change { $0.userInfo = ["sub": "s-ann", "email": "zoe@example.org", "email_verified": true] }
            try await Browser(server).signIn(at: provider).expect(303)
            #expect(try await Self.account("s-ann", server, provider) == "zoe:example.org")
            #expect(provider.read { $0.requests["info"] } == 1)
        }
    }

    @Test("Whoever is signed in joins an account, signs in with it, and ends that again")
    func joining() async throws {
        try await OpenIDServer.run { server, provider in
            let (path, leave) = ("/app/account/provider", "/app/account/provider/leave")
            try await Browser(server).signIn(at: provider).expect(403)
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/account").expect(200)
            #expect(page.text.contains("Sign-in at Example &amp; Co"))
            let joined = try await ann.signIn(at: provider, from: "/app/account", by: path).expect(303)
            #expect(joined.headers[.location] == "/app/account?done=providerJoined")
            #expect(try await Self.account("s-ann", server, provider) == "ann")
            let other = Browser(server)
            try await other.signIn(at: provider).expect(303)
            #expect(
                try await other.open("/app/account").expect(200).text.contains("You sign in here with your account"))
            // Neither a second user for the account, nor a second account for the user.
            let ben = try await Browser.signedIn("ben", server)
            try await ben.signIn(at: provider, from: "/app/account", by: path).expect(403)
            // A session that began long ago joins nothing and ends nothing.
            server.clock.advance(seconds: 301)
            let late = try await ben.send(try await ben.open("/app/account"), to: path, follows: false).expect(303)
            #expect(late.headers[.location] == "/app/sign-in?to=%2Fapp%2Faccount")
            let kept = try await ann.send(try await ann.open("/app/account"), to: leave, follows: false).expect(303)
            #expect(kept.headers[.location] == "/app/sign-in?to=%2Fapp%2Faccount")
            #expect(try await Self.account("s-ann", server, provider) == "ann")
            let again = try await Browser.signedIn("ann", server)
            try await again.send(try await again.open("/app/account"), to: leave, follows: false).expect(303)
            #expect(try await Self.account("s-ann", server, provider) == nil)
            try await Browser(server).signIn(at: provider).expect(403)
            #expect(try await Self.audited(server, "providerAccount.left").first?["subject"] == "ann")
        }
    }

    @Test("Joining ends in the session in which it began, and in no other")
    func joiningElsewhere() async throws {
        try await OpenIDServer.run { server, provider in
            let ann = try await Browser.signedIn("ann", server)
            let back = try provider.consent(try await ann.leave("/app/account", by: "/app/account/provider"))
            let page = try await ann.open("/app/account")
            try await ann.send(page, to: "/app/sign-out", follows: false).expect(303)
            let sign = try await ann.open("/app/sign-in")
            try await ann.send(sign, to: "/app/sign-in", ["user": "ben", "password": "ben's password"]).expect(200)
            try await ann.open(back, follows: false).expect(400)
            #expect(try await Self.account("s-ann", server, provider) == nil)
        }
    }

    @Test("A new password ends the sign-in at a provider, as app passwords, and so does the end of the password")
    func passwords() async throws {
        try await OpenIDServer.run { server, provider in
            let changes: [JSONValue?] = [["password": "another password, 7"], nil]
            for body in changes {
                let ann = try await Browser.signedIn("ann", server)
                try await ann.signIn(at: provider, from: "/app/account", by: "/app/account/provider").expect(303)
                let path = "/v1/users/ann/password"
                if let body {
                    try await server.call(.put, path, body).expect(204)
                    #expect(try await Self.account("s-ann", server, provider) == nil)
                    try await server.call(.put, path, ["password": "ann's password"]).expect(204)
                } else {
                    try await server.call(.delete, path).expect(204)
                    #expect(try await Self.account("s-ann", server, provider) == nil)
                }
            }
            #expect(try await Self.audited(server, "providerAccount.left").count == 2)
        }
    }

    @Test("A member of the operators' group opens the operator's pages, and nobody else does")
    func operators() async throws {
        try await OpenIDServer.run {
            $0.operatorGroup = "ops"
        } _: { server, provider in
            let (path, page, now) = ("/app/sign-in/provider/operator", "/app/admin", server.clock.now / 1000)
            let cases: [(groups: JSONValue, info: JSONValue, opens: Bool)] = [
                (.null, .null, false), (["staff"], ["ops"], false), ("ops ", .null, false), (["ops", 7], .null, true),
                ("ops", .null, true), (.null, ["staff", "ops"], true), (["ops"], .null, true),
            ]
            for (groups, info, opens) in cases {
                provider.change {
                    $0.claims = ["sub": "s-op", "groups": groups, "auth_time": .integer(now - 299)]
                    $0.userInfo = ["sub": "s-op", "groups": info]
                }
                let browser = Browser(server)
                let there = try await browser.open(page).expect(403)
                let away = try await browser.send(there, to: path, follows: false).expect(200)
                let back = try await browser.open(
                    try provider.consent(away.onward), follows: false)
                #expect(back.status == (opens ? 200 : 403), "\(groups) \(info)")
                #expect(back.headers[HTTPField.Name("Refresh")!] == (opens ? "0;url=/app/admin" : nil))
                #expect(try await browser.open(page).status == (opens ? 200 : 403))
                #expect(!browser.hasSession)
            }
            // A provider that passes over `max_age` opens nothing, nor does one that does not say when.
            for proof: JSONValue in [.null, .integer(now - 331), .integer(now + 31), "now"] {
                provider.change { $0.claims["auth_time"] = proof }
                let browser = Browser(server)
                let address = try await browser.leave(page, by: path, status: 403)
                #expect(address.contains("&max_age=300"))
                let back = try await browser.open(try provider.consent(address), follows: false).expect(403)
                #expect(back.text.contains("did not ask you who you are"))
                try await browser.open(page).expect(403)
            }
            provider.change { $0.claims["auth_time"] = .integer(now - 329) }
            // Who is signed in as a user presses the same button.
            let ann = try await Browser.signedIn("ann", server)
            let away = try await ann.send(try await ann.open(page).expect(403), to: path, follows: false).expect(200)
            try await ann.open(try provider.consent(away.onward), follows: false).expect(200)
            try await ann.open(page).expect(200)
            let made = try await Self.audited(server, "operatorSession.created")
            #expect(made.count == 5 && made.allSatisfy { $0["detail"]?["account"] == "s-op" })
            // The account was nobody's then. Once the person who joined it is erased, nothing has it any more.
            provider.change { $0.claims["auth_time"] = .integer(now) }
            try await ann.signIn(at: provider, from: "/app/account", by: "/app/account/provider").expect(303)
            #expect(try await Self.account("s-op", server, provider) == "ann")
            try await server.call(.delete, "/v1/users/ann?erase=true").expect(200)
            let trail = try await server.call(.get, "/v1/audit?limit=200").expect(200)
            #expect(!trail.text.contains("s-op") && trail.text.contains("operatorSession.created"))
        }
        try await OpenIDServer.run { server, provider in
            let browser = Browser(server)
            #expect(try await !browser.open("/app/admin").expect(403).text.contains("/app/sign-in/provider/operator"))
            let form = HTMLForm.all(in: try await browser.open("/app/sign-in").text)
            let token = try #require(form.first { $0.action == "/app/sign-in/provider" }?.token)
            try await browser.post("/app/sign-in/provider/operator", [("token", token)]).expect(403)
        }
    }

    @Test(
        "After a rotation the provider's new key is fetched, at most once a minute; while it is away the known one counts"
    )
    func rotation() async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            provider.change { $0.claims = ["sub": "vic"] }
            for _ in 0..<3 { try await Browser(server).signIn(at: provider).expect(303) }
            #expect(provider.read { $0.requests["keys"] } == 1 && provider.read { $0.requests["document"] } == 1)
            provider.change { $0.keyName = "r2" }
            for _ in 0..<3 { try await Browser(server).signIn(at: provider).expect(502) }
            #expect(provider.read { $0.requests["keys"] } == 1)
            server.clock.advance(seconds: 60)
            for _ in 0..<3 { try await Browser(server).signIn(at: provider).expect(303) }
            #expect(provider.read { $0.requests["keys"] } == 2)
            // A document that is broken later does not take away what is known.
            provider.change { $0.document = ["issuer": "https://evil.example"] }
            server.clock.advance(seconds: 901)
            try await Browser(server).signIn(at: provider).expect(303)
            #expect(provider.read { $0.requests["document"] } == 2)
        }
    }

    @Test("No two values of the claim name one user")
    func names() {
        let named = [
            ("ann", "ann"), ("ann@example.org", "ann:example.org"), ("ann:example.org", "ann::example.org"),
            ("f:1:ann", "f::1::ann"), ("f:1:ann@example.org", "f::1::ann:example.org"), ("a::b", "a::::b"),
            ("a@@b", nil), ("a@:b", nil), ("a:@b", nil), ("a b", nil), ("", nil), ("a::@b", nil), ("@", ":"),
        ]
        for (claim, user) in named { #expect(ProviderSignIn.userID(claim) == user, "\(claim)") }
        // All values of up to six characters.
        var (values, users) = ([""], Set<String>())
        var count = 0
        for _ in 1...6 {
            values = values.flatMap { value in ["a", "@", ":"].map { value + $0 } }
            for user in values.compactMap(ProviderSignIn.userID) {
                count += 1
                users.insert(user)
            }
        }
        #expect(users.count == count && count == 281)
    }

    @Test("A provider's sign-in page is reached by a page of the server's own, to which its forms lead only")
    func otherOrigin() async throws {
        try await OpenIDServer.run { server, provider in
            provider.change { $0.document = ["authorization_endpoint": "https://login.example/authorize?tenant=1"] }
            let browser = Browser(server)
            let page = try await browser.send(
                try await browser.open("/app/sign-in"), to: "/app/sign-in/provider", follows: false
            ).expect(200)
            let refresh = try #require(page.headers[HTTPField.Name("Refresh")!])
            #expect(refresh.hasPrefix("0;url=https://login.example/authorize?tenant=1&client_id=kalends&"))
            #expect(page.text.contains("href=\"https://login.example/authorize?tenant=1&amp;client_id=kalends"))
        }
    }

    @Test("A server without a provider has neither button nor way back")
    func none() async throws {
        try await TestServer.withPasswords { server in
            let browser = Browser(server)
            #expect(try await !browser.open("/app/sign-in").expect(200).text.contains("/app/sign-in/provider"))
            try await browser.open("/app/sign-in/return?code=c&state=s").expect(404)
            let ann = try await Browser.signedIn("ann", server)
            #expect(try await !ann.open("/app/account").expect(200).text.contains("/app/account/provider"))
        }
    }
}
