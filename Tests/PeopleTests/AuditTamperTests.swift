// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Tampering with the audit trail")
struct AuditTamperTests {
    /// Each manipulation of the table, and where the trail is found to be wrong.
    private static let tamperings: [(name: String, sql: [String], number: Int, reason: String)] = [
        ("a changed actor", ["UPDATE audit_trail SET actor = 'user:eve' WHERE number = 5"], 5, "content"),
        ("a changed time", ["UPDATE audit_trail SET at = at + 1 WHERE number = 1"], 1, "content"),
        ("a circle taken out", ["UPDATE audit_trail SET circle_id = NULL WHERE number = 7"], 7, "content"),
        ("a changed detail", ["UPDATE audit_trail SET detail = '{}' WHERE number = 3"], 3, "content"),
        ("a changed hash", ["UPDATE audit_trail SET hash = previous_hash WHERE number = 4"], 4, "content"),
        ("another column type", ["UPDATE audit_trail SET at = 'x' WHERE number = 6"], 6, "not an entry"),
        ("a number beyond all", ["UPDATE audit_trail SET at = 1e300 WHERE number = 6"], 6, "not an entry"),
        ("a NUL behind an actor", ["UPDATE audit_trail SET actor = actor || char(0) WHERE number = 5"], 5, "content"),
        (
            "text behind a NUL",
            ["UPDATE audit_trail SET detail = detail || char(0) || '{\"user\": \"eve\"}' WHERE number = 3"], 3,
            "content"
        ),
        (
            "a NUL before a hash", ["UPDATE audit_trail SET hash = hash || char(0) || 'x' WHERE number = 4"], 4,
            "content"
        ),
        (
            "a text as bytes", ["UPDATE audit_trail SET subject = CAST(subject AS BLOB) WHERE number = 2"], 2,
            "not an entry"
        ),
        ("a part of a millisecond", ["UPDATE audit_trail SET at = at + 0.5 WHERE number = 6"], 6, "not an entry"),
        ("no UTF-8", ["UPDATE audit_trail SET actor = CAST(x'6B65FF' AS TEXT) WHERE number = 5"], 5, "not an entry"),
        ("the middle deleted", ["DELETE FROM audit_trail WHERE number = 8"], 8, "missing: entry 9"),
        ("the beginning deleted", ["DELETE FROM audit_trail WHERE number < 3"], 1, "missing: entry 3"),
        ("the end deleted", ["DELETE FROM audit_trail WHERE number > 10"], 11, "the trail ends before entry 12"),
        ("a changed hash of names", ["UPDATE audit_trail SET names_hash = hash WHERE number = 4"], 4, "content"),
        (
            "names taken out by hand",
            ["UPDATE audit_trail SET actor = '', subject = '', detail = '{}', salt = '' WHERE number IN (4, 9)"], 9,
            "2 entries have no names, and erasures took them out of 0"
        ),
        ("a part of the names taken out", ["UPDATE audit_trail SET actor = '' WHERE number = 5"], 5, "content"),
        ("all deleted", ["DELETE FROM audit_trail"], 1, "the trail ends before entry 12"),
        (
            "two in the wrong order",
            [
                "UPDATE audit_trail SET number = 99 WHERE number = 4",
                "UPDATE audit_trail SET number = 4 WHERE number = 5",
                "UPDATE audit_trail SET number = 5 WHERE number = 99",
            ], 4, "follow"
        ),
        (
            "one put between",
            [
                "UPDATE audit_trail SET number = number + 100 WHERE number > 6",
                "UPDATE audit_trail SET number = number - 99 WHERE number > 100",
                """
                INSERT INTO audit_trail
                SELECT 7, at, actor, action, subject, circle_id, detail, salt, names_hash, hash, previous_hash
                FROM audit_trail WHERE number = 6
                """,
            ], 7, "content"
        ),
        (
            "one put at the end",
            [
                """
                INSERT INTO audit_trail
                SELECT 13, at, actor, action, subject, circle_id, detail, salt, names_hash, previous_hash, hash
                FROM audit_trail WHERE number = 12
                """
            ], 13, "follow"
        ),
        (
            "one put before the beginning",
            [
                """
                INSERT INTO audit_trail
                SELECT 0, at, actor, action, subject, circle_id, detail, salt, names_hash, previous_hash, hash
                FROM audit_trail WHERE number = 1
                """
            ], 1, "entry 0 is stored before"
        ),
    ]

    @Test("What was changed, deleted, moved or put in by hand is found, and the first wrong entry named")
    func tampered() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for number in 0..<6 {
                try await server.call(.put, "/v1/circles/c/patients/\(number)", ["displayName": "P"]).expect(201)
            }
            let store = server.services.store
            let head = try #require(try await server.verifyAudit().head)
            #expect(head.number == 12)
            for (name, sql, number, reason) in Self.tamperings {
                try await store.record { transaction in
                    try transaction.execute("CREATE TABLE kept AS SELECT * FROM audit_trail", [])
                    for statement in sql { try transaction.execute(statement, []) }
                }
                let fault = try await server.verifyAudit(head).fault
                #expect(fault?.number == number, "\(name): \(String(describing: fault))")
                #expect(fault?.reason.contains(reason) == true, "\(name): \(fault?.reason ?? "whole")")
                try await store.record { transaction in
                    try transaction.execute("DELETE FROM audit_trail", [])
                    try transaction.execute("INSERT INTO audit_trail SELECT * FROM kept", [])
                    try transaction.execute("DROP TABLE kept", [])
                }
                #expect(try await server.verifyAudit(head).fault == nil)
            }
        }
    }

    @Test("One entry rewritten with a right hash breaks the next; rewriting all of them breaks only the recorded head")
    func rewritten() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let store = server.services.store
            let entries = try await store.read { try $0.auditEntries(from: 1, limit: 100) }.compactMap { $0 }
            let head = AuditHead(try #require(entries.last))
            var forged = entries[2]
            forged.actor = "user:eve"
            forged.namesHash = try AuditTrail.namesHash(of: forged)
            forged.hash = try AuditTrail.hash(of: forged)
            var chain = entries[..<2] + [forged]
            func put(_ entries: ArraySlice<AuditEntry>) async throws {
                let entries = Array(entries)
                try await store.record { transaction in
                    try transaction.execute("DELETE FROM audit_trail", [])
                    for entry in entries { try transaction.insert(entry) }
                }
            }
            try await put(chain + entries[3...])
            #expect(try await server.verifyAudit().fault?.number == 4)
            for entry in entries[3...] {
                var entry = entry
                entry.previousHash = chain.last?.hash ?? ""
                entry.hash = try AuditTrail.hash(of: entry)
                chain.append(entry)
            }
            try await put(chain)
            #expect(try await server.verifyAudit().fault == nil)
            let fault = try await server.verifyAudit(head).fault
            #expect(fault == AuditVerdict.Fault(number: 6, reason: "it is not the entry that was noted down"))
        }
    }
}
