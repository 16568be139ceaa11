// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Schedule items")
struct ScheduleItemTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("An item is read back as it was stored, only in its own collection", arguments: ScheduleItem.Collection.all)
    func roundTrips(collection: ScheduleItem.Collection) async throws {
        let stored = try await home.write { transaction in
            try transaction.makeHome()
            return try transaction.put(
                .sample(
                    "x", collection, patient: "pia", owner: "ann", timeZone: "Asia/Tokyo", isAllDay: true,
                    from: -86_400_000, to: nil, content: #"{"title":"Zoë"}"#), uid: "u-1", now: 7)
        }
        #expect(stored.uid == "u-1")
        #expect(stored.sequence == 0)
        #expect([stored.createdAt, stored.updatedAt] == [7, 7])
        try await home.read { transaction throws in
            for other in ScheduleItem.Collection.all {
                #expect(try transaction.item("x", other, in: "home") == (other == collection ? stored : nil))
            }
            #expect(try transaction.ownedUIDs(["u-1", "U-1"], in: "home") == ["u-1"])
        }
    }

    @Test("A visible change raises SEQUENCE and the time of change; another one raises neither")
    func revises() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t"), uid: "u", now: 1)
            let shown = try transaction.put(.sample("t", content: "[1]"), uid: "ignored", now: 5)
            #expect(shown.uid == "u" && shown.sequence == 1 && shown.createdAt == 1 && shown.updatedAt == 5)
            let hidden = try transaction.put(.sample("t", content: "[2]"), isVisible: false, now: 9)
            #expect(hidden.sequence == 1 && hidden.updatedAt == 5 && hidden.content == "[2]")
            #expect(try transaction.item("t", .tasks, in: "home") == hidden)
            try transaction.reviseItem("t", .tasks, in: "home", now: 12)
            #expect(try transaction.sequence("t", .tasks) == 2)
            #expect(try transaction.item("t", .tasks, in: "home")?.updatedAt == 12)
        }
    }

    @Test("An id that is deleted and put again keeps its UID and goes on above its old SEQUENCE")
    func keepsUIDAcrossDelete() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t"), uid: "first", now: 1)
            try transaction.put(.sample("t", content: "[1]"), now: 2)
            #expect(try transaction.deleteItem("t", .tasks, in: "home", now: 3))
            #expect(try !transaction.deleteItem("t", .tasks, in: "home", now: 4))
            #expect(try transaction.item("t", .tasks, in: "home") == nil)
            let tombstone = try transaction.itemEverKnown("t", .tasks, in: "home")
            #expect(tombstone?.deletedAt == 3 && tombstone?.updatedAt == 3)
            #expect(try transaction.ownedUIDs(["first"], in: "home") == ["first"])

            let again = try transaction.put(.sample("t"), uid: "second", now: 5)
            #expect(again.uid == "first" && again.sequence == 2 && again.deletedAt == nil)
            #expect(again.createdAt == 1 && again.updatedAt == 5)
            #expect(try transaction.item("t", .tasks, in: "home") == again)
        }
    }

    @Test("No two items of a circle have one UID; an item of another circle may have it, and is found on its own")
    func keepsUIDsApart() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            try transaction.put(.sample("t"), uid: "u")
            try transaction.put(.sample("t", in: "other"), uid: "u")
            try transaction.put(.sample("s", in: "other"), uid: "v")
            #expect(try transaction.ownedUIDs(["u", "v"], in: "home") == ["u"])
            #expect(try transaction.itemsEverKnown(uids: ["u"], in: "other").map(\.circleID) == ["other"])
            #expect(try transaction.itemsEverKnown(uid: "u", for: "ann").map(\.circleID) == ["home", "other"])
            #expect(try transaction.itemsEverKnown(uid: "u", for: "nobody").isEmpty)
        }
        for uid in ["u", "v"] {
            await #expect(throws: (any Error).self) {
                try await home.write { try $0.put(.sample("third", in: "other"), uid: uid) }
            }
        }
    }

    @Test("Deleting a missing item reports that it is missing")
    func deletesNothing() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t"))
            #expect(try !transaction.deleteItem("t", .shifts, in: "home", now: 2))
            #expect(try !transaction.deleteItem("t", .tasks, in: "elsewhere", now: 2))
            #expect(try transaction.item("t", .tasks, in: "home") != nil)
        }
    }

    @Test(
        "The database refuses an item that its rules forbid",
        arguments: [
            ScheduleItem.sample("t", from: 2_000, to: 1_999), .sample(""), .sample(String(repeating: "x", count: 129)),
            .sample("t", in: "nowhere"), .sample("t", patient: "nobody"), .sample("t", owner: "nobody"),
            .sample("t", patient: "ann"), .sample("t", patient: "only-in-other"), .sample("t", owner: "only-in-other"),
        ])
    func refuses(item: ScheduleItem) async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            _ = try transaction.putPatient("only-in-other", in: "other", displayName: "P", now: 1)
            _ = try transaction.putMember("only-in-other", in: "other", displayName: "M", role: .owner, now: 1)
        }
        let error = await #expect(throws: (any Error).self) { try await home.write { try $0.put(item) } }
        #expect("\(try #require(error))".contains("does not fit the schema"))
    }

    @Test(
        "The database refuses values that no record could hold",
        arguments: [
            "UPDATE schedule_items SET collection = ''", "UPDATE schedule_items SET is_all_day = 2",
            "UPDATE schedule_items SET sequence = -1", "UPDATE schedule_items SET sequence = 2147483648",
            "UPDATE schedule_items SET uid = NULL", "UPDATE members SET role = 'boss'",
            "UPDATE members SET user_id = ''", "UPDATE circles SET name = NULL",
            "UPDATE circles SET id = '' WHERE id = 'empty'", "UPDATE feed_tokens SET hash = 'short'",
            "UPDATE occurrences SET original_start = '2026-01-21'", "UPDATE occurrences SET collection = 'tasks'",
            "UPDATE occurrences SET ends_at = starts_at - 1", "DELETE FROM patients WHERE id = 'pia'",
            "DELETE FROM members WHERE user_id = 'ann'",
        ])
    func refusesStatement(sql: String) async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            _ = try transaction.putCircle(Circle(id: "empty", name: "Empty", timeZone: "UTC"), now: 1)
            try transaction.put(.sample("a", .appointments, patient: "pia", owner: "ann"))
            try transaction.putOccurrences(
                [
                    ChangedOccurrence(
                        circleID: "home", itemID: "a", originalStart: "20260121", startsAt: 1, endsAt: 2, content: "{}")
                ],
                now: 1)
            try transaction.insert(.sample("f"))
        }
        let error = await #expect(throws: (any Error).self) { try await home.write { _ = try $0.execute(sql, []) } }
        #expect("\(try #require(error))".contains("does not fit the schema"))
    }
}
