// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The operator's pages")
struct AdminPageTests {
    /// Returns a browser in which the operator's link was used.
    static func open(_ server: TestServer) async throws -> (Browser, Answer) {
        let (_, secret) = try await server.services.signInLinks.createForOperator(lasting: 300, for: .operatorAtHand)
        let (browser, path) = (Browser(server), "/app/sign-in/links/\(secret.reveal())")
        let page = try await browser.open(path).expect(200)
        return (browser, try await browser.send(page, to: path).expect(200))
    }

    @Test("Nobody but a browser with the operator's link gets in: no user, no key, no device")
    func closed() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let token = try #require(HTMLForm.all(in: try await ann.open("/app/account").text).first?.token)
            let routes = try Routes.table(server.front, isLocal: false).pages.filter { $0.access == .operatorPages }
            #expect(routes.count >= 4)
            for route in routes {
                let path = PageDoorTests.path(route)
                let answer =
                    route.method == .get
                    ? try await ann.open(path, follows: false)
                    : try await ann.post(path, [("token", token)], follows: false)
                #expect([303, 403].contains(answer.status), "\(route.method) \(path) → \(answer.status)")
                #expect(answer.status == 403 || answer.headers[.location] == "/app/admin")
                #expect(!answer.text.contains("<table"))
            }
            for header: HTTPFields in [
                [.authorization: "Bearer \(server.key)"], [.cookie: "kalends_operator=\(server.key)"],
                [.cookie: "kalends_operator=\(Secret.make(.operatorSession).reveal())"],
            ] { try await server.raw(.get, "/app/admin", headers: header).expect(403) }
        }
    }

    @Test("The operator sees figures, makes a key that is shown once, ends it, searches the trail and signs out")
    func work() async throws {
        try await TestServer.withPasswords { server in
            let (browser, page) = try await Self.open(server)
            #expect(browser.history.last == "/app/admin" && !browser.hasSession)
            #expect(HTMLForm.all(in: page.text).contains { $0.action == "/app/admin/sign-out" })
            try await browser.send(page, to: "/app/admin/keys", ["name": " "]).expect(422)
            let made = try await browser.send(page, to: "/app/admin/keys", ["name": "Host <app>"]).expect(200)
            let match = try #require(made.text.firstMatch(of: /kal_sk_[A-Za-z0-9_-]{43}/))
            #expect(made.headers[.cacheControl] == "no-store" && made.text.contains("Host &lt;app&gt;"))
            try await server.bearing(String(match.0), .get, "/v1/circles").expect(200)
            let later = try await browser.open("/app/admin").expect(200)
            #expect(!later.text.contains(String(match.0)))
            let revokes = HTMLForm.all(in: later.text).map(\.action).filter { $0.hasSuffix("/revoke") }
            for revoke in revokes { try await browser.send(later, to: revoke).expect(200) }
            try await server.bearing(String(match.0), .get, "/v1/circles").expect(401)
            let found = try await browser.open("/app/admin?q=key.revoked").expect(200)
            #expect(found.text.contains("key.revoked") && !found.text.contains("key.created</"))
            for query in ["?q=%25", "?q=_&before=x", "?before=-5", "?q=%5C", "?before=99999999999999999999"] {
                try await browser.open("/app/admin" + query).expect(200)
            }
            // A session of the operator opens nothing else.
            try await browser.open("/app/devices", follows: false).expect(303)
            let foreign = try await Browser.signedIn("ann", server).open("/app/account")
            let token = try #require(HTMLForm.all(in: foreign.text).first?.token)
            try await browser.post("/app/admin/keys", [("token", token), ("name", "x")]).expect(403)
            try await browser.send(later, to: "/app/admin/sign-out", follows: false).expect(303)
            try await browser.open("/app/admin").expect(403)
        }
    }

    @Test("The operator is asked before a person is erased, and sees what stays")
    func erasure() async throws {
        try await TestServer.withPasswords { server in
            let (browser, page) = try await Self.open(server)
            let question = try await browser.send(page, to: "/app/admin/erase", ["user": " ben "]).expect(200)
            #expect(question.text.contains("Erase all data of ben?"))
            try await server.call(.get, "/v1/circles/c/members/ben").expect(200)
            let done = try await browser.send(question, to: "/app/admin/erase").expect(200)
            #expect(done.text.contains("What stays, and why") && done.text.contains("Earlier backups"))
            try await server.call(.get, "/v1/circles/c/members/ben").expect(404)
            // What is no id asks nothing, and a question about one person erases no other.
            try await browser.send(page, to: "/app/admin/erase", ["user": "a b"]).expect(200)
            try await browser.send(question, to: "/app/admin/erase", ["user": "vic"]).expect(200)
            try await server.call(.get, "/v1/circles/c/members/vic").expect(200)
        }
    }
}
