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
    /// The index has come nearer to the state of the transaction, and goes on in the next one.
    struct Behind: Error {}

    private let kept = Mutex(LeastRecentlyUsed<Key, CircleIndex>(limit: limit))

    /// The bytes of all indexes.
    var size: Int { kept.withLock(\.cost) }

    /// Returns the index of a circle for a person in the state of the transaction; throws `Missing` without one, and
    /// `Behind` if it takes more than one transaction.
    ///
    /// - Parameter made: an index that was just made, which may be too large to be kept.
    func current(_ reader: CircleReader, made: CircleIndex?) throws -> CircleIndex {
        let key = Key(circle: ByteString(reader.circle.id), user: ByteString(reader.look.userID))
        for candidate in [made, kept.withLock { $0.find(key) }] {
            guard var index = candidate else { continue }
            let update = try index.update(reader)
            if case .lost = update { continue }
            keep(index, for: key)
            if case .behind = update { throw Behind() }
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
