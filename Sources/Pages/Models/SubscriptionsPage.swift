// SPDX-License-Identifier: Apache-2.0

/// `/app/circles/{circle}/subscriptions`: the external calendars that a circle follows.
public struct SubscriptionsPage: Page {
    public struct Subscription: Sendable {
        public var id: String
        public var label: String
        /// The host of the subscription's address; the rest may be a secret.
        public var host: String
        public var isPaused: Bool
        public var events: Int
        public var minutes: Int
        public var lastFetchedAt: Int?
        public var nextFetchAt: Int?
        /// The error of the last refresh; nil when the refresh succeeded.
        public var problem: SubscriptionProblem?

        public init(
            id: String, label: String, host: String, isPaused: Bool = false, events: Int, minutes: Int,
            lastFetchedAt: Int? = nil, nextFetchAt: Int? = nil, problem: SubscriptionProblem? = nil
        ) {
            (self.id, self.label, self.host, self.isPaused, self.events) = (id, label, host, isPaused, events)
            (self.minutes, self.lastFetchedAt, self.nextFetchAt) = (minutes, lastFetchedAt, nextFetchAt)
            self.problem = problem
        }
    }

    public var subscriptions: [Subscription]
    public var draft: Draft

    public init(subscriptions: [Subscription], draft: Draft = Draft()) {
        (self.subscriptions, self.draft) = (subscriptions, draft)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let fields = [
            Field("url", words["subscriptionURL"], Field.address, hint: words["subscriptionURLHint"], isRequired: true),
            Field("label", words["subscriptionLabel"], Field.text(), most: TextLength.line),
        ]
        return PageContent(
            template: "subscriptions", title: words["subscriptionsTitle"], section: .subscriptions,
            content: [
                "subscriptions": .rows(subscriptions.map { card(paper, $0) }),
                "none": subscriptions.isEmpty
                    ? paper.emptyState("subscriptionsEmptyTitle", "subscriptionsEmptyText") : .nothing,
                "create": paper.form(
                    "subscription", paper.circlePath("/subscriptions"), fields, submit: "actFollow", draft: draft),
                "dialogs": .list(
                    subscriptions.map { own in
                        paper.dialog(
                            "remove-\(own.id)", words["askUnfollow"], [words["askUnfollowText"]],
                            paper.form(
                                "remove-form-\(own.id)", path(paper, own) + "/delete", [], submit: "actUnfollow",
                                style: .danger))
                    }),
            ],
            problems: paper.problems(draft, in: "subscription", fields))
    }

    private func path(_ paper: RenderContext, _ own: Subscription) -> String {
        paper.circlePath("/subscriptions/\(own.id.pathSegment)")
    }

    private func card(_ paper: RenderContext, _ own: Subscription) -> Node {
        let (words, times) = (paper.words, paper.times)
        let name = own.label.isEmpty ? own.host : own.label
        let badge =
            own.isPaused
            ? paper.badge(.off, "badgePaused")
            : own.problem != nil
                ? paper.badge(.bad, "badgeFailed")
                : own.lastFetchedAt == nil ? paper.badge(.busy, "badgeFirst") : paper.badge(.good, "badgeUpToDate")
        return [
            "name": .text(name), "badge": badge, "host": .text(own.host),
            "events": .text(words("countEvents", count: own.events)),
            "line": own.lastFetchedAt.map {
                words.sentence("subscriptionLine", ["when": .time(times.moment($0))])
            } ?? words.sentence("subscriptionLineNever"),
            "next": own.isPaused
                ? .nothing
                : own.nextFetchAt.map { words.sentence("subscriptionNext", ["when": .time(times.moment($0))]) }
                    ?? .nothing,
            "alerts": own.problem.map {
                .list([paper.alert(.bad, words.sentence("subscriptionProblem", ["problem": .text(words.text($0))]))])
            } ?? .nothing,
            "acts": .list([
                paper.act("actRefresh", path(paper, own) + "/refresh", about: name),
                own.isPaused
                    ? paper.act("actResume", path(paper, own) + "/resume", about: name)
                    : paper.act("actPause", path(paper, own) + "/pause", about: name),
            ]),
            "remove": paper.question("remove-\(own.id)", "actUnfollow", style: .quiet, about: name),
        ]
    }
}
