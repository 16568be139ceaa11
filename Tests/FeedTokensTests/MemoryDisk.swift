// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite
import Synchronization

@testable import FeedTokens

/// A file in memory that can be torn, held back and made to fail.
final class MemoryDisk: JournalDisk {
    enum Operation { case write, sync }

    private struct State {
        var bytes: [UInt8] = []
        var failing: Operation?
        var syncs = 0
        var written = 0
        var isHeld = false
    }

    private let state = Mutex(State())

    var syncs: Int { state.withLock { $0.syncs } }
    /// How many bytes were written for the first time.
    var written: Int { state.withLock { $0.written } }

    func copy() -> MemoryDisk {
        let copy = MemoryDisk()
        let bytes = state.withLock { $0.bytes }
        copy.state.withLock { $0.bytes = bytes }
        return copy
    }

    func erase(_ range: Range<Int>) { state.withLock { state in for index in range { state.bytes[index] = 0 } } }
    func flip(_ index: Int) { state.withLock { $0.bytes[index] ^= 0x10 } }
    func truncate(_ count: Int) { state.withLock { $0.bytes.removeLast($0.bytes.count - count) } }
    func fail(_ operation: Operation) { state.withLock { $0.failing = operation } }

    /// Keeps flushes from ending until `release`.
    func hold() { state.withLock { $0.isHeld = true } }
    func release() { state.withLock { $0.isHeld = false } }

    func reserve(_ count: Int) throws(JournalFailure) {}

    func write(_ words: ArraySlice<UInt64>, at offset: Int) throws(JournalFailure) {
        let isFailing = state.withLock { state -> Bool in
            if state.failing == .write { return true }
            let end = offset + words.count * 8
            if end > state.bytes.count {
                state.written += end - state.bytes.count
                state.bytes += [UInt8](repeating: 0xAA, count: end - state.bytes.count)
            }
            var index = offset
            for word in words {
                for byte in 0..<8 { state.bytes[index + byte] = UInt8(truncatingIfNeeded: word >> UInt64(byte * 8)) }
                index += 8
            }
            return false
        }
        if isFailing { throw .broken("planned") }
    }

    func read(at offset: Int, count: Int) throws(JournalFailure) -> [UInt8] {
        state.withLock { Array($0.bytes.dropFirst(offset).prefix(count)) }
    }

    func sync() throws(JournalFailure) {
        while state.withLock({ $0.isHeld }) { Thread.sleep(forTimeInterval: 0.001) }
        let isFailing = state.withLock { state -> Bool in
            state.syncs += 1
            // Once only: the next one would succeed.
            defer { if state.failing == .sync { state.failing = nil } }
            return state.failing == .sync
        }
        if isFailing { throw .broken("planned") }
    }

    func size() throws(JournalFailure) -> Int { state.withLock { $0.bytes.count } }
}
