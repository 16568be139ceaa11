// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}/feeds/{feed}`: one feed.
public struct FeedPage: Page {
    public struct Client: Sendable {
        public var name: String
        public var count: Int
        public var lastSeenAt: Int
        public var expectedAt: Int?
        public var isOverdue: Bool

        public init(name: String, count: Int, lastSeenAt: Int, expectedAt: Int? = nil, isOverdue: Bool = false) {
            (self.name, self.count, self.lastSeenAt, self.expectedAt) = (name, count, lastSeenAt, expectedAt)
            self.isOverdue = isOverdue
        }
    }

    /// The number of times that a program read the feed on a day.
    public struct DayReads: Sendable {
        public var day: CivilDate
        public var client: String
        public var count: Int

        public init(day: CivilDate, client: String, count: Int) {
            (self.day, self.client, self.count) = (day, client, count)
        }
    }

    /// The link or address with which a calendar app subscribes to the feed.
    public struct AppLink: Sendable {
        /// The app's name in the API.
        public var app: String
        public var address: String
        /// Whether the address opens the app; otherwise it is pasted.
        public var isLink: Bool

        public init(app: String, address: String, isLink: Bool) {
            (self.app, self.address, self.isLink) = (app, address, isLink)
        }
    }

    /// The entries that a rule leaves out of a feed.
    public struct LeftOut: Sendable {
        public enum Rule: String, CaseIterable, Sendable {
            case kind, patient, window, completed, privateEvent, costly, repeated
        }

        public var rule: Rule
        public var count: Int

        public init(rule: Rule, count: Int) {
            (self.rule, self.count) = (rule, count)
        }
    }

    public var feed: FeedSummary
    /// The address with its secret, shown when its owner asked for it; nil shows the button that asks.
    public var url: String?
    /// The links and addresses of the feed, one for each calendar app.
    public var links: [AppLink]
    public var tokenHint: String
    public var accessCount: Int
    public var createdAt: Int
    public var expiresAt: Int?
    /// Until when a former address is still answered; nil when none is.
    public var formerUntil: Int?
    public var clients: [Client]
    public var reads: [DayReads]
    public var content: [ContentField]
    /// The feed's entries in the next two weeks.
    public var preview: [PageEntry]
    /// False where the feed shows more on these days.
    public var isPreviewWhole = true
    public var leftOut: [LeftOut]
    public var draft: Draft

    public init(
        feed: FeedSummary, url: String? = nil, links: [AppLink] = [], tokenHint: String, accessCount: Int,
        createdAt: Int, expiresAt: Int? = nil, formerUntil: Int? = nil, clients: [Client], reads: [DayReads],
        content: [ContentField], preview: [PageEntry], leftOut: [LeftOut], draft: Draft = Draft()
    ) {
        (self.feed, self.url, self.links, self.tokenHint) = (feed, url, links, tokenHint)
        (self.accessCount, self.createdAt, self.expiresAt, self.clients) = (accessCount, createdAt, expiresAt, clients)
        (self.reads, self.content, self.preview) = (reads, content, preview)
        (self.leftOut, self.draft, self.formerUntil) = (leftOut, draft, formerUntil)
    }

    public var showsSecret: Bool { url != nil }

