// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Events of a followed calendar that are also in an imported file.
///
/// They are left to the file, so that nobody sees them twice. A series is left to it with all of its exceptions or not at
/// all: in a feed, events of two sources have two UIDs, so that an exception of one would be shown beside the occurrence of
/// the other that it replaces.
extension ImportPlan {
    /// Finds the series of a followed calendar that a file brought with the same exceptions, however far apart they are in
    /// the calendar.
    mutating func findBroughtSeries(in events: ImportEvents, _ store: any Store) async throws {
        guard owner.isSubscription, index.hasExceptions, (owner.sources[.shared]?.events ?? 0) > 0 else { return }
        var (same, others): (Set<ByteString>, Set<ByteString>) = ([], [])
        var position = 0
        while position < events.count {
            var components: [(key: ImportedEventRecord.Key, event: Event)] = []
            for read in try ImportBlock.events(try await events.packed(from: position, store)) {
                let event = read.event
                if index.isNewest(position), index.components(of: event.uid) > 1, !index.isPrivate(event.uid),
                    !others.contains(ByteString(event.uid))
                {
                    let recurrenceID = event.recurrenceKey(floatingIn: zone)
                    components.append((.init(.shared, uid: event.uid, recurrenceID: recurrenceID), event))
                }
                position += 1
            }
            while !components.isEmpty {
                let keys = components.map { ($0.key.uid.string, $0.key.recurrenceID.string) }
                let count = try await owner.together(keys, of: [.shared], store)
                let stored = try await store.read { [circle = owner.circle] in
                    try $0.importedVersions(Array(keys.prefix(count)), of: [.shared], in: circle)
                }
                for (key, event) in components.prefix(count) {
                    let isSame = try Self.isSame(stored[key], StoredEvent.text(event.importable(keeping: [])))
                    if isSame { same.insert(key.uid) } else { others.insert(key.uid) }
                }
                components.removeFirst(count)
            }
        }
        broughtSeries = try await brought(same.subtracting(others), store)
    }

    /// Returns the UIDs of those events of a followed calendar that are skipped, because a file brought the same.
    ///
    /// - Parameter stored: the stored versions of the events.
    func broughtByFiles(
        _ records: [ImportedEventRecord], _ stored: [ImportedEventRecord.Key: ImportedEventRecord],
        _ store: any Store
    ) async throws -> Set<ByteString> {
        guard owner.isSubscription else { return [] }
        var (series, single): (Set<ByteString>, Set<ByteString>) = ([], [])
        for record in records where record.visibleTo == nil {
            let key = ImportedEventRecord.Key(.shared, uid: record.uid, recurrenceID: record.recurrenceID)
            if index.components(of: record.uid) > 1 {
                if broughtSeries.contains(key.uid) { series.insert(key.uid) }
            } else if try Self.isSame(stored[key], record.content) {
                single.insert(key.uid)
            }
        }
        return try await brought(single, store).union(series)
    }

    /// Whether a file brought the same, apart from what is not stored for a followed calendar.
    private static func isSame(_ stored: ImportedEventRecord?, _ content: String) throws -> Bool {
        guard let stored, stored.isLive else { return false }
        return try StoredEvent.isSame(stored.content, content)
            || StoredEvent.isSame(
                StoredEvent.text(try StoredEvent.event(stored.content).importable(keeping: [])), content)
    }

    /// Returns the UIDs, among these, for which nothing is stored for the calendar and files brought nothing that the calendar
    /// lacks.
    private func brought(_ uids: Set<ByteString>, _ store: any Store) async throws -> Set<ByteString> {
        guard case .subscription(let id, _) = owner.kind, !uids.isEmpty else { return [] }
        let names = uids.map(\.string)
        let shared = try await owner.counts(names, of: .shared, store)
            .filter { $0.count == index.components(of: $0.uid.string) }
        return Set(shared.map(\.uid)).subtracting(
            try await owner.counts(names, of: .subscription(id), store).map(\.uid))
    }
}
