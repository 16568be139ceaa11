// SPDX-License-Identifier: Apache-2.0

import Storage
import StorageSQLite
import Testing

@Suite("Passwords, sessions and devices")
struct IdentityRecordTests {
    let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("A password is replaced and removed, and a stronger hash is no change of it")
    func passwords() async throws {
        try await home.write { transaction in
            #expect(try transaction.putPassword(of: "ann", hash: "one", now: 1))
            #expect(try !transaction.putPassword(of: "ann", hash: "two", now: 2))
            try transaction.rehashPassword(of: "ann", hash: "three")
            let password = try #require(try transaction.password(of: "ann"))
            #expect(password.hash == "three" && password.createdAt == 1 && password.changedAt == 2)
            #expect(try transaction.deletePassword(of: "ann"))
            #expect(try !transaction.deletePassword(of: "ann"))
            #expect(try transaction.password(of: "ann") == nil)
        }
    }

    @Test("A session is found until its end, until it was unused for too long, or until it is deleted")
    func sessions() async throws {
        let week = Session.idleLimit
        try await home.write { transaction in
            for (id, user) in [("a", "ann"), ("b", "ann"), ("c", "ben")] {
                try transaction.insertSession(
                    Session(id: id, userID: user, client: "x", now: 0), hash: hash(id),
                    maximum: 100)
            }
            #expect(try transaction.session(hash: hash("a"), now: week - 1)?.id == "a")
            #expect(try transaction.session(hash: hash("a"), now: week) == nil)
            for day in stride(from: week / 2, to: Session.lifetime, by: week / 2) {
                try transaction.noteUse(ofSession: "a", now: day)
            }
            #expect(try transaction.session(hash: hash("a"), now: Session.lifetime - 1)?.id == "a")
            #expect(try transaction.session(hash: hash("a"), now: Session.lifetime) == nil)
            #expect(try transaction.sessions(of: "ann", after: "", limit: 9, now: week - 1).map(\.id) == ["a", "b"])
            #expect(try transaction.sessions(of: "ann", after: "", limit: 9, now: week).map(\.id) == ["a"])
            #expect(try transaction.sessions(of: "ann", after: "a", limit: 9, now: 1).map(\.id) == ["b"])
            _ = try transaction.putPassword(of: "ann", hash: "h", now: 1)
            #expect(try transaction.usersWithPassword(after: "", limit: 9, now: week).map(\.sessions) == [1])
            try transaction.pruneSessions(now: week)
            #expect(try transaction.rows("SELECT id FROM sessions", []).map { $0.text("id") } == ["a"])
            #expect(try !transaction.deleteSession("a", of: "ben"))
            try transaction.deleteSessions(of: "ann", except: "a")
            #expect(try transaction.deleteSession("a", of: "ann"))
        }
    }

    @Test("A device that registers again keeps its id and its first day, and its old token is gone")
    func devices() async throws {
        try await home.write { transaction in
            for (number, user) in ["ann", "ben", "ann"].enumerated() {
                try transaction.putDevice(
                    id: "d\(number)", of: user, deviceID: "phone", name: nil, platform: nil, hash: hash("\(number)"),
                    now: number)
            }
            #expect(try transaction.device(hash: hash("0")) == nil)
            let device = try #require(try transaction.device(hash: hash("2")))
            #expect(device.id == "d0" && device.createdAt == 0 && device.registeredAt == 2)
            #expect(try transaction.devices(of: "ann", after: "", limit: 9) == [device])
            #expect(try transaction.device("d1", of: "ann") == nil)
            #expect(try !transaction.deleteDevice("d1", of: "ann"))
            #expect(try transaction.deleteDevice("d1", of: "ben"))
            #expect(try transaction.deviceCount(of: "ben") == 0 && transaction.deviceCount(of: "ann") == 1)
        }
    }

    @Test("A second factor is begun as often as one likes, confirmed once, and takes no step twice")
    func secondFactors() async throws {
        try await home.write { transaction in
            _ = try transaction.putPassword(of: "ann", hash: "h", now: 1)
            #expect(try transaction.beginSecondFactor(of: "ann", sealed: "one", now: 1))
            #expect(try transaction.beginSecondFactor(of: "ann", sealed: "two", now: 2))
            let begun = try #require(try transaction.secondFactor(of: "ann"))
            #expect(begun.sealed == "two" && begun.createdAt == 2 && !begun.isActive)
            #expect(try !transaction.useStep(7, ofSecondFactorOf: "ann"))
            #expect(try transaction.usersWithPassword(after: "", limit: 9, now: 9).map(\.secondFactorAt) == [nil])
            #expect(try transaction.confirmSecondFactor(of: "ann", step: 7, now: 3))
            #expect(try !transaction.confirmSecondFactor(of: "ann", step: 9, now: 4))
            #expect(try !transaction.beginSecondFactor(of: "ann", sealed: "three", now: 5))
            try transaction.deleteUnconfirmedSecondFactor(of: "ann")
            let active = try #require(try transaction.secondFactor(of: "ann"))
            #expect(active.sealed == "two" && active.confirmedAt == 3 && active.lastStep == 7)
            #expect(try transaction.usersWithPassword(after: "", limit: 9, now: 9).map(\.secondFactorAt) == [3])
            let steps = try [7, 6, 8, 8, 7, 10, 9].map { try transaction.useStep($0, ofSecondFactorOf: "ann") }
            #expect(steps == [false, false, true, false, false, true, false])
            try transaction.putRecoveryCodes([hash("a"), hash("b")], of: "ann")
            #expect(try !transaction.useRecoveryCode(hash: hash("a"), of: "ben"))
            #expect(try transaction.useRecoveryCode(hash: hash("a"), of: "ann"))
            #expect(try !transaction.useRecoveryCode(hash: hash("a"), of: "ann"))
            #expect(try transaction.recoveryCodeCount(of: "ann") == 1)
            try transaction.putRecoveryCodes([hash("c"), hash("d"), hash("e")], of: "ann")
            #expect(try transaction.recoveryCodeCount(of: "ann") == 3)
            #expect(try transaction.deleteSecondFactor(of: "ann"))
            #expect(try !transaction.deleteSecondFactor(of: "ann"))
            #expect(try transaction.recoveryCodeCount(of: "ann") == 0)
            #expect(try transaction.beginSecondFactor(of: "ann", sealed: "four", now: 6))
            #expect(try !transaction.deleteSecondFactor(of: "ann") && transaction.secondFactor(of: "ann") == nil)
        }
    }
}
