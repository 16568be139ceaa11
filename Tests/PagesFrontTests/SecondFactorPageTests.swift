// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Pages
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The second factor on pages")
struct SecondFactorPageTests {
    private static let path = "/app/account/second-factor"

    /// Returns the secret that a page shows, as its form has it.
    private static func secret(_ page: Answer) throws -> String {
        let form = try #require(HTMLForm.all(in: page.text).first { $0.action == "\(path)/confirm" })
        return try #require(form.fields.first { $0.name == "secret" }?.value)
    }

    /// Returns the recovery codes that a page shows.
    private static func codes(_ page: Answer) -> [String] {
        page.text.matches(of: /<li>([A-Z2-7-]{29})<\/li>/).map { String($0.1) }
    }

    @Test("Without scripts a person sets one up, signs in with it, gets other recovery codes and removes it")
    func life() async throws {
        try await TestServer.withPasswords { server in
            let browser = try await Browser.signedIn("ann", server)
            let account = try await browser.open("/app/account").expect(200)
            #expect(account.text.contains("You sign in with your password only."))
            #expect(account.text.contains("href=\"\(Self.path)\""))
            var page = try await browser.open(Self.path).expect(200)
            page = try await browser.send(page, to: "\(Self.path)/begin", ["current": "not this one"]).expect(422)
            page = try await browser.send(page, to: "\(Self.path)/begin", ["current": "ann's password"]).expect(200)
            #expect(page.headers[.cacheControl] == "no-store")
            let secret = try Self.secret(page)
            let groups = secret.matches(of: /.{4}/).map { String($0.0) }.joined(separator: " ")
            #expect(page.text.contains("<p class=\"mono\">\(groups)</p>"))
            let address = "otpauth://totp/Kalends:ann?secret=\(secret)&amp;issuer=Kalends&amp;algorithm=SHA1"
            #expect(page.text.contains("href=\"\(address)&amp;digits=6&amp;period=30\""))
            #expect(page.text.contains("<svg viewBox=") && page.text.contains("class=\"qr-dark\""))
            page = try await browser.send(page, to: "\(Self.path)/confirm", ["code": "000000"]).expect(422)
            #expect(try Self.secret(page) == secret && page.text.contains("The code is wrong"))
            let app = Authenticator(secret: secret)
            page = try await browser.send(page, to: "\(Self.path)/confirm", ["code": app.code(server)]).expect(200)
            #expect(page.headers[.cacheControl] == "no-store" && !page.text.contains(secret))
            let codes = Self.codes(page)
            #expect(codes.count == 10)
            page = try await browser.open(Self.path).expect(200)
            #expect(Self.codes(page).isEmpty && page.headers[.cacheControl] != "no-store")
            server.clock.advance(seconds: 30)

            let other = Browser(server)
            let there = try await other.open("/app/sign-in?to=/app/devices").expect(200)
            let asked = try await other.send(
                there, to: "/app/sign-in", ["user": "ann", "password": "ann's password"]
            ).expect(200)
            #expect(!other.hasSession && asked.headers[.cacheControl] == "no-store")
            #expect(!asked.text.contains("ann's password") && asked.text.contains("one-time-code"))
            let wrong = try await other.send(asked, to: "/app/sign-in/code", ["code": "000000"]).expect(422)
            #expect(!other.hasSession)
            try await other.send(wrong, to: "/app/sign-in/code", ["code": app.code(server)]).expect(200)
            #expect(other.hasSession && other.history.last == "/app/devices")

            let typed = ["current": "ann's password", "code": codes[0]]
            page = try await browser.send(page, to: "\(Self.path)/recovery-codes", typed).expect(200)
            let others = Self.codes(page)
            #expect(others.count == 10 && Set(others).isDisjoint(with: codes))
            page = try await browser.open(Self.path).expect(200)
            page = try await browser.send(page, to: "\(Self.path)/remove", typed).expect(422)
            page = try await browser.send(
                page, to: "\(Self.path)/remove", ["current": "ann's password", "code": others[0]]
            ).expect(200)
            #expect(browser.history.last == "/app/account?done=secondFactorRemoved")
            #expect(try await other.open("/app/devices", follows: false).status == 303)
            _ = try await Browser.signedIn("ann", server)
        }
    }

    @Test("The ticket of a first step is good for five minutes, in the same browser, and with the same password")
    func tickets() async throws {
        try await TestServer.withPasswords { server in
            let app = try await server.authenticator("ann")
            func asked(_ browser: Browser) async throws -> Answer {
                let page = try await browser.open("/app/sign-in").expect(200)
                return try await browser.send(
                    page, to: "/app/sign-in", ["user": "ann", "password": "ann's password"]
                ).expect(200)
            }
            func ticket(_ page: Answer) throws -> String {
                let form = try #require(HTMLForm.all(in: page.text).first { $0.action == "/app/sign-in/code" })
                return try #require(form.fields.first { $0.name == "ticket" }?.value)
            }
            let (browser, other) = (Browser(server), Browser(server))
            let (page, foreign) = (try await asked(browser), try await asked(other))
            for ticket in [try ticket(foreign), "", "v1.", "x"] {
                let refused = try await browser.send(
                    page, to: "/app/sign-in/code", ["ticket": ticket, "code": app.code(server)]
                ).expect(422)
                #expect(!browser.hasSession && refused.text.contains("That took too long."))
                #expect(HTMLForm.all(in: refused.text).contains { $0.action == "/app/sign-in" })
            }
            server.clock.advance(seconds: 300)
            try await browser.send(page, to: "/app/sign-in/code", ["code": app.code(server)]).expect(422)
            let next = try await asked(browser)
            try await server.call(.put, "/v1/users/ann/password", ["password": "ann's password"]).expect(204)
            try await browser.send(next, to: "/app/sign-in/code", ["code": app.code(server)]).expect(422)
            #expect(!browser.hasSession)
            let last = try await asked(browser)
            for _ in 0..<5 {
                try await browser.send(last, to: "/app/sign-in/code", ["code": app.code(server, 5)]).expect(422)
            }
            try await browser.send(last, to: "/app/sign-in/code", ["code": app.code(server)]).expect(429)
            let text = try ticket(last)
            #expect(!browser.hasSession && !server.log.text.contains(text))
        }
    }

    @Test("Where a second factor is required, the sign-in page says what to do")
    func required() async throws {
        var settings = ServerSettings()
        settings.requireSecondFactor = true
        try await TestServer.withPasswords(settings: settings) { server in
            let browser = Browser(server)
            let page = try await browser.open("/app/sign-in").expect(200)
            let refused = try await browser.send(
                page, to: "/app/sign-in", ["user": "ann", "password": "ann's password"]
            ).expect(422)
            #expect(!browser.hasSession && refused.text.contains("Ask for a sign-in link"))
        }
    }
}
