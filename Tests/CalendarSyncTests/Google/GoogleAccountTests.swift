// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import ICalBridge
import Synchronization
import TestSupport
import Testing

/// From the authorize address to a write, through the emulator's own token endpoint.
@Suite struct GoogleAccountTests {
    typealias Bench = GoogleBench
    static let now: @Sendable () -> Instant = { Instant(seconds: Int(Date().timeIntervalSince1970)) }

    /// A connected account, with its grant as a database would store it.
    struct Account {
        let http = LoopbackHTTP()
        let client: OAuthClient
        let grant: GrantBox
        let tokens: GrantTokens
        let provider: GoogleCalendar

        init(_ emulator: GoogleEmulator, offset: Int = 0) async throws {
            let application = OAuthApplication.google(
                clientID: "our-client.apps.googleusercontent.com", clientSecret: Concealed("GOCSPX-x"),
                authorizeURL: emulator.address + "/o/oauth2/v2/auth", tokenURL: emulator.address + "/token",
                revokeURL: emulator.address + "/revoke")
            client = OAuthClient(application, http: http)
            let now: @Sendable () -> Instant = { GoogleAccountTests.now().adding(seconds: offset) }
            let attempt = OAuthAttempt(random: (0..<64).map { _ in UInt8.random(in: 0...255) })
            let back = try await GoogleAccountTests.consent(client, attempt, http)
            guard case .code(let code, let state) = back, state == attempt.state else {
                throw GoogleEmulator.Failure(message: "\(back)")
            }
            let first = try await client.exchange(
                code: code, verifier: attempt.verifier, scopes: GoogleScope.all,
                redirectURI: GoogleAccountTests.redirect, now: now())
            let box = GrantBox(first)
            grant = box
            tokens = GrantTokens(
                client: client,
                storage: GrantStorage(
                    load: { box.value.withLock { $0 } }, store: { new, _ in box.value.withLock { $0 = new } },
                    markDead: { _ in box.isDead.withLock { $0 = true } }), now: now)
            provider = Bench.provider(emulator, http, tokens)
            http.takeSent()
        }
    }

    static let redirect = "https://kalends.example/v1/connections/callback"

    /// Returns what the emulator sends the browser back with.
    static func consent(
        _ client: OAuthClient, _ attempt: OAuthAttempt, _ http: LoopbackHTTP
    ) async throws -> OAuthReturn {
        let url = client.authorizeURL(for: attempt, scopes: GoogleScope.all, redirectURI: redirect)
        let answer = try await http.send(ProviderRequest("GET", url))
        let items = URLComponents(string: answer.field("Location") ?? "")?.queryItems ?? []
        return try #require(OAuthReturn(query: items.map { ($0.name, $0.value ?? "") }))
    }

    private func control(_ emulator: GoogleEmulator, _ name: String, _ body: JSONValue) async throws {
        _ = try await LoopbackHTTP().send(
            ProviderRequest("POST", emulator.address + "/control/" + name, body: try body.serialized()))
    }

    @Test("An account is connected, and its token renewed in the middle of a run", arguments: [false, true])
    func connected(_ rotates: Bool) async throws {
        let emulator = try await GoogleEmulator()
        try await control(emulator, "oauth", ["rotates": .bool(rotates)])
        let account = try await Account(emulator)
        let first = account.grant.value.withLock { $0 }
        #expect(account.client.application.missing(of: GoogleScope.all, in: first.scopes).isEmpty)
        let calendar = try await account.provider.createCalendar(named: "Care", timeZone: "Europe/Berlin")
        try await control(emulator, "oauth", ["expireAccess": true])
        let requests = (0..<120).map {
            WriteRequest(key: "\($0)", mark: Bench.mark("\($0)"), kind: .create(Bench.single("Visit \($0)")))
        }
        let answers = await account.provider.write(requests, in: calendar.id)
        #expect(answers.allSatisfy { $0.written != nil })
        let second = account.grant.value.withLock { $0 }
        #expect(second.accessToken != first.accessToken)
        #expect((second.refreshToken != first.refreshToken) == rotates)
        #expect(account.http.sent.filter { $0.path == "/token" }.count == 1)
    }

