// SPDX-License-Identifier: Apache-2.0

/// `/app/health`: everything that keeps a person's calendars in step, each with its state and the next thing to do.
public struct HealthPage: Page {
    /// What the person has in one circle.
    public struct Circle: Sendable {
        public var id: String
        public var name: String
        public var feeds: [FeedSummary]
        public var connections: [ConnectionSummary]
        public var subscriptions: [SubscriptionsPage.Subscription]

        public init(
            id: String, name: String, feeds: [FeedSummary], connections: [ConnectionSummary],
            subscriptions: [SubscriptionsPage.Subscription]
        ) {
            (self.id, self.name, self.feeds, self.connections) = (id, name, feeds, connections)
            self.subscriptions = subscriptions
        }
    }

    public static let path = "/app/health"

    public var circles: [Circle]
    public var apple: ConnectorState
    /// The phone of the Apple connector.
    public var phone: ConnectorPhone?
    /// The person's other phones.
    public var devices: [DevicesPage.Device]
    public var passwords: [AppPasswordSummary]

    public init(
        circles: [Circle], apple: ConnectorState, phone: ConnectorPhone?, devices: [DevicesPage.Device],
        passwords: [AppPasswordSummary]
    ) {
        (self.circles, self.apple, self.phone, self.devices) = (circles, apple, phone, devices)
        self.passwords = passwords
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, checks) = (paper.words, checks(paper))
        let open = checks.filter { $0.state != .works }
        func section(_ id: String, _ title: String, _ state: HealthCheck.State) -> Node? {
            let rows = checks.filter { $0.state == state }
            return rows.isEmpty
                ? nil : ["id": .text(id), "title": .text(words[title]), "rows": .list(rows.map { $0.card(paper) })]
        }
        return PageContent(
            template: "health", title: words["healthTitle"], section: .health,
            content: [
                "empty": checks.isEmpty
                    ? paper.emptyState(
                        "healthEmptyTitle", "healthEmptyText", action: paper.linkButton("navCalendars", "/app"))
                    : .nothing,
                "summary": checks.isEmpty
                    ? .nothing
                    : .text(
                        open.isEmpty
                            ? words["healthAllWell"]
                            : words("healthOpen", count: open.count, ["all": words.number(checks.count)])),
                "sections": .list(
                    [
                        section("broken", "healthBroken", .broken), section("look", "healthLook", .look),
                        section("works", "healthWorks", .works),
                    ].compactMap(\.self)),
            ])
    }

    private func checks(_ paper: RenderContext) -> [HealthCheck] {
        var all: [HealthCheck] = []
        for circle in circles {
            // The paths of what is in a circle are made with the circle.
            var frame = paper.frame
            frame.circle = CircleLink(id: circle.id, name: circle.name)
            let own = RenderContext(frame)
            all += circle.feeds.compactMap { own.check($0) }
            // The phone, which serves all circles, has a line of its own, unless one circle's part of it needs somebody.
            all += circle.connections.map { (own.check($0), $0.provider) }
                .filter { $0.1 != .apple || $0.0.state != .works }.map(\.0)
            all += circle.subscriptions.map { own.check($0) }
        }
        if let check = paper.check(apple, phone) { all.append(check) }
        return all + devices.map { paper.check($0) } + passwords.map { paper.check($0) }
    }
}

/// One thing that either works or does not, in the words of the page of health.
struct HealthCheck {
    enum State { case broken, look, works }

    var state: State
    var name: String
    /// The key of the word for its kind.
    var kind: String
    var circle: String?
    var lines: [Node]
    /// The page where something is done about it, and the key of what is done.
    var path: String
    var next: String
    /// Whether that is done at once, by a form.
    var isAct = false

    /// Offers the address, with what each calendar app takes of it.
    mutating func add(_ key: String, _ feed: FeedSummary, _ paper: RenderContext) {
        (next, path, isAct) = (key, feed.path(paper) + "/reveal", true)
    }

    func card(_ paper: RenderContext) -> Node {
        let badge =
            switch state {
            case .broken: paper.badge(.bad, "badgeBroken")
            case .look: paper.badge(.warning, "badgeLook")
            case .works: paper.badge(.good, "badgeWorks")
            }
        return [
            "name": .text(name), "kind": .text(paper.words[kind]), "circle": .text(circle), "badge": badge,
            "lines": .list(lines),
            "next": isAct
                ? .nothing : paper.linkButton(next, path, style: state == .works ? .quiet : .plain, about: name),
            "act": isAct ? paper.act(next, path, about: name) : .nothing,
        ]
    }
}

extension RenderContext {
    /// Nil for a revoked feed, which no longer has to work, and for one that ended some time ago.
    fileprivate func check(_ feed: FeedSummary) -> HealthCheck? {
        var check = HealthCheck(
            state: .works, name: title(feed), kind: "healthFeed", circle: frame.circle?.name,
            lines: [line(feed)] + feed.alerts.map { sentence(of: alert($0, of: feed)) }, path: feed.path(self),
            next: "healthOpenIt")
        switch feed.state {
        case .revoked: return nil
        case .expired(let at):
            guard times.now - at < Self.endedFeed else { return nil }
            (check.state, check.next, check.path) = (.look, "feedMoveEnd", feed.path(self) + "#settings")
        case .live:
            if let first = feed.alerts.first {
                check.state = .look
                switch first {
                case .newClient, .manyNetworks: break
                case .renewed:
                    check.state = .broken
                    check.add("healthAddAgain", feed, self)
                case .large: (check.next, check.path) = ("healthShowLess", feed.path(self) + "#settings")
                case .overdue, .formerEnds: check.add("healthAddAgain", feed, self)
                case .expiresSoon: (check.next, check.path) = ("feedMoveEnd", feed.path(self) + "#settings")
                }
            } else if feed.lastReadAt == nil {
                check.state = .look
                check.add("healthAdd", feed, self)
            }
        }
        return check
    }

