// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// Where changes are sent to: the host application's webhooks, and what was sent to them.
package struct Webhooks: Sendable {
    package let services: Services

    package init(services: Services) { self.services = services }

    /// A webhook without its secrets; the address is the one that the host application gave.
    package struct Shown: Sendable {
        package let hook: Webhook
        /// Nil when it was sealed with another key than the server has.
        package let url: String?
        /// When the former secret ends, milliseconds since 1970; nil when there is none.
        package let formerEndsAt: Int?
    }

    /// A webhook with the secret that it has just been given.
    package struct Made: Sendable {
        package let shown: Shown
        package let secret: Secret
    }

    /// All webhooks in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [Shown] {
        try Rights.installation(caller.identity)
        return try await services.store.read { try $0.webhooks(after: page.after, limit: page.limit) }.map(shown)
    }

    /// One webhook, and how many of its messages wait.
    package func get(_ id: String, for caller: Caller) async throws -> (shown: Shown, pending: Int) {
        try Rights.installation(caller.identity)
        let (hook, pending) = try await services.store.read { transaction in
            (try Self.find(id, in: transaction), try transaction.pendingDeliveries(of: id))
        }
        return (shown(hook), pending)
    }

    /// What was sent to a webhook, the latest first.
    ///
    /// - Parameter number: of the message that the part begins before.
    package func deliveries(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [WebhookDelivery] {
        try Rights.installation(caller.identity)
        return try await services.store.read { transaction in
            _ = try Self.find(id, in: transaction)
            return try transaction.deliveries(of: id, before: number, limit: limit)
        }
    }

    func shown(_ hook: Webhook) -> Shown {
        Shown(
            hook: hook, url: try? services.sealingKey.open(hook.sealedURL, for: WebhookMessage.urlPurpose(hook.id)),
            formerEndsAt: hook.formerEndsAt.flatMap { $0 > services.now() ? $0 : nil })
    }

    /// Throws 404 for one that does not exist.
    static func find(_ id: String, in transaction: any ReadTransaction) throws -> Webhook {
        guard let hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
        return hook
    }
}
