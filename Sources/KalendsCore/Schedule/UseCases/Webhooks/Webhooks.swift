// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// The host application's webhooks, and the messages that were sent to them.
package struct Webhooks: Sendable {
    let acts: Acts
    let key: SealingKey
    let quotas: Quotas
    /// Whether messages may be sent to an address.
    let allowsMessages: @Sendable (_ address: String) -> Bool

    /// A webhook without its secrets; the address is the one that the host application gave.
    package struct Shown: Sendable {
        package let hook: Webhook
        /// Nil when the address was sealed with a key that the server does not have.
        package let url: String?
        /// When the former secret ends, in milliseconds since 1970; nil when there is no former secret.
        package let formerEndsAt: Int?
    }

    /// A webhook with its new secret.
    package struct Made: Sendable {
        package let shown: Shown
        package let secret: Secret
    }

    /// Returns all webhooks in order of id.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [Shown] {
        try Rights.installation(caller.identity)
        return try await acts.store.read { try $0.webhooks(after: page.after, limit: page.limit) }.map(shown)
    }

    /// Returns one webhook, and how many of its messages wait.
    package func get(_ id: String, for caller: Caller) async throws -> (shown: Shown, pending: Int) {
        try Rights.installation(caller.identity)
        let (hook, pending) = try await acts.store.read { transaction in
            (try Self.find(id, in: transaction), try transaction.pendingDeliveries(of: id))
        }
        return (shown(hook), pending)
    }

    /// Returns the messages of a webhook, the latest first.
    ///
    /// - Parameter number: the number of the message before which the part begins.
    package func deliveries(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [WebhookDelivery] {
        try Rights.installation(caller.identity)
        return try await acts.store.read { transaction in
            _ = try Self.find(id, in: transaction)
            return try transaction.deliveries(of: id, before: number, limit: limit)
        }
    }

    func shown(_ hook: Webhook) -> Shown {
        Shown(
            hook: hook, url: try? key.open(hook.sealedURL, for: Webhook.urlPurpose(hook.id)),
            formerEndsAt: hook.formerEndsAt.flatMap { $0 > acts.now() ? $0 : nil })
    }

    /// Returns a webhook; throws 404 for one that does not exist.
    static func find(_ id: String, in transaction: any ReadTransaction) throws -> Webhook {
        guard let hook = try transaction.webhook(id) else { throw Refusal.missing(.webhook) }
        return hook
    }
}

extension AuthorizedInstallation {
    /// Returns webhooks in order of id, and how many messages of each wait.
    package func list(
        _ webhooks: Webhooks, _ page: PageRequest
    ) throws -> [(shown: Webhooks.Shown, pending: Int)] {
        try transaction.webhooks(after: page.after, limit: page.limit).map { hook in
            (webhooks.shown(hook), try transaction.pendingDeliveries(of: hook.id))
        }
    }
}
