// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Storage

@Suite("Office days as they are stored")
struct OfficeDayRecordTests {
    private static let day = 86_400_000

    @Test("Profiles come back as they were, and those whose night is due are found in its order")
    func profiles() async throws {
        let home = try TemporaryStore()
        try await home.write { transaction throws in
            for (index, user) in ["cleo", "ann", "ben"].enumerated() {
                var profile = OfficeProfile(userID: user, settings: "{}", seed: "s", now: 1)
                profile.nextNightAt = index == 2 ? nil : 100 - index
                profile.lastSync = .partial
                try transaction.putOfficeProfile(profile)
                #expect(try transaction.officeProfile(of: user) == profile)
            }
            #expect(try transaction.dueOfficeNights(now: 98, limit: 10) == [])
            #expect(try transaction.dueOfficeNights(now: 100, limit: 10) == ["ann", "cleo"])
            #expect(try transaction.dueOfficeNights(now: 100, limit: 1) == ["ann"])
            #expect(try transaction.officeProfile(of: "nobody") == nil)
        }
    }

    @Test("Visits are found by what they overlap, in pages, and are one user's own")
    func visits() async throws {
        let home = try TemporaryStore()
        try await home.write { transaction throws in
            for (id, start, end) in [("a", 10, 20), ("b", 15, 40), ("c", 30, 50)] {
                try transaction.putOfficeVisit(
                    OfficeVisit(userID: "ann", id: id, startsAt: start, endsAt: end, now: 1))
            }
            try transaction.putOfficeVisit(OfficeVisit(userID: "ben", id: "a", startsAt: 10, endsAt: 20, now: 1))
            func found(
                _ from: Int, _ to: Int, after: (start: Int, id: String)? = nil, limit: Int = 9
            ) throws -> [String] {
                try transaction.officeVisits(of: "ann", from: from, to: to, longest: 100, after: after, limit: limit)
                    .map(\.id)
            }
            #expect(try found(0, 100) == ["a", "b", "c"])
            #expect(try found(20, 30) == ["b"])
            #expect(try found(19, 31) == ["a", "b", "c"])
            #expect(try found(0, 100, limit: 2) == ["a", "b"])
            #expect(try found(0, 100, after: (15, "b")) == ["c"])
            #expect(try transaction.officeVisitCount(of: "ann") == 3)
            #expect(try transaction.deleteOfficeVisit("a", of: "ann"))
            #expect(try !transaction.deleteOfficeVisit("a", of: "ann"))
            #expect(try transaction.officeVisit("a", of: "ben")?.endsAt == 20)
        }
    }

    @Test("A date that says nothing is not kept; figures count users, those who stayed, and days as they are to be")
    func days() async throws {
        let home = try TemporaryStore()
        let now = 20_000 * Self.day
        try await home.write { transaction throws in
            for (index, state) in ["managed", "unmanaged", "managed"].enumerated() {
                try transaction.putOfficeDay(
                    OfficeDayRecord(
                        userID: "ann", day: 20_000 - index * 20, word: nil, decision: "{}",
                        status: index == 1 ? "remote" : "inOffice", eventState: state, eventTarget: "feed", now: now))
            }
            var gone = try #require(try transaction.officeDays(of: "ann", from: 19_980, through: 19_980).first)
            #expect(gone.status == "remote")
            #expect(
                try transaction.officeDaysWithEvent(of: "ann", state: "managed", limit: 9).map(\.day) == [
                    19_960, 20_000,
                ])
            #expect(try transaction.officeDaysWithEvent(of: "ann", target: "device", limit: 9) == [])
            let counts = try transaction.officeDayCounts(of: "ann", from: 19_970, through: 20_000)
            #expect(counts == OfficeDayCounts(office: 1, remote: 1, managed: 2, unmanaged: 1, removed: 0))
            gone.decision = nil
            try transaction.putOfficeDay(gone)
            #expect(try transaction.officeDays(of: "ann", from: 19_980, through: 19_980) == [])
            for (user, first, since) in [("ann", 40, 40), ("ben", 40, nil), ("cleo", 1, 1)] as [(String, Int, Int?)] {
                var profile = OfficeProfile(userID: user, settings: "{}", seed: "s", now: now)
                profile.firstEnabledAt = now - first * Self.day
                profile.enabledAt = since.map { now - $0 * Self.day }
                (profile.writes, profile.errors) = (10, 1)
                try transaction.putOfficeProfile(profile)
            }
            #expect(
                try transaction.officeFigures(now: now, day: 20_000)
                    == OfficeFigures(
                        users: 3, enabled: 2, enabledBefore: 2, retained: 1, writes: 30, errors: 3, days: 1))
        }
    }
}
