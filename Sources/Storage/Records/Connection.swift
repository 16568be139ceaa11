// SPDX-License-Identifier: Apache-2.0

/// A person's calendar at a provider that is kept in step with a circle.
public struct Connection: Hashable, Sendable {
    public enum Provider: String, Hashable, Sendable, CaseIterable {
        case google, outlook, caldav, apple
    }

    public enum State: String, Hashable, Sendable, CaseIterable {
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

    public enum Outcome: String, Hashable, Sendable, CaseIterable {
        case success, partial, failed
    }

    /// The events of an ended connection that are cleared away.
    public enum Ending: String, Hashable, Sendable, CaseIterable {
        case all, future
    }

    public var id: String
    public var circleID: String
    public var userID: String
    public var provider: Provider
    public var label: String?
    /// The account as the provider names it.
    public var accountID: String?
    public var accountName: String?
    public var calendarID: String?
    public var calendarName: String?
    /// An IANA id; nil when the provider names none.
    public var calendarTimeZone: String?
    public private(set) var state: State
    /// When the connection entered its state.
    public private(set) var stateAt: Int
    /// The configuration as JSON, which this module does not interpret.
    public var config: String
    public var lastSyncAt: Int?
    public var lastSyncStatus: Outcome?
    public var lastSyncError: String?
    /// The number of failed runs in a row.
    public var failures: Int
    /// When the next run is due; nil when the connection waits for a person.
    public var nextSyncAt: Int?
    /// When the calendar was first not found; nil while it exists.
    public var missingSince: Int?
    /// Set for a connection that has ended and from which something still has to be removed.
    public var ending: Ending?
    public var endingAt: Int?
    public var createdAt: Int
    public var updatedAt: Int

    public init(
        id: String, circleID: String, userID: String, provider: Provider, label: String?, config: String, now: Int
    ) {
        self.id = id
        self.circleID = circleID
        self.userID = userID
        self.provider = provider
        self.label = label
        // It needs only a phone that may carry it.
        self.state = provider == .apple ? .active : .unauthorized
        self.stateAt = now
        self.config = config
        self.failures = 0
        self.createdAt = now
        self.updatedAt = now
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        circleID = try row.text(required: "circle_id")
        userID = try row.text(required: "user_id")
        provider = try Self.known(row, "provider")
        label = row.text("label")
        accountID = row.text("account_id")
        accountName = row.text("account_name")
        calendarID = row.text("calendar_id")
        calendarName = row.text("calendar_name")
        calendarTimeZone = row.text("calendar_time_zone")
        state = try Self.known(row, "state")
        stateAt = try row.integer(required: "state_at")
        config = try row.text(required: "config")
        lastSyncAt = row.integer("last_sync_at")
        lastSyncStatus = try Self.optional(row, "last_sync_status")
        lastSyncError = row.text("last_sync_error")
        failures = try row.integer(required: "failures")
        nextSyncAt = row.integer("next_sync_at")
        missingSince = row.integer("missing_since_at")
        ending = try Self.optional(row, "ending")
        endingAt = row.integer("ending_at")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }

    /// Changes to a state; a connection that waits for a person has no next run.
    public mutating func turn(to new: State, now: Int) {
        if new != state { (state, stateAt) = (new, now) }
        if new != .active { nextSyncAt = nil }
    }

    private static func known<Value: RawRepresentable>(_ row: SQLRow, _ name: String) throws -> Value
    where Value.RawValue == String {
        guard let value = Value(rawValue: try row.text(required: name)) else {
            throw StorageError.unexpectedResult("A connection has an unknown \(name).")
        }
        return value
    }

    private static func optional<Value: RawRepresentable>(_ row: SQLRow, _ name: String) throws -> Value?
    where Value.RawValue == String {
        row.text(name) == nil ? nil : try known(row, name)
    }
}
