// SPDX-License-Identifier: Apache-2.0

/// A user's settings for their office days, and how far the days have been processed.
public struct OfficeProfile: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable, CaseIterable, ColumnValue { case success, partial, failed }

    public var userID = ""
    /// The settings as JSON, which this module does not interpret.
    public var settings = ""
    /// The seed of the identities of this user's events.
    public var seed = ""
    /// Days since 1970-01-01: the date on which office days were enabled, and the last one whose night was decided.
    public var countsFrom: Int?
    public var nightsThrough: Int?
    /// When the next night has to be decided; nil while office days are off.
    public var nextNightAt: Int?
    /// When office days were switched on (nil while they are off), and when they were switched on for the first time.
    public var enabledAt: Int?
    public var firstEnabledAt: Int?
    /// The name of the problem that keeps events from being written.
    public var problem: String?
    public var lastSyncAt: Int?
    public var lastSync: Outcome?
    /// The numbers of writes that were carried out, and of those that failed.
    public var writes = 0
    public var errors = 0
    public var createdAt = 0
    public var updatedAt = 0
}

extension OfficeProfile: StoredRow {
    public init(userID: String, settings: String, seed: String, now: Int) {
        self.init(userID: userID, settings: settings, seed: seed, createdAt: now, updatedAt: now)
    }

    static let table = RecordTable<OfficeProfile>(
        "office_profiles",
        [
            .init("user_id", \.userID), .init("settings", \.settings), .once("seed", \.seed),
            .init("counts_from", \.countsFrom, in: ColumnRules.days),
            .init("nights_through", \.nightsThrough, in: ColumnRules.days),
            .init("next_night_at", \.nextNightAt), .init("enabled_at", \.enabledAt),
            .init("first_enabled_at", \.firstEnabledAt), .init("problem", \.problem),
            .init("last_sync_at", \.lastSyncAt), .init("last_sync_status", \.lastSync), .init("writes", \.writes),
            .init("errors", \.errors), .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])
}

/// How many users use office days, for the host application.
public struct OfficeFigures: Hashable, Sendable {
    /// Users who ever had settings, and those who have office days switched on.
    public var users = 0
    public var enabled = 0
    /// Users who switched office days on at least 30 days ago, and those of them who still have them on.
    public var enabledBefore = 0
    public var retained = 0
    public var writes = 0
    public var errors = 0
    /// All users' days of the last 30 that have a status and whose event is managed.
    public var days = 0
}

extension ReadTransaction {
    public func officeProfile(of user: String) throws -> OfficeProfile? {
        try first("WHERE user_id = $1", [.text(user)])
    }

    /// Returns users of these shards for whom a night has to be decided.
    public func dueOfficeNights(now: Int, in shards: Shards = .all, limit: Int) throws -> [String] {
        var arguments: [SQLValue] = [.integer(now), .integer(limit)]
        let isIn = shards.condition("user_id", in: self, &arguments)
        return try rows(
            """
            SELECT user_id FROM office_profiles WHERE next_night_at <= $1\(isIn)
            ORDER BY next_night_at, user_id LIMIT $2
            """, arguments
        ).map { try $0.text(required: "user_id") }
    }

    /// - Parameter day: today, in days since 1970-01-01.
    public func officeFigures(now: Int, day: Int) throws -> OfficeFigures {
        var figures = OfficeFigures()
        let month = now - 30 * 86_400_000
        guard
            let row = try row(
                """
                SELECT COUNT(*) AS users, COUNT(enabled_at) AS enabled,
                    COUNT(CASE WHEN first_enabled_at <= $1 THEN 1 END) AS enabled_before,
                    COUNT(CASE WHEN first_enabled_at <= $1 AND enabled_at IS NOT NULL THEN 1 END) AS retained,
                    COALESCE(SUM(writes), 0) AS writes, COALESCE(SUM(errors), 0) AS errors
                FROM office_profiles
                """, [.integer(month)])
        else { return figures }
        figures.users = try row.integer(required: "users")
        figures.enabled = try row.integer(required: "enabled")
        figures.enabledBefore = try row.integer(required: "enabled_before")
        figures.retained = try row.integer(required: "retained")
        figures.writes = try row.integer(required: "writes")
        figures.errors = try row.integer(required: "errors")
        figures.days =
            try self.row(
                """
                SELECT COUNT(*) AS days FROM office_days
                WHERE day > $1 AND day <= $2 AND status <> 'none' AND event_state = 'managed'
                """, [.integer(day - 30), .integer(day)])?.integer("days") ?? 0
        return figures
    }
}

extension WriteTransaction {
    /// Stores a new or changed profile.
    public func putOfficeProfile(_ profile: OfficeProfile) throws { try put(profile) }

    /// Postpones the decision of a user's night.
    public func postponeOfficeNight(of user: String, until time: Int) throws {
        try execute(
            "UPDATE office_profiles SET next_night_at = $2 WHERE user_id = $1", [.text(user), .integer(time)])
    }
}
