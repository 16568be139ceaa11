// SPDX-License-Identifier: Apache-2.0

/// The texts about the Apple Calendar connector that a person reads on a phone.
///
/// Tests compare the words of the web pages with them, so that both show the same.
public struct ConnectorTexts: Hashable, Sendable {
    /// The app's name, the only word that varies.
    public let app: String

    public init(app: String) { self.app = app }

    /// The menu entry and the screen that it opens.
    public let menu = "Connectors"
    public let name = "Apple Calendar"
    /// The name of the SF Symbol beside the connector's name.
    public let symbol = "calendar"

    public func status(isConnected: Bool) -> String { isConnected ? "Connected" : "Not Connected" }

    /// The line below the connector's name.
    public func subtitle(isConnected: Bool) -> String {
        isConnected ? "Syncing your personal calendar" : "View and add events you approve"
    }

    public var explanation: String {
        "Connect Apple Calendar to let \(app) see your schedule and add events you approve."
    }

    public let capabilities = [
        Capability(text: "View your schedule", isGiven: true), Capability(text: "Add accepted events", isGiven: true),
        Capability(text: "Never shared with others", isGiven: false),
    ]

    public let connect = "Connect Apple Calendar"
    public let disconnect = "Disconnect Apple Calendar"
    public let account = "This device's calendars"
    public var readToggle: String { "Show my calendar in \(app)" }
    public var writeToggle: String { "Allow \(app) to add events" }
    public let writeNote = "This toggle only controls usage, not permission; permission is managed by iOS."
    public let managePermissions = "Manage iOS Permissions"

    public let denied = "Calendar access is disabled in iOS Settings."
    public let openSettings = "Open Settings"
    public var disconnected: String {
        "Apple Calendar disconnected. \(app) will no longer access your schedule."
    }
    /// Shown where a feature needs the calendar and nobody has connected it.
    public var visitConnectors: String { "\(name) is not connected. Visit \(menu) to connect it." }
    /// Shown on the phone after the connection was ended on the server.
    public var disconnectedThere: String {
        "\(name) was disconnected on the server. Visit \(menu) there to connect it again."
    }
    /// Shown while the person has switched off a use in the app.
    public var switchedOff: String { "You switched this off in \(menu). Nothing is lost." }
    /// Shown on the phone while reading is switched off on the server's page.
    public var switchedOffThere: String {
        "Reading your calendar is switched off on the server. Visit \(menu) there to switch it on."
    }
}

/// Something that a connector may or may not do.
public struct Capability: Hashable, Sendable {
    public let text: String
    public let isGiven: Bool

    public var mark: String { isGiven ? "✓" : "✗" }
}
