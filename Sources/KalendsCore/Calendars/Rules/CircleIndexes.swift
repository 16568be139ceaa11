// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// The indexes of circles that calendar apps asked for last.
final class CircleIndexes: Sendable {
    private struct Key: Hashable {
        var circle: ByteString
        var user: ByteString
    }

    /// The maximum size in bytes of indexes.
    private static let limit = 64 << 20

    /// The index has to be made first, for which there is room only outside the transaction.
    struct Missing: Error {}

    private let kept = Mutex(LeastRecentlyUsed<Key, CircleIndex>(limit: limit))

    /// Returns the index of a circle for a person in the state of the transaction; throws `Missing` without one.
    ///
    /// - Parameter made: an index that was just made, which may be too large to be kept.
    func current(_ reader: CircleReader, made: CircleIndex?) throws -> CircleIndex {
        let key = Key(circle: ByteString(reader.circle.id), user: ByteString(reader.look.userID))
        for candidate in [kept.withLock { $0.find(key) }, made] {
            guard var index = candidate, try index.update(reader) else { continue }
            keep(index, for: key)
            return index
        }
        throw Missing()
    }

    private func keep(_ index: CircleIndex, for key: Key) {
        kept.withLock { kept in
            // An index older than the kept one is used only for this answer.
            if let known = kept.find(key), known.isLater(than: index) { return }
            kept.keep(index, for: key, cost: index.size)
        }
    }
}
