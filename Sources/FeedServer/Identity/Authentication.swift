// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Storage

/// Finds out who calls a route of the API; throws 401 when the credential opens nothing.
struct Authentication: Sendable {
    let store: any Store
    let now: Clock
    /// Set on the local socket, whose file only the operator can open.
    let isLocal: Bool

    /// Wraps a handler so that it runs for a known caller alone, and for whom the route lets in at all.
    func required(_ access: Access, _ handler: @escaping Handler) -> Handler {
        { request, context in
            var context = context
            let caller = try await identity(of: request)
            if access == .installation { try Rights.installation(caller) }
            context.identity = caller
            return try await handler(request, context)
        }
    }

    private func identity(of request: Request) async throws -> Identity {
        if isLocal { return try narrowed(.operatorAtHand, request) }
        guard let header = request.headers[.authorization] else { throw Refusal.unauthenticated }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let secret = Secret(.serviceKey, text: parts[1].drop { $0 == " " })
        else { throw Refusal.unauthenticated }
        let hash = secret.hash
        guard let key = try await store.read({ try $0.serviceKey(hash: hash) }) else { throw Refusal.unauthenticated }
        let time = now()
        // Once a minute is enough to see whether a key is still in use.
        if key.lastUsedAt.map({ time - $0 >= 60_000 }) ?? true {
            try await store.record { try $0.noteUse(ofServiceKey: key.id, now: time) }
        }
        return try narrowed(.service(key: key.id), request)
    }

    /// `Kalends-User` narrows a call of the installation to what that user may do.
    private func narrowed(_ identity: Identity, _ request: Request) throws -> Identity {
        guard let user = request.headers[.kalendsUser] else { return identity }
        guard Identifier.isValid(user) else {
            throw Refusal.badRequest("Kalends-User is not a user id. \(Identifier.rule)")
        }
        return .user(user)
    }
}

extension HTTPField.Name {
    static let kalendsUser = HTTPField.Name("Kalends-User") ?? .from
}