    @Test("A revoked grant ends at once, for all who wait; a token endpoint out of order ends nothing")
    func revoked() async throws {
        let emulator = try await GoogleEmulator()
        let account = try await Account(emulator)
        try await control(emulator, "oauth", ["expireAccess": true])
        for fault: JSONValue in [
            ["method": "token", "status": 503], ["method": "token", "unanswered": "before"],
            ["method": "token", "status": 401, "reason": "invalid_client"],
        ] {
            try await control(emulator, "fault", fault)
            await #expect { _ = try await account.provider.calendars() } throws: {
                ($0 as? ProviderFailure)?.kind != .unauthorized
            }
        }
        #expect(try await account.provider.calendars().count == 1)
        try await control(emulator, "oauth", ["revokeAll": true])
        for _ in 0..<3 {
            await #expect { _ = try await account.provider.calendars() } throws: {
                ($0 as? ProviderFailure)?.kind == .unauthorized
            }
        }
        #expect(account.grant.isDead.withLock { $0 })
        #expect(account.http.sent.filter { $0.path == "/token" }.count == 5)
    }

    @Test("A disconnection ends the grant at Google")
    func disconnected() async throws {
        let emulator = try await GoogleEmulator()
        let account = try await Account(emulator)
        let grant = account.grant.value.withLock { $0 }
        try await account.client.revoke(grant)
        await #expect { _ = try await account.client.refresh(grant, now: Self.now()) } throws: {
            ($0 as? ProviderFailure)?.kind == .unauthorized
        }
        await #expect { _ = try await account.provider.calendars() } throws: {
            ($0 as? ProviderFailure)?.kind == .unauthorized
        }
    }

    @Test("A person who says no, or allows less, is understood")
    func partly() async throws {
        let emulator = try await GoogleEmulator()
        try await control(emulator, "oauth", ["withheld": [.string(GoogleScope.ownCalendars)]])
        let account = try await Account(emulator)
        let granted = account.grant.value.withLock { $0.scopes }
        #expect(account.client.application.missing(of: GoogleScope.all, in: granted) == [GoogleScope.ownCalendars])
        try await control(emulator, "oauth", ["denies": true])
        let attempt = OAuthAttempt(random: Array(repeating: 7, count: 64))
        #expect(try await Self.consent(account.client, attempt, account.http) == .denied(state: attempt.state))
    }

    @Test("A code can be used once, with its verifier and its address")
    func codes() async throws {
        let emulator = try await GoogleEmulator()
        let account = try await Account(emulator)
        let attempt = OAuthAttempt(random: Array(repeating: 7, count: 64))
        let other = OAuthAttempt(random: Array(repeating: 8, count: 64))
        for (verifier, redirect) in [(other, Self.redirect), (attempt, "https://other.example/")] {
            guard case .code(let code, _) = try await Self.consent(account.client, attempt, account.http) else {
                return
            }
            for (attempt, redirect) in [(verifier, redirect), (attempt, Self.redirect)] {
                await #expect {
                    _ = try await account.client.exchange(
                        code: code, verifier: attempt.verifier, scopes: GoogleScope.all, redirectURI: redirect,
                        now: Self.now())
                } throws: {
                    ($0 as? ProviderFailure)?.kind == .unauthorized
                }
            }
        }
    }

    @Test("A clock that is a day off, on either side, costs a renewal at most", arguments: [-86_400, 86_400])
    func clocks(_ offset: Int) async throws {
        let emulator = try await GoogleEmulator()
        let account = try await Account(emulator)
        try await control(emulator, "clock", ["skew": .integer(offset)])
        for _ in 0..<3 { #expect(try await account.provider.calendars().count == 1) }
        #expect(account.http.sent.filter { $0.path == "/token" }.count <= 1)
    }

    @Test(
        "Changes are pushed to the address with the channel's secret, until the channel is closed",
        arguments: [
            "once", "twice", "held", "lost",
        ])
    func pushed(_ mode: String) async throws {
        let bench = try await Bench()
        try await bench.control("push", ["mode": .string(mode)])
        let channel = try #require(
            try await bench.provider.watch(
                bench.calendar, address: bench.emulator.address + "/control/received", secret: "s3cret"))
        #expect(channel.expiresAt > Self.now().adding(seconds: 600_000))
        try await bench.edit(
            "POST", "", ["summary": "x", "start": ["date": "2026-12-24"], "end": ["date": "2026-12-25"]])
        try await bench.control("push", ["release": true])
        let wanted = ["once": 2, "twice": 4, "held": 2, "lost": 0][mode] ?? 0
        var received: [PushNotice] = []
        while received.count < max(wanted, 1) {
            for headers in try await bench.read("received")["notifications"]?.array ?? [] {
                let fields = (headers.object ?? [:]).map { (name: $0.key.string, value: $0.value.string ?? "") }
                received.append(try #require(GooglePush.notice(headers: fields)))
            }
            if wanted == 0 { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(received.count == wanted)
        #expect(received.allSatisfy { $0.channel == channel.id && $0.resourceID == channel.resourceID })
        #expect(received.allSatisfy { $0.secret == Concealed("s3cret") })
        #expect(received.filter { $0.what == .opened }.count == wanted / 2)
        try await bench.provider.unwatch(channel)
        try await bench.provider.unwatch(channel)
        #expect(try await bench.read("state")["channels"] == [])
        let address = await bench.failure {
            try await bench.provider.watch(bench.calendar, address: "http://hooks.example.test/", secret: "other")
        }
        #expect(address == .refused)
    }
}

/// A grant that several closures share.
final class GrantBox: Sendable {
    let value: Mutex<OAuthGrant>
    let isDead = Mutex(false)
    init(_ grant: OAuthGrant) { value = Mutex(grant) }
}
