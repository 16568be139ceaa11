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

@Suite("Sessions that began at a provider")
struct ProviderSessionTests {
    @Test("What needs a recent sign-in goes by when the provider asked for proof, and it is asked to do so again")
    func recent() async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            let now = server.clock.now / 1000
            provider.change { $0.claims = ["sub": "vic", "auth_time": .integer(now - 4000)] }
            let browser = Browser(server)
            let first = try await browser.leave()
            #expect(!first.contains("max_age"))
            try await browser.open(try provider.consent(first), follows: false).expect(303)
            func export() async throws -> Answer {
                let page = try await browser.open("/app/account").expect(200)
                return try await browser.send(page, to: "/app/account/export", follows: false)
            }
            let sent = try await export().expect(303)
            #expect(sent.headers[.location] == "/app/sign-in?to=%2Fapp%2Faccount")
            let again = try await browser.leave("/app/sign-in?to=%2Fapp%2Faccount")
            #expect(again.contains("&max_age=300"))
            provider.change { $0.claims["auth_time"] = .integer(now - 10) }
            try await browser.open(try provider.consent(again), follows: false).expect(303)
            try await export().expect(200)
            // A provider that does not say when counts as one that did not ask.
            provider.change { $0.claims["auth_time"] = .null }
            try await browser.open(try provider.consent(try await browser.leave()), follows: false).expect(303)
            try await export().expect(303)
        }
    }

    @Test("A session that began at the provider lasts as long as the setting says, and no longer however it is used")
    func lifetime() async throws {
        for hours in [nil, 48] {
            try await OpenIDServer.run {
                $0.accounts = .members
                if let hours { $0.sessionHours = hours }
            } _: { server, provider in
                provider.change { $0.claims = ["sub": "vic"] }
                let (browser, ann) = (Browser(server), try await Browser.signedIn("ann", server))
                try await browser.signIn(at: provider).expect(303)
                for _ in 1..<(hours ?? 24) {
                    server.clock.advance(seconds: 3600)
                    try await browser.open("/app/account").expect(200)
                }
                server.clock.advance(seconds: 3600)
                let last = try await browser.open("/app/account", follows: false).expect(303)
                #expect(last.headers[.location] == "/app/sign-in?to=%2Fapp%2Faccount")
                try await ann.open("/app/account").expect(200)
            }
        }
    }

    @Test("Whoever signs out is shown the way to sign out at the provider, too")
    func signOut() async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            provider.change { $0.claims = ["sub": "vic"] }
            let browser = Browser(server)
            try await browser.signIn(at: provider).expect(303)
            let sealed = try await server.services.store.read {
                try $0.sessions(of: "vic", after: "", limit: 1, now: server.clock.now).first?.sealedIDToken
            }
            #expect(sealed?.hasPrefix("v1.") == true)
            let out = try await browser.send(try await browser.open("/app/account"), to: "/app/sign-out").expect(200)
            #expect(!browser.hasSession && out.headers[.cacheControl] == "no-store")
            let link = try #require(
                out.text.components(separatedBy: "href=\"\(provider.issuer)/end?a=b&amp;").dropFirst().first)
            let query = link.components(separatedBy: "\"")[0].replacing("&amp;", with: "&")
            let parts = try #require(URLComponents(string: "?\(query)")?.queryItems)
            let values = Dictionary(uniqueKeysWithValues: parts.map { ($0.name, $0.value ?? "") })
            #expect(values["id_token_hint"]?.split(separator: ".").count == 3 && values["client_id"] == "kalends")
            #expect(values["post_logout_redirect_uri"] == "http://calendar.example/app/sign-in")
            #expect(!server.log.text.contains(values["id_token_hint"] ?? ""))
            // Who signed in with a password, or at a provider without such an address, just leaves.
            let ann = try await Browser.signedIn("ann", server)
            try await ann.send(try await ann.open("/app/account"), to: "/app/sign-out", follows: false).expect(303)
            provider.change { $0.document = ["end_session_endpoint": .null] }
            server.clock.advance(seconds: 901)
            try await browser.signIn(at: provider).expect(303)
            let page = try await browser.open("/app/account")
            try await browser.send(page, to: "/app/sign-out", follows: false).expect(303)
        }
    }

    @Test("A sign-out does not wait for the provider")
    func signOutFirst() async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            let left = Mutex<[Int]>([])
            provider.change {
                $0.claims = ["sub": "vic"]
                $0.beforeDocument = {
                    let count = try await server.services.store.read {
                        try $0.sessions(of: "vic", after: "", limit: 9, now: server.clock.now).count
                    }
                    left.withLock { $0.append(count) }
                }
            }
            let browser = Browser(server)
            try await browser.signIn(at: provider).expect(303)
            server.clock.advance(seconds: 901)
            let out = try await browser.send(try await browser.open("/app/account"), to: "/app/sign-out").expect(200)
            #expect(out.text.contains("\(provider.issuer)/end"))
            #expect(left.withLock { $0 } == [0, 0], "It is asked before the sign-in and after the sign-out.")
        }
    }

    @Test("A provider that does not redeem a code in time ends the sign-in, and not a minute later")
    func slow() async throws {
        try await OpenIDServer.run {
            $0.accounts = .members
        } _: { server, provider in
            provider.change {
                $0.claims = ["sub": "vic"]
                $0.beforeToken = { try await Task.sleep(for: .seconds(20)) }
            }
            let begun = ContinuousClock.now
            try await Browser(server).signIn(at: provider).expect(503)
            #expect(ContinuousClock.now - begun < .seconds(18))
        }
    }
}
