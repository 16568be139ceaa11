// SPDX-License-Identifier: Apache-2.0

public import PhoneTexts

/// The first screen, which explains and asks for nothing.
public struct WelcomeScreen: Hashable, Sendable {
    public let message: String
    public let button: String

    public init(_ texts: CompanionTexts) {
        message = texts.welcome
        button = texts.proceed
    }
}

/// What comes after the system's question for the calendars.
public enum AccessScreen: Hashable, Sendable {
    /// The system's sheet has to be shown.
    case asking
    /// Continue with the sync.
    case allowed
    /// Only the system's settings help.
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
    /// What went wrong, nil when nothing did.
    public let problem: String?
    /// Whether the person is to enter the token again.
    public let asksForToken: Bool
    public let isSyncing: Bool

    /// - Parameter shown: a time in milliseconds since 1970, in words of the person's own region.
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
        asksForToken = status.lastError == .invalidToken
        self.isSyncing = isSyncing
    }
}

/// Where the server is, and what of the calendars goes there.
public struct SettingsScreen: Hashable, Sendable {
    public let header: String
    public let serverLabel: String
    public var server: String
    public let tokenLabel: String
    /// What the person types. A token that is stored is not shown again.
    public var token = ""
    public let hasToken: Bool
    public let windowLabel: String
    /// It can be read, not changed.
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

    /// What is wrong with the address, nil when it can be kept.
    public var serverFault: String? {
        do throws(ServerAddress.Fault) {
            _ = try ServerAddress(server)
            return nil
        } catch { return "\(error)" }
    }
}
