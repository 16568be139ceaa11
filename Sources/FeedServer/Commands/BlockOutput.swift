// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Server
import Synchronization

/// Packs blocks of events and writes them to standard output in order, on a thread of its own where there is one: the next
/// events are examined in the meantime.
final class BlockOutput: Sendable {
    private let thread: SystemThread?
    private let waiting = Waiting()

    /// The events that have not been packed yet, of which nil marks the end, and those that are too large for a block.
    private final class Waiting: Sendable {
        private let blocks = Mutex<[[ReadEvent]?]>([])
        let tooLarge = Mutex<[ReadEvent]>([])
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
                while let events = waiting.next() { Self.write(events, waiting) }
            }
            thread = own
        } catch {
            thread = nil
        }
    }

    func write(_ events: [ReadEvent]) {
        if thread == nil { Self.write(events, waiting) } else { waiting.add(events) }
    }

    /// Waits until everything is written; must be the last call.
    ///
    /// - Returns: the events that are too large.
    func finish() -> [ReadEvent] {
        waiting.add(nil)
        thread?.join()
        return waiting.tooLarge.withLock(\.self)
    }

    private static func write(_ events: [ReadEvent], _ waiting: Waiting) {
        let (blocks, tooLarge) = ImportBlock.packed(events)
        for block in blocks { Console.bytes(WorkerFrame.block(block).bytes) }
        waiting.tooLarge.withLock { $0 += tooLarge }
    }
}
