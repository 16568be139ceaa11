// SPDX-License-Identifier: Apache-2.0

package import Base
import Synchronization

/// Answers whose bytes many readers share: they are counted once, however many take them at a time.
package final class SharedAnswers: Sendable {
    private let held = Mutex<[ByteString: (share: MemoryShare, holders: Int)]>([:])

    /// One reader's part in the bytes, given back when nobody has it any more.
    package final class Part: Sendable {
        private let owner: SharedAnswers
        private let name: ByteString

        fileprivate init(_ owner: SharedAnswers, _ name: ByteString) { (self.owner, self.name) = (owner, name) }

        deinit { owner.leave(name) }
    }

    /// A part in bytes that somebody takes already; nil when nobody does.
    ///
    /// - Parameter name: what identifies the bytes, such as their entity tag.
    func join(_ name: ByteString) -> Part? {
        held.withLock { held in
            guard held[name] != nil else { return nil }
            held[name]?.holders += 1
            return Part(self, name)
        }
    }

    /// A part in bytes that the share has room for.
    func add(_ name: ByteString, _ share: MemoryShare) -> Part {
        held.withLock { held in
            held[name] = (held[name]?.share ?? share, (held[name]?.holders ?? 0) + 1)
            return Part(self, name)
        }
    }

    /// A part in bytes that another reader takes already, or for which there is room now; nil when the budget has no room.
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
        // Let go of behind the lock.
        withExtendedLifetime(last) {}
    }
}