    private var isRevoked: Bool { if case .revoked = feed.state { true } else { false } }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        let path = feed.path(paper)
        let fields = fields(paper)
        let today = times.today
        var content: [String: Node] = [
            "badge": paper.badge(feed), "line": paper.line(feed),
            "alerts": .list(feed.alerts.map { paper.alert($0, of: feed) } + hidden(paper)),
            "isLive": .flag(feed.isLive), "address": feed.isLive ? address(paper, path) : .nothing,
            "facts": paper.facts([
                paper.fact("feedReads", plain(words.number(accessCount))),
                paper.fact("feedCreated", timed(times.exactly(createdAt))),
                paper.fact("feedExpires", timed(expiresAt.map(times.exactly))),
                paper.fact("feedFormer", timed(formerUntil.map(times.exactly))),
                paper.fact("feedEnding", feed.isLive ? plain(tokenHint) : nil),
            ]),
            "clients": clients.isEmpty ? .nothing : clientTable(paper),
            "reads": reads.isEmpty ? .nothing : picture(paper),
            "noReads": clients.isEmpty && feed.isLive
                ? paper.emptyState("readsEmptyTitle", "readsEmptyText") : .nothing,
            "removalText": .text(words[feed.isLive ? "feedRemovalLiveText" : "feedRemovalText"]),
            "preview": paper.agenda(preview, from: today, to: today.adding(days: 13), isWhole: isPreviewWhole),
            "noPreview": preview.isEmpty ? paper.emptyState("previewEmptyTitle", "previewEmptyText") : .nothing,
            "leftOut": .rows(
                leftOut.filter { $0.count > 0 }.map {
                    [
                        "text": .text(paper.reason($0.rule, feed)),
                        "count": .text(words("countEntries", count: $0.count)),
                    ]
                }),
            "hasSettings": .flag(!isRevoked),
            "settings": paper.settingGroups(
                "feed", path, feed.isLive ? fields : fields.filter { ContentGroup(of: $0.name) == .end }, draft),
            "delete": paper.question("delete", "actRemoveFeed", style: .quiet),
            "deleteDialog": paper.dialog(
                "delete", words["askRemoveFeed"], [words["askRemoveFeedText"]],
                paper.form("delete-form", path + "/delete", [], submit: "actRemoveFeed", style: .danger)),
        ]
        if feed.isLive {
            content["regenerate"] = paper.question("regenerate", "actRegenerate")
            content["revoke"] = paper.question("revoke", "actRevoke", style: .danger)
            content["regenerateDialog"] = paper.dialog(
                "regenerate", words["askRegenerate"], [words["askRegenerateText"]],
                paper.form(
                    "regenerate-form", path + "/regenerate",
                    [
                        Field(
                            "graceSeconds", words["regenerateGrace"],
                            .radio(
                                [("0", "now"), ("86400", "day"), ("604800", "week")].map { seconds, name in
                                    Choice(
                                        value: seconds, label: words["grace_" + name], hint: words["graceHint_" + name])
                                }), value: "0")
                    ], submit: "actRegenerate"))
            content["revokeDialog"] = paper.dialog(
                "revoke", words["askRevoke"], [words["askRevokeText"]],
                paper.form("revoke-form", path + "/revoke", [], submit: "actRevoke", style: .danger))
        }
        return PageContent(
            template: "feed", title: paper.title(feed), isName: true, section: .sync, content: content,
            scripts: ["copy"], crumbs: [(words["syncTitle"], paper.circlePath("/calendar-sync"))],
            problems: paper.problems(draft, inGroupsOf: "feed", fields))
    }

    /// An explanation for readers who miss something in their calendar app.
    private func hidden(_ paper: RenderContext) -> [Node] {
        let text = paper.hidden(feed)
        if case .nothing = text { return [] }
        return [paper.alert(.off, text, action: paper.linkButton("actChangeShown", "#settings"))]
    }

    private func fields(_ paper: RenderContext) -> [Field] {
        [
            Field(
                "label", paper.words["feedLabel"], Field.text(), value: feed.label, hint: paper.words["feedLabelHint"],
                most: TextLength.line)
        ] + paper.fields(content, kinds: "kinds") + [
            Field(
                "until", paper.words["feedUntil"], Field.date,
                value: expiresAt.map { paper.times.zone.local($0 - 1).day.description },
                hint: paper.words["feedUntilHint"])
        ]
    }

    private func address(_ paper: RenderContext, _ path: String) -> Node {
        guard let url else {
            return [
                "isHidden": true, "hiddenText": .text(paper.words("feedAddressHidden", ["hint": tokenHint])),
                "reveal": paper.act("healthAdd", path + "/reveal", style: .primary),
            ]
        }
        return ["isHidden": false, "url": .text(url), "apps": .list(links.map { paper.app($0) })]
    }

    private func clientTable(_ paper: RenderContext) -> Node {
        let times = paper.times
        return paper.table(
            paper.words["clientsCaption"], ["columnApp", "columnReads", "columnLastVisit", "columnNextVisit"],
            clients.map { client in
                let next: Cell =
                    client.isOverdue
                    ? .badge(paper.badge(.warning, "badgeOverdue"))
                    : client.expectedAt.map { .time(times.moment($0)) } ?? .text(paper.words["clientNoRhythm"])
                return [
                    .name(paper.program(client.name)), .number(client.count), .time(times.moment(client.lastSeenAt)),
                    next,
                ]
            })
    }

    /// A chart of the last thirty days with the five programs that read most, and all others together.
    private func picture(_ paper: RenderContext) -> Node {
        // Reads are counted by UTC days; west of UTC, tomorrow's UTC day begins in the evening.
        let last = reads.map(\.day.daysSinceEpoch).reduce(paper.times.today.daysSinceEpoch, max)
        let days = (0..<30).map { CivilDate(daysSinceEpoch: last + $0 - 29) }
        var totals: [(name: String, count: Int)] = []
        for read in reads {
            if let index = totals.firstIndex(where: { $0.name == read.client }) {
                totals[index].count += read.count
            } else {
                totals.append((read.client, read.count))
            }
        }
        let names = totals.sorted { $0.count > $1.count }.map(\.name)
        let own = names.prefix(5)
        var kinds = own.map { name in (name: paper.program(name), counts: [Int](repeating: 0, count: days.count)) }
        if names.count > own.count {
            kinds.append((paper.words["clientsOthers"], [Int](repeating: 0, count: days.count)))
        }
        for read in reads {
            let column = read.day.daysSinceEpoch - days[0].daysSinceEpoch
            guard days.indices.contains(column) else { continue }
            kinds[own.firstIndex { $0 == read.client } ?? kinds.count - 1].counts[column] += read.count
        }
        return paper.bars(
            Bars(days: days, kinds: kinds), title: paper.words["readsPicture"], caption: paper.words["readsPicture"])
    }
}

extension RenderContext {
    /// How one calendar app is added: its button, what to expect of it, and steps where no button can do it.
    func app(_ link: FeedPage.AppLink) -> Node {
        let steps = (1...4).compactMap { words.known("add_\(link.app)_\($0)") }
        // A phone's camera reads codes; other apps are on the screen that shows the page.
        let code = ["apple", "android"].contains(link.app) ? QRCode(link.address) : nil
        let side = (code?.size ?? 0) + 2 * QRCode.quiet
        return [
            "name": .text(words["add_\(link.app)"]), "expect": .text(words["add_\(link.app)_expect"]),
            "open": link.isLink
                ? linkButton("actAddTo", link.address, ["app": words["add_\(link.app)"]])
                : .nothing,
            "steps": .list(steps.map { .text($0) }),
            "code": code.map {
                [
                    "side": .number(side), "path": .text($0.path), "label": .text(words["qrLabel"]),
                    "name": .text(words["add_\(link.app)"]),
                ]
            } ?? .nothing,
        ]
    }

    /// The reason why a feed leaves something out.
    func reason(_ rule: FeedPage.LeftOut.Rule, _ feed: FeedSummary) -> String {
        if rule == .kind {
            return feed.hidden.isEmpty ? words["leftOut_other"] : words("leftOut_kind", ["kinds": kinds(feed.hidden)])
        }
        return words["leftOut_\(rule.rawValue)"]
    }
}
