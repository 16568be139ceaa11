// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import Storage
import StorageSQLite
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// What one server made and the next one needs.
private final class Kept: Sendable {
    let app = Mutex<Authenticator?>(nil)
}

@Suite("Another sealing key")
struct ResealTests {
    private static func key(_ byte: UInt8) -> String { Data(repeating: byte, count: 32).base64EncodedString() }

    @Test("Everything that was sealed opens with the new key, and no longer with the former one")
    func all() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reseal-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = folder.appending(path: "k.sqlite").path
        var settings = ServerSettings()
        (settings.database, settings.secretKey) = (database, Concealed(Self.key(1)))
        settings.passwordCost = 4
        let kept = Kept()
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            _ = try await server.makeFeed()
            try await server.call(.post, "/v1/webhooks", ["url": "https://app.example/kalends"]).expect(201)
            let made = try await server.call(
                .post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann"
            ).expect(201)
            let id = try #require(made.json["id"]?.string)
            let sealed = try server.services.sealingKey.seal("{}", for: AccountCredential.purpose(id))
            try await server.services.store.record { transaction in
                try transaction.putCredential(
                    ConnectionCredential(connectionID: id, sealed: sealed, account: "a", version: 1, now: 1))
            }
            try await server.call(.put, "/v1/users/ann/password", ["password": "ann's password"]).expect(201)
            let app = try await server.authenticator("ann")
            kept.app.withLock { $0 = app }
        }
        let former = folder.appending(path: "former").path
        try Self.key(1).write(toFile: former, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: former)
        func reseal() async throws -> ProgramResult {
            try await runProgram(
                Programs.kalends, ["reseal", "--database", database, "--former-key-file", former],
                environment: ["KALENDS_SECRET_KEY": Self.key(2)])
        }
        let done = try await reseal()
        #expect(done.status == 0 && done.output == "6 texts are sealed with the current key.\n", "\(done)")
        #expect(try await reseal().output == "0 texts are sealed with the current key.\n")
        let (old, new) = (
            try SealingKey(text: Self.key(1), source: ""), try SealingKey(text: Self.key(2), source: "")
        )
        let store = try SQLiteStore(path: database)
        try await store.write { transaction in
            for column in SealedColumn.all {
                _ = try transaction.reseal(column) { key, sealed in
                    let purpose = column.purpose(key)
                    guard !purpose.isEmpty else { return nil }
                    #expect(
                        (try? new.open(sealed, for: purpose)) != nil && (try? old.open(sealed, for: purpose)) == nil)
                    return nil
                }
            }
        }
        try store.close()
        settings.secretKey = Concealed(Self.key(2))
        try await TestServer.run(settings: settings) { server in
            let feed = try await server.call(.get, "/v1/circles/c/feeds").json["items"]?.array?.first
            let id = try #require(feed?["id"]?.string)
            try await server.call(.post, "/v1/feeds/\(id)/reveal").expect(200)
            #expect(server.services.isSealingKeyRight)
            let app = try #require(kept.app.withLock { $0 })
            try await server.signIn("ann", code: app.code(server, 1)).expect(201)
        }
    }
}
