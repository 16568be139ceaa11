// SPDX-License-Identifier: Apache-2.0

/// Where a calendar app wants to hear that a collection has changed (draft-bitfire-webdav-push).
public struct PushRegistration: Hashable, Sendable {
    public var id = ""
    public var userID = ""
    /// The app password with which it was made, and with which it ends.
    public var passwordID = ""
    public var kind = CollectionProperty.Kind.own
    /// The id of the circle or of the own calendar.
    public var collectionID = ""
    /// The SHA-256 of the push resource, by which it is found again.
    public var resourceHash = ""
    /// The push resource with the keys for it, sealed.
    public var sealed = ""
    public var wantsContent = false
    public var wantsProperties = false
    /// The state of the collection that the app heard of last.
    public var sent = CollectionState()
    /// How often the person has set properties of the collection since the registration.
    public var propertyChanges = 0
    /// How many of these the app heard of.
    public var notifiedPropertyChanges = 0
    /// A hash of the collection's looks, as the app heard of them last.
    public var shown = ""
    public var createdAt = 0
    public var expiresAt = 0
    /// When the next message may be sent.
    public var nextAt = 0
    /// How many messages failed since one was taken.
    public var attempts = 0
}

/// The state of a circle or of an own calendar, which only rises.
public struct CollectionState: Hashable, Comparable, Sendable {
    /// The version of the circle, or the number of the calendar's latest change.
    public var number = 0
    /// The epoch of the circle's imported events; 0 for a calendar.
    public var epoch = 0

    public static func < (one: CollectionState, other: CollectionState) -> Bool {
        (one.number, one.epoch) < (other.number, other.epoch)
    }
}

extension PushRegistration: StoredRow {
    public init(
        id: String, userID: String, kind: CollectionProperty.Kind, collectionID: String, resourceHash: String,
        sent: CollectionState, shown: String, now: Int
    ) {
        self.init(
            id: id, userID: userID, kind: kind, collectionID: collectionID, resourceHash: resourceHash, sent: sent,
            shown: shown, createdAt: now)
    }

    static let table = RecordTable<PushRegistration>(
        "push_registrations",
        [
            .once("id", \.id), .once("user_id", \.userID), .init("password_id", \.passwordID), .once("kind", \.kind),
            .once("collection_id", \.collectionID), .once("resource_hash", \.resourceHash),
            .init("sealed", \.sealed), .init("wants_content", \.wantsContent),
            .init("wants_properties", \.wantsProperties), .init("told_number", \.sent.number),
            .init("told_epoch", \.sent.epoch), .init("property_changes", \.propertyChanges),
            .init("told_property_changes", \.notifiedPropertyChanges), .init("shown", \.shown),
            .once("created_at", \.createdAt), .init("expires_at", \.expiresAt), .init("next_at", \.nextAt),
            .init("attempts", \.attempts), .derived("shard") { Shards.number(of: $0.id) },
        ])
}

extension ReadTransaction {
    public func pushRegistration(_ id: String) throws -> PushRegistration? { try first("WHERE id = $1", [.text(id)]) }

    /// Returns a person's registration of a push resource for a collection.
    public func pushRegistration(
        of user: String, _ kind: CollectionProperty.Kind, _ collection: String, resourceHash: String
    ) throws -> PushRegistration? {
        try first(
            "WHERE collection_id = $1 AND kind = $2 AND user_id = $3 AND resource_hash = $4",
            [.text(collection), .text(kind.rawValue), .text(user), .text(resourceHash)])
    }

    /// Returns all registrations for a collection, of whomever.
    public func pushRegistrations(of kind: CollectionProperty.Kind, _ collection: String) throws -> [PushRegistration] {
        try all(
            "WHERE collection_id = $1 AND kind = $2 ORDER BY id", [.text(collection), .text(kind.rawValue)])
    }

    /// Counts a person's registrations that have not expired.
    public func pushRegistrationCount(of user: String, now: Int) throws -> Int {
        try row(
            "SELECT COUNT(*) AS count FROM push_registrations WHERE user_id = $1 AND expires_at > $2",
            [.text(user), .integer(now)])?.integer("count") ?? 0
    }

    /// Returns registrations of these shards whose app did not hear of the latest state, with their people: each person's
    /// first one before anybody's second one, then those that are due for longest.
    public func pushRegistrationsBehind(
        now: Int, in shards: Shards, limit: Int
    ) throws -> [(id: String, user: String)] {
        var arguments: [SQLValue] = [.integer(now), .integer(limit)]
        let isIn = shards.condition(ofNumber: "place.number", &arguments)
        return try rows(
            """
            WITH RECURSIVE place (number) AS (
                SELECT CAST(0 AS BIGINT) UNION ALL SELECT number + 1 FROM place WHERE number < \(Shards.count - 1)
            ), behind AS (
                SELECT r.id AS id, r.user_id AS user_id, r.next_at AS next_at,
                    ROW_NUMBER() OVER (PARTITION BY r.user_id ORDER BY r.next_at, r.id) AS turn
                FROM place JOIN push_registrations r ON r.shard = place.number
                LEFT JOIN circles c ON c.id = r.collection_id AND r.kind IN ('events', 'tasks')
                LEFT JOIN own_calendars o ON o.id = r.collection_id AND r.kind = 'own'
                WHERE r.next_at <= $1 AND r.expires_at > $1 AND (
                    r.property_changes <> r.told_property_changes OR c.version <> r.told_number
                    OR c.events_epoch <> r.told_epoch OR o.number <> r.told_number)\(isIn)
            )
            SELECT id, user_id FROM behind ORDER BY turn, next_at, id LIMIT $2
            """, arguments
        ).map { (try $0.text(required: "id"), try $0.text(required: "user_id")) }
    }

    /// Returns the state of the circle or the own calendar that a collection shows; nil once it is gone.
    public func collectionState(of kind: CollectionProperty.Kind, _ collection: String) throws -> CollectionState? {
        switch kind {
        case .events, .tasks:
            try circle(collection).map { CollectionState(number: $0.version, epoch: $0.eventsEpoch) }
        case .own: try ownCalendar(collection).map { CollectionState(number: $0.number) }
        case .home: nil
        }
    }
}

extension WriteTransaction {
    /// Stores a new or changed registration.
    public func putPushRegistration(_ registration: PushRegistration) throws { try put(registration) }

    /// Returns false when there is no such registration.
    @discardableResult
    public func deletePushRegistration(_ id: String) throws -> Bool {
        try execute("DELETE FROM push_registrations WHERE id = $1", [.text(id)]) > 0
    }

    /// Notes that a person has set properties of a collection.
    public func notePropertyChange(
        of kind: CollectionProperty.Kind, _ collection: String, user: String
    ) throws {
        try execute(
            """
            UPDATE push_registrations SET property_changes = property_changes + 1
            WHERE collection_id = $1 AND kind = $2 AND user_id = $3
            """, [.text(collection), .text(kind.rawValue), .text(user)])
    }

    /// Removes the registrations that were made with an app password.
    func deletePushRegistrations(ofPassword id: String) throws {
        try execute("DELETE FROM push_registrations WHERE password_id = $1", [.text(id)])
    }

    /// Removes some registrations that have expired; returns false when none is left.
    public func prunePushRegistrations(now: Int, limit: Int) throws -> Bool {
        try execute(
            """
            DELETE FROM push_registrations WHERE id IN (
                SELECT id FROM push_registrations WHERE expires_at <= $1 LIMIT $2)
            """, [.integer(now), .integer(limit)]) == limit
    }
}
