// SPDX-License-Identifier: Apache-2.0

/// A circle of people around those they care for, to which members, patients, items and feeds belong.
public struct Circle: Hashable, Sendable {
    public var id = ""
    public var name = ""
    /// The IANA id of its time zone.
    public var timeZone = ""
    /// Rises with every change that a feed may show.
    public var version = 0
    /// When `version` last rose, in milliseconds since 1970 like all times here; in a later second each time, so that it
    /// may be later than now (`ChangeTime`).
    public var changedAt = 0
    public var createdAt = 0
    public var updatedAt = 0
    /// The current epoch: the circle shows the versions of imported events that began by it and have not ended.
    public var eventsEpoch = 0
    /// Versions that ended by this epoch may have been removed.
    public var eventsFloor = 0
    /// The version with which its zone last changed; 0 if it has the zone that it began with.
    public var zoneVersion = 0

    /// The first version since which it is known what changed: an earlier one belongs to a former circle with this id, or comes
    /// from before all imported events without a zone moved to another clock.
    public var firstVersion: Int { max(version < createdAt / 1000 ? 0 : createdAt / 1000, zoneVersion) }
}

extension Circle: StoredRow {
    /// Creates a circle as a caller describes it; what it counts by itself comes with `putCircle`.
    public init(id: String, name: String, timeZone: String) {
        (self.id, self.name, self.timeZone) = (id, name, timeZone)
    }

    static let table = RecordTable<Circle>(
        "circles",
        [
            .init("id", \.id), .init("name", \.name), .init("time_zone", \.timeZone), .init("version", \.version),
            .init("changed_at", \.changedAt), .shown("events_epoch", \.eventsEpoch),
            .shown("events_floor", \.eventsFloor), .init("zone_version", \.zoneVersion),
            .once("created_at", \.createdAt), .init("updated_at", \.updatedAt),
        ])
}

/// Thrown when a circle of this id was deleted a moment ago and not all of it has been removed yet.
public struct CircleIsBeingRemoved: Error {}

extension ReadTransaction {
    public func circle(_ id: String) throws -> Circle? {
        try first("WHERE id = $1 AND deleted_at IS NULL", [.text(id)])
    }

    /// Returns circles in order of id after `cursor`: those that `user` is a member of, or all when `user` is nil.
    public func circles(of user: String?, after cursor: String, limit: Int) throws -> [Circle] {
        if let user {
            return try rows(
                """
                SELECT \(columns: Circle.self, of: "circles") FROM circles
                JOIN members ON members.circle_id = circles.id AND members.user_id = $1 AND members.left_at IS NULL
                WHERE circles.id > $2 AND circles.deleted_at IS NULL ORDER BY circles.id LIMIT $3
                """, [.text(user), .text(cursor), .integer(limit)]
            ).map(Circle.init)
        }
        return try all("WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2", [.text(cursor), .integer(limit)])
    }
}

extension WriteTransaction {
    /// Creates or changes a circle; storing the same values again changes nothing.
    ///
    /// Its versions, epochs and times follow from what is stored, whatever the record has. With another zone, every item
    /// without a zone of its own moves to another clock, which counts as a change of each. Throws
    /// `CircleIsBeingRemoved` while a circle of this id is being removed.
    public func putCircle(_ circle: Circle, now: Int) throws -> (Circle, isNew: Bool) {
        let (id, old) = (circle.id, try self.circle(circle.id))
        var new = circle
        (new.eventsEpoch, new.eventsFloor) = (old?.eventsEpoch ?? 0, old?.eventsFloor ?? 0)
        new.zoneVersion = old?.zoneVersion ?? 0
        if let old {
            (new.version, new.changedAt) = (old.version, old.changedAt)
            (new.createdAt, new.updatedAt) = (old.createdAt, old.updatedAt)
            if new == old { return (old, false) }
            new.version += 1
            (new.changedAt, new.updatedAt) = (ChangeTime.after(old.changedAt, now: now), now)
        } else {
            if try isBeingRemoved(circle: id) { throw CircleIsBeingRemoved() }
            (new.changedAt, new.createdAt, new.updatedAt) = (now, now, now)
            // One that comes back under its id begins above the versions that it had (`firstVersion`).
            new.version = try changeNumbers(in: id).latest > 0 ? max(1, now / 1000) : 1
        }
        let hasMoved = old.map { $0.timeZone != new.timeZone } ?? false
        // This comes before the version rises, so that the items change in the version that the circle then gets.
        if hasMoved {
            new.zoneVersion = new.version
            try revise(because: .zone, in: id, now: now)
        }
        try put(new)
        if hasMoved { try touchNotices(in: id, now: now) }
        try note(.circle, old == nil ? .created : .updated, in: id, now: now)
        return (new, old == nil)
    }

    /// Records that something a feed may show has changed.
    public func touchCircle(_ id: String, now: Int) throws {
        try execute(
            """
            UPDATE circles SET version = version + 1, changed_at = \(ChangeTime.after(column: "changed_at", now: "$2"))
            WHERE id = $1
            """, [.text(id), .integer(now)])
    }
}
