// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Commands where there is no database")
struct NoDatabaseTests {
    @Test(
        "No command but serve and restore makes a database, or anything else, in the folder it is called in",
        arguments: [
            ["key", "create", "--name", "app"], ["key", "list"], ["user", "set-password", "ann"], ["user", "list"],
            ["feed", "list"], ["feed", "create", "--circle", "c", "--user", "u"], ["export", "--circle", "c"],
            ["import", "-", "--circle", "c"], ["audit", "list"], ["audit", "verify"], ["backup", "b"], ["welcome"],
        ])
    func makesNone(arguments: [String]) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "none-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await runProgram(Programs.kalends, arguments, input: "a long password\n", in: folder)
        #expect(result.status == 3 && result.output.isEmpty)
        #expect(result.error.hasPrefix("There is no database /"), "\(result.error)")
        #expect(result.error.contains("kalends-data/kalends.sqlite") && result.error.contains("--database"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "A database or a key that is not there is refused before anything is made beside it",
        arguments: [
            (["move", "--from", "none", "--to", "new"], "There is no database none."),
            (["reseal", "--former-key-file", "none"], "none cannot be used: there is no such file."),
        ])
    func leavesNothing(arguments: [String], sentence: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "none-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await runProgram(Programs.kalends, arguments, in: folder)
        #expect(result.status == 3 && result.error == "\(sentence)\n", "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Another program's database is left as it is")
    func foreign() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "foreign-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "recipes.sqlite")
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('create table recipes (a)')"
        #expect(try await runProgram("/usr/bin/env", ["python3", "-c", script, file.path]).status == 0)
        let before = try Data(contentsOf: file)
        for arguments in [["key", "create", "--name", "a"], ["serve", "--port", "0"]] {
            let result = try await runProgram(Programs.kalends, arguments + ["--database", file.path])
            #expect(result.status == 3 && result.error.contains("not a database of Kalends"), "\(result.error)")
        }
        #expect(try Data(contentsOf: file) == before)
        #expect(!FileManager.default.fileExists(atPath: file.path + ".key"))
    }

    @Test("An empty file is no database to a command")
    func empty() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "empty-\(UUID().uuidString.prefix(8)).sqlite")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let result = try await runProgram(Programs.kalends, ["key", "create", "--name", "a", "--database", file.path])
        #expect(result.status == 3 && result.error.hasPrefix("There is no database"), "\(result.error)")
        #expect(try Data(contentsOf: file).isEmpty)
    }
}
