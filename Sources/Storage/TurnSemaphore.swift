// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Who takes turns with others at the database: the sender of a request once that is known, or whose work is done.
public final class DatabaseCaller: Sendable {
    /// Nil for work of the server's own, which has turns as one caller has.
    @TaskLocal public static var current: DatabaseCaller?

    private let held: Mutex<(name: ByteString, time: Duration)>

    public init(_ name: ByteString = "") { held = Mutex((name, .zero)) }

    public var name: ByteString {
        get { held.withLock { $0.name } }
        set { held.withLock { $0.name = newValue } }
    }

    /// The processor time that reads for this caller have taken here.
    public var time: Duration { held.withLock { $0.time } }

    /// Does the work of a read, whose processor time is counted.
    package func count<Value>(_ work: () throws -> Value) rethrows -> Value {
        let began = SystemThread.processorTime
        defer {
            let time = SystemThread.processorTime - began
            held.withLock { $0.time += time }
        }
        return try work()
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
    private let most: Int

    /// - Parameter most: how many of the places one caller may have; the server's own work may have all of them.
    package init(_ count: Int, most: Int = .max) {
        state = Mutex(State(free: count))
        self.most = most
    }

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

    /// - Returns: the caller that has a place now.
    private func enter() async -> ByteString {
        let caller = DatabaseCaller.current?.name ?? ""
        let most = caller == "" ? .max : most
        // While a place is free, those wait who have as many as one may have.
        let begins = state.withLock { state in
            guard state.free > 0, state.line.begins(caller, most: most) else { return false }
            state.free -= 1
            return true
        }
        if begins { return caller }
        await withCheckedContinuation { continuation in
            let next = state.withLock { state in
                state.line.add({ continuation.resume() }, for: caller, most: most)
                return state.next()
            }
            next?()
        }
        return caller
    }

    private func leave(_ caller: ByteString) {
        let next = state.withLock { state in
            state.line.ended(caller)
            state.free += 1
            return state.next()
        }
        next?()
    }
}
