// SPDX-License-Identifier: Apache-2.0

import Base
package import Storage

/// What the audit trail holds, for the installation.
package struct Audit: Sendable {
    let acts: Acts

    /// Entries before a number, the latest first.
    ///
    /// - Parameter circle: whose entries are wanted, nil for all of them.
    package func list(
        before number: Int, in circle: String?, limit: Int, for caller: Caller
    ) async throws -> [AuditEntry] {
        try Rights.installation(caller.identity)
        return try await acts.store.read { try $0.auditEntries(before: number, in: circle, limit: limit) }
    }

    /// Looks at the whole trail.
    ///
    /// - Parameter known: an end that was noted down earlier, which has to be there as it was.
    package func verify(known: AuditHead?) async throws -> AuditVerdict {
        try await acts.store.read { try AuditTrail.verify(in: $0, known: known) }
    }

    /// Entries before a number whose actor, action, subject or circle has a text in it, the latest first.
    ///
    /// - Parameter text: empty for all entries.
    package func search(_ text: String, before number: Int, limit: Int, for caller: Caller) async throws -> [AuditEntry]
    {
        try Rights.installation(caller.identity)
        return try await acts.store.read { transaction in
            text.isEmpty
                ? try transaction.auditEntries(before: number, in: nil, limit: limit)
                : try transaction.auditEntries(with: text, before: number, limit: limit)
        }
    }
}
