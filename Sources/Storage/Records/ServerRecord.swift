// SPDX-License-Identifier: Apache-2.0

/// A server of a shared database, identified by its journal of accesses.
public struct ServerRecord: Hashable, Sendable {
    /// The mark of its journal.
    public var journal: UInt64 = 0
    /// A value that changes with every start and is also stored in the journal's head, so that a server with a copy of
    /// the journal, or with an old one, is detected.
    public var token: UInt64 = 0
    /// The machine and the place of its files, for people to read.
    public var name = ""
    public var program = ""
    /// The settings that determine what feeds show.
    public var shown = ""
    /// The place of its journal's last access that is in the counts.
    public var folded = 0
    /// The place of the last access that it has reported as recorded.
    public var recorded = 0
    public var startedAt = 0
    public var seenAt = 0
    /// When it was stopped; nil when it was not stopped in an orderly way.
    public var stoppedAt: Int?

    /// The milliseconds of silence after which a server counts as gone.
    public static let silence = 15_000

    /// Whether the server is running, according to the database.
    public func isRunning(now: Int) -> Bool { stoppedAt == nil && now - seenAt < Self.silence }

    /// How many reads are at least in its journal and not in the counts, when it is not running.
    public var missing: Int { max(0, recorded - folded) }
}

extension ServerRecord: StoredRow {
    package init(journal: UInt64, token: UInt64, name: String, program: String, shown: String, folded: Int, now: Int) {
        self.init(
            journal: journal, token: token, name: name, program: program, shown: shown, folded: folded,
            recorded: folded, startedAt: now, seenAt: now)
    }

    static let table = RecordTable<ServerRecord>(
        "servers",
        [
            .init("journal", \.journal), .init("token", \.token), .init("name", \.name), .init("program", \.program),
            .init("shown", \.shown), .init("folded", \.folded), .init("recorded", \.recorded),
            .init("started_at", \.startedAt), .init("seen_at", \.seenAt), .init("stopped_at", \.stoppedAt),
        ])
}

extension ReadTransaction {
    /// Returns all known servers in the order of their names.
    public func servers() throws -> [ServerRecord] {
        try all("ORDER BY name, journal")
    }

    /// Returns the server whose journal has this mark.
    public func server(journal: UInt64) throws -> ServerRecord? {
        try first("WHERE journal = $1", [.text(String(journal))])
    }
}

extension WriteTransaction {
    /// Stores a server in place of the earlier one with its journal.
    public func putServer(_ server: ServerRecord) throws { try put(server) }

    /// Records that a server is running or has stopped; returns false when its journal now belongs to another process.
    ///
    /// - Parameter recorded: the place of the last access in its journal.
    public func noteServer(journal: UInt64, token: UInt64, recorded: Int, isStopping: Bool) throws -> Bool {
        let now = try sharedTime()
        return try execute(
            """
            UPDATE servers SET recorded = $3, seen_at = $4, stopped_at = $5 WHERE journal = $1 AND token = $2
            """,
            [
                .text(String(journal)), .text(String(token)), .integer(recorded), .integer(now),
                isStopping ? .integer(now) : .null,
            ]) > 0
    }

    /// The milliseconds for which a server is listed after it was last seen, when all its reads were counted.
    private static var serverMemory: Int { 90 * 86_400_000 }

    public func deleteServer(journal: UInt64) throws {
        try execute("DELETE FROM servers WHERE journal = $1", [.text(String(journal))])
    }

    /// Removes servers that were stopped in an orderly way long ago and whose reads were all counted. A server that was
    /// killed may have recorded more than it reported, and its journal is counted whenever it comes back.
    public func pruneServers() throws {
        try execute(
            "DELETE FROM servers WHERE recorded <= folded AND seen_at < $1 AND stopped_at IS NOT NULL AND token <> '0'",
            [.integer(try sharedTime() - Self.serverMemory)])
    }

    /// Works like `fold(_:keepingNewest:noting:)` for one of several journals, whose accesses get their places here.
    ///
    /// - Returns: the place in the journal of the last access that is in the counts now; nil when the journal belongs
    ///   to another process, and nothing was counted.
    public func fold(
        _ accesses: [SequencedAccess], ofJournal journal: UInt64, token: UInt64,
        noting rules: AttentionRules = AttentionRules()
    ) throws -> Int? {
        guard let server = try server(journal: journal), server.token == token else { return nil }
        let fresh = accesses.filter { $0.sequence > server.folded }
        guard let last = fresh.last?.sequence else { return server.folded }
        let base = try accessSequence()
        try fold(
            fresh.enumerated().map { SequencedAccess(sequence: base + 1 + $0.offset, access: $0.element.access) },
            noting: rules, mayBeLate: true)
        try execute(
            """
            UPDATE servers SET folded = $2, recorded = CASE WHEN recorded < $2 THEN $2 ELSE recorded END
            WHERE journal = $1
            """, [.text(String(journal)), .integer(last)])
        return last
    }

    /// Turns the database's only journal into one of several.
    public func shareAccessJournal(program: String) throws {
        guard let journalID = try accessJournal() else { return }
        try execute("DELETE FROM settings WHERE name = 'accessJournal'", [])
        var server = ServerRecord(
            journal: journalID, token: 0, name: "the server of before", program: program, shown: "",
            folded: try accessSequence(), now: try sharedTime())
        server.stoppedAt = server.startedAt
        try putServer(server)
    }
}
