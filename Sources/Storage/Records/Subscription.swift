// SPDX-License-Identifier: Apache-2.0

/// An external calendar that a circle follows.
public struct Subscription: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable {
        case active, paused
        /// The calendar no longer exists.
        case failed
    }

    public var id: String
    public var circleID: String
    public var sealedURL: String
    /// A value that is equal for equal addresses.
    public var urlDigest: String
    public var urlHint: String
    public var host: String
    public var label: String?
    /// The user who owns its events; nil for the host application.
    public var createdBy: String?
    public var refreshMinutes: Int
    public var state: State
    /// The host's validators of the stored version, and the address that sent them.
    public var etag: String?
    public var lastModified: String?
    public var validatorsOf: String?
    public var nextAt: Int
    /// The number of failed fetches in a row.
    public var failures: Int
    /// The number of answers in a row without a single event.
    public var emptyAnswers: Int
    public var lastFetchedAt: Int?
    public var lastChangedAt: Int?
    public var lastProblem: String?
    /// How many events the last change created, updated and deleted.
    public var created: Int
    public var updated: Int
    public var deleted: Int
    public var createdAt: Int
    public var updatedAt: Int

    public init(
        id: String, circleID: String, sealedURL: String, urlDigest: String, urlHint: String, host: String,
        label: String?, createdBy: String?, refreshMinutes: Int, now: Int
    ) {
        self.id = id
        self.circleID = circleID
        self.sealedURL = sealedURL
        self.urlDigest = urlDigest
        self.urlHint = urlHint
        self.host = host
        self.label = label
        self.createdBy = createdBy
        self.refreshMinutes = refreshMinutes
        self.state = .active
        self.nextAt = now
        (failures, emptyAnswers, created, updated, deleted) = (0, 0, 0, 0, 0)
        self.createdAt = now
        self.updatedAt = now
    }

    init(_ row: SQLRow) throws {
        id = try row.text(required: "id")
        circleID = try row.text(required: "circle_id")
        sealedURL = try row.text(required: "sealed_url")
        urlDigest = try row.text(required: "url_digest")
        urlHint = try row.text(required: "url_hint")
        host = try row.text(required: "host")
        label = row.text("label")
        createdBy = row.text("created_by")
        refreshMinutes = try row.integer(required: "refresh_minutes")
        guard let state = State(rawValue: try row.text(required: "state")) else {
            throw StorageError.unexpectedResult("A subscription is in an unknown state.")
        }
        self.state = state
        etag = row.text("etag")
        lastModified = row.text("last_modified")
        validatorsOf = row.text("validators_of")
        nextAt = try row.integer(required: "next_at")
        failures = try row.integer(required: "failures")
        emptyAnswers = try row.integer(required: "empty_answers")
        lastFetchedAt = row.integer("last_fetched_at")
        lastChangedAt = row.integer("last_changed_at")
        lastProblem = row.text("last_problem")
        created = try row.integer(required: "created")
        updated = try row.integer(required: "updated")
        deleted = try row.integer(required: "deleted")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
    }
}

extension ReadTransaction {
    public func subscription(_ id: String) throws -> Subscription? {
        try row("\(select: .subscriptions) WHERE id = $1", [.text(id)]).map(Subscription.init)
    }

    /// Returns a circle's subscriptions, in order of id.
    public func subscriptions(in circle: String, after cursor: String, limit: Int) throws -> [Subscription] {
        try rows(
            "\(select: .subscriptions) WHERE circle_id = $1 AND id > $2 ORDER BY id LIMIT $3",
            [.text(circle), .text(cursor), .integer(limit)]
        ).map(Subscription.init)
    }

    /// Returns a circle's subscription to this address.
    public func subscription(in circle: String, urlDigest: String) throws -> Subscription? {
        try row(
            "\(select: .subscriptions) WHERE circle_id = $1 AND url_digest = $2", [.text(circle), .text(urlDigest)]
        ).map(Subscription.init)
    }

    /// Returns the ids of the subscriptions that are due.
    public func dueSubscriptions(now: Int, limit: Int) throws -> [String] {
        try rows(
            """
            SELECT id FROM subscriptions WHERE state = 'active' AND next_at <= $1 AND NOT EXISTS (
                SELECT 1 FROM circles WHERE circles.id = subscriptions.circle_id AND circles.deleted_at IS NOT NULL)
            ORDER BY next_at, id LIMIT $2
            """, [.integer(now), .integer(limit)]
        ).map { try $0.text(required: "id") }
    }

    /// Counts the events of a subscription that the circle shows.
    public func eventCount(ofSubscription id: String) throws -> Int {
        guard let own = try subscription(id) else { return 0 }
        return try eventCount(of: .subscription(id), in: own.circleID)
    }
}

extension WriteTransaction {
    /// Stores a new or changed subscription.
    public func putSubscription(_ own: Subscription) throws {
        try execute(
            """
            INSERT INTO subscriptions (id, circle_id, sealed_url, url_digest, url_hint, host, label, created_by,
                refresh_minutes, state, etag, last_modified, validators_of, next_at, failures, empty_answers,
                last_fetched_at, last_changed_at, last_problem, created, updated, deleted, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
                $23, $24)
            ON CONFLICT (id) DO UPDATE SET label = EXCLUDED.label, refresh_minutes = EXCLUDED.refresh_minutes,
                state = EXCLUDED.state, etag = EXCLUDED.etag, last_modified = EXCLUDED.last_modified,
                validators_of = EXCLUDED.validators_of, next_at = EXCLUDED.next_at, failures = EXCLUDED.failures,
                empty_answers = EXCLUDED.empty_answers, last_fetched_at = EXCLUDED.last_fetched_at,
                last_changed_at = EXCLUDED.last_changed_at, last_problem = EXCLUDED.last_problem,
                created = EXCLUDED.created, updated = EXCLUDED.updated, deleted = EXCLUDED.deleted,
                updated_at = EXCLUDED.updated_at
            """,
            [
                .text(own.id), .text(own.circleID), .text(own.sealedURL), .text(own.urlDigest), .text(own.urlHint),
                .text(own.host), SQLValue(own.label), SQLValue(own.createdBy), .integer(own.refreshMinutes),
                .text(own.state.rawValue), SQLValue(own.etag), SQLValue(own.lastModified), SQLValue(own.validatorsOf),
                .integer(own.nextAt), .integer(own.failures), .integer(own.emptyAnswers),
                SQLValue(own.lastFetchedAt), SQLValue(own.lastChangedAt), SQLValue(own.lastProblem),
                .integer(own.created), .integer(own.updated), .integer(own.deleted), .integer(own.createdAt),
                .integer(own.updatedAt),
            ])
    }

    public func deleteSubscription(_ id: String) throws {
        try execute("DELETE FROM subscriptions WHERE id = $1", [.text(id)])
    }

    /// Makes the next fetch of all of a circle's calendars a full one: one of them may contain an event that an import
    /// also brought and no longer brings.
    public func forgetValidators(in circle: String) throws {
        try execute(
            "UPDATE subscriptions SET etag = NULL, last_modified = NULL WHERE circle_id = $1", [.text(circle)])
    }
}
