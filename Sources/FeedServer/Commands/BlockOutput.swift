// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Server
import Synchronization

/// Packs blocks of events and writes them to standard output in order, on a thread of its own where there is one: the next
/// events are examined in the meantime.
final class BlockOutput: Sendable {
    private let thread: SystemThread?
    private let waiting = Waiting()

    /// The blocks that have not been packed yet; nil marks the end.
    private final class Waiting: Sendable {
        private let blocks = Mutex<[[ReadEvent]?]>([])
        private let count = Semaphore()

        func add(_ block: [ReadEvent]?) {
            blocks.withLock { $0.append(block) }
            count.signal()
        }

        /// Waits for the next block; returns nil at the end.
        func next() -> [ReadEvent]? {
            count.wait()
            return blocks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    init() {
        let (own, waiting) = (SystemThread(), waiting)
        do {
            try own.start {
                while let block = waiting.next() { Self.write(block) }
            }
            thread = own
        } catch {
            thread = nil
        }
    }

    func write(_ block: [ReadEvent]) {
        if thread == nil { Self.write(block) } else { waiting.add(block) }
    }

    /// Waits until everything is written; must be the last call.
    func finish() {
        waiting.add(nil)
        thread?.join()
    }

    private static func write(_ block: [ReadEvent]) {
        Console.bytes(WorkerFrame.block(ImportBlock.packed(block)).bytes)
    }
}
