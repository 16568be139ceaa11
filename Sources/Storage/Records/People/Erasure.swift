// SPDX-License-Identifier: Apache-2.0

/// The erasure of a person: what was done and by whom it was asked for, without the person.
///
/// It is stored in the transaction that ends what the person can do, and taken up again at the next start if the process
/// ended before it was done.
public struct Erasure: Hashable, Sendable {
    /// How many rows of a table.
    public struct Count: Hashable, Sendable {
        public let table: String
        public let rows: Int
    }

    public var id = ""
    /// The person; nil once none of their data is left.
    public internal(set) var userID: String?
    /// `person`, `operator` or `key:ID`.
    public var asker = ""
    public internal(set) var removed: [Count] = []
    /// Data that stays and no longer names the person.
    public internal(set) var kept: [Count] = []
    /// Whether unused space of the database may still have pieces of what was removed.
    public internal(set) var leavesUnusedSpace = true
    public var begunAt = 0
    public internal(set) var endedAt: Int?

    /// The id that replaces the person in the data that stays.
    public var pseudonym: String { "erased-\(id)" }
    /// The name that takes the person's place in what stays, in no language.
    static let name = "—"
}

extension Erasure.Count: StoredWord {
    init?(word: String) {
        let parts = word.pieces(separatedBy: ":").map(String.init)
        guard parts.count == 2, let rows = Int(parts[1]) else { return nil }
        self.init(table: parts[0], rows: rows)
    }

    var word: String { "\(table):\(rows)" }
}

extension [Erasure.Count] {
    fileprivate mutating func add(_ rows: Int, _ table: String) {
        let place = firstIndex { $0.table.isSameText(as: table) }
        let before = place.map { remove(at: $0).rows } ?? 0
        append(Erasure.Count(table: table, rows: before + rows))
    }
}

extension Erasure: StoredRow {
    public init(id: String, of user: String, asker: String, now: Int) {
        self.init(id: id, userID: user, asker: asker, begunAt: now)
    }

    static let table = RecordTable<Erasure>(
        "erasures",
        [
            .once("id", \.id), .init("user_id", \.userID), .once("asker", \.asker), .init("removed", \.removed),
            .init("kept", \.kept), .init("leaves_unused_space", \.leavesUnusedSpace),
            .once("begun_at", \.begunAt), .init("ended_at", \.endedAt),
        ])
}

extension ReadTransaction {
    public func erasure(_ id: String) throws -> Erasure? { try first("WHERE id = $1", [.text(id)]) }

    /// Returns the erasures that are not done, the oldest first.
    public func erasuresUnderWay(limit: Int = 100) throws -> [Erasure] {
        try all("WHERE ended_at IS NULL ORDER BY begun_at, id LIMIT $1", [.integer(limit)])
    }

    public func erasureUnderWay(of user: String) throws -> Erasure? {
        try first("WHERE user_id = $1 AND ended_at IS NULL", [.text(user)])
    }

    /// Returns the circles that a person belongs to whose only member they are, and those that they would leave without
    /// an owner.
    public func circlesHeld(by user: String) throws -> (alone: [Circle], asLastOwner: [Circle]) {
        var (alone, asLastOwner): ([Circle], [Circle]) = ([], [])
        for circle in try circles(of: user, after: "", limit: .max) {
            let others = try membersEverKnown(in: circle.id).filter {
                $0.leftAt == nil && !$0.userID.isSameText(as: user)
            }
            if others.isEmpty {
                alone.append(circle)
            } else if !others.contains(where: { $0.role == .owner }), try member(user, in: circle.id)?.role == .owner {
                asLastOwner.append(circle)
            }
        }
        return (alone, asLastOwner)
    }

    /// Returns the credentials of a person's connections, ended or not, with their providers.
    public func credentials(of user: String) throws -> [(ConnectionCredential, Connection.Provider)] {
        let own: [Connection] = try all("WHERE user_id = $1 ORDER BY id", [.text(user)])
        return try own.compactMap { own in try credential(ofConnection: own.id).map { ($0, own.provider) } }
    }
}

extension WriteTransaction {
    /// Begins an erasure: revokes all of the person's secrets, ends sign-in as them, removes them from circles with other
    /// members, and deletes circles that had no other member.
    ///
    /// - Parameter deviceHash: makes the hash of a token that nobody has.
    public func beginErasure(_ erasure: Erasure, of user: String, deviceHash: () -> String) throws {
        let now = erasure.begunAt
        try insert(new: erasure)
        try endAllConnections(of: user, now: now)
        let alone = try circlesHeld(by: user).alone
        for circle in try circles(of: user, after: "", limit: .max) {
            concerns(circle: circle.id)
            if alone.contains(where: { $0.id.isSameText(as: circle.id) }) {
                _ = try deleteCircle(circle.id, now: now)
            } else {
                _ = try removeMember(user, from: circle.id, now: now)
            }
        }
        try deleteSessions(of: user, except: nil)
        try endAppPasswords(of: user, now: now)
        try deleteOpenSignInLinks(of: user)
        _ = try deleteSecondFactor(of: user)
        _ = try deletePassword(of: user)
        // The rows of devices are removed last: the audit trail names a person's devices, too.
        for device in try rows("SELECT id FROM devices WHERE user_id = $1", [.text(user)]) {
            try execute(
                "UPDATE devices SET hash = $2 WHERE id = $1",
                [.text(try device.text(required: "id")), .text(deviceHash())])
        }
    }

    /// Ends a person's connections; what they wrote in calendars elsewhere stays there.
    func endAllConnections(of user: String, now: Int) throws {
        let found: [Connection] = try all(
            "WHERE user_id = $1 AND (ending IS NULL OR ending <> 'records')", [.text(user)])
        for own in found {
            if own.ending == nil {
                // The many events of a phone are taken away in steps.
                try endConnection(own, own.provider == .apple ? .all : nil, now: now)
            } else if own.provider != .apple {
                try deleteConnection(own.id, now: now)
            }
        }
    }

    /// Counts rows that a step of an erasure removed, or kept without the person.
    func count(_ rows: Int, of table: String, areKept: Bool = false, in id: String) throws {
        guard rows > 0, var erasure = try erasure(id) else { return }
        if areKept { erasure.kept.add(rows, table) } else { erasure.removed.add(rows, table) }
        try update(erasure)
    }

    /// Forgets the subject of an erasure, once none of the person's data is left.
    public func forgetPerson(ofErasure id: String) throws {
        try execute("UPDATE erasures SET user_id = NULL WHERE id = $1", [.text(id)])
    }

    /// - Parameter leavesUnusedSpace: whether the engine may still have pieces of what was removed.
    public func endErasure(_ id: String, leavesUnusedSpace: Bool, now: Int) throws {
        guard var erasure = try erasure(id), erasure.endedAt == nil else { return }
        (erasure.leavesUnusedSpace, erasure.endedAt) = (leavesUnusedSpace, now)
        try update(erasure)
    }
}
