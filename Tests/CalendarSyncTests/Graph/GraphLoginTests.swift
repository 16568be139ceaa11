// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Synchronization
import Testing

@testable import CalendarSync

@Suite struct GraphLoginTests {
    /// The storage of a grant, which records what happened to it.
    private final class Stored: Sendable {
        let state: Mutex<(grant: OAuthGrant, died: ProviderFailure?)>

        init(_ grant: OAuthGrant) { state = Mutex((grant, nil)) }

        var storage: GrantStorage {
            GrantStorage(
                load: { self.state.withLock { $0.grant } },
                store: { renewed, _ in self.state.withLock { $0.grant = renewed } },
                markDead: { failure in self.state.withLock { $0.died = failure } })
        }
    }

    private static let now: @Sendable () -> Instant = { Instant(seconds: Int(Date().timeIntervalSince1970)) }
    private let redirect = "http://127.0.0.1:9/v1/connections/callback"

    /// Follows the addresses as a browser would, and returns what the last one contains.
    private func consent(
        _ client: OAuthClient, _ attempt: OAuthAttempt, _ http: LoopbackHTTP
    ) async throws -> OAuthReturn? {
        let url = client.authorizeURL(for: attempt, scopes: MicrosoftScope.all, redirectURI: redirect)
        let answer = try await http.send(ProviderRequest("GET", url))
        let location = try #require(answer.field("Location"))
        #expect(answer.status == 302 && location.hasPrefix(redirect + "?"))
        let items = URLComponents(string: location.replacingOccurrences(of: "+", with: "%20"))?.queryItems ?? []
        return OAuthReturn(query: items.map { ($0.name, $0.value ?? "") })
    }

    private func client(
        _ emulator: GraphEmulator, _ http: LoopbackHTTP, tenant: String, secret: String = "sec"
    ) -> OAuthClient {
        OAuthClient(
            .microsoft(
                clientID: "11111111-2222", clientSecret: Concealed(secret), tenant: tenant, loginURL: emulator.root),
            http: http)
    }

    @Test(
        "Sign-in, reading, rotation and a revoked grant, for any and for a single tenant",
        arguments: [
            "common", "84bd8158-6d4d-4958-8b9f-9d6445542f95",
        ])
    func wholeFlow(_ tenant: String) async throws {
        let emulator = try await GraphEmulator()
        let http = LoopbackHTTP()
        try await emulator.settings(["clientSecret": "sec"])
        let client = client(emulator, http, tenant: tenant)
        let attempt = OAuthAttempt(random: (0..<64).map { UInt8($0) })
        guard case .code(let code, let state)? = try await consent(client, attempt, http) else {
            throw GraphEmulator.Failure(text: "no code")
        }
        #expect(state == attempt.state)
        let grant = try await client.exchange(
            code: code, verifier: attempt.verifier, scopes: MicrosoftScope.all, redirectURI: redirect, now: Self.now())
        #expect(client.application.missing(of: MicrosoftScope.all, in: grant.scopes) == [])
        #expect(grant.refreshToken != nil)
        // A code is good once.
        await #expect(throws: ProviderFailure.self) {
            _ = try await client.exchange(
                code: code, verifier: attempt.verifier, scopes: MicrosoftScope.all, redirectURI: redirect,
                now: Self.now())
        }

        let stored = Stored(grant)
        let tokens = GrantTokens(client: client, storage: stored.storage, now: Self.now)
        let graph = GraphCalendar(http: http, tokens: tokens, baseURL: emulator.root + "/v1.0", now: Self.now)
        #expect(try await graph.calendars().count == 1)
        try await emulator.ask("POST", "/control/expire-tokens")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<6 { group.addTask { try await graph.calendars().count } }
            for try await count in group { #expect(count == 1) }
        }
        #expect(try await emulator.ask("GET", "/control/state")["refreshes"] == 1)
        let rotated = stored.state.withLock { $0.grant }
        #expect(rotated.refreshToken != grant.refreshToken && rotated.accessToken != grant.accessToken)
        // The older refresh token is not revoked by its use: a lost answer locks nobody out.
        #expect(try await client.refresh(grant, now: Self.now()).accessToken != rotated.accessToken)

        try await emulator.settings(["revoked": true])
        try await emulator.ask("POST", "/control/expire-tokens")
        await #expect { _ = try await graph.calendars() } throws: { ($0 as? ProviderFailure)?.kind == .unauthorized }
        #expect(stored.state.withLock { $0.died?.kind } == .unauthorized)
    }

    @Test("A refusal, a wrong verifier, and a wrong secret of ours are distinguished")
    func refusals() async throws {
        let emulator = try await GraphEmulator()
        let http = LoopbackHTTP()
        let client = client(emulator, http, tenant: "common")
        let attempt = OAuthAttempt(random: (0..<64).map { UInt8($0) })
        try await emulator.settings(["denies": true])
        #expect(try await consent(client, attempt, http) == .denied(state: attempt.state))
        try await emulator.settings(["denies": false])
        guard case .code(let code, _)? = try await consent(client, attempt, http) else {
            throw GraphEmulator.Failure(text: "no code")
        }
        let other = OAuthAttempt(random: (0..<64).map { UInt8(255 - $0) })
        await #expect {
            _ = try await client.exchange(
                code: code, verifier: other.verifier, scopes: MicrosoftScope.all, redirectURI: redirect, now: Self.now()
            )
        } throws: { ($0 as? ProviderFailure)?.kind == .unauthorized }
        try await emulator.settings(["clientSecret": "another"])
        await #expect {
            _ = try await client.exchange(
                code: code, verifier: attempt.verifier, scopes: MicrosoftScope.all, redirectURI: redirect,
                now: Self.now())
        } throws: { ($0 as? ProviderFailure)?.kind == .misconfigured }
    }
}
