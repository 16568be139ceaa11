// SPDX-License-Identifier: Apache-2.0

/// A user's settings for their office days, and how far the days have been processed.
public struct OfficeProfile: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable, CaseIterable { case success, partial, failed }

    public var userID: String
    /// The settings as JSON, which this module does not interpret.
    public var settings: String
    /// The seed of the identities of this user's events.
    public var seed: String
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
    public var writes: Int
    public var errors: Int
    public var createdAt: Int
    public var updatedAt: Int

    public init(userID: String, settings: String, seed: String, now: Int) {
        (self.userID, self.settings, self.seed) = (userID, settings, seed)
        (writes, errors, createdAt, updatedAt) = (0, 0, now, now)
    }

    init(_ row: SQLRow) throws {
        userID = try row.text(required: "user_id")
        settings = try row.text(required: "settings")
        seed = try row.text(required: "seed")
        countsFrom = row.integer("counts_from")
        nightsThrough = row.integer("nights_through")
        nextNightAt = row.integer("next_night_at")
        enabledAt = row.integer("enabled_at")
        firstEnabledAt = row.integer("first_enabled_at")
        problem = row.text("problem")
        lastSyncAt = row.integer("last_sync_at")
        lastSync = try row.text("last_sync_status").map { text in
            guard let outcome = Outcome(text: text) else {
                throw StorageError.unexpectedResult("Office days ended in an unknown way.")
            }
            return outcome
        }
        writes = try row.integer(required: "writes")
        errors = try row.integer(required: "errors")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }
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
        try row("\(select: .officeProfiles) WHERE user_id = $1", [.text(user)]).map(OfficeProfile.init)
    }

    /// Returns users for whom a night has to be decided.
    public func dueOfficeNights(now: Int, limit: Int) throws -> [String] {
        try rows(
            "SELECT user_id FROM office_profiles WHERE next_night_at <= $1 ORDER BY next_night_at, user_id LIMIT $2",
            [.integer(now), .integer(limit)]
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
    public func putOfficeProfile(_ profile: OfficeProfile) throws {
        try execute(
            """
            INSERT INTO office_profiles (user_id, settings, seed, counts_from, nights_through, next_night_at,
                enabled_at, first_enabled_at, problem, last_sync_at, last_sync_status, writes, errors, created_at,
                updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
            ON CONFLICT (user_id) DO UPDATE SET settings = EXCLUDED.settings, counts_from = EXCLUDED.counts_from,
                nights_through = EXCLUDED.nights_through, next_night_at = EXCLUDED.next_night_at,
                enabled_at = EXCLUDED.enabled_at, first_enabled_at = EXCLUDED.first_enabled_at,
                problem = EXCLUDED.problem, last_sync_at = EXCLUDED.last_sync_at,
                last_sync_status = EXCLUDED.last_sync_status, writes = EXCLUDED.writes, errors = EXCLUDED.errors,
                updated_at = EXCLUDED.updated_at
            """,
            [
                .text(profile.userID), .text(profile.settings), .text(profile.seed), SQLValue(profile.countsFrom),
                SQLValue(profile.nightsThrough), SQLValue(profile.nextNightAt), SQLValue(profile.enabledAt),
                SQLValue(profile.firstEnabledAt), SQLValue(profile.problem), SQLValue(profile.lastSyncAt),
                SQLValue(profile.lastSync?.rawValue), .integer(profile.writes), .integer(profile.errors),
                .integer(profile.createdAt), .integer(profile.updatedAt),
            ])
    }

    /// Postpones the decision of a user's night.
    public func postponeOfficeNight(of user: String, until time: Int) throws {
        try execute(
            "UPDATE office_profiles SET next_night_at = $2 WHERE user_id = $1", [.text(user), .integer(time)])
    }
}
