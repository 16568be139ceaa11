// SPDX-License-Identifier: Apache-2.0

import Crypto
import Storage

/// The record of who did what, in order; each entry contains the hash of the entry before it.
///
/// A later change to an entry shows, unless everything after it was rewritten too; a copy of the last hash, kept
/// elsewhere, reveals even that.
enum AuditTrail {
    /// The value used as the previous hash of the first entry.
    static let origin = String(repeating: "0", count: 64)

    /// Records an action in the transaction that performs it, so that neither is stored without the other.
    ///
    /// - Parameter detail: only ids and fixed words, never names, secrets or text that people wrote.
    static func note(
        _ action: AuditAction, _ subject: String, circle: String? = nil, detail: JSONValue = [:], by actor: AuditActor,
        in transaction: any WriteTransaction, now: Int
    ) throws {
        let entry = AuditEntry(
            number: 0, at: now, actor: actor.text, action: action.rawValue, subject: subject, circleID: circle,
            detail: try detail.text(), previousHash: "", hash: "")
        // Servers that share the database do not wait here for each other's entries.
        guard let own = transaction.sharedNumber else { return try append(entry, in: transaction) }
        try transaction.insertWaiting(entry, in: own)
    }

    /// Gives all acts that wait their places.
    static func order(in store: any Store) async throws {
        guard try await store.read({ try $0.hasWaitingAuditEntries() }) else { return }
        let most = 500
        var count = most
        while count == most {
            count = try await store.write(.order) { transaction in
                transaction.concernsNamedCirclesOnly()
                let waiting = try transaction.takeWaitingAuditEntries(limit: most)
                for entry in waiting { try append(entry, in: transaction) }
                return waiting.count
            }
        }
    }

    private static func append(_ entry: AuditEntry, in transaction: any WriteTransaction) throws {
        let last = try transaction.auditEntryToFollow()
        let (number, isBeyond) = (last?.number ?? 0).addingReportingOverflow(1)
        guard !isBeyond else { throw StorageError.unexpectedResult("The audit trail has no number left.") }
        var entry = entry
        (entry.number, entry.previousHash) = (number, last?.hash ?? origin)
        entry.salt = Hexadecimal.text([UInt8].random(16))
        entry.namesHash = try namesHash(of: entry)
        entry.hash = try hash(of: entry)
        try transaction.insert(entry)
    }

    /// Returns the SHA-256, in hex, of what may name a person, as a JSON array without spaces.
    static func namesHash(of entry: AuditEntry) throws -> String {
        try hash([.string(entry.salt), .string(entry.actor), .string(entry.subject), .string(entry.detail)])
    }

    /// Returns the SHA-256, in hex, of everything else in the entry, with the hash of the names in their place, as a JSON
    /// array without spaces.
    static func hash(of entry: AuditEntry) throws -> String {
        try hash([
            .integer(entry.number), .integer(entry.at), .string(entry.action), JSONValue(entry.circleID),
            .string(entry.namesHash), .string(entry.previousHash),
        ])
    }

    private static func hash(_ content: JSONValue) throws -> String {
        Hexadecimal.text(SHA256.hash(data: try content.serialized()))
    }
}
