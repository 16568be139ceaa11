// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}/calendar-sync`: the visitor's feeds and connections in a circle.
public struct SyncPage: Page {
    public struct Offer: Sendable {
        public var provider: Provider
        /// The setting that the operator has not set; nil when the provider can be connected.
        public var missingSetting: String?

        public init(_ provider: Provider, missingSetting: String? = nil) {
            (self.provider, self.missingSetting) = (provider, missingSetting)
        }
    }

    public var feeds: [FeedSummary]
    public var connections: [ConnectionSummary]
    public var offers: [Offer]
    /// The fields of a new feed.
    public var content: [ContentField]
    public var draft: Draft
    /// Whom the new feed is for, and the last day that is suggested for it; nil before that is chosen.
    public var audience: Audience?
    public var until: CivilDate?
    /// What the new feed would show in the next two weeks; nil unless the person asked for a look at it.
    public var look: [PageEntry]?
    /// False where it would show more on these days.
    public var isLookWhole = true

    public init(
        feeds: [FeedSummary], connections: [ConnectionSummary], offers: [Offer], content: [ContentField],
        draft: Draft = Draft(), audience: Audience? = nil, until: CivilDate? = nil, look: [PageEntry]? = nil
    ) {
        (self.feeds, self.connections, self.offers, self.content) = (feeds, connections, offers, content)
        (self.draft, self.audience, self.until, self.look) = (draft, audience, until, look)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let fields =
            [Field("label", words["feedLabel"], Field.text(), hint: words["feedLabelHint"], most: TextLength.line)]
            + paper.fields(content, kinds: "kinds") + [
                Field(
                    "until", words["feedUntil"], Field.date, value: until?.description, hint: words["feedUntilHint"])
            ]
        return PageContent(
            template: "sync", title: words["syncTitle"], section: .sync,
            content: [
                "lead": .text(words("syncLead", ["app": paper.frame.brand.name])),
                "connections": .rows(connections.map { card(paper, $0) }),
                // A person who already has something finds it before the further offers.
                "isBare": .flag(connections.isEmpty && feeds.isEmpty),
                "noConnections": connections.isEmpty
                    ? paper.emptyState("connectionsEmptyTitle", "connectionsEmptyText") : .nothing,
                "offersTitle": .text(words[connections.isEmpty ? "syncConnect" : "syncConnectMore"]),
                "feeds": .rows(feeds.map { card(paper, $0) }),
                "noFeeds": feeds.isEmpty ? paper.emptyState("feedsEmptyTitle", "feedsEmptyText") : .nothing,
                "offers": .list(
                    (offers.filter { $0.missingSetting == nil } + offers.filter { $0.missingSetting != nil }).map {
                        offer(paper, $0)
                    }),
                "create": createForm(paper, fields),
                "isCreating": .flag(!draft.problems.isEmpty || look != nil || paper.frame.ask == "create"),
                "audiences": audiences(paper), "sees": sees(paper), "readers": readers(paper),
                "look": look.map { entries -> Node in
                    let today = paper.times.today
                    return [
                        "agenda": paper.agenda(entries, from: today, to: today.adding(days: 13), isWhole: isLookWhole),
                        "empty": entries.isEmpty
                            ? paper.emptyState("previewEmptyTitle", "previewEmptyText") : .nothing,
                    ]
                } ?? .nothing,
            ],
            problems: paper.problems(draft, in: "feed", fields))
    }

    /// The form of a new feed, which offers a look at the feed before it is made.
    private func createForm(_ paper: RenderContext, _ fields: [Field]) -> Node {
        let values = audience.map { ["for": $0.rawValue] } ?? [:]
        guard
            case .map(var form) = paper.form(
                "feed", paper.circlePath("/feeds"), fields, submit: "actCreateFeed", draft: draft, values: values)
        else { return .nothing }
        form["beside"] = [
            "href": .text(paper.href(paper.circlePath("/feed-look"))), "label": .text(paper.words["actLookFirst"]),
        ]
        return .map(form)
    }

    private func card(_ paper: RenderContext, _ feed: FeedSummary) -> Node {
        [
            "name": .text(paper.title(feed)),
            "href": .text(paper.href(feed.path(paper))), "badge": paper.badge(feed), "line": paper.line(feed),
            "without": paper.hidden(feed), "alerts": .list(feed.alerts.map { paper.alert($0, of: feed) }),
            "add": feed.isLive
                ? paper.act(
                    "healthAdd", feed.path(paper) + "/reveal", style: feed.lastReadAt == nil ? .primary : .plain,
                    about: paper.title(feed)) : .nothing,
        ]
    }

    private func card(_ paper: RenderContext, _ own: ConnectionSummary) -> Node {
        let isHeld = own.alerts.contains(where: \.waits)
        let isReady = own.state == .active && !own.isRunning && !isHeld
        let isUnfinished = [.unauthorized, .choosing, .choosingContent].contains(own.state)
        let name = paper.title(own)
        return [
            "name": .text(name), "href": .text(paper.href(own.path(paper))), "badge": paper.badge(own),
            "line": paper.line(own), "account": .text(own.accountName), "calendar": .text(own.calendarName),
            "alerts": .list(own.alerts.map { paper.alert($0, of: own) }),
            "sync": isReady && own.provider != .apple
                ? paper.act("actSyncNow", own.path(paper) + "/sync", about: name) : .nothing,
            "finish": isUnfinished
                ? paper.linkButton("actFinish", own.path(paper), style: .primary, about: name) : .nothing,
        ]
    }

    private func offer(_ paper: RenderContext, _ offer: Offer) -> Node {
        let key = "connect_" + offer.provider.rawValue
        // Apple's calendars are connected for all circles at once, on the page that explains this.
        let isElsewhere = offer.provider == .apple
        return [
            "label": .text(paper.words[key]), "about": .text(paper.words["connectAbout_" + offer.provider.rawValue]),
            "link": isElsewhere ? paper.linkButton(key, "/app/connectors/apple") : .nothing,
            "act": offer.missingSetting == nil && !isElsewhere
                ? paper.act(key, paper.circlePath("/connections"), ["provider": offer.provider.rawValue]) : .nothing,
            "missing": offer.missingSetting.map {
                [
                    "label": .text(offer.provider.name),
                    "text": paper.words.sentence("connectMissing", ["setting": .strong($0)]),
                ]
            } ?? .nothing,
        ]
    }
}
