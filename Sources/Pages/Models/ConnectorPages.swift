// SPDX-License-Identifier: Apache-2.0

/// The Apple connector's state, as the pages show it.
public enum ConnectorState: Sendable {
    case notConnected
    case connected(read: Bool, write: Bool)
}

/// `/app/connectors`: the list of connectors.
public struct ConnectorsPage: Page {
    public var apple: ConnectorState

    public init(apple: ConnectorState) { self.apple = apple }

    public func sheet(_ paper: Paper) -> Sheet {
        let words = paper.words
        let isConnected: Bool = if case .connected = apple { true } else { false }
        return Sheet(
            template: "connectors", title: words["connectorsTitle"], place: .connectors,
            content: [
                "lead": .text(words("connectorsLead", ["app": paper.frame.brand.name])),
                "rows": [
                    [
                        "name": .text(Provider.apple.name), "href": .text(paper.href("/app/connectors/apple")),
                        "text": .text(words[isConnected ? "connectorSyncing" : "connectorApprove"]),
                        "badge": isConnected
                            ? paper.badge(.good, "connectorConnected") : paper.badge(.off, "connectorNotConnected"),
                    ]
                ],
            ])
    }
}

/// `/app/connectors/apple`: the Apple connector.
public struct AppleConnectorPage: Page {
    public var state: ConnectorState
    /// Whether the system denied the permission, so that the connector stays disconnected.
    public var isDenied: Bool
    /// True right after the connector was disconnected.
    public var wasDisconnected: Bool
    /// The phone that handles the connector.
    public var device: String?
    public var lastSeenAt: Int?
    /// The address that opens the phone's app to ask for the permission; a page cannot ask for it.
    public var appURL: String?

    public init(
        state: ConnectorState, isDenied: Bool = false, wasDisconnected: Bool = false, device: String? = nil,
        lastSeenAt: Int? = nil, appURL: String? = nil
    ) {
        self.state = state
        self.isDenied = isDenied
        self.wasDisconnected = wasDisconnected
        self.device = device
        self.lastSeenAt = lastSeenAt
        self.appURL = appURL
    }

    public func sheet(_ paper: Paper) -> Sheet {
        let words = paper.words
        let app = ["app": paper.frame.brand.name]
        var content: [String: Node] = [
            "denied": .flag(isDenied),
            "disconnected": wasDisconnected ? .text(words("connectorDisconnected", app)) : .nothing,
        ]
        switch state {
        case .notConnected:
            content["badge"] = paper.badge(.off, "connectorNotConnected")
            content["apart"] = [
                "text": .text(words("connectorExplain", app)),
                "connect": paper.act("connectorConnect", "/app/connectors/apple/connect", style: .primary),
                "phone": .text(words("connectorOnPhone", app)),
            ]
        case .connected(let read, let write):
            content["badge"] = paper.badge(.good, "connectorConnected")
            content["connected"] = [
                "facts": paper.facts([
                    paper.fact("connectorAccount", plain(words["connectorCalendars"])),
                    paper.fact("connectorDevice", named(device)),
                    paper.fact("connectorSeen", timed(lastSeenAt.map(paper.times.moment))),
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
        return Sheet(
            template: "apple", title: Provider.apple.name, place: .connectors, content: content,
            crumbs: [(words["connectorsTitle"], "/app/connectors")])
    }
}
