// SPDX-License-Identifier: Apache-2.0

package import Logging
package import Storage

/// The external calendars that a circle follows.
package struct Subscriptions: Sendable {
    let context: ImportContext

    /// A subscription with the number of its events in the circle.
    package struct Shown: Sendable {
        package let own: Subscription
        package let events: Int
    }

    /// Returns a circle's subscriptions in order of id.
    package func list(_ page: PageRequest, in circle: String, for caller: Caller) async throws -> [Shown] {
        try await context.acts.read(in: circle, for: caller) { try $0.subscriptions(page) }
    }

    /// Returns one subscription; throws 404 for a subscription that is not in the circle.
    package func get(_ id: String, in circle: String, for caller: Caller) async throws -> Shown {
        try await context.store.read { transaction in
            let own = try Self.find(id, in: circle, for: caller, .read, transaction)
            return Shown(own: own, events: try transaction.eventCount(ofSubscription: id))
        }
    }

    private static let ended = Refusal(
        .unavailable, detail: "The server's background work ended, and the fetch with it, so nothing was changed.",
        retryAfter: 2)

    /// Fetches a calendar now and returns when that is done; `lastProblem` has what went wrong.
    ///
    /// Throws 409 for a subscription that is not active, 429 when too many requests were sent to its host, 503 when the
    /// server is shutting down or has just lost its background work to another.
    ///
    /// - Parameter sender: the sender whose quota the bytes count against.
    package func refresh(
        _ id: String, in circle: String, for caller: Caller, from sender: Sender, _ logger: Logger
    ) async throws -> Shown {
        let own = try await context.store.read { try Self.find(id, in: circle, for: caller, .write, $0) }
        guard own.state == .active else {
            throw Refusal.conflict("This subscription is \(own.state.rawValue).", code: .subscriptionInactive)
        }
        try context.refreshes.admit(own, for: caller.userID, now: context.now())
        let refreshed: Subscription?
        do {
            refreshed = try await SubscriptionRefresh(context: context, logger: logger).refresh(id, for: sender)
        } catch is CancellationError where !Task.isCancelled {
            // The server ends all refreshes together with its background work, and somebody still waits for this one.
            throw Self.ended
        }
        guard let refreshed else { throw Refusal.missing(.subscription) }
        return Shown(
            own: refreshed, events: try await context.store.read { try $0.eventCount(ofSubscription: id) })
    }

    static func find(
        _ id: String, in circle: String, for caller: Caller, _ right: Right, _ transaction: any ReadTransaction
    ) throws -> Subscription {
        _ = try Rights.circle(circle, for: caller.identity, right, in: transaction)
        return try find(id, in: circle, transaction)
    }

    /// Returns a subscription; throws 404 for a subscription that is not in the circle.
    static func find(_ id: String, in circle: String, _ transaction: any ReadTransaction) throws -> Subscription {
        guard let own = try transaction.subscription(id), own.circleID == circle else {
            throw Refusal.missing(.subscription)
        }
        return own
    }
}

extension AuthorizedCircle {
    /// Returns the circle's subscriptions in order of id.
    package func subscriptions(_ page: PageRequest) throws -> [Subscriptions.Shown] {
        try transaction.subscriptions(in: id, after: page.after, limit: page.limit).map {
            Subscriptions.Shown(own: $0, events: try transaction.eventCount(ofSubscription: $0.id))
        }
    }
}
