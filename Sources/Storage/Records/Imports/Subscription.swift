// SPDX-License-Identifier: Apache-2.0

/// An external calendar that a circle follows.
public struct Subscription: Hashable, Sendable {
    public enum State: String, Hashable, Sendable, CaseIterable, ColumnValue {
        case active, paused
        /// The calendar no longer exists.
        case failed
    }

    /// Why the last fetch brought nothing, for whoever says it in another language than `lastProblem`.
    public enum Problem: String, Hashable, Sendable, CaseIterable, ColumnValue {
        /// The address must not be fetched from here.
        case address
        case unreachable, untrusted, timeout, redirects, garbled
        /// The host wants a sign-in.
        case signIn
        /// There is no calendar at the address.
        case missing
        /// The host answered with another status than that of a calendar.
        case status
        case tooLarge, unreadable
        /// The calendar broke off before its end.
        case broken
        /// The circle has no room for so many events.
        case full
        /// The calendar came without events, although it had some.
        case empty
        /// The address was sealed with another key.
        case sealed
        /// Something failed on this server.
        case fault
    }

    public var id = ""
    public var circleID = ""
    public var sealedURL = ""
    /// A value that is equal for equal addresses.
    public var urlDigest = ""
    public var urlHint = ""
    public var host = ""
    public var label: String?
    /// The user who owns its events; nil for the host application.
    public var createdBy: String?
    public var refreshMinutes = 0
    public var state = State.active
    /// The host's validators of the stored version, and the address that sent them.
    public var etag: String?
    public var lastModified: String?
    public var validatorsOf: String?
    public var nextAt = 0
    /// The number of failed fetches in a row.
    public var failures = 0
    /// The number of answers in a row without a single event.
    public var emptyAnswers = 0
    public var lastFetchedAt: Int?
    public var lastChangedAt: Int?
    public var lastProblem: String?
    public var problem: Problem?
    /// How many events the last change created, updated and deleted.
    public var created = 0
    public var updated = 0
    public var deleted = 0
    public var createdAt = 0
    public var updatedAt = 0
}

extension Subscription: StoredRow {
    public init(
        id: String, circleID: String, sealedURL: String, urlDigest: String, urlHint: String, host: String,
        label: String?, createdBy: String?, refreshMinutes: Int, now: Int
    ) {
        self.init(
            id: id, circleID: circleID, sealedURL: sealedURL, urlDigest: urlDigest, urlHint: urlHint, host: host,
            label: label, createdBy: createdBy, refreshMinutes: refreshMinutes, nextAt: now, createdAt: now,
            updatedAt: now)
    }

    static let table = RecordTable<Subscription>(
        "subscriptions",
        [
            .init("id", \.id), .once("circle_id", \.circleID), .once("sealed_url", \.sealedURL),
            .once("url_digest", \.urlDigest), .once("url_hint", \.urlHint), .once("host", \.host),
            .init("label", \.label), .once("created_by", \.createdBy),
            .init("refresh_minutes", \.refreshMinutes, in: 1...1_000_000),
            .init("state", \.state), .init("etag", \.etag), .init("last_modified", \.lastModified),
            .init("validators_of", \.validatorsOf), .init("next_at", \.nextAt), .init("failures", \.failures),
            .init("empty_answers", \.emptyAnswers), .init("last_fetched_at", \.lastFetchedAt),
            .init("last_changed_at", \.lastChangedAt), .init("last_problem", \.lastProblem),
            .init("problem", \.problem),
            .init("created", \.created), .init("updated", \.updated), .init("deleted", \.deleted),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])
}

/// A subscription that is due.
public struct DueSubscription: Sendable {
    public var id: String
    public var circleID: String
    public var host: String
    /// The user who named the address; nil for the host application.
    public var createdBy: String?
}

extension ReadTransaction {
    public func subscription(_ id: String) throws -> Subscription? {
        try first("WHERE id = $1", [.text(id)])
    }

    /// Returns a circle's subscriptions, in order of id.
    public func subscriptions(in circle: String, after cursor: String, limit: Int) throws -> [Subscription] {
        try all(
            "WHERE circle_id = $1 AND id > $2 ORDER BY id LIMIT $3", [.text(circle), .text(cursor), .integer(limit)])
    }

    /// Returns a circle's subscription to this address.
    public func subscription(in circle: String, urlDigest: String) throws -> Subscription? {
        try first("WHERE circle_id = $1 AND url_digest = $2", [.text(circle), .text(urlDigest)])
    }

    /// Returns the subscriptions that are due, of circles in these shards: the first one of each user, or of each circle
    /// for which the host application named them, before anybody's second one, then those that are due for longest.
    public func dueSubscriptions(now: Int, in shards: Shards, limit: Int) throws -> [DueSubscription] {
        var arguments: [SQLValue] = [.integer(now), .integer(limit)]
        let isIn = shards.condition("circle_id", in: self, &arguments)
        return try rows(
            """
            SELECT id, circle_id, host, created_by FROM (
                SELECT id, circle_id, host, created_by, next_at, ROW_NUMBER() OVER (
                    PARTITION BY created_by, CASE WHEN created_by IS NULL THEN circle_id END ORDER BY next_at, id
                ) AS turn FROM subscriptions WHERE state = 'active' AND next_at <= $1\(isIn) AND NOT EXISTS (
                    SELECT 1 FROM circles WHERE circles.id = subscriptions.circle_id AND circles.deleted_at IS NOT NULL)
            ) AS due ORDER BY turn, next_at, id LIMIT $2
            """, arguments
        ).map {
            DueSubscription(
                id: try $0.text(required: "id"), circleID: try $0.text(required: "circle_id"),
                host: try $0.text(required: "host"), createdBy: $0.text("created_by"))
        }
    }

    /// Counts the events of a subscription that the circle shows.
    public func eventCount(ofSubscription id: String) throws -> Int {
        guard let own = try subscription(id) else { return 0 }
        return try eventCount(of: .subscription(id), in: own.circleID)
    }
}

extension WriteTransaction {
    /// Stores a new or changed subscription.
    public func putSubscription(_ own: Subscription) throws { try put(own) }

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
