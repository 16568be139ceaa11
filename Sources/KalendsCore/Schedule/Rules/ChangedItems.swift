// SPDX-License-Identifier: Apache-2.0

import Storage

extension ReadTransaction {
    /// Passes on a circle's items with their changed occurrences, in the order of `eachItem`. If the circle has many bytes,
    /// few of them are in memory at a time.
    ///
    /// - Parameters:
    ///   - others: queries that follow, as for `expect`.
    ///   - body: must not query the database.
    func eachChangedItem(
        in circle: String, from: Int, to: Int, before others: (any ReadTransaction) throws -> Void,
        _ body: (ScheduleItem, [ChangedOccurrence]) throws -> Void
    ) throws {
        guard try itemUsage(of: circle).bytes > 4 << 20 else {
            try expect { next in
                _ = try next.occurrences(of: nil, in: circle)
                try next.eachItem(in: circle, from: from, to: to) { _ in }
                try others(next)
            }
            let changed: [ByteString: [ChangedOccurrence]] = Dictionary(
                grouping: try occurrences(of: nil, in: circle), by: \.itemID)
            return try eachItem(in: circle, from: from, to: to) {
                try body($0, $0.hasOccurrences ? changed[$0.id] ?? [] : [])
            }
        }
        var rest = try itemPlaces(in: circle, from: from, to: to)[...]
        while !rest.isEmpty {
            let places = rest.prefix(50)
            rest = rest.dropFirst(places.count)
            var known: [ScheduleItem.Collection: [ByteString: ScheduleItem]] = [:]
            for (collection, some) in Dictionary(grouping: places, by: \.collection) {
                for item in try itemsEverKnown(some.map(\.id.string), collection, in: circle) {
                    known[collection, default: [:]][ByteString(item.id)] = item
                }
            }
            let items = places.compactMap { known[$0.collection]?[$0.id] }
            try eachChanged(items, in: circle, bytes: try occurrenceBytes(of: items, in: circle), body)
        }
    }

    /// Returns the bytes of the changed occurrences of those items that have any.
    func occurrenceBytes(of items: [ScheduleItem], in circle: String) throws -> [ByteString: Int] {
        let series = items.filter(\.hasOccurrences).map(\.id)
        return series.isEmpty ? [:] : try occurrenceBytes(of: series, in: circle)
    }

    /// Calls a body with items and their changed occurrences, of which those of one series are in memory at a time, or of
    /// several up to a mebibyte.
    ///
    /// - Parameter bytes: what `occurrenceBytes` returned.
    func eachChanged(
        _ items: [ScheduleItem], in circle: String, bytes: [ByteString: Int],
        _ body: (ScheduleItem, [ChangedOccurrence]) throws -> Void
    ) throws {
        var rest = items[...]
        while !rest.isEmpty {
            let group = rest.fitting(1 << 20) { bytes[$0.id] ?? 0 }
            rest = rest.dropFirst(group.count)
            let changing = group.map(\.id).filter { bytes[$0] != nil }
            let changed: [ByteString: [ChangedOccurrence]] =
                changing.isEmpty
                ? [:] : Dictionary(grouping: try occurrences(of: changing, in: circle), by: \.itemID)
            for item in group { try body(item, item.hasOccurrences ? changed[item.id] ?? [] : []) }
        }
    }
}
