// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import Storage
import StorageSQLite
import StoreConformance

/// A ledger over a store in its own directory, which is removed with it.
final class TemporaryLedger: Sendable {
    let directory: URL
    let store: any Store & StoreMaintenance
    let key: SealingKey
    let ledger: FeedLedger

    init() throws {
        directory = try Self.makeDirectory()
        do {
            key = try SealingKey(file: directory.appending(path: "kalends.sqlite.key").path)
            let open = TestedStore.opening { try SQLiteStore(path: $0, mustBeKalends: $1) }
            store = try open(directory.appending(path: "kalends.sqlite").path, false)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
        ledger = FeedLedger(store: store, key: key)
    }

    /// Creates a ledger at time 1 with the circle `home` and another one, and with ann and bob as members of both.
    static func make() async throws -> TemporaryLedger {
        let home = try TemporaryLedger()
        try await home.write { transaction in
            for circle in ["home", "other"] {
                _ = try transaction.putCircle(Circle(id: circle, name: circle, timeZone: "UTC"), now: 1)
                for user in ["ann", "bob"] {
                    _ = try transaction.putMember(user, in: circle, displayName: user, role: .member, now: 1)
                }
            }
        }
        return home
    }

    deinit {
        try? store.close()
        try? FileManager.default.removeItem(at: directory)
    }

    @discardableResult
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) async throws -> Value {
        try await store.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        try await store.read(body)
    }

    /// Creates a feed in a separate write.
    func create(_ new: FeedLedger.NewFeed = .sample(), now: Int = 1) async throws -> (feed: Feed, token: Secret) {
        let ledger = ledger
        let (feed, token) = try await write { try ledger.create(new, in: $0, now: now) }
        return (feed, token)
    }

    /// Gives a feed another token in a separate write.
    func regenerate(_ id: String, graceSeconds: Int = 0, now: Int) async throws -> Secret {
        let ledger = ledger
        return try await write { transaction in
            guard let feed = try transaction.feed(id) else { throw StorageError.unexpectedResult("No such feed.") }
            return try ledger.regenerate(feed, graceSeconds: graceSeconds, in: transaction, now: now)
        }
    }

    /// Returns what a token opens: `live <its number>`, `ended` or `unknown`.
    func state(of token: Secret, now: Int) async throws -> String {
        switch try await ledger.resolve(token, now: now) {
        case .live(let live): "live \(live.number)"
        case .ended: "ended"
        case .unknown: "unknown"
        }
    }

    static func makeDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Runs `body` with a directory that is removed afterwards.
    static func withDirectory<Value>(_ body: (URL) throws -> Value) throws -> Value {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        return try body(directory)
    }
}

extension FeedLedger.NewFeed {
    static func sample(
        of user: String = "ann", in circle: String = "home", label: String? = nil, expiresAt: Int? = nil
    ) -> FeedLedger.NewFeed {
        FeedLedger.NewFeed(circleID: circle, userID: user, label: label, config: "{}", expiresAt: expiresAt)
    }
}

extension FeedAccess {
    static func sample(_ feed: Int, at time: Int = 1, client: Int = 0) -> FeedAccess {
        FeedAccess(feed: feed, at: time, client: client, status: 200, network: NetworkPrefix([192, 0, 2, 1]))
    }
}

extension WriteTransaction {
    /// Folds accesses, giving them the next places.
    func count(_ accesses: [FeedAccess]) throws {
        let first = try accessSequence() + 1
        try fold(accesses.enumerated().map { SequencedAccess(sequence: first + $0.offset, access: $0.element) })
    }
}
