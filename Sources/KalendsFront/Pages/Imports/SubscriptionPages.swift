// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// The external calendars that a circle follows.
struct SubscriptionPages: Sendable {
    private static let path = "/app/circles/{circle}/subscriptions"

    func add(to routes: inout RouteTable) {
        let one = "\(Self.path)/{subscription}"
        routes.page(.get, Self.path, for: .circle(.read)) { try await Self.page($0) }
        routes.page(.post, Self.path, for: .circle(.write), back: Self.path, Self.follow)
        routes.page(.post, "\(one)/refresh", for: .circle(.write), back: Self.path) { visit in
            _ = try await visit.context.awaiting {
                try await Self.subscriptions(visit).refresh(
                    try visit.id("subscription"), in: try visit.id("circle"), for: try visit.caller(),
                    from: visit.context.sender, visit.context.logger)
            }
            return visit.redirect(to: visit.filled(Self.path), done: .subscriptionRefreshed)
        }
        routes.page(.post, "\(one)/pause", for: .circle(.write), back: Self.path) { visit in
            try await Self.change(visit, to: .paused, done: .subscriptionPaused)
        }
        routes.page(.post, "\(one)/resume", for: .circle(.write), back: Self.path) { visit in
            try await Self.change(visit, to: .active, done: .subscriptionResumed)
        }
        routes.page(.post, "\(one)/delete", for: .circle(.write), back: Self.path) { visit in
            try await Self.subscriptions(visit).delete(
                try visit.id("subscription"), in: try visit.id("circle"), if: .none, for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path), done: .subscriptionRemoved)
        }
    }

    private static func subscriptions(_ visit: PageVisit) -> Subscriptions { visit.services.subscriptions }

    private static func change(
        _ visit: PageVisit, to state: Subscriptions.Change.RequestedState, done notice: Notice.What
    ) async throws -> Response {
        var change = Subscriptions.Change()
        change.state = state
        _ = try await subscriptions(visit).change(
            try visit.id("subscription"), in: try visit.id("circle"), change, if: .none, for: try visit.caller())
        return visit.redirect(to: visit.filled(path), done: notice)
    }

    private static func follow(_ visit: PageVisit) async throws -> Response {
        do {
            let draft = Subscriptions.Draft(
                ["url": visit.typed("url"), "label": visit.typed("label")], visit.services.settings.kinds)
            _ = try await subscriptions(visit).create(draft, in: try visit.id("circle"), for: try visit.caller())
            return visit.redirect(to: visit.filled(path), done: .subscribed)
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, ["url", "label"], label: "url") else { throw refusal }
            return try await page(visit, draft)
        }
    }

    private static func page(
        _ visit: PageVisit, _ draft: Draft = Draft()
    ) async throws -> Response {
        let all = PageRequest(limit: visit.services.settings.quotas.subscriptionsPerCircle)
        let read = try await visit.read { circle, _ in
            SubscriptionsPage(subscriptions: try circle.subscriptions(all).map(\.page), draft: draft)
        }
        return try await visit.page(read, status: draft.status, path: visit.filled(path))
    }
}

extension Subscriptions.Shown {
    var page: SubscriptionsPage.Subscription {
        SubscriptionsPage.Subscription(
            id: own.id, label: own.label ?? "", host: own.host, isPaused: own.state == .paused, events: events,
            minutes: own.refreshMinutes, lastFetchedAt: own.lastFetchedAt,
            nextFetchAt: own.state == .active ? own.nextAt : nil,
            // What was stored before problems had codes is at most a fault.
            problem: own.lastProblem.map { _ in .init(text: own.problem?.rawValue ?? "") ?? .fault })
    }
}
