// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("In and out of the pages")
struct SignInPageTests {
    @Test("A page that needs a session leads to the sign-in and back, and signing out ends the session")
    func there() async throws {
        try await TestServer.withPasswords { server in
            let browser = Browser(server)
            let asked = try await browser.open("/app/circles/c?view=week&date=2026-03-02", follows: false).expect(303)
            let target = try #require(asked.headers[.location])
            #expect(target == "/app/sign-in?to=%2Fapp%2Fcircles%2Fc%3Fview%3Dweek%26date%3D2026-03-02")
            let page = try await browser.open(target).expect(200)
            #expect(page.text.contains("<h1>Sign in</h1>"))
            let signed = try await browser.send(
                page, to: "/app/sign-in", ["user": "ann", "password": "ann's password"], follows: false
            ).expect(303)
            #expect(signed.headers[.location] == "/app/circles/c?view=week&date=2026-03-02")
            #expect(browser.hasSession)
            let sessions = try await server.call(.get, "/v1/sessions", as: "ann").expect(200)
            #expect(sessions.json["items"]?.array?.count == 1)
            let home = try await browser.open("/app")
            let out = try await browser.send(home, to: "/app/sign-out", follows: false).expect(303)
            #expect(out.headers[.location] == "/app/sign-in?done=signedOut")
            #expect(!browser.hasSession)
            let left = try await server.call(.get, "/v1/sessions", as: "ann").expect(200)
            #expect(left.json["items"]?.array?.isEmpty == true)
        }
    }

    @Test("A wrong password is said at the form, which keeps the user's name and never a password; many are braked")
    func wrong() async throws {
        try await TestServer.withPasswords { server in
            let browser = Browser(server)
            var page = try await browser.open("/app/sign-in?to=/app/circles/c").expect(200)
            for (user, password) in [("ann", "guess-1"), ("no one", "guess-2"), ("nobody", "guess-3")] {
                page = try await browser.send(page, to: "/app/sign-in", ["user": user, "password": password])
                try page.expect(422)
                #expect(page.text.contains("value=\"\(user)\""))
                #expect(!page.text.contains("guess-") && page.text.contains("value=\"/app/circles/c\""))
            }
            for _ in 0..<5 {
                page = try await browser.send(page, to: "/app/sign-in", ["user": "ann", "password": "guess-4"])
            }
            try page.expect(429)
            #expect(page.text.contains("Wait a few minutes"))
            #expect(!browser.hasSession && !server.log.text.contains("guess-"))
        }
    }

    @Test(
        "A sign-in leads to pages of this server and nowhere else",
        arguments: [
            "https://evil.example/", "//evil.example", "/app\\evil", "/app/../v1/circles", "/app/%2e%2e/x", "/docs",
            "javascript:alert(1)", "/app/sign-out", "/app/\nx", "/application", "",
        ])
    func elsewhere(to: String) {
        #expect(SignInPages.destination(to) == "/app")
    }

    @Test("A sign-in leads back to a page with its query")
    func back() {
        for target in ["/app", "/app?done=x", "/app/circles/c?view=week&kind=task", "/app/devices"] {
            #expect(SignInPages.destination(target) == target)
        }
    }

    @Test("A browser that asks for German gets it, and the choice in its cookie comes first")
    func language() async throws {
        try await TestServer.withPasswords { server in
            let german = try await server.raw(.get, "/app/sign-in", headers: [.acceptLanguage: "de-AT, en;q=0.5"])
            #expect(
                german.text.contains("<html lang=\"de\">")
                    && german.headers[.vary] == "Cookie, Accept-Language, Accept-Encoding")
            let chosen = try await server.raw(
                .get, "/app/sign-in", headers: [.acceptLanguage: "de", .cookie: "kalends_language=en"])
            #expect(chosen.text.contains("<html lang=\"en\">"))
        }
    }

    @Test("Below a path of a proxy's all links and redirects keep it, and over https the browser is to keep to it")
    func base() async throws {
        var settings = ServerSettings()
        settings.passwordCost = 4
        try await TestServer.run(settings: settings, publicURL: "https://a.example/cal") { server in
            let root = try await server.raw(.get, "/", headers: [.accept: "text/html"]).expect(302)
            #expect(root.headers[.location] == "/cal/app")
            #expect(try await server.raw(.get, "/").expect(302).headers[.location] == "/cal/docs")
            let there = try await server.raw(.get, "/app").expect(303)
            #expect(there.headers[.location] == "/cal/app/sign-in?to=%2Fapp")
            let page = try await server.raw(.get, "/app/sign-in").expect(200)
            #expect(page.headers[.strictTransportSecurity] == "max-age=31536000")
            #expect(page.headers[.setCookie]?.contains("; Secure") == true)
            #expect(page.text.contains("href=\"/cal/app/assets/") && !page.text.contains("\"/app"))
        }
    }
}
