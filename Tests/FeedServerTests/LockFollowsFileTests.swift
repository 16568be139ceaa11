// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("One process, whatever the database is called")
struct LockFollowsFileTests {
    private static func serve(_ database: String) async throws -> ProgramResult {
        try await runProgram(
            "/usr/bin/timeout", ["-s", "KILL", "60", Programs.kalends, "serve", "--port", "0", "--database", database])
    }

    @Test("A second server is refused by a symbolic link, a chain of them, a hard link and another path")
    func refused() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let manager = FileManager.default
        let (soft, chain, hard) = ("soft.sqlite", "chain.sqlite", "hard.sqlite")
        func path(_ name: String) -> String { server.folder.appending(path: name).path }
        try manager.createSymbolicLink(atPath: path(soft), withDestinationPath: "k.sqlite")
        try manager.createSymbolicLink(atPath: path(chain), withDestinationPath: path(soft))
        try manager.linkItem(atPath: server.database, toPath: path(hard))
        try manager.createSymbolicLink(atPath: path("elsewhere"), withDestinationPath: server.folder.path)
        for database in [path(soft), path(chain), path(hard), path("elsewhere/k.sqlite")] {
            let second = try await Self.serve(database)
            #expect(
                second.status == 3 && second.error.contains("Another process uses this database"), "\(second.error)")
        }
        for name in [soft, chain] {
            #expect(!manager.fileExists(atPath: path(name + ".lock")), "what belongs to it lies beside the file itself")
            let list = try await runProgram(
                Programs.kalends, ["key", "create", "--name", "a", "--database", path(name)])
            #expect(list.status == 0, "\(list.error)")
        }
        #expect(await server.stop() == 0)
    }

    /// Whether a bind mount is possible, which needs root and a kernel that lets a process have its own mounts.
    private static func canMount() async throws -> Bool {
        guard geteuid() == 0 else { return false }
        return try await runProgram("/usr/bin/unshare", ["-m", "/bin/true"]).status == 0
    }

    @Test("A second server is refused by a bind mount of the database's folder", .enabled { try await canMount() })
    func bindMount() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let other = server.folder.appending(path: "mounted").path
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        let script = """
            mount --make-rprivate / && mount --bind "$1" "$2" && test -f "$2/k.sqlite" &&
            exec timeout -s KILL 60 "$3" serve --port 0 --database "$2/k.sqlite"
            """
        let second = try await runProgram(
            "/usr/bin/unshare", ["-m", "sh", "-c", script, "sh", server.folder.path, other, Programs.kalends])
        #expect(second.status == 3 && second.error.contains("Another process uses this database"), "\(second.error)")
        #expect(await server.stop() == 0)
    }

    @Test("Two servers that both make the database by different names do not both start")
    func beforeItExists() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "first-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let link = folder.appending(path: "link.sqlite").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "k.sqlite")
        let server = try await RunningServer(folder: folder)
        defer { server.remove() }
        let second = try await Self.serve(link)
        #expect(second.status == 3, "\(second.error)")
        #expect(await server.stop() == 0)
        #expect(FileManager.default.fileExists(atPath: server.database))
    }

    @Test("A key that lies beside the link is named, and no new one is made")
    func keyBesideLink() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        #expect(await server.stop() == 0)
        let link = server.folder.appending(path: "link.sqlite").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "k.sqlite")
        try FileManager.default.moveItem(atPath: server.database + ".key", toPath: link + ".key")
        let refused = try await Self.serve(link)
        #expect(refused.status == 2 && refused.error.contains("link.sqlite.key"), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: server.database + ".key"))
    }

    @Test(
        "Whatever is in the socket's place and is no socket is named, and stays",
        arguments: ["a file", "a folder", "a symbolic link", "a pipe"])
    func socketPlace(kind: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "place-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = folder.appending(path: "k.sqlite").path
        let socket = database + ".sock"
        switch kind {
        case "a file": try Data("mine".utf8).write(to: URL(filePath: socket))
        case "a folder": try FileManager.default.createDirectory(atPath: socket, withIntermediateDirectories: false)
        case "a pipe": #expect(unsafe mkfifo(socket, 0o600) == 0)
        default: try FileManager.default.createSymbolicLink(atPath: socket, withDestinationPath: "/etc/hostname")
        }
        let result = try await Self.serve(database)
        #expect(result.status == 3)
        #expect(
            result.error == "\(socket) is \(kind), where the server's socket has to be: remove it.\n", "\(result.error)"
        )
        #expect((try? FileManager.default.attributesOfItem(atPath: socket)) != nil)
    }
}
