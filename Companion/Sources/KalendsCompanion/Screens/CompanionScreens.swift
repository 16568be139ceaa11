// SPDX-License-Identifier: Apache-2.0

public import PhoneTexts

/// The first screen, which explains the app and asks for nothing.
public struct WelcomeScreen: Hashable, Sendable {
    public let message: String
    public let button: String

    public init(_ texts: CompanionTexts) {
        message = texts.welcome
        button = texts.proceed
    }
}

/// The screen after the system's question about the calendars.
public enum AccessScreen: Hashable, Sendable {
    /// The system's question has to be shown.
    case asking
    /// The sync can go on.
    case allowed
    /// Only the system's settings can change this.
    case denied(message: String, button: String)

    public init(_ authorization: CalendarAuthorization, _ connector: ConnectorTexts) {
        switch authorization {
        case .notDetermined: self = .asking
        case .fullAccess: self = .allowed
        case .restricted, .denied, .writeOnly:
            self = .denied(message: SyncProblem.permissionDenied.text, button: connector.openSettings)
        }
    }
}

/// The status of the sync, with its button.
public struct HomeScreen: Hashable, Sendable {
    public let header: String
    public let lastSync: String
    public let eventsSynced: String
    public let deleted: String
    public let upserted: String
    public let button: String
    public let subtext: String
    /// The problem of the last sync; nil when there was none.
    public let problem: String?
    /// What prevents calendars from being kept in step until the person acts; nil when nothing does.
    public let pause: String?
    /// Whether the person can approve deletions that were held.
    public let asksForApproval: Bool
    /// Whether the person has to enter the token again.
    public let asksForToken: Bool
    public let isSyncing: Bool

    /// - Parameter shown: formats a time in milliseconds since 1970 for the person's region.
    public init(
        _ status: SyncStatus, isSyncing: Bool = false, _ texts: CompanionTexts, shown: (Int) -> String
    ) {
        header = texts.header
        lastSync = texts.lastSync(status.lastSyncAt.map(shown))
        eventsSynced = texts.eventsSynced(status.counts.events)
        deleted = texts.deleted(status.counts.deleted)
        upserted = texts.upserted(status.counts.upserted)
        button = texts.syncNow
        subtext = texts.subtext
        problem = status.lastError?.text
        pause = status.pause?.text(ConnectorTexts(app: texts.app))
        asksForApproval = status.pause == .held
        asksForToken = status.lastError == .invalidToken
        self.isSyncing = isSyncing
    }
}

/// The server's address, and which calendars go there.
public struct SettingsScreen: Hashable, Sendable {
    public let header: String
    public let serverLabel: String
    public var server: String
    public let tokenLabel: String
    /// The text that the person types. A stored token is not shown again.
    public var token = ""
    public let hasToken: Bool
    public let windowLabel: String
    /// The window as a text that cannot be edited.
    public let window: String

    public init(
        server: String, hasToken: Bool, pastDays: Int = 7, futureDays: Int = 30, _ texts: CompanionTexts
    ) {
        header = texts.settings
        serverLabel = texts.serverURL
        self.server = server
        tokenLabel = texts.token
        self.hasToken = hasToken
        windowLabel = texts.syncWindow
        window = texts.window(past: pastDays, future: futureDays)
    }

    /// The fault of the address; nil when the address can be stored.
    public var serverFault: String? {
        do throws(ServerAddress.Fault) {
            _ = try ServerAddress(server)
            return nil
        } catch { return "\(error)" }
    }
}
