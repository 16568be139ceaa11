// SPDX-License-Identifier: Apache-2.0

/// A person's calendar at a provider that is kept in step with a circle.
public struct Connection: Hashable, Sendable {
    public enum Provider: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case google, outlook, caldav, apple
    }

    public enum State: String, Hashable, Sendable, CaseIterable, ColumnValue {
        /// Nobody has signed in at the provider yet.
        case unauthorized
        /// The account is known, but its calendar is not.
        case choosing
        case active, paused
        /// The grant is no longer valid: nothing is tried until the person signs in again.
        case needsReconnect
        /// The calendar was deleted or made read-only.
        case calendarGone
    }

    public enum Outcome: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case success, partial, failed
    }

    /// The events of an ended connection that are cleared away.
    public enum Ending: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case all, future
        /// Nothing is cleared away any more; only the stored data of the connection has yet to be removed.
        case records
    }

    public var id = ""
    public var circleID = ""
    public var userID = ""
    public var provider = Provider.caldav
    public var label: String?
    /// The account as the provider names it.
    public var accountID: String?
    public var accountName: String?
    public var calendarID: String?
    public var calendarName: String?
    /// An IANA id; nil when the provider names none.
    public var calendarTimeZone: String?
    public private(set) var state = State.unauthorized
    /// When the connection entered its state.
    public private(set) var stateAt = 0
    /// The configuration as JSON, which this module does not interpret.
    public var config = ""
    public var lastSyncAt: Int?
    public var lastSyncStatus: Outcome?
    public var lastSyncError: String?
    /// The number of failed runs in a row.
    public var failures = 0
    /// When the next run is due; nil when the connection waits for a person.
    public var nextSyncAt: Int?
    /// Milliseconds between two regular runs, before requests are saved; nil until a run has ended.
    public var lookEvery: Int?
    /// When the calendar was first not found; nil while it exists.
    public var missingSince: Int?
    /// Set for a connection that has ended and from which something still has to be removed.
    public var ending: Ending?
    public var endingAt: Int?
    public var createdAt = 0
    public var updatedAt = 0

    /// Changes to a state; a connection that waits for a person has no next run.
    public mutating func turn(to new: State, now: Int) {
        if new != state { (state, stateAt) = (new, now) }
        if new != .active { nextSyncAt = nil }
    }
}

extension Connection: StoredRow {
    public init(
        id: String, circleID: String, userID: String, provider: Provider, label: String?, config: String, now: Int
    ) {
        // One of a phone needs only a phone that may carry it.
        self.init(
            id: id, circleID: circleID, userID: userID, provider: provider, label: label,
            state: provider == .apple ? .active : .unauthorized, stateAt: now, config: config, createdAt: now,
            updatedAt: now)
    }

    static let table = RecordTable<Connection>(
        "connections",
        [
            .init("id", \.id), .once("circle_id", \.circleID), .once("user_id", \.userID),
            .once("provider", \.provider), .init("label", \.label), .init("account_id", \.accountID),
            .init("account_name", \.accountName), .init("calendar_id", \.calendarID),
            .init("calendar_name", \.calendarName), .init("calendar_time_zone", \.calendarTimeZone),
            .init("state", \.state), .init("state_at", \.stateAt), .init("config", \.config),
            .init("last_sync_at", \.lastSyncAt), .init("last_sync_status", \.lastSyncStatus),
            .init("last_sync_error", \.lastSyncError), .init("failures", \.failures),
            .init("next_sync_at", \.nextSyncAt), .init("look_every", \.lookEvery),
            .init("missing_since_at", \.missingSince),
            .init("ending", \.ending), .init("ending_at", \.endingAt), .once("created_at", \.createdAt),
            .init("updated_at", \.updatedAt),
        ])
}
