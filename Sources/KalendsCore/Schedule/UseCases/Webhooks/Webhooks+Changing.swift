// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

extension Webhooks {
    /// The fields of a request for a new webhook.
    package struct Draft: Sendable {
        package var address: WebhookAddress
        /// Nil for all circles.
        package var circles: [String]?
        /// Nil for all kinds of changes.
        package var subjects: [CircleChange.Subject]?

        package init(address: WebhookAddress, circles: [String]?, subjects: [CircleChange.Subject]?) {
            self.address = address
            self.circles = circles
            self.subjects = subjects
        }
    }

    /// What to change in a webhook.
    package struct Change: Sendable {
        package enum RequestedState: String, CaseIterable, Sendable { case active, disabled }

        package var address: WebhookAddress?
        package var circles = Edit<[String]>.keep
        package var subjects = Edit<[CircleChange.Subject]>.keep
        package var state: RequestedState?

        package init() {}
    }

    /// The maximum number of trial messages that may wait at a time.
    private static let mostTrials = 20
    private static let actTarget = ActTarget.installation(touchingNoCircle: "No feed shows a webhook.")

    /// Throws 422 for an address to which a strict server sends nothing.
    private func check(_ address: WebhookAddress) throws {
        guard !allowsMessages(address.text) else { return }
        throw Refusal.invalid("/url", "This must be an address with https://, because the server is strict.")
    }

    /// Creates a webhook, to which changes are sent from now on; throws 409 when there is the maximum number of
    /// webhooks.
    package func create(_ draft: Draft, for caller: Caller) async throws -> Made {
        let (secret, id, key) = (Secret.make(.webhook), FeedLedger.makeID(), key)
        let most = quotas.webhooks
        try check(draft.address)
        // Earlier changes are not sent to it.
        try await acts.store.orderChanges()
        return try await acts.act(on: Self.actTarget, for: caller) { act in
            let transaction = act.transaction
            if try transaction.webhookCount() >= most { throw Refusal.quota("There are", most, "webhooks") }
            let hook = Webhook(
                id: id, sealedURL: try key.seal(draft.address.text, for: Webhook.urlPurpose(id)),
                circles: draft.circles, subjects: draft.subjects,
                sealedSecret: try key.seal(secret.reveal(), for: Webhook.secretPurpose(id)),
                secretHint: secret.hint, position: try transaction.latestChange(), now: act.now)
            try transaction.putWebhook(hook)
            return ActResult(Made(shown: shown(hook), secret: secret), noting: AuditNote(.webhookCreated, id))
        }
    }

    /// Changes, disables or enables a webhook.
    package func change(
        _ id: String, _ change: Change, if condition: Precondition<Shown>, for caller: Caller
    ) async throws -> Shown {
        let key = key
        if let address = change.address { try check(address) }
        let hook = try await acts.act(on: Self.actTarget, for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            let old = try Self.find(id, in: transaction)
            let seen = shown(old)
            try condition.check(seen)
            var hook = old
            if let address = change.address {
                hook.sealedURL = try key.seal(address.text, for: Webhook.urlPurpose(id))
            }
            hook.circles = change.circles.applied(to: old.circles)
            hook.subjects = change.subjects.applied(to: old.subjects)
            switch change.state {
            case .disabled where hook.isActive:
                hook.isActive = false
                hook.disabledReason = "It was disabled by a call."
            case .active where !hook.isActive:
                hook.isActive = true
                (hook.disabledReason, hook.failingSince) = (nil, nil)
                try transaction.hurryDeliveries(of: id, now: now)
            default: break
            }
            hook.updatedAt = now
            try transaction.putWebhook(hook)
            let changed: [ByteString: Bool] = [
                "circles": hook.circles != old.circles, "state": hook.isActive != old.isActive,
                "types": hook.subjects != old.subjects,
                "url": change.address.map { $0.text != seen.url } ?? false,
            ]
            return .changed(hook, noting: AuditNote(.webhookChanged, id, changed: changed))
        }
        return shown(hook)
    }

    /// Deletes a webhook; waiting messages are not sent.
    package func delete(_ id: String, if condition: Precondition<Shown>, for caller: Caller) async throws {
        try Rights.installation(caller.identity)
        try await acts.store.read { try condition.check(shown(try Self.find(id, in: $0))) }
        // There may be a month's messages, so they are deleted in several transactions.
        try await acts.store.recordRepeatedly { try $0.deleteDeliveries(of: id, limit: $1) }
        try await acts.act(on: Self.actTarget, for: caller) { act in
            try condition.check(shown(try Self.find(id, in: act.transaction)))
            _ = try act.transaction.deleteWebhook(id)
            return ActResult(noting: AuditNote(.webhookDeleted, id))
        }
    }

    /// Gives a webhook a new secret; for the given number of seconds, messages are signed with both secrets.
    package func rotate(_ id: String, graceSeconds grace: Int, for caller: Caller) async throws -> Made {
        let (secret, key) = (Secret.make(.webhook), key)
        return try await acts.act(on: Self.actTarget, for: caller) { act in
            var hook = try Self.find(id, in: act.transaction)
            (hook.sealedFormer, hook.formerEndsAt) =
                grace > 0 ? (hook.sealedSecret, act.now + grace * 1000) : (nil, nil)
            hook.sealedSecret = try key.seal(secret.reveal(), for: Webhook.secretPurpose(id))
            hook.secretHint = secret.hint
            hook.updatedAt = act.now
            try act.transaction.putWebhook(hook)
            return ActResult(
                Made(shown: shown(hook), secret: secret),
                noting: AuditNote(.webhookRotated, id, detail: ["former": grace > 0 ? "grace" : "ended"]))
        }
    }

    /// Puts a message without changes in the queue; the list of deliveries shows the result.
    ///
    /// Throws 409 for a webhook that is disabled, or for which too many such messages wait.
    package func test(_ id: String, for caller: Caller) async throws -> WebhookDelivery {
        try await acts.act(on: Self.actTarget, for: caller) { act in
            let transaction = act.transaction
            guard try Self.find(id, in: transaction).isActive else {
                throw Refusal.conflict("This webhook is disabled.", code: .webhookDisabled)
            }
            // A few trial messages are enough: one of them shows the result.
            if try transaction.pendingDeliveries(of: id, circle: "") >= Self.mostTrials {
                throw Refusal.quota("A webhook has", Self.mostTrials, "trial messages that wait")
            }
            let delivery = WebhookDelivery(
                id: "msg_" + FeedLedger.makeID(), webhookID: id, circleID: "", firstNumber: 0, lastNumber: 0,
                now: act.now)
            try transaction.insertDelivery(delivery)
            return .unnoted("A trial message changes nothing and holds nothing.", delivery)
        }
    }
}
