// SPDX-License-Identifier: Apache-2.0

/// One change of a circle, recorded in the transaction that made it.
public struct CircleChange: Hashable, Sendable {
    public enum Subject: String, Hashable, Sendable, CaseIterable, ColumnValue, StoredWord {
        case circle, member, patient, item, occurrence, feed, subscription, connection, conflict
        case fileImport = "import"
        /// An imported event that somebody changed by itself; its id is its UID.
        case event
    }

    public enum Kind: String, Hashable, Sendable, ColumnValue {
        case created, updated, deleted
    }

    /// Its place among the changes of all circles, from 1 on; 0 as long as it has none (`orderChanges`).
    public var sequence = 0
    public var circleID = ""
    /// A number that rises by one with each change of the circle, from 1 on.
    public var number = 0
    public var at = 0
    public var subject = Subject.circle
    /// The collection of an item or an occurrence.
    public var collection: String?
    /// The id of what changed; nil for the circle itself.
    public var id: String?
    /// The original start of an occurrence.
    public var part: String?
    public var kind = Kind.created
    /// The only user who may see it; nil when every member may.
    var user: String?
    /// Who made it, as `ChangeAuthor` has it; nil for the server itself.
    public var author: String?
    public var way = ChangeAuthor.Way.server
    /// The number of the change that it undid.
    public var undoes: Int?
}

extension CircleChange: StoredRow {
    /// The data that is recorded about a change; the rest follows when it is stored.
    init(
        _ subject: Subject, _ kind: Kind, collection: String? = nil, id: String? = nil, part: String? = nil,
        user: String? = nil
    ) {
        self.init(subject: subject, collection: collection, id: id, part: part, kind: kind, user: user)
    }

    /// Whether calendars that are kept in step with the circle may show it.
    fileprivate var isForCalendars: Bool {
        switch subject {
        case .circle, .member, .patient, .item, .occurrence: true
        case .feed, .subscription, .connection, .conflict, .fileImport, .event: false
        }
    }

    private var assigned: Int? {
        get { sequence > 0 ? sequence : nil }
        set { sequence = newValue ?? 0 }
    }

    static let table = RecordTable<CircleChange>(
        "changes",
        [
            .once("sequence", \.assigned), .once("circle_id", \.circleID), .once("number", \.number), .once("at", \.at),
            .once("type", \.subject), .once("collection", \.collection), .once("item_id", \.id), .once("part", \.part),
            .once("user_id", \.user), .once("change", \.kind), .once("author", \.author), .once("way", \.way),
            .once("undoes", \.undoes),
        ])
}

extension ReadTransaction {
    /// Returns changes of a circle after a number, in order; with `user`, changes of other people's feeds are left out.
    ///
    /// - Parameter leavesOut: whether those of feeds that show a user's own calendar are left out, too.
    public func changes(
        in circle: String, after number: Int, upTo last: Int = .max, seenBy user: String?,
        leavesOutOwn leavesOut: Bool = false, limit: Int
    ) throws -> [CircleChange] {
        try all(
            """
            WHERE circle_id = $1 AND number > $2 AND number <= $3
                AND (CAST($4 AS TEXT) IS NULL OR user_id IS NULL OR user_id = $4)
                \(leavesOut ? "AND NOT (type = 'feed' AND \(Feed.showsOwn("item_id")))" : "")
            ORDER BY number LIMIT $5
            """, [.text(circle), .integer(number), .integer(last), SQLValue(user), .integer(limit)])
    }

    /// Returns the numbers of a circle's oldest stored change and of its latest; both are 0 when there are none.
    public func changeNumbers(in circle: String) throws -> (oldest: Int, latest: Int) {
        // SQLite goes to an end of the index for one of the two, and through all of a circle's entries for both together.
        let row = try row(
            """
            SELECT COALESCE((SELECT MIN(number) FROM changes WHERE circle_id = $1), 0) AS oldest,
                COALESCE((SELECT MAX(number) FROM changes WHERE circle_id = $1), 0) AS latest
            """, [.text(circle)])
        return (row?.integer("oldest") ?? 0, row?.integer("latest") ?? 0)
    }

    /// Whether changes have no place yet among the changes of all circles.
    public func hasChangesWithoutPlace() throws -> Bool {
        try row("SELECT number FROM changes WHERE sequence IS NULL ORDER BY circle_id, number LIMIT 1", []) != nil
    }

    /// Returns changes of all circles after a sequence number, in order; `Store.orderChanges` comes before.
    public func changes(afterSequence sequence: Int, limit: Int) throws -> [CircleChange] {
        try all("WHERE sequence > $1 ORDER BY sequence LIMIT $2", [.integer(sequence), .integer(limit)])
    }

    /// The setting with the number up to which some changes were removed.
    static var forgotten: String { "changesForgotten" }

