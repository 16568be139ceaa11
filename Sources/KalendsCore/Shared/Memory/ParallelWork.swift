// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import Synchronization

/// Pieces of work that other threads do while the caller prepares the next piece; the results are in the caller's order.
///
/// As many pieces are under way as there are processors: when the others are busy, the caller does a piece itself, so that
/// what is waiting never takes more memory than that. Only one thread adds pieces.
final class ParallelWork<Result: Sendable>: Sendable {
    private struct State {
        var count = 0
        var results: [Int: Swift.Result<Result, any Error>] = [:]
        var underWay = 0
    }

    private static var others: Int { ProcessInfo.processInfo.activeProcessorCount - 1 }

    private let state = Mutex(State())
    private let group = DispatchGroup()

    /// Does a piece of work, or has another thread do it.
    func add(_ work: @escaping @Sendable () throws -> Result) {
        let (position, isForOther) = state.withLock { state in
            defer { state.count += 1 }
            guard state.underWay < Self.others else { return (state.count, false) }
            state.underWay += 1
            return (state.count, true)
        }
        guard isForOther else { return keep(Swift.Result(catching: work), position) }
        DispatchQueue.global().async(group: group) {
            self.keep(Swift.Result(catching: work), position)
            self.state.withLock { $0.underWay -= 1 }
        }
    }

    private func keep(_ result: Swift.Result<Result, any Error>, _ index: Int) {
        state.withLock { $0.results[index] = result }
    }

    /// Waits for all pieces; throws the error of the first one that failed.
    func results() throws -> [Result] {
        group.wait()
        return try state.withLock { state in try (0..<state.count).compactMap { try state.results[$0]?.get() } }
    }
}
