// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Verifying the audit trail")
struct AuditVerifyTests {
    @Test("An entry's hashes are what other programs make of the documented arrays")
    func vector() throws {
        // All four by Python's hashlib and json.
        let names = [
            "eebfa3f20e13480d2e7d8709f9834eeca51b852611a171f331c9c0f47ea1d7a6",
            "53dfa172921030e5ffa838bf4f6dd8da2fc058b66af69e8637a23f1e7b5c5229",
        ]
        let hashes = [
            "1a610b763ea63d499179cdcf8ee3fa407c8fa9c1166228cf5fa38b577fdac15e",
            "8874524a45b44a2c71be3663ffe54036525e97d5c6adde941c477c712b6e2780",
        ]
        var first = AuditEntry(
            number: 1, at: 1_772_452_800_000, actor: "operator", action: "key.created", subject: "k", circleID: nil,
            detail: "{\"scopes\":null}", salt: String(repeating: "00", count: 16), previousHash: AuditTrail.origin,
            hash: "")
        first.namesHash = try AuditTrail.namesHash(of: first)
        first.hash = try AuditTrail.hash(of: first)
        var second = AuditEntry(
            number: 2, at: 1_772_452_800_001, actor: "user:ann via key:k", action: "member.changed", subject: "ben",
            circleID: "c", detail: "{\"roleAfter\":\"owner\",\"roleBefore\":\"viewer\"}",
            salt: String(repeating: "ab", count: 16), previousHash: first.hash, hash: "")
        second.namesHash = try AuditTrail.namesHash(of: second)
        second.hash = try AuditTrail.hash(of: second)
        #expect([first.namesHash, second.namesHash] == names && [first.hash, second.hash] == hashes)
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
