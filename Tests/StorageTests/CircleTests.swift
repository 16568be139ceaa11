// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Circles")
struct CircleTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A new circle begins with version 1")
    func creates() async throws {
        let (circle, isNew) = try await home.write {
            try $0.putCircle(Circle(id: "home", name: "Home", timeZone: "Europe/Vienna"), now: 5)
        }
        #expect(isNew)
        #expect(circle.version == 1)
        #expect([circle.createdAt, circle.updatedAt, circle.changedAt] == [5, 5, 5])
        #expect(try await home.read { try $0.circle("home") } == circle)
        #expect(try await home.read { try $0.circle("Home") } == nil)
    }

    @Test("Putting unchanged values changes nothing, not even a time")
    func keepsVersionWhenUnchanged() async throws {
        let (first, second) = try await home.write { transaction in
            try transaction.makeHome()
            let first = try transaction.circle("home")
            let second = try transaction.putCircle(Circle(id: "home", name: "Home", timeZone: "Europe/Vienna"), now: 9)
            #expect(!second.isNew)
            // What a circle counts by itself is not the caller's to give.
            var claimed = second.0
            (claimed.version, claimed.changedAt, claimed.createdAt, claimed.eventsEpoch) = (99, 98, 97, 96)
            let third = try transaction.putCircle(claimed, now: 9)
            #expect(!third.isNew && third.0 == second.0)
            return (first, second.0)
        }
        #expect(first == second)
        #expect(try await home.read { try $0.circle("home") } == first)
    }

    @Test("A new name raises the version and revises no item")
    func raisesVersionWithName() async throws {
        let (before, after, sequence) = try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("t"))
            let before = try transaction.version() ?? 0
            let (after, _) = try transaction.putCircle(
                Circle(id: "home", name: "Casa", timeZone: "Europe/Vienna"), now: 9_000)
            return (before, after, try transaction.sequence("t", .tasks))
        }
        #expect(after.version == before + 1)
        #expect(after.name == "Casa")
        #expect([after.createdAt, after.changedAt, after.updatedAt] == [1, 9_000, 9_000])
        #expect(sequence == 0)
    }

    @Test("Another zone revises the items that follow the circle's clock, and no others")
    func revisesItemsWithZone() async throws {
        try await home.write { transaction in
            for circle in ["home", "other"] {
                try transaction.makeHome(circle)
                try transaction.put(.sample("floating", in: circle))
                try transaction.put(.sample("series", .appointments, in: circle, to: nil))
                try transaction.put(.sample("own-zone", in: circle, timeZone: "Asia/Tokyo"))
                try transaction.put(.sample("all-day", .shifts, in: circle, isAllDay: true))
                try transaction.put(.sample("deleted", in: circle))
                _ = try transaction.deleteItem("deleted", .tasks, in: circle, now: 2)
            }
            _ = try transaction.putCircle(Circle(id: "home", name: "Home", timeZone: "America/New_York"), now: 9)
        }
        try await home.read { transaction throws in
            #expect(try transaction.sequence("floating", .tasks) == 1)
            #expect(try transaction.item("floating", .tasks, in: "home")?.updatedAt == 9)
            #expect(try transaction.sequence("series", .appointments) == 1)
            #expect(try transaction.sequence("own-zone", .tasks) == 0)
            #expect(try transaction.item("own-zone", .tasks, in: "home")?.updatedAt == 1)
            #expect(try transaction.sequence("all-day", .shifts) == 0)
            #expect(try transaction.sequence("deleted", .tasks) == 0)
            #expect(try transaction.itemEverKnown("deleted", .tasks, in: "home")?.updatedAt == 2)
            #expect(try transaction.sequence("floating", .tasks, in: "other") == 0)
        }
    }

    @Test("Touching a circle raises only its version; touching all may revise every item")
    func touches() async throws {
        try await home.write { transaction in
            for circle in ["home", "other"] {
                try transaction.makeHome(circle)
                try transaction.put(.sample("t", in: circle))
                try transaction.put(.sample("deleted", in: circle))
                _ = try transaction.deleteItem("deleted", .tasks, in: circle, now: 2)
            }
            let (first, other) = (try transaction.version() ?? 0, try transaction.version("other") ?? 0)
            try transaction.touchCircle("home", now: 60_000)
            #expect(try transaction.version() == first + 1)
            #expect(try transaction.circle("home")?.changedAt == 60_000)
            #expect(try transaction.circle("home")?.updatedAt == 1)
            #expect(try transaction.version("other") == other)

        }
        let (first, other) = try await home.read { (try $0.version() ?? 0, try $0.version("other") ?? 0) }
        try await home.store.touchAllCircles(now: 6)
        try await home.read { transaction throws in
            #expect(try transaction.version() == first + 1)
            #expect(try transaction.version("other") == other + 1)
            #expect(try transaction.sequence("t", .tasks) == 0)
        }
        try await home.store.reviseEverything(now: 7)
        try await home.read { transaction throws in
            #expect(try transaction.sequence("t", .tasks) == 1)
            #expect(try transaction.sequence("t", .tasks, in: "other") == 1)
            #expect(try transaction.item("t", .tasks, in: "home")?.updatedAt == 7)
            #expect(try transaction.sequence("deleted", .tasks) == 0)
        }
    }

    @Test("Each change is in a later second than the one before, whatever the clock shows; so are those of own entries")
    func laterSeconds() async throws {
        #expect(ChangeTime.after(61_500, now: 90_000) == 90_000)
        #expect(ChangeTime.after(61_500, now: 61_999) == 62_000 && ChangeTime.after(61_500, now: 7) == 62_000)
        // Far behind, a clock makes a time no later: many changes in a second do not lead further and further ahead.
        #expect(ChangeTime.after(200_500, now: 7) == 200_500)
        try await home.write { transaction in
            try transaction.makeHome()
            var own = Feed.sample("own")
            own.showsOwn = true
            try transaction.insert(own)
            func changedAt() throws -> Int? { try transaction.circle("home")?.changedAt }
            func ownChangedAt() throws -> Int? { try transaction.feed("own")?.ownChangedAt }
            try transaction.touchCircle("home", now: 60_300)
            #expect(try changedAt() == 60_300)
            try transaction.touchCircle("home", now: 60_999)
            #expect(try changedAt() == 61_000)
            try transaction.touchCircle("home", now: 20_000)
            #expect(try changedAt() == 62_000)
            let (put, _) = try transaction.putCircle(
                Circle(id: "home", name: "Casa", timeZone: "Europe/Vienna"), now: 20_001)
            #expect(put.changedAt == 63_000 && put.updatedAt == 20_001)
            #expect(try transaction.touchCircles(after: "", now: 20_002, limit: 9) == nil)
            #expect(try changedAt() == 64_000)
            try transaction.touchCircle("home", now: -100_000)
            #expect(try changedAt() == 64_000)
            for (now, expected) in [(60_300, 60_300), (60_301, 61_000), (5, 62_000), (90_000, 90_000)] {
                try transaction.touchOwnFeeds(of: "ann", now: now)
                #expect(try ownChangedAt() == expected)
            }
        }
    }

    @Test("Circles come in pages by id, and a user sees those they are a member of")
    func lists() async throws {
        try await home.write { transaction in
            for id in ["d", "a", "c", "b"] {
                _ = try transaction.putCircle(Circle(id: id, name: id, timeZone: "UTC"), now: 1)
                if id != "c" { _ = try transaction.putMember("ann", in: id, displayName: "A", role: .viewer, now: 1) }
            }
            _ = try transaction.removeMember("ann", from: "d", now: 2)
        }
        try await home.read { transaction throws in
            #expect(try transaction.circles(of: nil, after: "", limit: 3).map(\.id) == ["a", "b", "c"])
            #expect(try transaction.circles(of: nil, after: "c", limit: 3).map(\.id) == ["d"])
            #expect(try transaction.circles(of: "ann", after: "", limit: 9).map(\.id) == ["a", "b"])
            #expect(try transaction.circles(of: "ann", after: "a", limit: 1).map(\.id) == ["b"])
            #expect(try transaction.circles(of: "bob", after: "", limit: 9).isEmpty)
        }
    }

    @Test("Deleting a circle removes everything in it except the hashes of its tokens, which are ended")
    func deletes() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            _ = try transaction.putCircle(Circle(id: "other", name: "Other", timeZone: "UTC"), now: 1)
            try transaction.put(.sample("series", .appointments, patient: "pia", owner: "ann", to: nil))
            try transaction.putOccurrences(
                [
                    ChangedOccurrence(
                        circleID: "home", itemID: "series", originalStart: "20260121T170000Z", startsAt: 1, endsAt: 2,
                        content: "{}")
                ], now: 1)
            try transaction.put(.sample("gone"))
            _ = try transaction.deleteItem("gone", .tasks, in: "home", now: 2)
            try transaction.insert(.sample("f"))
            try transaction.insert(.sample("g", label: "revoked"))
            try transaction.revokeFeed("g", now: 3)
            try transaction.replaceToken(
                of: "f", hash: hash("f2"), hint: "h", sealed: "s", othersEndAt: 1_000, now: 4)
            try transaction.count([.sample("f")])
            #expect(try transaction.deleteCircle("home", now: 9))
            #expect(try !transaction.deleteCircle("home", now: 10))
            // Gone for everybody from here on, although all of it is there still.
            #expect(try transaction.circle("home") == nil && transaction.feed("f") == nil)
            #expect(try transaction.circles(of: "ann", after: "", limit: 9).isEmpty)
            #expect(throws: CircleIsBeingRemoved.self) {
                try transaction.putCircle(Circle(id: "home", name: "Home", timeZone: "UTC"), now: 9)
            }
        }
        try await home.store.recordRepeatedly { transaction, _ in try transaction.purgeCircle("home", limit: 1) }
        try await home.read { transaction throws in
            // Of changes, so that readers learn that the circle is gone, and no number is given twice.
            let kept: Set = [
                "circles", "feed_tokens", "schema_migrations", "settings", "service_keys", "changes", "change_numbers",
                "counters",
            ]
            for table in try transaction.tables() where !kept.contains(table) {
                #expect(try transaction.numbers("SELECT COUNT(*) AS value FROM \(table)") == [0], "\(table)")
            }
            #expect(try transaction.circles(of: nil, after: "", limit: 9).map(\.id) == ["other"])
            // The one in its grace ends now; the one that had ended keeps its time.
            for (name, end) in [("f", 9), ("f2", 9), ("g", 3)] {
                let token = try #require(try transaction.feedToken(hash: hash(name)))
                #expect(token.feedID == nil)
                #expect(token.endsAt == end)
            }
        }
    }
}
