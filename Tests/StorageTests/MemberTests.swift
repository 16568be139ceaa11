// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Members")
struct MemberTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A new member raises the circle's version; a put of what is there changes nothing")
    func puts() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            let before = try transaction.version() ?? 0
            let (cleo, isNew) = try transaction.putMember(
                "cleo", in: "home", displayName: "Cleo", role: .owner, now: 5)
            #expect(isNew)
            #expect(cleo.role == .owner && cleo.createdAt == 5 && cleo.leftAt == nil)
            #expect(try transaction.version() == before + 1)
            let (again, isNewAgain) = try transaction.putMember(
                "cleo", in: "home", displayName: "Cleo", role: .owner, now: 6)
            #expect(!isNewAgain)
            #expect(again == cleo)
            #expect(try transaction.version() == before + 1)
            #expect(try transaction.membersEverKnown(in: "home").map(\.userID) == ["ann", "bob", "cleo"])
        }
    }

    @Test("Another role raises the circle's version and revises no shift", arguments: Member.Role.allCases)
    func changesRole(role: Member.Role) async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            _ = try transaction.putMember(
                "cleo", in: "home", displayName: "Cleo", role: role == .owner ? .viewer : .owner, now: 2)
            try transaction.put(.sample("s", .shifts, owner: "cleo"))
            let before = try transaction.version() ?? 0
            let (cleo, isNew) = try transaction.putMember("cleo", in: "home", displayName: "Cleo", role: role, now: 3)
            #expect(!isNew)
            #expect(cleo.role == role && cleo.updatedAt == 3 && cleo.createdAt == 2)
            #expect(try transaction.version() == before + 1)
            #expect(try transaction.sequence("s", .shifts) == 0)
        }
    }

    @Test("A new name revises only that member's shifts, whose titles contain it")
    func renames() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            try transaction.put(.sample("of-ann", .shifts, owner: "ann"))
            try transaction.put(.sample("of-bob", .shifts, owner: "bob"))
            try transaction.put(.sample("of-nobody", .shifts))
            try transaction.put(.sample("deleted", .shifts, owner: "ann"))
            _ = try transaction.deleteItem("deleted", .shifts, in: "home", now: 2)
            try transaction.put(.sample("task", .tasks, owner: "ann"))
            try transaction.put(.sample("visit", .appointments, owner: "ann"))
            try transaction.put(.sample("of-ann", .shifts, in: "other", owner: "ann"))
            _ = try transaction.putMember(
                "ann", in: "home", displayName: "Anna", role: .member, titles: NamesInTitles(ofOwners: [.shifts]),
                now: 9)

            #expect(try transaction.sequence("of-ann", .shifts) == 1)
            #expect(try transaction.item("of-ann", .shifts, in: "home")?.updatedAt == 9)
            for (id, collection) in [
                ("of-bob", ScheduleItem.Collection.shifts), ("of-nobody", .shifts), ("deleted", .shifts),
                ("task", .tasks), ("visit", .appointments),
            ] {
                #expect(try transaction.sequence(id, collection) == 0, "\(id)")
            }
            #expect(try transaction.sequence("of-ann", .shifts, in: "other") == 0)
            #expect(try transaction.member("ann", in: "other")?.displayName == "Ann")
        }
    }

    @Test("A member who leaves keeps their name and loses their feeds of this circle; nobody else does")
    func leaves() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.makeHome("other")
            try transaction.insert(.sample("a1"))
            try transaction.insert(.sample("a2", label: "phone"))
            try transaction.insert(.sample("a3", label: "old"))
            try transaction.revokeFeed("a3", now: 2)
            try transaction.insert(.sample("b1", of: "bob"))
            try transaction.insert(.sample("o1", in: "other"))
            #expect(try transaction.removeMember("ann", from: "home", now: 9))
            #expect(try !transaction.removeMember("ann", from: "home", now: 10))
            #expect(try !transaction.removeMember("nobody", from: "home", now: 10))
        }
        try await home.read { transaction throws in
            #expect(try transaction.member("ann", in: "home") == nil)
            let ann = try transaction.memberEverKnown("ann", in: "home")
            #expect(ann?.displayName == "Ann")
            #expect(ann?.leftAt == 9)
            for (id, end) in [("a1", 9), ("a2", 9), ("a3", 2), ("b1", nil), ("o1", nil)] {
                #expect(try transaction.feed(id)?.revokedAt == end, "\(id)")
                #expect(try transaction.feedToken(hash: hash(id))?.endsAt == end, "\(id)")
            }
        }
    }

    @Test("Coming back revives no feed, and a new one may take an old one's label")
    func comesBack() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.insert(.sample("a1"))
            _ = try transaction.removeMember("ann", from: "home", now: 5)
            let (ann, isNew) = try transaction.putMember("ann", in: "home", displayName: "Ann", role: .viewer, now: 9)
            #expect(isNew)
            #expect(ann.leftAt == nil && ann.role == .viewer && ann.createdAt == 1)
            #expect(try transaction.feed("a1")?.revokedAt == 5)
            #expect(try transaction.feedToken(hash: hash("a1"))?.endsAt == 5)
            try transaction.insert(.sample("a2"))
            #expect(try transaction.feed(labelled: nil, of: "ann", in: "home")?.id == "a2")
        }
    }

    @Test("Leaving ends every feed, however many there are")
    func leavesWithManyFeeds() async throws {
        let count = 10_050
        try await home.write { transaction in
            try transaction.makeHome()
            for number in 0..<count { try transaction.insert(.sample("feed-\(number)", label: "\(number)")) }
            _ = try transaction.removeMember("ann", from: "home", now: 9)
        }
        try await home.read { transaction throws in
            #expect(try transaction.numbers("SELECT COUNT(*) AS value FROM feeds WHERE revoked_at = 9") == [count])
            #expect(try transaction.numbers("SELECT COUNT(*) AS value FROM feed_tokens WHERE ends_at = 9") == [count])
        }
    }

    @Test("Another spelling of a letter is another name")
    func spelling() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            _ = try transaction.putMember("zoe", in: "home", displayName: "Zo\u{EB}", role: .viewer, now: 2)
            let before = try transaction.version() ?? 0
            let (zoe, _) = try transaction.putMember(
                "zoe", in: "home", displayName: "Zoe\u{308}", role: .viewer, now: 3)
            #expect(zoe.displayName.unicodeScalars.count == 4)
            #expect(try transaction.version() ?? 0 > before)
        }
    }
}
