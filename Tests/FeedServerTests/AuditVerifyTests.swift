// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Verifying the audit trail")
struct AuditVerifyTests {
    @Test("An entry's hash is what other programs make of the documented array")
    func vector() async throws {
        try await TestServer.run { server in
            // Both by Python's hashlib and json.
            let hashes = [
                "533cfeef0151c7d4398fe36ebf5aba126a9689329e9d4380350f34d7c96def64",
                "158290176eaf0048c13577626d7dee5e4006c17280b4634a5e01f30508c9421c",
            ]
            try await server.services.store.record { transaction in
                try AuditTrail.note(
                    .keyCreated, "k", detail: ["scopes": nil],
                    by: AuditActor(.operatorAtHand, narrowed: .operatorAtHand), in: transaction, now: 1_772_452_800_000)
                try AuditTrail.note(
                    .memberChanged, "ben", circle: "c", detail: ["roleBefore": "viewer", "roleAfter": "owner"],
                    by: AuditActor(.service(key: "k", scopes: nil), narrowed: .user("ann")), in: transaction,
                    now: 1_772_452_800_001)
            }
            let entries = try await server.auditTrail()
            #expect(entries.compactMap { $0["hash"]?.string } == hashes)
            #expect(entries.compactMap { $0["previousHash"]?.string } == [AuditTrail.origin, hashes[0]])
        }
    }

    @Test("After two hundred acts of several callers at once the chain is whole and has every act")
    func together() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for user in ["ann", "ben", "vic"] { _ = try await server.makeFeed(user: user) }
            let before = try await server.verifyAudit().count
            let done = try await withThrowingTaskGroup(of: Int.self) { group in
                for caller in 0..<8 {
                    group.addTask {
                        var done = 0
                        for act in 0..<25 {
                            let patient = "/v1/circles/c/patients/p\(Int.random(in: 0..<5))"
                            let answer =
                                switch Int.random(in: 0..<5) {
                                case 0: try await server.call(.delete, patient, as: "ann")
                                case 1, 2:
                                    try await server.call(
                                        .put, patient, ["displayName": .string("\(caller) \(act)")],
                                        as: caller % 2 == 0 ? "ann" : nil)
                                case 3: try await server.call(.put, patient, ["displayName": "X"], as: "ben")
                                default:
                                    try await server.call(
                                        .post, "/v1/circles/c/feeds", ["label": .string("\(caller) \(act)")], as: "vic")
                                }
                            // A viewer has 50 feeds at most (409).
                            if answer.status < 300 {
                                done += 1
                            } else {
                                #expect([403, 404, 409].contains(answer.status))
                            }
                        }
                        return done
                    }
                }
                return try await group.reduce(0, +)
            }
            let verdict = try await server.verifyAudit()
            #expect(done > 50)
            #expect(verdict.fault == nil && verdict.count == before + done)
        }
    }

    @Test("More entries than are read at once are all looked at, to the last")
    func pages() async throws {
        try await TestServer.run { server in
            let store = server.services.store
            try await store.record { transaction in
                for number in 0..<2_000 {
                    try AuditTrail.note(
                        .feedRevealed, "\(number)", by: AuditActor(user: "ann"), in: transaction, now: number)
                }
            }
            #expect(try await server.verifyAudit().count == 2_000)
            #expect(try await server.verifyAudit().fault == nil)
            for number in [1_000, 1_001, 2_000] {
                _ = try await store.record { transaction in
                    try transaction.execute(
                        "UPDATE audit_trail SET subject = subject || 'x' WHERE number = $1", [.integer(number)])
                }
                #expect(try await server.verifyAudit().fault?.number == number)
                _ = try await store.record { transaction in
                    try transaction.execute(
                        "UPDATE audit_trail SET subject = $2 WHERE number = $1",
                        [.integer(number), .text("\(number - 1)")])
                }
            }
        }
    }
}
