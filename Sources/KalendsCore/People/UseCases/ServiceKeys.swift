// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// The keys with which host applications authenticate.
package struct ServiceKeys: Sendable {
    let acts: Acts
    /// How long a key lasts, in milliseconds; nil for until it is revoked.
    let lifetime: Int?

    /// When a key ends by itself, in milliseconds since 1970; nil for never.
    package func end(of key: ServiceKey) -> Int? { lifetime.map { key.createdAt + $0 } }

    private static let actTarget = ActTarget.installation(touchingNoCircle: "A key opens no feed.")

    /// Returns all keys, including revoked ones, in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [ServiceKey] {
        try await acts.store.read { try Rights.everything(for: caller.identity, in: $0).serviceKeys(page) }
    }

    /// Creates a key with no more rights than the caller's; the secret is shown only this once.
    ///
    /// - Parameters:
    ///   - scopes: nil for a key that may do everything.
    ///   - bound: the circles to which the key is bound; nil for those of the caller.
    package func create(
        name: String, scopes: Set<Scope>?, bound: CircleBound? = nil, quotas: KeyQuotas = KeyQuotas(),
        for caller: Caller
    ) async throws -> (ServiceKey, Secret) {
        guard caller.keyQuotas.isEmpty else {
            // Each of its keys would have as many requests again.
            throw Refusal(.forbidden, code: .scopesExceeded, detail: "A service key with quotas makes no keys.")
        }
        let bound = bound ?? caller.identity.bound
        try Rights.give(scopes, in: bound, by: caller.identity)
        let (secret, id) = (Secret.make(.serviceKey), FeedLedger.makeID())
        return try await acts.act(on: Self.actTarget, for: caller) { act in
            try act.transaction.insertServiceKey(
                id: id, name: name, hash: secret.hash, hint: secret.hint, scopes: scopes?.stored, bound: bound,
                quotas: quotas, now: act.now)
            guard let key = try act.transaction.serviceKey(id) else {
                throw StorageError.unexpectedResult("A service key was not kept.")
            }
            let given = scopes.map { JSONValue.array($0.names.map(JSONValue.string)) } ?? .null
            var detail: [ByteString: JSONValue] = ["scopes": given]
            switch bound {
            case nil: break
            case .circles(let ids): detail["circles"] = .array(ids.map(JSONValue.string))
            case .prefix(let start): detail["circlePrefix"] = .string(start)
            }
            if !quotas.isEmpty { detail["quotas"] = quotas.json }
            return ActResult((key, secret), noting: AuditNote(.keyCreated, id, detail: .object(detail)))
        }
    }

    /// Ends a key at once; refuses a key with more rights than the caller's.
    package func revoke(_ id: String, for caller: Caller) async throws -> ServiceKey {
        try await acts.act(on: Self.actTarget, for: caller) { act in
            guard let key = try act.transaction.serviceKey(id) else { throw Refusal.missing(.key) }
            if let own = caller.identity.bound, try key.bound.map(own.includes) != true {
                throw Refusal.missing(.key)
            }
            try Rights.give(try key.scopes.map { try Set(stored: $0) }, in: try key.bound, by: caller.identity)
            guard try act.transaction.revokeServiceKey(id, now: act.now),
                let revoked = try act.transaction.serviceKey(id)
            else { return .unchanged(key) }
            return ActResult(revoked, noting: AuditNote(.keyRevoked, id))
        }
    }
}

extension AuthorizedInstallation {
    /// Returns keys, including revoked ones, in order of id.
    package func serviceKeys(_ page: PageRequest) throws -> [ServiceKey] {
        try bound.map { try transaction.serviceKeys(within: $0, after: page.after, limit: page.limit) }
            ?? transaction.serviceKeys(after: page.after, limit: page.limit)
    }
}
