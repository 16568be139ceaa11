// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Makes the index of a file's events while later ones are received, on another processor where there is one.
final class ImportIndexing: Sendable {
    private let ranges: AsyncStream<Range<Int>>.Continuation
    private let work: Task<ImportIndex, any Error>

    /// - Parameters:
    ///   - zone: the zone of times that name none.
    ///   - expected: about how many events there will be.
    ///   - spool: where the blocks of events are.
    init(floatingIn zone: TimeZoneReference, expecting expected: Int, of spool: Spool) {
        let (received, ranges) = AsyncStream.makeStream(of: Range<Int>.self)
        self.ranges = ranges
        work = Task {
            var index = ImportIndex(floatingIn: zone, expecting: expected)
            // Only the places of the blocks wait here, however far the index is behind.
            for await range in received { try index.add(try spool.read(range)) }
            // The sequence of places also ends when this task is cancelled, and an index of only a part would be useless.
            try Task.checkCancellation()
            return index
        }
    }

    // Nobody wants the index of a file that was given up.
    deinit { work.cancel() }

    /// Adds the next block.
    func add(_ range: Range<Int>) { ranges.yield(range) }

    /// Returns the index of all blocks; throws `PackError` if one of them is damaged, and `CancellationError` if the
    /// caller is cancelled.
    func finished() async throws -> ImportIndex {
        // The work is cancelled when nobody holds this any more.
        defer { withExtendedLifetime(self) {} }
        return try await withTaskCancellationHandler {
            ranges.finish()
            return try await work.value
        } onCancel: {
            work.cancel()
        }
    }
}
