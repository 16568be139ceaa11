// SPDX-License-Identifier: Apache-2.0

import Base
import Storage

/// Stored events that equal those of a file except for their UID, which some programs change in every export.
///
/// Each is found once. However many are equal, none is visited twice.
struct ImportTwins: Sendable {
    private var free: [ByteString: [ImportedEventRecord.Key]] = [:]
    /// The last UID visited among events that are equal, by fingerprint.
    private var last: [ByteString: String] = [:]
    private var matched: Set<ImportedEventRecord.Key> = []

    func isMatched(_ key: ImportedEventRecord.Key) -> Bool { matched.contains(key) }

    /// Finds the twins of some events.
    mutating func find(
        _ records: [ImportedEventRecord], _ owner: ImportOwner, _ store: any Store
    ) async throws {
        // Twins left over are dropped; a later search continues where the last one ended.
        free = [:]
        guard !records.isEmpty, owner.known.contains(where: { (owner.sources[$0]?.events ?? 0) > 0 }) else { return }
        let wanted = Dictionary(grouping: records) { ByteString($0.fingerprint) }.mapValues(\.count)
        let fresh = wanted.keys.filter { last[$0] == nil }
        // There is about one twin for each event, and some are not free. If there are more, each kind is looked up in
        // pages.
        let most = max(400, 2 * records.count)
        let found = try await store.read {
            try $0.twins(fresh.map(\.string), of: owner.known, in: owner.circle, limit: most)
        }
        for twin in found ?? [] where isFree(twin.key, owner) { free[twin.fingerprint, default: []].append(twin.key) }
        for (fingerprint, count) in wanted where found == nil || last[fingerprint] != nil {
            try await search(fingerprint, count, owner, store)
        }
    }

    private mutating func search(
        _ fingerprint: ByteString, _ count: Int, _ owner: ImportOwner, _ store: any Store
    ) async throws {
        let length = 200
        var uids = free[fingerprint] ?? []
        while uids.count < count {
            let place = last[fingerprint] ?? ""
            let page = try await store.read {
                try $0.twins(fingerprint.string, behind: place, of: owner.known, in: owner.circle, limit: length)
            }
            for twin in page {
                // The page ends at a UID, so that no component is skipped.
                if uids.count >= count, last[fingerprint].map({ !twin.key.uid.string.isSameText(as: $0) }) ?? true {
                    break
                }
                last[fingerprint] = twin.key.uid.string
                if isFree(twin.key, owner) { uids.append(twin.key) }
            }
            if page.count < length { break }
        }
        free[fingerprint] = uids
    }

    private func isFree(_ key: ImportedEventRecord.Key, _ owner: ImportOwner) -> Bool {
        // The file may also contain the event under that UID.
        !owner.index.uids.contains(key.uid) && !matched.contains(key)
    }

    /// Matches an event with a twin; returns false if there is none left.
    mutating func take(_ record: ImportedEventRecord) -> Bool {
        let fingerprint = ByteString(record.fingerprint)
        guard var keys = free[fingerprint], !keys.isEmpty else { return false }
        matched.insert(keys.removeFirst())
        free[fingerprint] = keys
        return true
    }
}