    /// Returns the highest sequence number of a change that was removed; 0 while none was.
    public func forgottenChange() throws -> Int { try setting(Self.forgotten).flatMap { Int($0) } ?? 0 }

    /// Returns the sequence number of the latest change of all; 0 before the first.
    public func latestChange() throws -> Int {
        try row("SELECT COALESCE(MAX(sequence), 0) AS latest FROM changes", [])?.integer("latest") ?? 0
    }
}

extension WriteTransaction {
    /// Records a change.
    ///
    /// - Parameter user: the only user who may see it; nil when every member may.
    public func note(
        _ subject: CircleChange.Subject, _ kind: CircleChange.Kind, in circle: String, collection: String? = nil,
        id: String? = nil, part: String? = nil, user: String? = nil, now: Int
    ) throws {
        try note(
            [CircleChange(subject, kind, collection: collection, id: id, part: part, user: user)], in: circle, now: now)
    }

    /// Records several changes in their order; returns their numbers.
    @discardableResult
    func note(_ notes: [CircleChange], in circle: String, now: Int) throws -> ClosedRange<Int> {
        guard !notes.isEmpty else { throw StorageError.unexpectedResult("No change was to be noted.") }
        if notes.contains(where: \.isForCalendars), wakes(circle) { try wakeConnections(in: circle, now: now) }
        // Of servers that share the database, none waits here for a number that all writes have in common.
        let first = sharedNumber != nil ? nil : try nextChangeSequences(notes.count).lowerBound
        let numbers = try nextChangeNumbers(notes.count, in: circle)
        let author = author
        try insert(
            all: zip(notes, numbers).map { note, number in
                var note = note
                (note.circleID, note.number, note.at) = (circle, number, now)
                note.sequence = first.map { $0 + number - numbers.lowerBound } ?? 0
                (note.author, note.undoes) = (author?.name, author?.undoes)
                note.way = ChangeAuthor.Way(of: note, by: author)
                return note
            })
        return numbers
    }

    /// Records that an imported event changed by itself, with what is needed to undo it.
    ///
    /// - Parameters:
    ///   - content: what was there before and after, which this module does not interpret.
    ///   - user: the only user who may see it; nil when every member may.
    /// - Returns: the number of the change.
    @discardableResult
    public func noteEvent(
        _ uid: String, _ kind: CircleChange.Kind, keeping content: String, in circle: String, seenBy user: String?,
        now: Int
    ) throws -> Int {
        let collection = KeptContent.events
        let number = try note(
            [CircleChange(.event, kind, collection: collection.rawValue, id: uid, user: user)], in: circle, now: now
        ).lowerBound
        try keep([KeptContent(content, of: uid, collection, in: circle, number: number, now: now)], in: circle)
        return number
    }

    /// Gives changes that have none a place among the changes of all circles, by circle and number, up to a number of them.
    ///
    /// Of every circle, the changes that a transaction sees are all up to some number, so their places are in its order.
    ///
    /// - Returns: how many got one.
    func orderChanges(limit: Int) throws -> Int {
        let first = "SELECT circle_id, number FROM changes WHERE sequence IS NULL ORDER BY circle_id, number LIMIT $1"
        let count = try count("SELECT COUNT(*) AS count FROM (\(first)) AS first", [.integer(limit)])
        guard count > 0 else { return 0 }
        let before = try nextChangeSequences(count).lowerBound - 1
        let changed = try execute(
            """
            UPDATE changes SET sequence = $2 + placed.place FROM (
                SELECT circle_id, number, ROW_NUMBER() OVER (ORDER BY circle_id, number) AS place
                FROM (\(first)) AS first
            ) AS placed WHERE changes.circle_id = placed.circle_id AND changes.number = placed.number
            """, [.integer(count), .integer(before)])
        guard changed == count else { throw StorageError.unexpectedResult("Changes were ordered by somebody else.") }
        return count
    }

    /// Records a change of a feed, which only its user may see.
    func noteFeed(_ id: String, _ kind: CircleChange.Kind, now: Int) throws {
        guard let feed = try row("SELECT circle_id, user_id FROM feeds WHERE id = $1", [.text(id)]) else { return }
        try note(
            .feed, kind, in: try feed.text(required: "circle_id"), id: id, user: try feed.text(required: "user_id"),
            now: now)
    }

    /// Removes old changes, but never the newest of a circle.
    ///
    /// - Parameter count: how many of each circle are kept at most.
    public func pruneChanges(before time: Int, keeping count: Int) throws {
        try deleteChanges(try oldChanges(before: time, limit: .max))
        for circle in try circlesWithManyChanges(count) {
            _ = try pruneChanges(in: circle, keeping: count, limit: .max)
        }
    }

