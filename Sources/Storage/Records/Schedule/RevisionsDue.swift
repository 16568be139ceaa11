// SPDX-License-Identifier: Apache-2.0

/// The collections whose items show names in their titles.
public struct NamesInTitles: Hashable, Sendable {
    public var ofPatients: [ScheduleItem.Collection]
    public var ofOwners: [ScheduleItem.Collection]

    public init(ofPatients: [ScheduleItem.Collection] = [], ofOwners: [ScheduleItem.Collection] = []) {
        (self.ofPatients, self.ofOwners) = (ofPatients, ofOwners)
    }
}

/// The reason why items look different, so that each of them gets a new revision.
public enum RevisionReason: Hashable, Sendable {
    /// A patient's name changed.
    case patient(String)
    /// A member's name changed, in the items that they own.
    case owner(String)
    /// The zone of the circle changed, for items without their own zone.
    case zone

    fileprivate var name: String {
        switch self {
        case .patient: "patient"
        case .owner: "owner"
        case .zone: "zone"
        }
    }

    fileprivate var subject: String {
        switch self {
        case .patient(let id), .owner(let id): id
        case .zone: ""
        }
    }

    fileprivate init(_ row: SQLRow) throws {
        let subject = try row.text(required: "subject")
        switch try row.text(required: "reason") {
        case "patient": self = .patient(subject)
        case "owner": self = .owner(subject)
        case "zone": self = .zone
        default: throw StorageError.unexpectedResult("A revision is due for an unknown reason.")
        }
    }

    /// Returns the condition for the items concerned; `$5` is the subject, and the collections are the arguments from
    /// `first` on.
    fileprivate func condition(_ titles: NamesInTitles, from first: Int) -> (sql: String, collections: [SQLValue]) {
        func among(_ collections: [ScheduleItem.Collection], _ column: String) -> (String, [SQLValue]) {
            // A list may not be empty; no item is in the collection with the empty name.
            let names = [SQLValue.text("")] + collections.map { .text($0.rawValue) }
            return ("\(column) = $5 AND collection IN (\(SQLText.parameters(names.count, from: first)))", names)
        }
        return switch self {
        case .patient: among(titles.ofPatients, "patient_id")
        case .owner: among(titles.ofOwners, "owner_id")
        case .zone: ("$5 = '' AND time_zone IS NULL AND is_all_day = 0", [])
        }
    }
}

extension ReadTransaction {
    /// Returns circles with items that still have to be revised.
    public func circlesWithRevisionsDue(limit: Int) throws -> [String] {
        try rows("SELECT DISTINCT circle_id FROM revisions_due LIMIT $1", [.integer(limit)]).map {
            try $0.text(required: "circle_id")
        }
    }

    public func hasRevisionsDue(in circle: String) throws -> Bool {
        try row("SELECT 1 AS found FROM revisions_due WHERE circle_id = $1", [.text(circle)]) != nil
    }
}

extension WriteTransaction {
    /// How many items one statement examines, unless the first of them have so many bytes that it stops after them: a row is
    /// written again with its content, while all others who write wait.
    private static var revisedTogether: Int { 500 }
    private static var revisedBytes: Int { 1 << 20 }
    private static var measuredTogether: Int { 50 }

    /// Returns the key of the last item that a statement examines; nil if no items are left after it.
    private func lastTogether(
        _ key: String, where condition: String, _ arguments: [SQLValue], limit: Int
    ) throws -> SQLRow? {
        let (most, skipped) = ("$\(arguments.count + 1)", "$\(arguments.count + 2)")
        var (count, bytes) = (0, 0)
        // A few at a time: to learn how long a text is, its whole row is read.
        while count < limit {
            let together = min(Self.measuredTogether, limit - count)
            let found = try rows(
                """
                SELECT \(key), length(CAST(content AS BLOB)) AS size FROM schedule_items
                WHERE \(condition) ORDER BY \(key) LIMIT \(most) OFFSET \(skipped)
                """, arguments + [.integer(together), .integer(count)])
            for row in found {
                count += 1
                bytes += try row.integer(required: "size")
                if count == limit || bytes >= Self.revisedBytes { return row }
            }
            if found.count < together { return nil }
        }
        return nil
    }

    /// Raises the revision of the items that a change affects; when there are many, the rest is recorded as due.
    func revise(
        because reason: RevisionReason, in circle: String, _ titles: NamesInTitles = NamesInTitles(), now: Int
    ) throws {
        guard let last = try revise(because: reason, in: circle, titles, after: ("", ""), now: now) else { return }
        try holdCircle(circle)
        try execute(
            """
            INSERT INTO revisions_due (circle_id, number, reason, subject, after_collection, after_id)
            VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM revisions_due WHERE circle_id = $1), $2, $3, $4, $5)
            """,
            [.text(circle), .text(reason.name), .text(reason.subject), .text(last.collection), .text(last.id)])
    }

