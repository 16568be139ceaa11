// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Storage
import Testing

@testable import FeedServer

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
                            if answer.status < 300 { done += 1 } else { #expect([403, 404].contains(answer.status)) }
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

    /// What is done to the table, and where the trail is found wrong.
    private static let tamperings: [(name: String, sql: [String], number: Int, reason: String)] = [
        ("a changed actor", ["UPDATE audit_trail SET actor = 'user:eve' WHERE number = 5"], 5, "content"),
        ("a changed time", ["UPDATE audit_trail SET at = at + 1 WHERE number = 1"], 1, "content"),
        ("a circle taken out", ["UPDATE audit_trail SET circle_id = NULL WHERE number = 7"], 7, "content"),
        ("a changed detail", ["UPDATE audit_trail SET detail = '{}' WHERE number = 3"], 3, "content"),
        ("a changed hash", ["UPDATE audit_trail SET hash = previous_hash WHERE number = 4"], 4, "content"),
        ("another column type", ["UPDATE audit_trail SET at = 'x' WHERE number = 6"], 6, "no entry"),
        ("a number beyond all", ["UPDATE audit_trail SET at = 1e300 WHERE number = 6"], 6, "no entry"),
        ("the middle deleted", ["DELETE FROM audit_trail WHERE number = 8"], 8, "missing: entry 9"),
        ("the beginning deleted", ["DELETE FROM audit_trail WHERE number < 3"], 1, "missing: entry 3"),
        ("the end deleted", ["DELETE FROM audit_trail WHERE number > 10"], 11, "the trail ends before entry 12"),
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
                INSERT INTO audit_trail SELECT 7, at, actor, action, subject, circle_id, detail, hash, previous_hash
                FROM audit_trail WHERE number = 6
                """,
            ], 7, "content"
        ),
        (
            "one put at the end",
            [
                """
                INSERT INTO audit_trail SELECT 13, at, actor, action, subject, circle_id, detail, previous_hash, hash
                FROM audit_trail WHERE number = 12
                """
            ], 13, "follow"
        ),
        (
            "one put before the beginning",
            [
                """
                INSERT INTO audit_trail SELECT 0, at, actor, action, subject, circle_id, detail, previous_hash, hash
                FROM audit_trail WHERE number = 1
                """
            ], 1, "entry 0 stands before"
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

    @Test("One entry written anew with a right hash breaks the next; all of them written anew only the noted head")
    func rewritten() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let store = server.services.store
            let entries = try await store.read { try $0.auditEntries(from: 1, limit: 100) }.compactMap { $0 }
            let head = AuditHead(try #require(entries.last))
            var forged = entries[2]
            forged.actor = "user:eve"
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
            #expect(fault == AuditVerdict.Fault(number: 6, reason: "it is another than the one noted down"))
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

    @Test("The commands tell who did what, and end with 1 and the first wrong entry when it was tampered with")
    func commands() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let empty = try await server.kalends(["audit", "verify"])
        #expect(empty.status == 0 && empty.output == "whole, 0 entries\n")
        #expect(try await server.kalends(["key", "create", "--name", "Xylophone"]).status == 0)
        let first = try await server.kalends(["audit", "verify"])
        let head = first.output.split(separator: "\n").last.map(String.init) ?? ""
        #expect(first.status == 0 && first.output.hasPrefix("whole, 1 entry\n1:"))
        #expect(try await server.kalends(["user", "set-password", "ann"], input: "a long password").status == 0)
        #expect(try await server.kalends(["backup", server.folder.appending(path: "copy").path]).status == 0)
        let list = try await server.kalends(["audit", "list"])
        let lines = list.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.map { $0[0] } == ["3", "2", "1"] && lines.allSatisfy { $0[2] == "operator" })
        #expect(lines.map { $0[3] } == ["backup.made", "password.set", "key.created"])
        #expect(!list.output.contains("Xylophone"))
        let json = try await server.kalends(["audit", "list", "--json"]).output.split(separator: "\n")
        #expect(try json.map { try JSONValue(parsing: Array($0.utf8))["number"]?.integer } == [3, 2, 1])
        #expect(try await server.kalends(["audit", "list", "--circle", "c"]).output == "Nothing was done yet.\n")
        #expect(try await server.kalends(["audit", "verify", "--head", head]).status == 0)
        #expect(try await server.kalends(["audit", "verify", "--head", "1:x"]).status == 2)
        let doctor = try await server.kalends(["doctor"])
        #expect(doctor.output.contains("ok   audit trail: whole, 3 entries\n"))

        #expect(server.stop() == 0)
        let store = try SQLiteStore(path: server.database)
        _ = try await store.record { try $0.execute("UPDATE audit_trail SET actor = 'user:eve' WHERE number = 2", []) }
        try store.close()
        let wrong = try await server.kalends(["audit", "verify", "--head", head])
        #expect(wrong.status == 1)
        #expect(wrong.output == "entry 2 is wrong: its content does not give its hash\n")
        let unwell = try await server.kalends(["doctor"])
        #expect(unwell.status == 3 && unwell.output.contains("BAD  audit trail: entry 2 is wrong"))
    }

    @Test("A file that a command brings in is an act of the operator, or of the user that it names")
    func imported() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let file = server.folder.appending(path: "file.ics")
        try Data(ImportProgressTests.calendar(2).utf8).write(to: file)
        let arguments = ["import", file.path, "--circle", "rivera-family"]
        let users = try await server.kalends(["feed", "list", "--json"]).output.split(separator: "\n")
        let first = try #require(users.first)
        let user = try #require(JSONValue(parsing: Array(first.utf8))["userId"]?.string)
        #expect(try await server.kalends(arguments + ["--preview"]).status == 0)
        #expect(try await server.kalends(arguments).status == 0)
        let named = try await server.kalends(arguments + ["--user", user])
        #expect([0, 1].contains(named.status), "\(named.error)")
        let list = try await server.kalends(["audit", "list", "--json"]).output.split(separator: "\n").prefix(2)
        let latest = try list.map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(latest.map { $0["action"] } == ["import.committed", "import.committed"])
        #expect(latest.map { $0["actor"]?.string } == ["user:\(user) via operator", "operator"])
        #expect(server.stop() == 0)
    }

    @Test("A server that is killed in the middle of its work leaves a whole chain with every answered act")
    func killed() async throws {
        var server = try await RunningServer()
        defer { server.remove() }
        let key = try await server.kalends(["key", "create", "--name", "t"]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        @Sendable func put(_ port: Int, _ path: String, _ body: JSONValue) async throws -> Bool {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/v1/circles/\(path)")
            request.method = .PUT
            request.headers.add(name: "Authorization", value: "Bearer \(key)")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(try body.serialized())
            return try await HTTPClient.shared.execute(request, timeout: .seconds(30)).status == .created
        }
        #expect(try await put(server.port, "c", ["name": "C", "timeZone": "UTC"]))
        // The key and the circle.
        var (least, most, heads) = (2, 2, [String]())
        for round in 0..<3 {
            if round > 0 { server = try await RunningServer(folder: server.folder) }
            let running = server
            let answered = await withTaskGroup(of: Int.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        var answered = 0
                        while (try? await put(
                            running.port, "c/patients/\(round)-\(writer)-\(answered)", ["displayName": "P"])) == true
                        {
                            answered += 1
                        }
                        return answered
                    }
                }
                try? await Task.sleep(for: .milliseconds(Int.random(in: 300...900)))
                running.kill()
                return await group.reduce(0, +)
            }
            #expect(answered > 0)
            // Of each writer one perhaps was done whose answer did not arrive.
            (least, most) = (least + answered, most + answered + 4)
            for head in [nil] + heads.map(Optional.some) {
                let verdict = try await server.kalends(["audit", "verify"] + (head.map { ["--head", $0] } ?? []))
                #expect(verdict.status == 0, "\(verdict.output)\(verdict.error)")
                let count = verdict.output.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                #expect((least...most).contains(count))
                if head == nil { heads.append(verdict.output.split(separator: "\n").last.map(String.init) ?? "") }
            }
        }
    }
}
