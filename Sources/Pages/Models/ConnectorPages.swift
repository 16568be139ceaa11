// SPDX-License-Identifier: Apache-2.0

/// The Apple connector's state, as the pages show it.
public enum ConnectorState: Sendable {
    case notConnected
    case connected(read: Bool, write: Bool)
}

/// The phone that handles the connector, as far as the server knows.
public struct ConnectorPhone: Sendable {
    /// What keeps the phone from its calendars.
    public enum Trouble: String, Sendable, CaseIterable {
        case permissionRevoked, calendarGone, calendarReadOnly
        /// The person switched reading or writing off in the app.
        case switchedOff
        /// The person disconnected the calendar in the app.
        case disconnected
    }

    public var name: String
    public var lastSeenAt: Int?
    /// The phone's last report, and since when it holds.
    public var trouble: (what: Trouble, at: Int)?

    public init(name: String, lastSeenAt: Int? = nil, trouble: (what: Trouble, at: Int)? = nil) {
        (self.name, self.lastSeenAt, self.trouble) = (name, lastSeenAt, trouble)
    }

    /// Milliseconds without a request after which the page no longer calls a phone connected: its app asks every hour
    /// while the system lets it.
    static let quietTime = 86_400_000
}

/// What a page says about the connector: the server's own state is only half of it.
enum ConnectorNews {
    case notConnected, connected
    /// No phone has asked yet.
    case waiting
    /// The phone has not asked for long.
    case quiet(since: Int)
    case trouble(ConnectorPhone.Trouble, at: Int)

    init(_ state: ConnectorState, _ phone: ConnectorPhone?, now: Int) {
        guard case .connected = state else {
            self = .notConnected
            return
        }
        if let (what, at) = phone?.trouble {
            self = .trouble(what, at: at)
        } else if let seen = phone?.lastSeenAt {
            self = now - seen > ConnectorPhone.quietTime ? .quiet(since: seen) : .connected
        } else {
            self = .waiting
        }
    }

    func badge(_ paper: RenderContext) -> Node {
        switch self {
        case .notConnected: paper.badge(.off, "connectorNotConnected")
        case .connected: paper.badge(.good, "connectorConnected")
        case .waiting: paper.badge(.busy, "connectorWaiting")
        case .quiet(let seen):
            paper.badge(.warning, "connectorLastSeen", ["time": paper.times.relative(seen)])
        case .trouble(.switchedOff, _): paper.badge(.off, "connectorNeeds_switchedOff")
        case .trouble(.disconnected, _): paper.badge(.off, "connectorNeeds_disconnected")
        case .trouble(let what, _): paper.badge(.warning, "connectorNeeds_" + what.rawValue)
        }
    }

    /// What the person can do; nil where nothing is to be done.
    func advice(_ paper: RenderContext) -> String? {
        let app = ["app": paper.frame.brand.name]
        return switch self {
        case .notConnected, .connected, .waiting: nil
        case .quiet: paper.words("connectorQuietHow", app)
        case .trouble(.permissionRevoked, _):
            paper.words["connectorOpenSettingsHow"] + " " + paper.words("connectorHow_permissionRevoked", app)
        case .trouble(let what, _): paper.words("connectorHow_" + what.rawValue, app)
        }
    }

    /// The problem, and since when; nil where nothing is.
    func line(_ paper: RenderContext) -> Node? {
        switch self {
        case .notConnected, .connected, .waiting: nil
        case .quiet(let seen):
            paper.words.sentence("connectorQuiet", ["time": .time(paper.times.moment(seen))])
        case .trouble(let what, let at):
            paper.words.sentence("connectorTrouble_" + what.rawValue, ["time": .time(paper.times.moment(at))])
        }
    }

    /// The problem, since when, and the advice.
    func alert(_ paper: RenderContext) -> Node {
        guard let advice = advice(paper), let line = line(paper) else { return .nothing }
        let isDenied = if case .trouble(.permissionRevoked, _) = self { true } else { false }
        return ["denied": .flag(isDenied), "line": line, "advice": .text(advice)]
    }
}

/// `/app/connectors`: the list of connectors.
public struct ConnectorsPage: Page {
    public var apple: ConnectorState
    public var phone: ConnectorPhone?

    public init(apple: ConnectorState, phone: ConnectorPhone? = nil) {
        (self.apple, self.phone) = (apple, phone)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let isConnected: Bool = if case .connected = apple { true } else { false }
        let news = ConnectorNews(apple, phone, now: paper.times.now)
        return PageContent(
            template: "connectors", title: words["connectorsTitle"], section: .connectors,
            content: [
                "lead": .text(words("connectorsLead", ["app": paper.frame.brand.name])),
                "rows": [
                    [
                        "name": .text(Provider.apple.name), "href": .text(paper.href("/app/connectors/apple")),
                        "text": .text(
                            news.advice(paper) ?? words[isConnected ? "connectorSyncing" : "connectorApprove"]),
                        "badge": news.badge(paper),
                    ]
                ],
            ])
    }
}

/// `/app/connectors/apple`: the Apple connector.
public struct AppleConnectorPage: Page {
    public var state: ConnectorState
    /// True right after the connector was disconnected.
    public var wasDisconnected: Bool
    /// The phone that handles the connector; nil before any phone does.
    public var phone: ConnectorPhone?
    /// The address that opens the phone's app to ask for the permission; a page cannot ask for it.
    public var appURL: String?

    public init(
        state: ConnectorState, wasDisconnected: Bool = false, phone: ConnectorPhone? = nil, appURL: String? = nil
    ) {
        (self.state, self.wasDisconnected, self.phone, self.appURL) = (state, wasDisconnected, phone, appURL)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let app = ["app": paper.frame.brand.name]
        let news = ConnectorNews(state, phone, now: paper.times.now)
        var content: [String: Node] = [
            "badge": news.badge(paper), "trouble": news.alert(paper),
            "disconnected": wasDisconnected ? .text(words("connectorDisconnected", app)) : .nothing,
        ]
        switch state {
        case .notConnected:
            content["apart"] = [
                "text": .text(words("connectorExplain", app)),
                "connect": paper.act("connectorConnect", "/app/connectors/apple/connect", style: .primary),
                "phone": .text(words("connectorOnPhone", app)),
            ]
        case .connected(let read, let write):
            content["connected"] = [
                "facts": paper.facts([
                    paper.fact("connectorAccount", plain(words["connectorCalendars"])),
                    paper.fact("connectorDevice", named(phone?.name)),
                    paper.fact("connectorSeen", timed(phone?.lastSeenAt.map(paper.times.moment))),
                ]),
                "toggles": paper.form(
                    "apple", "/app/connectors/apple",
                    [
                        Field("read", words("connectorRead", app), .check, value: read ? "true" : nil),
                        Field(
                            "write", words("connectorWrite", app), .check, value: write ? "true" : nil,
                            hint: words["connectorWriteHint"]),
                    ], submit: "actSave"),
                "permissions": .text(words["connectorPermissionsHow"]),
                "disconnect": paper.question("disconnect", "connectorDisconnect", style: .danger),
                "dialog": paper.dialog(
                    "disconnect", words["connectorAsk"], [words("connectorAskText", app)],
                    paper.form(
                        "disconnect-form", "/app/connectors/apple/disconnect", [], submit: "connectorDisconnect",
                        style: .danger)),
            ]
        }
        return PageContent(
            template: "apple", title: Provider.apple.name, section: .connectors, content: content,
            crumbs: [(words["connectorsTitle"], "/app/connectors")])
    }
}
