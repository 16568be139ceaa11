// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import StoreConformance

/// A store in its own directory, which is removed with it.
final class TemporaryStore: Sendable {
    let directory: URL
    let store: any Store & StoreMaintenance

    var path: String { directory.appending(path: "kalends.sqlite").path }

    init() throws {
        directory = try Self.makeDirectory()
        do {
            let open = TestedStore.opening { try SQLiteStore(path: $0, mustBeKalends: $1) }
            store = try open(directory.appending(path: "kalends.sqlite").path, false)
        } catch {
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
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

    static func makeDirectory() throws -> URL {
        let directory = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Runs `body` with a directory that is removed afterwards.
    static func withDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let directory = try makeDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(directory)
    }
}

extension ReadTransaction {
    /// Returns the column `value` of every row as a number.
    func numbers(_ sql: String, _ arguments: [SQLValue] = []) throws -> [Int] {
        try rows(sql, arguments).map { try $0.integer(required: "value") }
    }

    /// The first column named `value` of every row, as text.
    func texts(_ sql: String, _ arguments: [SQLValue] = []) throws -> [String] {
        try rows(sql, arguments).map { try $0.text(required: "value") }
    }

    /// Returns the tables of the schema.
    func tables() throws -> [String] {
        guard !TestedStore.isPostgreSQL else { return Schema.tables.map(\.name) }
        return try texts("SELECT name AS value FROM sqlite_master WHERE type = 'table' ORDER BY name")
    }

    /// Returns an item's SEQUENCE.
    func sequence(_ id: String, _ collection: ScheduleItem.Collection, in circle: String = "home") throws -> Int? {
        try itemEverKnown(id, collection, in: circle)?.sequence
    }

    /// A circle's version.
    func version(_ circle: String = "home") throws -> Int? { try self.circle(circle)?.version }
}

extension WriteTransaction {
    /// Creates the circle `home` at time 1 with the members ann and bob and the patients pia and quin.
    func makeHome(_ circle: String = "home") throws {
        _ = try putCircle(Circle(id: circle, name: "Home", timeZone: "Europe/Vienna"), now: 1)
        for (id, name) in [("ann", "Ann"), ("bob", "Bob")] {
            _ = try putMember(id, in: circle, displayName: name, role: .member, now: 1)
        }
        for (id, name) in [("pia", "Pia"), ("quin", "Quin")] {
            _ = try putPatient(id, in: circle, displayName: name, now: 1)
        }
    }

    /// Stores an item in place of the existing one.
    @discardableResult
    func put(_ item: ScheduleItem, uid: String? = nil, isVisible: Bool = true, now: Int = 1) throws -> ScheduleItem {
        let put = ItemPut(
            item, replacing: try itemEverKnown(item.id, item.collection, in: item.circleID),
            newUID: uid ?? "\(item.circleID)/\(item.collection.rawValue)/\(item.id)", isVisible: isVisible, now: now)
        try putItems([put], in: item.circleID, now: now)
        return put.item
    }

    /// Inserts a feed with a first token.
    func insert(_ feed: Feed) throws { try insertFeed(feed, tokenHash: hash(feed.id)) }
}

extension ScheduleItem {
    static func sample(
        _ id: String, _ collection: Collection = .tasks, in circle: String = "home", patient: String? = nil,
        owner: String? = nil, timeZone: String? = nil, isAllDay: Bool = false, from startsAt: Int = 1_000,
        to endsAt: Int? = 2_000, content: String = "{}"
    ) -> ScheduleItem {
        ScheduleItem(
            circleID: circle, collection: collection, id: id, patientID: patient, ownerID: owner, timeZone: timeZone,
            isAllDay: isAllDay, startsAt: startsAt, endsAt: endsAt, content: content)
    }
}

extension Feed {
    static func sample(
        _ id: String, of user: String = "ann", in circle: String = "home", label: String? = nil,
        expiresAt: Int? = nil, now: Int = 1
    ) -> Feed {
        Feed(
            id: id, circleID: circle, userID: user, label: label, config: "{}", tokenHint: "abcd…",
            sealedToken: "v1.sealed", expiresAt: expiresAt, now: now)
    }
}

/// An access identified by the feed's id, as tests name it.
struct SampleAccess: Sendable {
    var feed: String
    var at: Int
    var client: Int
    var status: Int

    static func sample(_ feed: String, at time: Int = 1, client: Int = 0, status: Int = 200) -> SampleAccess {
        SampleAccess(feed: feed, at: time, client: client, status: status)
    }
}

extension WriteTransaction {
    /// Folds accesses, giving them the next places; accesses of a missing feed get a number that no feed has.
    func count(_ accesses: [SampleAccess], keepingNewest newest: Int = 1000) throws {
        let first = try accessSequence() + 1
        let sequenced = try accesses.enumerated().map { index, one in
            SequencedAccess(
                sequence: first + index,
                access: FeedAccess(
                    feed: try feed(one.feed)?.number ?? 999_999, at: one.at, client: one.client, status: one.status,
                    network: NetworkPrefix([192, 0, 2, 1])))
        }
        try fold(sequenced, keepingNewest: newest)
    }
}

/// Returns a text in the form of a hash, for tests in which nothing is hashed.
func hash(_ name: String) -> String {
    let hex = name.utf8.map { String($0, radix: 16) }.joined()
    return String(repeating: "0", count: 64 - hex.count) + hex
}

/// The collections of a server; the database treats all of them alike.
extension ScheduleItem.Collection {
    static let tasks: Self = "tasks"
    static let shifts: Self = "shifts"
    static let followUps: Self = "follow-ups"
    static let all: [Self] = [.tasks, .shifts, .appointments, .followUps]
}
