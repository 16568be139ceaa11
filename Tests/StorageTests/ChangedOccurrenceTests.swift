// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Changed occurrences")
struct ChangedOccurrenceTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    private static func sample(
        _ start: String, of item: String = "series", in circle: String = "home", content: String = "{}"
    ) -> ChangedOccurrence {
        ChangedOccurrence(
            circleID: circle, itemID: item, originalStart: start, startsAt: 1_000, endsAt: 2_000, content: content)
    }

    @Test("One is kept by its original start, changed in place, and deleted once")
    func puts() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("series", .appointments, to: nil))
            try transaction.putOccurrences([Self.sample("20260121T170000Z")], now: 3)
            try transaction.putOccurrences(
                [Self.sample("20260121T170000Z", content: "[1]")], replacing: [Self.sample("20260121T170000Z")], now: 5)
            try transaction.putOccurrences([Self.sample("20260114")], now: 6)
            let one = try transaction.occurrence("20260121T170000Z", of: "series", in: "home")
            #expect(one?.content == "[1]")
            #expect(one?.createdAt == 3 && one?.updatedAt == 5)
            #expect(
                try transaction.occurrences(of: "series", in: "home").map(\.originalStart)
                    == ["20260114", "20260121T170000Z"])
            try transaction.deleteOccurrences([try #require(one)], now: 1)
            #expect(try transaction.occurrence("20260121T170000Z", of: "series", in: "home") == nil)
        }
    }

    @Test("A circle's occurrences are of all its appointments and of no other circle")
    func listsAll() async throws {
        try await home.write { transaction in
            for circle in ["home", "other"] {
                try transaction.makeHome(circle)
                for item in ["series", "b"] {
                    try transaction.put(.sample(item, .appointments, in: circle))
                    try transaction.putOccurrences([Self.sample("20260114", of: item, in: circle)], now: 1)
                }
            }
            let all = try transaction.occurrences(of: nil, in: "home")
            #expect(all.map(\.itemID) == ["b", "series"])
            #expect(Set(all.map(\.circleID)) == ["home"])
        }
    }

    @Test("Occurrences go with their item and do not come back with it")
    func goWithItem() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            for item in ["series", "kept"] {
                try transaction.put(.sample(item, .appointments, to: nil))
                try transaction.putOccurrences([Self.sample("20260114", of: item)], now: 1)
            }
            _ = try transaction.deleteItem("series", .appointments, in: "home", now: 2)
            #expect(try transaction.occurrences(of: nil, in: "home").map(\.itemID) == ["kept"])
            try transaction.put(.sample("series", .appointments, to: nil), now: 3)
            #expect(try transaction.occurrences(of: "series", in: "home").isEmpty)
        }
    }

    @Test("One of an unknown appointment, or of a task, is refused", arguments: ["unknown", "task"])
    func refusesUnknownItem(item: String) async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("task", .tasks))
        }
        await #expect(throws: (any Error).self) {
            try await home.write { try $0.putOccurrences([Self.sample("20260114", of: item)], now: 1) }
        }
    }
}
