// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.

/// What a person reads on the companion's screens.
public struct CompanionTexts: Hashable, Sendable {
    /// The app's name.
    public let app: String

    public init(app: String) { self.app = app }

    public var welcome: String {
        "\(app) reads your Apple Calendar (title only) to show planned events like Outlook."
    }
    public let proceed = "Continue"

    public let header = "Apple Calendar Sync"
    public let subtext = "Title only. No notes or attendees."
    public let syncNow = "Sync now"
    /// - Parameter time: the time of the last sync, formatted for the person's region; nil when there was none.
    public func lastSync(_ time: String?) -> String { "Last sync: \(time ?? "never")" }
    public func eventsSynced(_ count: Int) -> String { "Events synced: \(count)" }
    public func deleted(_ count: Int) -> String { "Deleted: \(count)" }
    public func upserted(_ count: Int) -> String { "Upserted: \(count)" }

    public let settings = "Settings"
    public let serverURL = "Server URL"
    public let token = "Token"
    public let syncWindow = "Sync window"
    public func window(past: Int, future: Int) -> String { "Past \(past) days, next \(future) days" }
}

/// What can go wrong with a sync, as a person sees it.
public enum SyncProblem: String, Hashable, Sendable, Codable, CaseIterable {
    case permissionDenied, offline, invalidToken, serverError, someFailed

    public var text: String {
        switch self {
        case .permissionDenied: "Calendar access is off. Enable in Settings."
        case .offline: "Offline. Sync will retry."
        case .invalidToken: "Invalid sync token"
        case .serverError: "Server error. Try again later."
        case .someFailed: "Some events failed; retry scheduled."
        }
    }
}
