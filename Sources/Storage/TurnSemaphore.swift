// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Who takes turns with others at the database: the sender of a request once that is known, or whose work is done.
public final class DatabaseCaller: Sendable {
    /// Nil for work of the server's own, which has turns as one caller has.
    @TaskLocal public static var current: DatabaseCaller?

    private let held: Mutex<ByteString>

    public init(_ name: ByteString = "") { held = Mutex(name) }

    public var name: ByteString {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}

/// Places at the database, which callers have in turns: whoever asks for many waits after each for one of everybody else
/// who waits. Waiting blocks no thread.
package final class TurnSemaphore: Sendable {
    private struct State {
        var free: Int
        var line = TurnLine()

        mutating func next() -> TurnLine.Piece? {
            guard free > 0, let next = line.next() else { return nil }
            free -= 1
            return next.piece
        }
    }

    private let state: Mutex<State>

    package init(_ count: Int) { state = Mutex(State(free: count)) }

    /// How many wait.
    package var waiting: Int { state.withLock { $0.line.count } }

    package func with<Value, Failure: Error>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // A place is not kept until the caller's own threads have a turn, neither before the work nor after it.
        try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(Failure) -> Value in
            let caller = await enter()
            defer { leave(caller) }
            return try await work()
        }
    }

    /// - Returns: the caller that waited; nil without a wait.
    private func enter() async -> ByteString? {
        // While a place is free nobody waits.
        let isFree = state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
        if isFree { return nil }
        let caller = DatabaseCaller.current?.name ?? ""
        await withCheckedContinuation { continuation in
            let next = state.withLock { state in
                state.line.add({ continuation.resume() }, for: caller)
                return state.next()
            }
            next?()
        }
        return caller
    }

    private func leave(_ caller: ByteString?) {
        let next = state.withLock { state in
            if let caller { state.line.ended(caller) }
            state.free += 1
            return state.next()
        }
        next?()
    }
}
