// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import ICalBridge
import Synchronization
import Testing

@Suite struct GrantTokensTests {
    private static let now = Instant(seconds: 1_790_000_000)

    /// A grant as a database would store it, with a record of what was done to it.
    private final class GrantStore: Sendable {
        struct Broken: Error {}
        let state: Mutex<(grant: OAuthGrant, dead: Int, stored: Int, isBroken: Bool)>

        init(_ grant: OAuthGrant) { state = Mutex((grant, 0, 0, false)) }

        var storage: GrantStorage {
            GrantStorage(
                load: { self.state.withLock { $0.grant } },
                store: { renewed, _ in
                    try self.state.withLock { state in
                        guard !state.isBroken else { throw Broken() }
                        state.grant = renewed
                        state.stored += 1
                    }
                },
                markDead: { _ in self.state.withLock { $0.dead += 1 } })
        }
    }

    private static func grant(_ access: String, _ refresh: String?, seconds: Int) -> OAuthGrant {
        OAuthGrant(
            accessToken: Concealed(access), refreshToken: refresh.map(Concealed.init),
            expiresAt: now.adding(seconds: seconds),
            scopes: ["a"])
    }

    private static func token(_ access: String, _ refresh: String) -> ScriptedHTTP.Step {
        .answer(200, #"{"access_token":"\#(access)","refresh_token":"\#(refresh)","token_type":"Bearer"}"#)
    }

    private func tokens(_ grants: GrantStore, _ http: ScriptedHTTP) -> GrantTokens {
        let application = OAuthApplication.microsoft(clientID: "c", clientSecret: Concealed("s"))
        return GrantTokens(
            client: OAuthClient(application, http: http), storage: grants.storage, now: { Self.now })
    }

    @Test("However many ask, the grant is refreshed once, and stored before anyone has the token")
    func once() async throws {
        let grants = GrantStore(Self.grant("a", "r", seconds: 0))
        let http = ScriptedHTTP([Self.token("b", "r2")]) { try? await Task.sleep(for: .milliseconds(50)) }
        let tokens = tokens(grants, http)
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask {
                    number.isMultiple(of: 2) ? try await tokens.current() : try await tokens.renewed(after: "a")
                }
            }
            for try await token in group { #expect(token == "b") }
        }
        #expect(http.requests.count == 1)
        #expect(grants.state.withLock { $0.grant.refreshToken?.reveal() } == "r2")
        #expect(try await tokens.renewed(after: "a") == "b")
        #expect(http.requests.count == 1)
    }

    @Test("A caller that is cancelled does not cancel the refresh")
    func cancelled() async throws {
        let grants = GrantStore(Self.grant("a", "r", seconds: 0))
        let http = ScriptedHTTP([Self.token("b", "r2")]) { try? await Task.sleep(for: .milliseconds(50)) }
        let tokens = tokens(grants, http)
        let task = Task { try await tokens.current() }
        try await Task.sleep(for: .milliseconds(10))
        task.cancel()
        _ = await task.result
        #expect(try await tokens.current() == "b")
        #expect(grants.state.withLock { $0.stored } == 1)
    }

    @Test("A grant that cannot be stored is not used, and stored before the next request")
    func unstored() async throws {
        let grants = GrantStore(Self.grant("a", "r", seconds: 0))
        grants.state.withLock { $0.isBroken = true }
        let http = ScriptedHTTP([Self.token("b", "r2")])
        let tokens = tokens(grants, http)
        for _ in 0..<2 {
            await #expect { _ = try await tokens.current() } throws: { ($0 as? ProviderFailure)?.isTransient == true }
        }
        #expect(grants.state.withLock { $0.dead } == 0)
        grants.state.withLock { $0.isBroken = false }
        #expect(try await tokens.current() == "b")
        #expect(http.requests.count == 1)
    }

    @Test("A refresh token that another process has replaced does not mean a dead grant")
    func rotatedElsewhere() async throws {
        let grants = GrantStore(Self.grant("a", "r", seconds: 0))
        let other = Mutex(false)
        let http = ScriptedHTTP([.answer(400, #"{"error":"invalid_grant"}"#), Self.token("c", "r3")]) {
            let isFirst = other.withLock { done in
                defer { done = true }
                return !done
            }
            // The other process stores its successor while our request is under way.
            if isFirst { grants.state.withLock { $0.grant = Self.grant("b", "r2", seconds: 0) } }
        }
        #expect(try await tokens(grants, http).current() == "c")
        #expect(http.requests.map { $0.form["refresh_token"] } == ["r", "r2"])
        #expect(grants.state.withLock { $0.dead } == 0)
    }

    @Test("A dead grant is recorded once, and never sent again")
    func dead() async {
        let grants = GrantStore(Self.grant("a", "r", seconds: 0))
        let http = ScriptedHTTP([.answer(400, #"{"error":"invalid_grant"}"#)])
        let tokens = tokens(grants, http)
        for _ in 0..<3 {
            await #expect { _ = try await tokens.current() } throws: {
                ($0 as? ProviderFailure)?.kind == .unauthorized
            }
        }
        #expect(http.requests.count == 1)
        #expect(grants.state.withLock { $0.dead } == 1)
    }

    @Test("A time-out, a 5xx answer or a wrong client secret does not end a grant")
    func alive() async throws {
        let grants = GrantStore(Self.grant("a", "r", seconds: 0))
        let http = ScriptedHTTP([
            .failure(.unanswered("x")), .answer(503, ""), .answer(401, #"{"error":"invalid_client"}"#),
            Self.token("b", "r2"),
        ])
        let tokens = tokens(grants, http)
        var kinds: [ProviderFailure.Kind] = []
        for _ in 0..<3 {
            do throws(ProviderFailure) { _ = try await tokens.current() } catch { kinds.append(error.kind) }
        }
        #expect(kinds == [.unanswered, .unavailable(retryAfter: nil), .misconfigured])
        #expect(try await tokens.current() == "b")
        #expect(grants.state.withLock { $0.dead } == 0)
    }

    @Test("A token that was good when it was stored is used without a request")
    func stored() async throws {
        let http = ScriptedHTTP([])
        #expect(try await tokens(GrantStore(Self.grant("a", "r", seconds: 600)), http).current() == "a")
        #expect(http.requests.isEmpty)
    }
}
