// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Queries of schedule items")
struct ScheduleItemQueryTests {
    /// The times of an item, the span of a query, and whether each of the two queries finds the item.
    struct Span: Sendable, CustomStringConvertible {
        var startsAt: Int
        var endsAt: Int?
        var from: Int?
        var to: Int?
        var isListed: Bool

        var description: String {
            "\(startsAt)..<\(endsAt.map(String.init) ?? "never") in \(from.map(String.init) ?? "")..<"
                + (to.map(String.init) ?? "")
        }
    }

    static let spans = [
        Span(startsAt: 1_000, endsAt: 2_000, from: nil, to: nil, isListed: true),
        Span(startsAt: -5_000, endsAt: -4_000, from: nil, to: nil, isListed: true),
        Span(startsAt: -5_000, endsAt: -4_000, from: -4_001, to: nil, isListed: true),
        // Half open: what ends as the span begins, or begins as it ends, is outside.
        Span(startsAt: 1_000, endsAt: 2_000, from: 1_999, to: nil, isListed: true),
        Span(startsAt: 1_000, endsAt: 2_000, from: 2_000, to: nil, isListed: false),
        Span(startsAt: 1_000, endsAt: 2_000, from: nil, to: 1_001, isListed: true),
        Span(startsAt: 1_000, endsAt: 2_000, from: nil, to: 1_000, isListed: false),
        Span(startsAt: 1_000, endsAt: 5_000, from: 2_000, to: 3_000, isListed: true),
        Span(startsAt: 2_100, endsAt: 2_200, from: 2_000, to: 3_000, isListed: true),
        Span(startsAt: 1_000, endsAt: 5_000, from: 2_000, to: 2_000, isListed: true),
        // A moment lies in the span that begins with it.
        Span(startsAt: 1_000, endsAt: 1_000, from: 1_000, to: nil, isListed: true),
        Span(startsAt: 1_000, endsAt: 1_000, from: 1_000, to: 1_001, isListed: true),
        Span(startsAt: 1_000, endsAt: 1_000, from: 1_001, to: nil, isListed: false),
        Span(startsAt: 1_000, endsAt: 1_000, from: nil, to: 1_000, isListed: false),
        // A series without an end is in every span that does not end before it.
        Span(startsAt: 1_000, endsAt: nil, from: 9_999_999_999_999, to: nil, isListed: true),
        Span(startsAt: 1_000, endsAt: nil, from: 0, to: 1_000, isListed: false),
        Span(startsAt: 1_000, endsAt: nil, from: 0, to: 1_001, isListed: true),
    ]

    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A list holds what overlaps its half-open span", arguments: spans)
    func lists(span: Span) async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t", from: span.startsAt, to: span.endsAt))
            var query = ScheduleItemQuery(limit: 10)
            query.from = span.from
            query.to = span.to
            let ids = try transaction.items(.tasks, in: "home", query).map(\.id)
            #expect(ids == (span.isListed ? ["t"] : []))
        }
    }

    @Test("A feed's look-up holds at least what a list holds", arguments: spans)
    func looksUp(span: Span) async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t", from: span.startsAt, to: span.endsAt))
            let ids = try transaction.items(in: "home", from: span.from ?? -10_000, to: span.to ?? .max).map(\.id)
            // What ends as the span begins may come too; whoever asks cuts exactly.
            #expect(ids == (span.isListed || span.endsAt == span.from ? ["t"] : []))
        }
    }

    @Test("A feed's look-up is in order of time, then collection and id, of one circle, without the deleted")
    func ordersLookUp() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            try transaction.put(.sample("late", .tasks, from: 1_500))
            try transaction.put(.sample("b", .tasks))
            try transaction.put(.sample("a", .tasks))
            try transaction.put(.sample("z", .appointments))
            try transaction.put(.sample("early", .followUps, from: 500))
            try transaction.put(.sample("gone", .shifts))
            _ = try transaction.deleteItem("gone", .shifts, in: "home", now: 2)
            try transaction.put(.sample("theirs", .tasks, in: "other"))
            let ids = try transaction.items(in: "home", from: 0, to: 9_000).map(\.id)
            #expect(ids == ["early", "z", "a", "b", "late"])
        }
    }

    @Test("Tombstones come with updatedSince and only with it, from that time on")
    func listsTombstones() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("old"), now: 10)
            try transaction.put(.sample("new"), now: 20)
            try transaction.put(.sample("gone"), now: 10)
            _ = try transaction.deleteItem("gone", .tasks, in: "home", now: 20)
            try transaction.put(.sample("gone-before"), now: 10)
            _ = try transaction.deleteItem("gone-before", .tasks, in: "home", now: 19)

            var query = ScheduleItemQuery(limit: 10)
            #expect(try transaction.items(.tasks, in: "home", query).map(\.id) == ["new", "old"])
            query.updatedSince = 20
            let changed = try transaction.items(.tasks, in: "home", query)
            #expect(changed.map(\.id) == ["gone", "new"])
            #expect(changed.map(\.deletedAt) == [20, nil])
            query.updatedSince = 21
            #expect(try transaction.items(.tasks, in: "home", query).isEmpty)
        }
    }

    @Test("Pages by id hold every item once")
    func pages() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            let ids = (0..<25).map { "item-\($0)" }
            for id in ids { try transaction.put(.sample(id)) }
            try transaction.put(.sample("elsewhere", .shifts))
            var query = ScheduleItemQuery(limit: 10)
            var pages: [[String]] = []
            repeat {
                pages.append(try transaction.items(.tasks, in: "home", query).map(\.id))
                query.after = pages.last?.last ?? ""
            } while pages.last?.count == 10
            #expect(pages.map(\.count) == [10, 10, 5])
            #expect(pages.flatMap { $0 } == ids.sorted())
        }
    }
}
