// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Answers whose bytes many readers share: they are counted once, however many readers there are.
package final class SharedAnswers: Sendable {
    private let held = Mutex<[ByteString: (share: MemoryShare, holders: Int)]>([:])

    /// One reader's part in the bytes; it is given back when the last reference to it ends.
    package final class Part: Sendable {
        private let owner: SharedAnswers
        private let name: ByteString

        fileprivate init(_ owner: SharedAnswers, _ name: ByteString) { (self.owner, self.name) = (owner, name) }

        deinit { owner.leave(name) }
    }

    /// Returns a part in bytes that another reader already receives; nil if there is no such reader.
    ///
    /// - Parameter name: what identifies the bytes, such as their entity tag.
    func join(_ name: ByteString) -> Part? {
        held.withLock { held in
            guard held[name] != nil else { return nil }
            held[name]?.holders += 1
            return Part(self, name)
        }
    }

    /// Returns a part in bytes that the share has room for.
    func add(_ name: ByteString, _ share: MemoryShare) -> Part {
        held.withLock { held in
            held[name] = (held[name]?.share ?? share, (held[name]?.holders ?? 0) + 1)
            return Part(self, name)
        }
    }

    /// Returns a part in bytes that another reader already receives or for which there is room now; nil if the budget
    /// is full.
    package func joinNow(_ name: ByteString, _ count: Int, in budget: MemoryBudget, for network: ByteString?) -> Part? {
        if let part = join(name) { return part }
        let share = MemoryShare(budget, network: network)
        return share.holdNow(count) ? add(name, share) : nil
    }

    private func leave(_ name: ByteString) {
        let last = held.withLock { held -> MemoryShare? in
            guard let known = held[name] else { return nil }
            held[name] = known.holders > 1 ? (known.share, known.holders - 1) : nil
            return known.holders > 1 ? nil : known.share
        }
        // The last reference is released outside the lock.
        withExtendedLifetime(last) {}
    }
}
