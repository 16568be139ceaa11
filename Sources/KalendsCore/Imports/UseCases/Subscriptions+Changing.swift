// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Outbound
package import Storage

extension Subscriptions {
    /// The fields of a request to follow a calendar.
    package struct Draft: RequestContent {
        /// The calendar's address as it was given; nil only together with a fault for it.
        package var address: String?
        package var label: String?
        package var refreshMinutes = 360
        /// The faults of the request; reported only to callers who may change the circle.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            let minutes = JSONSchema.integer(Subscriptions.minutes).defaulting(to: .integer(Self().refreshMinutes))
            return [
                .taken("url", \.address, .text(8192), isRequired: true), .taken("label", \.label, .looseText()),
                .taken("refreshMinutes", \.refreshMinutes, .number(Subscriptions.minutes).documented(minutes)),
            ]
        }

        package static let example: JSONValue = [
            "url": "https://calendar.example/holidays.ics", "refreshMinutes": 1440,
        ]
    }

    /// What to change in a subscription.
    package struct Change: RequestContent {
        package enum RequestedState: String, CaseIterable, Sendable { case active, paused }

        package var label = Edit<String>.keep
        package var refreshMinutes: Int?
        package var state: RequestedState?
        /// The faults of the request; reported only to callers who may change the circle.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .edited("label", \.label, .looseText(), emptyClears: true),
                .taken("refreshMinutes", \.refreshMinutes, .number(minutes)), .taken("state", \.state, .choice),
            ]
        }

        package static let example: JSONValue = ["state": "paused"]
    }

    /// The allowed minutes between two fetches.
    package static let minutes = 60...10_080

    /// Follows a calendar; throws 409 when the circle already follows it, or follows the maximum number of calendars.
    package func create(_ draft: Draft, in circle: String, for caller: Caller) async throws -> Shown {
        let (id, key, fetcher) = (FeedLedger.makeID(), context.sealingKey, context.fetcher)
        let most = context.settings.quotas.clamped(to: caller.identity).subscriptionsPerCircle
        return try await context.acts.act(on: .circle(circle, .write), for: caller) { act in
            let (transaction, url) = (act.transaction, try draft.url(fetcher))
            if let other = try transaction.subscription(in: circle, urlDigest: url.digest) {
                throw Refusal.conflict(
                    "The circle already follows this calendar.", code: .subscriptionExists,
                    extra: .subscription(other.id))
            }
            guard try transaction.subscriptionCount(in: circle) < most else {
                throw Refusal.quota("A circle follows", most, "calendars")
            }
            let own = Subscription(
                id: id, circleID: circle, sealedURL: try key.seal(url.reveal(), for: SubscriptionRefresh.purpose(id)),
                urlDigest: url.digest, urlHint: url.hint, host: url.host.text, label: draft.label,
                createdBy: caller.userID, refreshMinutes: draft.refreshMinutes, now: act.now)
            try transaction.putSubscription(own)
            try transaction.note(.subscription, .created, in: circle, id: id, now: act.now)
            return ActResult(Shown(own: own, events: 0), noting: AuditNote(.subscriptionCreated, id))
        }
    }

    /// Changes, pauses or resumes a subscription.
    package func change(
        _ id: String, in circle: String, _ change: Change, if condition: Precondition<Subscription>, for caller: Caller
    ) async throws -> Shown {
        try await context.acts.act(on: .circle(circle, .write), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            let old = try Self.find(id, in: circle, transaction)
            if !change.faults.isEmpty { throw Refusal.invalid(change.faults) }
            try condition.check(old)
            var own = old
            own.label = change.label.applied(to: old.label)
            if let minutes = change.refreshMinutes {
                own.refreshMinutes = minutes
                own.nextAt = min(own.nextAt, now + minutes * 60_000)
            }
            switch change.state {
            case .paused: own.state = .paused
            case .active where own.state != .active: (own.state, own.failures, own.nextAt) = (.active, 0, now)
            default: break
            }
            own.updatedAt = now
            try transaction.putSubscription(own)
            try transaction.note(.subscription, .updated, in: circle, id: id, now: now)
            let changed: [ByteString: Bool] = [
                "label": own.label != old.label, "refreshMinutes": own.refreshMinutes != old.refreshMinutes,
                "state": own.state != old.state,
            ]
            return .changed(
                Shown(own: own, events: try transaction.eventCount(ofSubscription: id)),
                noting: AuditNote(.subscriptionChanged, id, changed: changed))
        }
    }

    /// Stops following a calendar; its events are removed in short transactions, and readers see them until the last
    /// one.
    package func delete(
        _ id: String, in circle: String, if condition: Precondition<Subscription>, for caller: Caller
    ) async throws {
        let context = context
        try await context.turns.alone(in: circle) {
            try await EventStaging.discard(in: circle, context.store)
            let (own, state) = try await context.store.read { transaction in
                let state = try Rights.circle(circle, for: caller.identity, .write, in: transaction)
                let own = try Self.find(id, in: circle, transaction)
                try condition.check(own)
                return (own, state)
            }
            let update = try await SubscriptionUpdate(context: context, own: own).stageEnd(in: state)
            do {
                try await context.acts.act(on: .circle(circle, .write), for: caller) { act in
                    let transaction = act.transaction
                    try condition.check(try Self.find(id, in: circle, transaction))
                    if update.hasChanges { try update.staging.publish(in: transaction, within: nil, now: act.now) }
                    try transaction.forgetSource(.subscription(id), in: circle)
                    try transaction.deleteSubscription(id)
                    try transaction.note(.subscription, .deleted, in: circle, id: id, now: act.now)
                    return ActResult(noting: AuditNote(.subscriptionDeleted, id))
                }
            } catch {
                try? await update.staging.discard()
                throw error
            }
        }
        context.tidying.afterUpdate(in: circle)
    }
}

extension Subscriptions.Draft {
    /// Returns the address if it may be fetched; throws 422 with all faults of the draft.
    fileprivate func url(_ fetcher: GuardedFetcher) throws -> PublicURL {
        var faults = faults
        do {
            let url = try address.map { try fetcher.url($0) }
            if faults.isEmpty, let url { return url }
        } catch let refusal as Refusal {
            faults += refusal.faults
        }
        if faults.isEmpty { faults.append(Fault(pointer: "/url", code: .required, message: "This is required.")) }
        throw Refusal.invalid(faults)
    }
}
