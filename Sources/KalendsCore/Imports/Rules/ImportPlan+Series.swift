// SPDX-License-Identifier: Apache-2.0

import Storage

/// How large an event may become with all of its components, which feeds, exports and calendar apps read together.
extension ImportPlan {
    /// Looks up how many bytes are stored of events with several components.
    mutating func weigh(_ uids: [String], _ store: any Store) async throws {
        let fresh = Set(uids.map { ByteString($0) }).filter { seriesBytes[$0] == nil }.map(\.string)
        guard !fresh.isEmpty else { return }
        let stored = try await store.read { [circle = owner.circle.id] in
            try $0.importedBytes(of: fresh, in: circle)
        }
        for uid in fresh { seriesBytes[ByteString(uid)] = stored[ByteString(uid)] ?? 0 }
    }

    /// Counts the bytes of a component, unless it is a changed occurrence with which the event would have too many; returns
    /// the most bytes then.
    mutating func tooLarge(_ record: ImportedEventRecord, insteadOf old: ImportedEventRecord?) -> Int? {
        guard let known = seriesBytes[record.key.uid] else { return nil }
        let growth = record.content.utf8.count - (old?.content.utf8.count ?? 0)
        if !record.recurrenceID.isEmpty, growth > 0, known + growth > Quotas.occurrenceBytesPerItem {
            return Quotas.occurrenceBytesPerItem
        }
        seriesBytes[record.key.uid] = known + growth
        return nil
    }
}
