// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Rotating the sealing key")
struct KeyRotationTests {
    private static let feeds = 1500

    /// Creates a database with many sealed texts and its key; returns the text that each feed's token was sealed from.
    private static func make(_ database: String, count: Int = feeds) async throws -> [String: String] {
        var settings = ServerSettings()
        settings.database = database
        let made = Tokens()
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            _ = try await server.makeFeed()
            let key = server.services.sealingKey
            var tokens: [String: String] = [:]
            for number in 0..<count { tokens["feed\(number)"] = "token of \(number)" }
            let all = tokens
            try await server.services.store.record { transaction in
                for (id, token) in all {
                    try transaction.execute(
                        """
                        INSERT INTO feeds (id, circle_id, user_id, label, config, shown_changed_at, config_changed_at,
                            token_hint, sealed_token, created_at, updated_at, number)
                        SELECT $1, circle_id, user_id, $1, config, 1, 1, 'abcd', $2, 1, 1, $3 FROM feeds LIMIT 1
                        """,
                        [
                            .text(id), .text(try key.seal(token, for: FeedLedger.purpose(id))),
                            .integer(1000 + (Int(id.dropFirst(4)) ?? 0)),
                        ])
                }
            }
            made.set(tokens)
        }
        return made.all
    }

    /// Counts the tokens that one key opens with their original values.
    private static func opened(_ database: String, with key: SealingKey, _ tokens: [String: String]) async throws -> Int
    {
        let store = try SQLiteStore(path: database)
        defer { try? store.close() }
        let sealed = try await store.read {
            try $0.rows("SELECT id, sealed_token FROM feeds WHERE id LIKE 'feed%'", []).map {
                (id: try $0.text(required: "id"), text: try $0.text(required: "sealed_token"))
            }
        }
        return try sealed.count { row in
            guard let text = try? key.open(row.text, for: FeedLedger.purpose(row.id)) else { return false }
            try #require(text == tokens[row.id])
            return true
        }
    }

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rot-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test("Beside a server that is read all the time everything gets the new key, and no address is ever unknown")
    func besideServer() async throws {
        try await Self.withFolder { folder in
            let database = folder.appending(path: "k.sqlite").path
            let tokens = try await Self.make(database)
            let former = try String(contentsOfFile: database + ".key", encoding: .utf8)
            let server = try await RunningServer(folder: folder)
            let own = try await server.kalends(["feed", "list", "--json"]).output.split(separator: "\n").lazy.compactMap
            {
                try? JSONValue(parsing: Array($0.utf8))["id"]?.string
            }.first { !$0.hasPrefix("feed") }
            let feed = try #require(own)
            async let rotated = server.kalends(["key-rotate"])
            for _ in 0..<5 {
                let shown = try await server.kalends(["feed", "reveal", feed])
                #expect(shown.status == 0, "\(shown.error)")
            }
            let result = try await rotated
            // The tokens, and the server's own mark that the key is right.
            #expect(
                result.status == 0 && result.output.hasPrefix("\(Self.feeds + 2) texts are sealed with the new key"),
                "\(result)")
            #expect(try await server.kalends(["feed", "reveal", feed]).status == 0)
            #expect(try await server.kalends(["audit", "list"]).output.contains("sealingKey.rotated"))
            #expect(await server.stop() == 0)
            #expect(try String(contentsOfFile: database + ".key.former", encoding: .utf8) == former)
            try FileManager.default.removeItem(atPath: database + ".key.former")
            #expect(
                try await Self.opened(database, with: try SealingKey(file: database + ".key"), tokens) == Self.feeds)
            #expect(try await Self.opened(database, with: try SealingKey(text: former, source: ""), tokens) == 0)
            let well = try await server.kalends(["doctor"])
            #expect(well.status == 0, "\(well.output)")
        }
    }

    @Test(
        "A server that is killed in the middle opens everything afterwards, and the rotation goes on when asked again")
    func killed() async throws {
        try await Self.withFolder { folder in
            let database = folder.appending(path: "k.sqlite").path
            let tokens = try await Self.make(database)
            var broken = 0
            for round in 0..<6 {
                let server = try await RunningServer(folder: folder)
                let hasEnded = Counter()
                async let asked: Void = {
                    _ = try await server.kalends(["key-rotate"])
                    hasEnded.add()
                }()
                let files = KeyFiles(path: database + ".key")
                while !files.isRotating, hasEnded.count == 0 {
                    try await Task.sleep(for: .milliseconds(2))
                }
                try await Task.sleep(for: .milliseconds(15 * round))
                await server.kill()
                try await asked
                if files.isRotating { broken += 1 }
                #expect(try await Self.opened(database, with: try files.key(), tokens) == Self.feeds)
                if files.isRotating {
                    if round == 0 {
                        let doctor = try await server.kalends(["doctor"])
                        #expect(doctor.status == 3 && doctor.output.contains("BAD  key rotation"), "\(doctor.output)")
                    }
                }
            }
            // Without a server too.
            let server = try await RunningServer(folder: folder)
            #expect(await server.stop() == 0)
            #expect(try await server.kalends(["key-rotate"]).status == 0)
            try FileManager.default.removeItem(atPath: database + ".key.former")
            #expect(
                try await Self.opened(database, with: try SealingKey(file: database + ".key"), tokens) == Self.feeds)
            #expect(!KeyFiles(path: database + ".key").isRotating && broken > 0)
        }
    }

    @Test("At each step of the change of files what is there opens both what was and what will be sealed")
    func files() async throws {
        try await Self.withFolder { folder in
            let files = KeyFiles(path: folder.appending(path: "k.key").path)
            let first = try files.key()
            let old = try first.seal("old", for: "x")
            let next = try files.makeNext()
            let new = try next.seal("new", for: "x")
            let manager = FileManager.default
            func opensBoth() throws {
                let key = try files.key()
                #expect(try key.open(old, for: "x") == "old" && key.open(new, for: "x") == "new")
                // It seals with the next one from the start.
                #expect(try next.open(try key.seal("more", for: "x"), for: "x") == "more")
            }
            try opensBoth()
            #expect(files.isRotating)
            // As finish leaves them between its two steps.
            try manager.moveItem(atPath: files.path, toPath: files.path + ".former")
            try opensBoth()
            try files.finish()
            #expect(!files.isRotating)
            try opensBoth()
            // A key that was not written whole was never the next one.
            try Data("half".utf8).write(to: URL(filePath: files.path + ".next.part"))
            #expect(try files.key().open(new, for: "x") == "new")
            _ = try files.makeNext()
            try files.finish()
        }
    }

    @Test("A rotation with a key that is not the database's says so, and fails")
    func foreign() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        #expect(await server.stop() == 0)
        let key = URL(filePath: server.database + ".key")
        try FileManager.default.removeItem(at: key)
        _ = try SealingKey(file: key.path)
        let result = try await server.kalends(["key-rotate"])
        #expect(result.status == 1 && result.error.contains("was not the key of all"), "\(result)")
        #expect(result.error.contains("kalends reseal --former-key-file"))
    }

    @Test("A key that is a setting is not rotated, with what to do")
    func setting() async throws {
        let key = Data(repeating: 7, count: 32).base64EncodedString()
        let server = try await RunningServer(environment: ["KALENDS_SECRET_KEY": key])
        defer { server.remove() }
        let result = try await runProgram(
            Programs.kalends, ["key-rotate", "--database", server.database], environment: ["KALENDS_SECRET_KEY": key])
        #expect(result.status == 1 && result.error.contains("kalends reseal"), "\(result)")
        #expect(await server.stop() == 0)
    }
}

/// Carries a server's tokens out of its closure.
private final class Tokens: @unchecked Sendable {
    private(set) var all: [String: String] = [:]
    func set(_ all: [String: String]) { self.all = all }
}
