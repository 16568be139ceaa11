// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Storage

@Suite("Entries of the audit trail")
struct AuditEntryTests {
    private static func entry(_ number: Int, circle: String? = nil) -> AuditEntry {
        AuditEntry(
            number: number, at: number, actor: "operator", action: "a", subject: "s", circleID: circle, detail: "{}",
            previousHash: "p", hash: "\(number)")
    }

    @Test("They come back as they were, the latest first, of one circle or of all; a number is given once")
    func stored() async throws {
        let home = try TemporaryStore()
        try await home.write { transaction throws in
            for number in 1...5 {
                try transaction.insert(Self.entry(number, circle: number % 2 == 0 ? "c" : nil))
            }
        }
        try await home.read { transaction throws in
            #expect(try transaction.lastAuditEntry() == Self.entry(5))
            #expect(try transaction.auditEntry(2) == Self.entry(2, circle: "c"))
            #expect(try transaction.auditEntries(before: .max, in: nil, limit: 2).map(\.number) == [5, 4])
            #expect(try transaction.auditEntries(before: 4, in: "c", limit: 2).map(\.number) == [2])
            #expect(try transaction.auditEntries(from: 2, limit: 2).map { $0?.number } == [2, 3])
        }
        await #expect(throws: (any Error).self) { try await home.write { try $0.insert(Self.entry(5)) } }
    }

    @Test("A new database has an empty trail, which outlives a circle")
    func outlives() async throws {
        let home = try TemporaryStore()
        try await home.write { transaction throws in
            #expect(try transaction.lastAuditEntry() == nil)
            _ = try transaction.putCircle(Circle(id: "home", name: "Home", timeZone: "UTC"), now: 1)
            try transaction.insert(Self.entry(1, circle: "home"))
            #expect(try transaction.deleteCircle("home", now: 2))
            #expect(try transaction.lastAuditEntry() == Self.entry(1, circle: "home"))
        }
    }
}
