// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension ComponentBatch {
    /// Reads components on as many threads as the options allow, and passes on batches in the order of the file.
    ///
    /// - Parameter isDone: called by each thread for the batches it has read.
    static func readAll(
        _ components: [RawComponent], bytes: [UInt8], _ table: ZoneTable, options: CalendarReader.Options,
        isDone: (@Sendable (_ components: Int) -> Void)? = nil, use: (ComponentBatch) -> Void
    ) {
        // Batches are large enough that passing them on costs nothing, and small enough that threads end at the same
        // time.
        let size = options.batchSize
        let count = (components.count + size - 1) / size
        @Sendable func range(_ index: Int) -> Range<Int> { index * size..<min((index + 1) * size, components.count) }
        let threads = min(options.threads, count / 2)
        guard threads > 1 else {
            var context = ReadingContext(table, options: options)
            for index in 0..<count {
                use(ComponentBatch(components[range(index)], bytes: bytes, &context))
                isDone?(range(index).count)
            }
            return
        }
        let next = Atomic(0)
        let done = Mutex<[ComponentBatch?]>(Array(repeating: nil, count: count))
        concurrently(threads) { _ in
            // A thread takes batches in the order of the file, so what it finds first is earlier in the file than what
            // it finds later; the marks in the logs depend on that.
            var context = ReadingContext(table, options: options)
            while true {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < count else { break }
                let batch = ComponentBatch(components[range(index)], bytes: bytes, &context)
                done.withLock { $0[index] = batch }
                isDone?(range(index).count)
            }
        }
        for index in 0..<count {
            // The batch is removed, so that its memory is free for what follows.
            if let batch = done.withLock({ $0[index].take() }) { use(batch) }
        }
    }
}