    fileprivate func check(_ own: ConnectionSummary) -> HealthCheck {
        var check = HealthCheck(
            state: .works, name: title(own), kind: "healthConnection", circle: frame.circle?.name,
            lines: [line(own)] + own.alerts.map { sentence(of: alert($0, of: own)) }, path: own.path(self),
            next: "healthOpenIt")
        switch own.state {
        case .unauthorized, .choosing, .choosingContent: (check.state, check.next) = (.look, "actFinish")
        case .paused: (check.state, check.next) = (.look, "actResume")
        case .needsReconnect:
            check.state = .broken
            if own.provider == .caldav {
                (check.next, check.path) = ("actEnterPassword", own.path(self) + "?step=account")
            } else {
                check.next = "actSignInAgain"
            }
        case .calendarGone:
            (check.state, check.next) = (.broken, "actChooseCalendar")
            check.path = own.path(self) + "?step=calendar"
        case .active:
            if own.lastOutcome == .failed, !own.isRunning {
                check.state = .broken
            } else if own.lastOutcome == .partial || own.alerts.contains(where: \.needsSomebody) {
                check.state = .look
            }
            for alert in own.alerts {
                switch alert {
                case .held(let run, _, _), .shared(let run):
                    (check.next, check.path) = ("actLookAtRun", own.path(self) + "?run=\(run.pathSegment)#held")
                    return check
                case .conflicts: (check.next, check.path) = ("actLookAtConflicts", circlePath("/conflicts"))
                case .needsReconnect, .calendarGone, .unavailable, .heldBack, .moreHeldBack, .shortened, .failing:
                    continue
                }
            }
        }
        return check
    }

    fileprivate func check(_ own: SubscriptionsPage.Subscription) -> HealthCheck {
        var lines = [
            own.lastFetchedAt.map { words.sentence("subscriptionLine", ["when": .time(times.moment($0))]) }
                ?? words.sentence("subscriptionLineNever")
        ]
        var check = HealthCheck(
            state: .works, name: own.label.isEmpty ? own.host : own.label, kind: "healthSubscription",
            circle: frame.circle?.name, lines: [], path: circlePath("/subscriptions"), next: "healthOpenIt")
        if own.isPaused {
            (check.state, check.next) = (.look, "actResume")
        } else if let problem = own.problem {
            lines.append(words.sentence("subscriptionProblem", ["problem": .text(words.text(problem))]))
            (check.state, check.next) = (.broken, "actRefresh")
        } else if own.lastFetchedAt == nil {
            (check.state, check.next) = (.look, "actRefresh")
        }
        check.lines = lines
        return check
    }

    /// Nil where no phone is connected.
    fileprivate func check(_ apple: ConnectorState, _ phone: ConnectorPhone?) -> HealthCheck? {
        guard case .connected = apple else { return nil }
        let news = ConnectorNews(apple, phone, now: times.now)
        var check = HealthCheck(
            state: .look, name: phone?.name ?? Provider.apple.name, kind: "healthPhone", lines: [],
            path: "/app/connectors/apple", next: "healthOpenIt")
        switch news {
        case .notConnected: return nil
        case .connected: check.state = .works
        case .waiting, .quiet, .trouble(.switchedOff, _): check.state = .look
        case .trouble: check.state = .broken
        }
        if case .waiting = news { check.lines.append(words.sentence("connectorWaiting")) }
        if let line = news.line(self) { check.lines.append(line) }
        if let advice = news.advice(self) {
            check.lines.append(["pieces": [["text": .text(advice)]]])
        } else if let seen = phone?.lastSeenAt {
            check.lines.append(words.sentence("healthSeen", ["when": .time(times.moment(seen))]))
        }
        return check
    }

    fileprivate func check(_ device: DevicesPage.Device) -> HealthCheck {
        let seen = device.lastSeenAt ?? device.since
        let isQuiet = times.now - seen > Self.quietDevice
        return HealthCheck(
            state: isQuiet ? .look : .works, name: device.name, kind: "healthPhone",
            lines: [words.sentence("healthSeen", ["when": .time(times.moment(seen))])]
                + (isQuiet ? [words.sentence("healthQuiet", ["app": .text(frame.brand.name)])] : []),
            path: "/app/devices", next: "healthOpenIt")
    }

    /// For this many milliseconds a feed that has expired is still shown: 30 days.
    private static let endedFeed = 30 * 86_400_000

    /// A phone that has not asked for this many milliseconds needs a look: 14 days.
    private static let quietDevice = 14 * 86_400_000

    fileprivate func check(_ own: AppPasswordSummary) -> HealthCheck {
        HealthCheck(
            state: own.expiredAt != nil
                ? .broken : own.alerts.isEmpty && own.lastUsedAt != nil ? .works : .look,
            name: own.label, kind: "healthPassword",
            lines: [line(own)] + own.alerts.map { sentence(of: alert(ofPassword: $0)) },
            path: own.expiredAt == nil ? own.path : AppPasswordsPage.path + "/new",
            next: own.expiredAt == nil ? "healthOpenIt" : "actNewPassword")
    }

    /// What an alert says, without its buttons.
    private func sentence(of alert: Node) -> Node {
        if case .map(let members) = alert, let text = members["text"] { text } else { .nothing }
    }
}
