// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Rows of one table that are passed on together.
struct RowBatch: Sendable {
    var table: SchemaTable
    var rows: [[SQLValue]] = []
    /// Roughly how many bytes the rows take.
    var bytes = 0
}

/// The way in which the reading of a database ends.
struct RowReading: Sendable {
    /// The contents of each table, in the order in which they were read.
    var contents: [TableCopy.Content] = []
    /// The rows of the settings, which are stored last.
    var settings: [RowBatch] = []
}

/// Passes rows from the thread of one engine to that of another, a few batches at a time.
final class RowChannel: Sendable {
    private struct Closed: Error {}

    private struct State {
        var batches: [RowBatch] = []
        var result: Result<RowReading, any Error>?
        var isBegun = false
        /// The number of the current step, 0 when all rows are read at once. `taken` are the rows that it has read, and
        /// `again` those that it reads once more because the step was restarted.
        var step = 0
        var taken: [RowBatch] = []
        var again: [RowBatch] = []
        var isClosed = false

        mutating func takeAgain() -> RowBatch? { again.isEmpty ? nil : kept(again.removeFirst()) }

        mutating func take() -> RowBatch? { batches.isEmpty ? nil : kept(batches.removeFirst()) }

        private mutating func kept(_ batch: RowBatch) -> RowBatch {
            if step > 0 { taken.append(batch) }
            return batch
        }
    }

    private let state = Mutex(State())
    private let filled = Semaphore()
    private let free = Semaphore()

    init() { for _ in 0..<4 { free.signal() } }

    /// Begins the copy; returns false when it has begun before.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.isBegun = true }
            return !state.isBegun
        }
    }

    /// Begins to read rows for a step, counted from 1; a step that is restarted reads the same rows as before.
    func begin(_ step: Int) {
        state.withLock { state in
            state.again = state.step == step ? state.taken + state.again : []
            state.taken = []
            state.step = step
        }
    }

    func send(_ batch: RowBatch) throws {
        free.wait()
        let isClosed = state.withLock { state in
            if !state.isClosed { state.batches.append(batch) }
            return state.isClosed
        }
        if isClosed { throw Closed() }
        filled.signal()
    }

    func end(_ result: Result<RowReading, any Error>) {
        state.withLock { $0.result = result }
        filled.signal()
    }

    /// Waits for the next batch and returns it; nil after the last.
    func next() -> RowBatch? {
        if let batch = state.withLock({ $0.takeAgain() }) { return batch }
        filled.wait()
        let batch = state.withLock { $0.take() }
        // Whoever asks after the end is given the end again.
        if batch != nil { free.signal() } else { filled.signal() }
        return batch
    }

    /// Returns the result of the reading, once no batch follows.
    func result() throws -> RowReading {
        guard let result = state.withLock({ $0.result }) else { throw Closed() }
        return try result.get()
    }

    /// Ends the taking of batches.
    func close() {
        state.withLock { $0.isClosed = true }
        free.signal()
    }
}
