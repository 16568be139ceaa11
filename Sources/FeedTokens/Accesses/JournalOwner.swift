// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Storage

/// One of several servers, as its journal of accesses identifies it.
public struct JournalOwner: Sendable {
    /// The machine and where its files are, for people to read.
    public var name: String
    public var program: String
    /// The settings that determine how it shows feeds.
    public var shown: String

    public init(name: String, program: String, shown: String) {
        (self.name, self.program, self.shown) = (name, program, shown)
    }
}

/// A journal that is one of several, and the token that its owner writes with, which changes at each start.
struct SharedJournal: Sendable {
    var journalID: UInt64
    var token: UInt64
}

extension JournalOpening {
    /// The journal of one of several servers: the one in the file if the database knows it, otherwise a new one.
    ///
    /// Throws `JournalFailure` for a file that was copied or restored from an earlier state.
    func journal(
        of owner: JournalOwner, onPressure: @escaping @Sendable () -> Void
    ) async throws -> (AccessJournal, SharedJournal) {
        try await store.record { try $0.shareAccessJournal(program: owner.program) }
        var token = Self.random()
        while token == 0 { token = Self.random() }
        if let (file, server) = try await known() {
            let isSized = file.capacity == JournalFile.capacity(of: bytes)
            if try isSized || !file.accesses(after: server.folded, limit: 1).isEmpty {
                try file.note(token: token, after: server.token)
                let former = server.token
                try await store.record { [token] transaction in
                    guard var own = try transaction.server(journal: server.journal), own.token == former else {
                        throw Self.copied(path)
                    }
                    let now = try transaction.sharedTime()
                    (own.token, own.startedAt, own.seenAt, own.stoppedAt) = (token, now, now, nil)
                    (own.name, own.program, own.shown) = (owner.name, owner.program, owner.shown)
                    try transaction.putServer(own)
                }
                let journal = try AccessJournal(
                    file, folded: server.folded, durability: durability, onPressure: onPressure)
                return (journal, SharedJournal(journalID: server.journal, token: token))
            }
            // Everything in it is in the database.
            try await store.record { try $0.deleteServer(journal: server.journal) }
        }
        let file = try makeFile()
        try file.note(token: token, after: 0)
        try await store.record { [token] transaction in
            try transaction.putServer(
                ServerRecord(
                    journal: file.salt, token: token, name: owner.name, program: owner.program, shown: owner.shown,
                    folded: 0, now: try transaction.sharedTime()))
        }
        let journal = try AccessJournal(file, folded: 0, durability: durability, onPressure: onPressure)
        return (journal, SharedJournal(journalID: file.salt, token: token))
    }

    /// Folds the rest of a journal that belonged to one of several servers, because this server now runs alone.
    func foldOwnJournal() async throws {
        guard let (file, server) = try await known() else { return }
        var last = server.folded
        while true {
            let accesses = try file.accesses(after: last, limit: 1 << 13)
            if accesses.isEmpty { break }
            let folded = try await store.record {
                try $0.fold(accesses, ofJournal: server.journal, token: server.token, noting: AccessCounter.rules)
            }
            guard let folded else { throw Self.copied(path) }
            last = folded
        }
        try await store.record { try $0.deleteServer(journal: server.journal) }
    }

    /// The file and its server, when the database knows it.
    private func known() async throws -> (JournalFile, ServerRecord)? {
        try requireFile()
        guard unsafe access(path, F_OK) == 0 else { return nil }
        let disk = try SystemJournalDisk(path: path, isNew: false)
        guard let journalID = try JournalFile.journalID(of: disk),
            let server = try await store.read({ try $0.server(journal: journalID) }),
            let file = try JournalFile(existing: disk, salt: journalID)
        else { return nil }
        guard try file.tokens().contains(server.token) else { throw Self.copied(path) }
        return (file, server)
    }

    private static func copied(_ path: String) -> JournalFailure {
        .broken("\(path) is a copy of a journal that was used elsewhere since, or an old one: remove it")
    }

    private static func random() -> UInt64 { .random(in: .min ... .max) }
}
