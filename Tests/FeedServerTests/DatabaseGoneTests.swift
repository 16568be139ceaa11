// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("A database that is deleted or replaced under the server")
struct DatabaseGoneTests {
    private static func put(_ server: RunningServer, _ key: String, _ name: String) async throws -> String {
        try await runProgram(
            "/usr/bin/curl",
            [
                "-s", "-m", "20", "-w", "\n%{http_code}", "-X", "PUT", "-H", "Authorization: Bearer \(key)", "-H",
                "Content-Type: application/json", "-d", "{\"name\": \"\(name)\", \"timeZone\": \"UTC\"}",
                "http://127.0.0.1:\(server.port)/v1/circles/c",
            ]
        ).output
    }

    private static func health(_ server: RunningServer) async throws -> String {
        try await runProgram(
            "/usr/bin/curl", ["-s", "-m", "20", "-w", "%{http_code}", "http://127.0.0.1:\(server.port)/healthz"]
        ).output
    }

    @Test(
        "Changes are refused from then on, the health and the log say so, and what is open can be saved",
        arguments: ["deleted", "replaced", "log deleted"])
    func gone(how: String) async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let key = try await server.kalends(["key", "create", "--name", "a"]).output.trimmingCharacters(in: .newlines)
        #expect(try await Self.put(server, key, "One").hasSuffix("201"))
        let manager = FileManager.default
        let log = server.database + "-wal"
        let away = server.folder.appending(path: "away").path
        let victim = how == "log deleted" ? log : server.database
        // Moved and not deleted: its name can come back.
        try manager.moveItem(atPath: victim, toPath: away)
        if how == "replaced" { try manager.copyItem(atPath: away, toPath: victim) }
        let refused = try await Self.put(server, key, "Two")
        #expect(refused.hasSuffix("503") && refused.contains("database-gone"), "\(refused)")
        #expect(try await Self.health(server).hasSuffix("503"))
        try await eventually("The log has a critical line.") {
            server.log.contains("critical") && server.log.contains("was deleted or replaced")
        }
        let saved = server.folder.appending(path: "saved.sqlite").path
        if how == "deleted" {
            let backup = try await server.kalends(["backup", saved])
            #expect(backup.status == 0, "\(backup.error)")
        }
        try? manager.removeItem(atPath: victim)
        try manager.moveItem(atPath: away, toPath: victim)
        #expect(try await Self.put(server, key, "Three").hasSuffix("200"))
        #expect(try await Self.health(server).hasSuffix("200"))
        #expect(await server.stop() == 0)
        guard how == "deleted" else { return }
        let restored = try await server.kalends(["restore", saved])
        #expect(restored.status == 0, "\(restored.error)")
        #expect(try await server.kalends(["export", "--circle", "rivera-family"]).output.contains("VEVENT"))
    }

    @Test("A server whose database went away takes nothing of the next one with it when it stops")
    func leavesOthers() async throws {
        let server = try await RunningServer()
        for name in try FileManager.default.contentsOfDirectory(atPath: server.folder.path) where name != "log" {
            try FileManager.default.removeItem(atPath: server.folder.appending(path: name).path)
        }
        let next = try await RunningServer(folder: server.folder)
        defer { next.remove() }
        let key = try await next.kalends(["key", "create", "--name", "a"]).output.trimmingCharacters(in: .newlines)
        #expect(try await Self.put(next, key, "One").hasSuffix("201"))
        #expect(await server.stop() == 0)
        #expect(try await Self.health(next).hasSuffix("200"))
        await next.kill()
        let again = try await RunningServer(folder: server.folder)
        #expect(try await Self.put(again, key, "One").hasSuffix("200"), "it was there")
        #expect(await again.stop() == 0)
    }
}
