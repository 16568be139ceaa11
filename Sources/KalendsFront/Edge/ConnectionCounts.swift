// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Synchronization

/// The number of connections, in total and from each network.
final class ConnectionCounts: Sendable {
    private struct State {
        var total = 0
        var networks: [ByteString: Int] = [:]
    }

    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(_ limits: ConnectionLimits) { self.limits = limits }

    /// Counts a new connection; returns false when there is no room for it.
    ///
    /// - Parameter network: nil for a client that is not limited by network.
    func open(from network: String?) -> Bool {
        state.withLock { state in
            guard state.total < limits.connections else { return false }
            if let network {
                guard state.networks[network, default: 0] < limits.connectionsPerNetwork else { return false }
                state.networks[network, default: 0] += 1
            }
            state.total += 1
            return true
        }
    }

    func close(from network: String?) {
        state.withLock { state in
            state.total -= 1
            guard let network, let count = state.networks[network] else { return }
            state.networks[network] = count > 1 ? count - 1 : nil
        }
    }
}
