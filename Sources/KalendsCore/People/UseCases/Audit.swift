// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Reads the audit trail for the installation.
package struct Audit: Sendable {
    let acts: Acts

    /// Returns the entries before a number, the latest first.
    ///
    /// - Parameter circle: the circle whose entries are wanted; nil for all entries.
    package func list(
        before number: Int, in circle: String?, limit: Int, for caller: Caller
    ) async throws -> [AuditEntry] {
        try Rights.installation(caller.identity)
        let identity = caller.identity
        try await order()
        if let bound = identity.bound {
            guard let circle else { return try await list(before: number, within: bound, limit: limit) }
            guard bound.contains(circle) else { return [] }
        }
        return try await acts.store.read {
            try $0.auditEntries(before: number, in: circle, leavesOutOwn: identity.bound != nil, limit: limit)
        }
    }

    /// Looks for the entries of a few circles among all, by short reads.
    private func list(before number: Int, within bound: CircleBound, limit: Int) async throws -> [AuditEntry] {
        var (entries, position): ([AuditEntry], Int) = ([], number)
        while true {
            let (start, left) = (position, limit - entries.count)
            let (found, rest) = try await acts.store.read {
                try $0.auditEntries(before: start, within: bound, limit: left)
            }
            entries += found
            guard entries.count < limit, let rest else { return entries }
            position = rest
        }
    }

    /// Verifies the whole trail.
    ///
    /// - Parameter known: an end that was noted earlier and must still be in the trail unchanged.
    package func verify(known: AuditHead?) async throws -> AuditVerdict {
        try await order()
        return try await acts.store.read { try AuditTrail.verify(in: $0, known: known) }
    }

    /// Gives every act that waits for it its place in the trail; who reads the trail has this done before.
    package func order() async throws { try await AuditTrail.order(in: acts.store) }

    /// Does the same where several servers write; a server by itself did so at its start.
    package func orderShared() async throws { if acts.store.isShared { try await order() } }
}

extension AuthorizedInstallation {
    /// Returns the entries before a number whose actor, action, subject or circle contains a text, the latest first.
    ///
    /// - Parameter text: empty for all entries.
    package func audit(with text: String, before number: Int, limit: Int) throws -> [AuditEntry] {
        text.isEmpty
            ? try transaction.auditEntries(before: number, in: nil, limit: limit)
            : try transaction.auditEntries(with: text, before: number, limit: limit)
    }
}