    /// Removes the changes with these sequence numbers, and notes up to which number some are missing.
    public func deleteChanges(_ sequences: some Sequence<Int>) throws {
        var last = try forgottenChange()
        let before = last
        for sequence in sequences {
            try execute("DELETE FROM changes WHERE sequence = $1", [.integer(sequence)])
            last = max(last, sequence)
        }
        if last > before { try set(Self.forgotten, to: String(last)) }
    }

    /// Removes some of a circle's changes except for the newest `count`; returns false when none is left.
    public func pruneChanges(in circle: String, keeping count: Int, limit: Int) throws -> Bool {
        let latest = try changeNumbers(in: circle).latest
        let old = try values(
            """
            SELECT sequence FROM changes WHERE circle_id = $1 AND number <= $2 AND sequence IS NOT NULL LIMIT $3
            """,
            [.text(circle), .integer(latest - count), .integer(limit)]
        ) { try $0.integer(required: "sequence") }
        try deleteChanges(old)
        return old.count == limit
    }
}

extension ReadTransaction {
    /// Returns a change of a circle, if the user may see it; `user` is nil for everything.
    public func change(_ number: Int, in circle: String, seenBy user: String?) throws -> CircleChange? {
        try changes(in: circle, after: number - 1, upTo: number, seenBy: user, limit: 1).first
    }

    /// Returns changes of a circle before a number, the latest first; with `user`, changes of other people's feeds are
    /// left out.
    ///
    /// - Parameter item: the item whose changes are returned, with those of its occurrences; nil for all.
    public func latestChanges(
        in circle: String, before number: Int, seenBy user: String?,
        of item: (collection: ScheduleItem.Collection, id: String)? = nil, limit: Int
    ) throws -> [CircleChange] {
        try all(
            """
            WHERE circle_id = $1 AND number < $2 AND (CAST($3 AS TEXT) IS NULL OR user_id IS NULL OR user_id = $3)
                AND (CAST($5 AS TEXT) IS NULL OR item_id = $5 AND collection = $6)
            ORDER BY number DESC LIMIT $4
            """,
            [
                .text(circle), .integer(number), SQLValue(user), .integer(limit), SQLValue(item?.id),
                SQLValue(item?.collection.rawValue),
            ])
    }

    /// Returns the number of a circle's first change at or after a time; nil without such a change.
    public func firstChange(in circle: String, from time: Int) throws -> Int? {
        try row(
            "SELECT MIN(number) AS number FROM changes WHERE circle_id = $1 AND at >= $2",
            [.text(circle), .integer(time)])?.integer("number")
    }

    /// Returns the first change of an item or one of its occurrences after a number.
    ///
    /// - Parameter part: the original start of an occurrence; nil for the item with all of them.
    public func firstChange(
        of id: String, _ collection: ScheduleItem.Collection, part: String?, in circle: String, after number: Int
    ) throws -> CircleChange? {
        try first(
            """
            WHERE circle_id = $1 AND number > $2 AND item_id = $3 AND collection = $4
                AND (CAST($5 AS TEXT) IS NULL OR part = $5)
            ORDER BY number LIMIT 1
            """, [.text(circle), .integer(number), .text(id), .text(collection.rawValue), SQLValue(part)])
    }

    /// Returns which of a circle's changes were undone, each with the number of the first change that did so.
    ///
    /// - Parameter numbers: the changes that are looked for.
    public func undone(_ numbers: ClosedRange<Int>, in circle: String) throws -> [Int: Int] {
        let found = try rows(
            """
            SELECT undoes, MIN(number) AS number FROM changes
            WHERE circle_id = $1 AND undoes IS NOT NULL AND undoes >= $2 AND undoes <= $3 GROUP BY undoes
            """, [.text(circle), .integer(numbers.lowerBound), .integer(numbers.upperBound)])
        return Dictionary(
            uniqueKeysWithValues: try found.map {
                (try $0.integer(required: "undoes"), try $0.integer(required: "number"))
            })
    }

    /// Returns the sequence numbers of old changes, but never of the newest of a circle.
    public func oldChanges(before time: Int, limit: Int) throws -> [Int] {
        try rows(
            """
            SELECT sequence FROM changes WHERE at < $1 AND sequence IS NOT NULL
                AND number < (SELECT MAX(number) FROM changes AS newest WHERE newest.circle_id = changes.circle_id)
            LIMIT $2
            """, [.integer(time), .integer(limit)]
        ).map { try $0.integer(required: "sequence") }
    }

    /// Returns circles that have more than `count` changes.
    public func circlesWithManyChanges(_ count: Int) throws -> [String] {
        try rows(
            "SELECT circle_id FROM changes GROUP BY circle_id HAVING MAX(number) - MIN(number) >= $1",
            [.integer(count)]
        ).map { try $0.text(required: "circle_id") }
    }
}
