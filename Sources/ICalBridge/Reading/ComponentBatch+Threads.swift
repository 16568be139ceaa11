// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

extension ComponentBatch {
    /// Reads components on as many threads as the options allow; batches come back in the order of the file.
    static func readAll(
        _ components: [RawComponent], bytes: [UInt8], _ table: ZoneTable, options: CalendarReader.Options
    ) -> [ComponentBatch] {
        // Enough that handing a batch over costs nothing, few enough that threads end together.
        let size = options.batchSize
        let count = (components.count + size - 1) / size
        let threads = min(options.threads, count / 2)
        guard threads > 1 else {
            var context = ReadingContext(table, options: options)
            return [ComponentBatch(components[...], bytes: bytes, &context)]
        }
        let next = Atomic(0)
        let done = Mutex<[ComponentBatch?]>(Array(repeating: nil, count: count))
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            // A thread takes batches in the order of the file, so what it meets first of all its batches comes before
            // what it meets later; the marks in the logs stand on that.
            var context = ReadingContext(table, options: options)
            while true {
                let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < count else { break }
                let range = index * size..<min((index + 1) * size, components.count)
                let batch = ComponentBatch(components[range], bytes: bytes, &context)
                done.withLock { $0[index] = batch }
            }
        }
        return done.withLock { $0.compactMap(\.self) }
    }
}