    /// Continues with the revisions that are due in a circle; returns false when none are.
    public func reviseSomeDue(in circle: String, _ titles: NamesInTitles, now: Int) throws -> Bool {
        guard
            let due = try row(
                "\(select: "revisions_due") WHERE circle_id = $1 ORDER BY number LIMIT 1", [.text(circle)])
        else { return false }
        let key: [SQLValue] = [.text(circle), .integer(try due.integer(required: "number"))]
        let last = try revise(
            because: try RevisionReason(due), in: circle, titles,
            after: (try due.text(required: "after_collection"), try due.text(required: "after_id")),
            now: now)
        if let last {
            try execute(
                "UPDATE revisions_due SET after_collection = $3, after_id = $4 WHERE circle_id = $1 AND number = $2",
                key + [.text(last.collection), .text(last.id)])
        } else {
            try execute("DELETE FROM revisions_due WHERE circle_id = $1 AND number = $2", key)
        }
        try touchCircle(circle, now: now)
        return try hasRevisionsDue(in: circle)
    }

    /// - Returns: the last item that was examined; nil when it was the circle's last.
    private func revise(
        because reason: RevisionReason, in circle: String, _ titles: NamesInTitles,
        after position: (collection: String, id: String), now: Int
    ) throws -> (collection: String, id: String)? {
        let end = try lastTogether(
            "collection, id", where: "circle_id = $1 AND (collection, id) > ($2, $3)",
            [.text(circle), .text(position.collection), .text(position.id)], limit: Self.revisedTogether)
        let last = try end.map { (collection: try $0.text(required: "collection"), id: try $0.text(required: "id")) }
        var arguments: [SQLValue] = [
            .text(circle), .integer(now), .text(position.collection), .text(position.id), .text(reason.subject),
        ]
        if let last { arguments += [.text(last.collection), .text(last.id)] }
        let condition = reason.condition(titles, from: arguments.count + 1)
        try execute(
            """
            UPDATE schedule_items SET sequence = sequence + 1, updated_at = $2, shown_in = NULL, shown_as = 'updated',
                changed_in = (SELECT version + 1 FROM circles WHERE id = $1)
            WHERE circle_id = $1 AND (collection, id) > ($3, $4) \(last == nil ? "" : "AND (collection, id) <= ($6, $7)")
                AND \(condition.sql) AND deleted_at IS NULL
            """, arguments + condition.collections)
        return last
    }
}

// MARK: All circles

extension WriteTransaction {
    /// Raises the revision of some items of all circles, because the program shows every item differently: at most
    /// `limit`, and about 1 MiB of them.
    ///
    /// - Returns: the last one; nil when no item follows.
    public func reviseItems(
        after position: (circle: String, collection: String, id: String), now: Int, limit: Int
    ) throws -> (circle: String, collection: String, id: String)? {
        let start: [SQLValue] = [.text(position.circle), .text(position.collection), .text(position.id)]
        let end = try lastTogether(
            "circle_id, collection, id", where: "(circle_id, collection, id) > ($1, $2, $3)", start, limit: limit
        ).map {
            (
                circle: try $0.text(required: "circle_id"), collection: try $0.text(required: "collection"),
                id: try $0.text(required: "id")
            )
        }
        let bound: [SQLValue] = end.map { [.text($0.circle), .text($0.collection), .text($0.id)] } ?? []
        try execute(
            """
            UPDATE schedule_items SET sequence = sequence + 1, updated_at = $4, shown_in = NULL, shown_as = 'updated',
                changed_in = (SELECT version + 1 FROM circles WHERE id = schedule_items.circle_id)
            WHERE (circle_id, collection, id) > ($1, $2, $3)
                \(end == nil ? "" : "AND (circle_id, collection, id) <= ($5, $6, $7)") AND deleted_at IS NULL
            """, start + [.integer(now)] + bound)
        return end
    }

    /// Records that the feeds of some circles may look different, because the program or its configuration changed.
    ///
    /// - Returns: the last circle; nil when none follows.
    public func touchCircles(after circle: String, now: Int, limit: Int) throws -> String? {
        let end = try row(
            "SELECT id FROM circles WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2", [.text(circle), .integer(limit - 1)])?
            .text("id")
        try execute(
            """
            UPDATE circles SET version = version + 1, changed_at = \(ChangeTime.after(column: "changed_at", now: "$2"))
            WHERE id > $1 \(end == nil ? "" : "AND id <= $3")
            """, [.text(circle), .integer(now)] + (end.map { [.text($0)] } ?? []))
        return end
    }

    /// Records that the notices of some replaced tokens look different.
    ///
    /// - Returns: the last hash; nil when none follows.
    public func touchNotices(after hash: String, now: Int, limit: Int) throws -> String? {
        let end = try row(
            "SELECT hash FROM feed_tokens WHERE hash > $1 ORDER BY hash LIMIT 1 OFFSET $2",
            [.text(hash), .integer(limit - 1)])?.text("hash")
        try execute(
            """
            UPDATE feed_tokens SET \(GraceNotice.touch)
            WHERE hash > $2 \(end == nil ? "" : "AND hash <= $3") AND ends_at > $1
            """, [.integer(now), .text(hash)] + (end.map { [.text($0)] } ?? []))
        return end
    }
}
