// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Storage
import StorageSQLite
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The audit trail of a separate server")
struct AuditCommandTests {
    @Test("The commands show who did what, and end with 1 and the first wrong entry when it was tampered with")
    func commands() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let empty = try await server.kalends(["audit", "verify"])
        #expect(empty.status == 0 && empty.output == "Audit trail: whole, 0 entries\n")
        #expect(try await server.kalends(["key", "create", "--name", "Xylophone"]).status == 0)
        let first = try await server.kalends(["audit", "verify"])
        let head = first.output.split(separator: "\n").last.map(String.init) ?? ""
        #expect(first.status == 0 && first.output.hasPrefix("Audit trail: whole, 1 entry\n1:"))
        #expect(try await server.kalends(["user", "set-password", "ann"], input: "a long password").status == 0)
        #expect(try await server.kalends(["backup", server.folder.appending(path: "copy").path]).status == 0)
        let list = try await server.kalends(["audit", "list"])
        #expect(list.output.hasPrefix("NUMBER  AT "))
        let lines = list.output.split(separator: "\n").dropFirst().map { $0.split(separator: " ").map(String.init) }
        #expect(lines.map { $0[0] } == ["3", "2", "1"] && lines.allSatisfy { $0[2] == "operator" })
        #expect(lines.map { $0[3] } == ["backup.made", "password.set", "key.created"])
        #expect(!list.output.contains("Xylophone"))
        let json = try await server.kalends(["audit", "list", "--json"]).output.split(separator: "\n")
        #expect(try json.map { try JSONValue(parsing: Array($0.utf8))["number"]?.integer } == [3, 2, 1])
        #expect(
            try await server.kalends(["audit", "list", "--circle", "c"]).output
                == "The trail has no act in this circle.\n")
        #expect(try await server.kalends(["audit", "verify", "--head", head]).status == 0)
        #expect(try await server.kalends(["audit", "verify", "--head", "1:x"]).status == 2)
        let doctor = try await server.kalends(["doctor"])
        #expect(doctor.output.contains("ok   audit trail: whole, 3 entries\n"))

        #expect(await server.stop() == 0)
        let store = try SQLiteStore(path: server.database)
        _ = try await store.record { try $0.execute("UPDATE audit_trail SET actor = 'user:eve' WHERE number = 2", []) }
        try store.close()
        let wrong = try await server.kalends(["audit", "verify", "--head", head])
        #expect(wrong.status == 1)
        #expect(wrong.output == "Audit trail: entry 2 is wrong: its content does not match its hash\n")
        let unwell = try await server.kalends(["doctor"])
        #expect(unwell.status == 3 && unwell.output.contains("BAD  audit trail: entry 2 is wrong"))
    }

    @Test("A file that a command brings in is an act of the operator, or of the user that it names")
    func imported() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let file = server.folder.appending(path: "file.ics")
        try Data(NumberedEvents.calendar(2).utf8).write(to: file)
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
        #expect(await server.stop() == 0)
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
            return try await HTTPClient.shared.execute(request, timeout: .seconds(600)).status == .created
        }
        #expect(try await put(server.port, "c", ["name": "C", "timeZone": "UTC"]))
        // The key and the circle.
        var (least, most, heads) = (2, 2, [String]())
        for round in 0..<3 {
            if round > 0 { server = try await RunningServer(folder: server.folder) }
            let running = server
            let answered = await withTaskGroup(of: Int.self) { group in
                let done = Counter()
                for writer in 0..<4 {
                    group.addTask {
                        var answered = 0
                        while (try? await put(
                            running.port, "c/patients/\(round)-\(writer)-\(answered)", ["displayName": "P"])) == true
                        {
                            answered += 1
                            done.add()
                        }
                        return answered
                    }
                }
                let enough = Int.random(in: 10...100)
                try? await eventually("\(enough) are answered.") { done.count >= enough }
                await running.kill()
                // A client goes on for a while where nobody listens.
                group.cancelAll()
                return await group.reduce(0, +)
            }
            #expect(answered > 0)
            // Of each writer one perhaps was done whose answer did not arrive.
            (least, most) = (least + answered, most + answered + 4)
            for head in [nil] + heads.map(Optional.some) {
                let verdict = try await server.kalends(["audit", "verify"] + (head.map { ["--head", $0] } ?? []))
                #expect(verdict.status == 0, "\(verdict.output)\(verdict.error)")
                let count = verdict.output.split(separator: " ").lazy.compactMap { Int($0) }.first ?? 0
                #expect((least...most).contains(count))
                if head == nil { heads.append(verdict.output.split(separator: "\n").last.map(String.init) ?? "") }
            }
        }
    }

    @Test("A person is erased once their id was typed again, and the trail says how many entries name nobody any more")
    func erasure() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        for user in ["ann", "ben"] {
            let set = try await server.kalends(["user", "set-password", user], input: "a long password\n")
            #expect(set.status == 0)
        }
        #expect(try await server.kalends(["user", "erase", "ann"], input: "ben\n").status != 0)
        #expect(try await server.kalends(["user", "list"]).output.contains("ann"))
        let erased = try await server.kalends(["user", "erase", "ann"], input: "ann\n")
        #expect(erased.status == 0 && erased.output.hasPrefix("ann is erased. What stays:\n- "))
        #expect(erased.output.contains("- auditTrail (1): ") && erased.output.contains("- backups: "))
        let list = try await server.kalends(["user", "list"]).output
        #expect(!list.contains("ann") && list.contains("ben"))
        let verdict = try await server.kalends(["audit", "verify"])
        #expect(verdict.status == 0 && verdict.output.contains("whole, 4 entries, 1 of them made anonymous\n"))
        let json = try await server.kalends(["user", "erase", "ben", "--yes", "--json"])
        #expect(try JSONValue(parsing: Array(json.output.utf8))["state"] == "done")
        #expect(await server.stop() == 0)
    }
}
