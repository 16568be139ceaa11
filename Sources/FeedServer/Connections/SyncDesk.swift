// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage
import Synchronization

/// Which connections run in this process, and how many at once: one run a connection, a few a user and an account's
/// host, and a number of places for each provider, so that none waits for another one's slowness.
final class SyncDesk: Sendable {
    private struct Place {
        var provider: Connection.Provider
        var user: ByteString
        /// Nil where all accounts are with one provider.
        var host: ByteString?
    }

    private struct State {
        var places: [ByteString: Place] = [:]
        var sleeper: CheckedContinuation<Void, Never>?
        var isAwake = false
        var isClosing = false
    }

    /// Whom leases are given to.
    let holder = FeedLedger.makeID()
    /// How often one user has their calendars looked through for a preview.
    let users = RateLimit(burst: 120, span: 1_000)
    private let state = Mutex(State())

    /// Runs at once of each provider, of one user, and over one host.
    static let perProvider = 32
    static let perUser = 2
    static let perHost = 8

    /// How many more runs of a provider may begin.
    func free(_ provider: Connection.Provider) -> Int {
        state.withLock { state in
            state.isClosing ? 0 : Self.perProvider - state.places.values.count { $0.provider == provider }
        }
    }

    /// Takes a place; false when the connection runs already, or when others have to end first.
    func enter(_ own: Connection) -> Bool {
        let place = Place(provider: own.provider, user: ByteString(own.userID), host: Self.host(own))
        return state.withLock { state in
            let others = state.places.values
            guard !state.isClosing, state.places[ByteString(own.id)] == nil,
                others.count(where: { $0.provider == place.provider }) < Self.perProvider,
                others.count(where: { $0.user == place.user }) < Self.perUser,
                place.host == nil || others.count(where: { $0.host == place.host }) < Self.perHost
            else { return false }
            state.places[ByteString(own.id)] = place
            return true
        }
    }

    func leave(_ id: String) {
        state.withLock { $0.places[ByteString(id)] = nil }
        wake()
    }

    /// The host of an account whose name is an address.
    private static func host(_ own: Connection) -> ByteString? {
        guard own.provider == .caldav, let name = own.accountID else { return nil }
        let parts = name.split(separator: "/", maxSplits: 2)
        return parts.count > 1 && parts[0].hasSuffix(":") ? ByteString(parts[1]) : nil
    }

    /// Has the scheduler look at once for what is due.
    func wake() {
        let sleeper = state.withLock { state in
            defer { state.sleeper = nil }
            state.isAwake = state.sleeper == nil
            return state.sleeper
        }
        sleeper?.resume()
    }

    /// Waits for a while, or until it is woken.
    func pause(_ time: Duration) async {
        let timer = Task {
            try await Task.sleep(for: time)
            wake()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAwake = state.withLock { state in
                    if state.isAwake {
                        state.isAwake = false
                        return true
                    }
                    state.sleeper = continuation
                    return false
                }
                if isAwake { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
        timer.cancel()
    }

    /// Lets nothing more begin, and waits for a while for what is under way.
    func close() async {
        state.withLock { $0.isClosing = true }
        for _ in 0..<500 where state.withLock({ !$0.places.isEmpty }) { try? await Task.sleep(for: .milliseconds(20)) }
    }
}
