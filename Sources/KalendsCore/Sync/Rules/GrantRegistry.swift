// SPDX-License-Identifier: Apache-2.0

import CalendarSync
package import FeedTokens
import ICalBridge
package import Storage
import Synchronization

/// The OAuth grants that this process uses: each connection's tokens are renewed in one place, and each mailbox has one
/// gate.
package final class GrantRegistry: Sendable {
    private struct State {
        var tokens: [ByteString: GrantTokens] = [:]
        var gates: [ByteString: MailboxGate] = [:]
    }

    /// The maximum number of entries of each kind; beyond that, all of them are dropped and created again when needed.
    private static let most = 20_000

    private let state = Mutex(State())
    private let store: any Store
    private let key: SealingKey
    private let now: Clock
    /// How often one user can have a provider queried, apart from the requests of runs.
    private let users = RateLimit(burst: 60, span: 1_000)

    package init(store: any Store, key: SealingKey, now: @escaping Clock) {
        (self.store, self.key, self.now) = (store, key, now)
    }

    /// Throws 429 if a user has had providers queried too often.
    ///
    /// - Parameter user: nil for the host application, which must limit its own users.
    func admit(_ user: String?) throws(Refusal) {
        if let user { try users.take(user, now: now(), "A user can have providers asked") }
    }

    /// Returns the tokens of a connection; all callers share them.
    func tokens(of connection: String, _ client: OAuthClient) -> GrantTokens {
        state.withLock { state in
            if let known = state.tokens[ByteString(connection)] { return known }
            if state.tokens.count >= Self.most { state.tokens = [:] }
            let new = GrantTokens(client: client, storage: storage(of: connection)) { [now] in
                Instant(seconds: now() / 1000)
            }
            state.tokens[ByteString(connection)] = new
            return new
        }
    }

    /// Returns the gate of an account's mailbox.
    func gate(of account: String) -> MailboxGate {
        state.withLock { state in
            if let known = state.gates[ByteString(account)] { return known }
            if state.gates.count >= Self.most { state.gates = [:] }
            let new = MailboxGate()
            state.gates[ByteString(account)] = new
            return new
        }
    }

    /// Forgets a connection's tokens, because they were replaced or removed.
    func forget(_ connection: String) {
        state.withLock { $0.tokens[ByteString(connection)] = nil }
    }

    /// Records that a connection's account refuses access: nothing is tried until the user signs in again.
    func markDead(_ connection: String) async {
        let now = now()
        // If this fails, the next run gets the same refusal and records it then.
        try? await store.record { transaction in
            guard var own = try transaction.connection(connection) else { return }
            guard [.active, .paused, .choosing, .calendarGone].contains(own.state) else { return }
            own.turn(to: .needsReconnect, now: now)
            own.updatedAt = now
            try transaction.putConnection(own, .updated, now: now)
        }
        forget(connection)
    }

    private func storage(of connection: String) -> GrantStorage {
        let (store, key, now) = (store, key, now)
        return GrantStorage(
            load: {
                let stored = try await store.read { try $0.credential(ofConnection: connection) }
                guard let stored, case .oauth(let grant) = try AccountCredential(stored, key) else {
                    throw ProviderFailure(.unauthorized, "The account has to be connected again.")
                }
                return grant
            },
            store: { renewed, replacing in
                guard let stored = try await store.read({ try $0.credential(ofConnection: connection) }),
                    case .oauth(let grant) = try AccountCredential(stored, key)
                else { return }
                // If the user has signed in again in the meantime, or another process was faster, the newer grant
                // stays.
                guard grant.refreshToken == replacing.refreshToken else { return }
                let sealed = try AccountCredential.oauth(renewed).sealed(for: connection, key)
                let time = now()
                // The provider no longer accepts any other token, so it is stored even if another server does this work
                // now.
                _ = try await HeldLeases.$current.withValue([]) {
                    try await store.record {
                        try $0.renewCredential(ofConnection: connection, from: stored.version, to: sealed, now: time)
                    }
                }
            },
            markDead: { [weak self] _ in await self?.markDead(connection) })
    }
}
