// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Storage

@Suite("The order of what is due")
struct DueOrderTests {
    @Test("The first calendar that each user follows comes before anybody's second one")
    func subscriptions() async throws {
        let home = try TemporaryStore()
        let due: [(id: String, circle: String, user: String?, at: Int)] = [
            ("a1", "c", "ann", 1), ("a2", "c", "ann", 2), ("a3", "d", "ann", 3), ("b1", "c", "ben", 9),
            // What the host application follows for one circle is no reason for another to wait.
            ("c1", "c", nil, 4), ("c2", "c", nil, 5), ("d1", "d", nil, 6), ("later", "d", "cleo", 11),
        ]
        try await home.write { transaction in
            for circle in ["c", "d"] {
                _ = try transaction.putCircle(Circle(id: circle, name: circle, timeZone: "UTC"), now: 1)
            }
            for own in due {
                try transaction.putSubscription(
                    Subscription(
                        id: own.id, circleID: own.circle, sealedURL: "s", urlDigest: own.id, urlHint: "h",
                        host: "\(own.id).example", label: nil, createdBy: own.user, refreshMinutes: 60, now: own.at))
            }
        }
        try await home.read { transaction in
            let found = try transaction.dueSubscriptions(now: 10, in: .all, limit: 100)
            #expect(found.map(\.id) == ["a1", "c1", "d1", "b1", "a2", "c2", "a3"])
            #expect(found.first?.host == "a1.example" && found.first?.circleID == "c")
            #expect(found.map(\.createdBy) == ["ann", nil, nil, "ben", "ann", nil, "ann"])
            #expect(try transaction.dueSubscriptions(now: 10, in: .all, limit: 2).map(\.id) == ["a1", "c1"])
        }
    }

    @Test("The first push registration of each person comes before anybody's second one, and what failed comes later")
    func pushRegistrations() async throws {
        let home = try TemporaryStore()
        let due = [("a1", "ann", 0), ("a2", "ann", 0), ("a3", "ann", 0), ("b1", "ben", 5), ("b0", "ben", 7)]
        try await home.write { transaction in
            for user in ["ann", "ben"] {
                let password = AppPassword(
                    id: user, userID: user, label: "", mayWrite: true, circleIDs: nil, reachesOwn: true,
                    expiresAt: nil, now: 1)
                _ = try transaction.insertAppPassword(
                    password, hash: String((user + String(repeating: "0", count: 64)).prefix(64)))
            }
            for (id, user, at) in due {
                var registration = PushRegistration(
                    id: id, userID: user, kind: .own, collectionID: "own",
                    resourceHash: String((id + String(repeating: "0", count: 64)).prefix(64)), sent: CollectionState(),
                    shown: "", now: 1)
                (registration.passwordID, registration.propertyChanges) = (user, 1)
                (registration.nextAt, registration.expiresAt) = (at, 100)
                try transaction.putPushRegistration(registration)
            }
        }
        try await home.read { transaction in
            let found = try transaction.pushRegistrationsBehind(now: 10, in: .all, limit: 100)
            #expect(found.map(\.id) == ["a1", "b1", "a2", "b0", "a3"])
            #expect(found.map(\.user) == ["ann", "ben", "ann", "ben", "ann"])
        }
    }
}
