// SPDX-License-Identifier: Apache-2.0

/// A table with rows that belong to a person or say something of one, and how those of one person are found.
public struct PersonTable: Sendable {
    /// The subject of the rows, in the words of whoever reads them.
    public enum Area: String, Hashable, Sendable, CaseIterable {
        case account, audit, calendars, circles, connections, devices, feeds, imports, officeDays, personal, phones
        case schedule
        case signIn
    }

    /// What becomes of the rows when their person is erased.
    public enum Fate: Hashable, Sendable {
        /// They are removed by the condition that finds them.
        case removed
        /// They are removed together with what they belong to, by a function that knows how.
        case removedTogether
        /// They are a circle's and stay, with a made-up id in place of the person's.
        case renamed
        /// They stay without the columns that name anybody.
        case anonymous
    }

    public let area: Area
    public let fate: Fate
    let schema: SchemaTable
    /// The columns that hold a person's id, or a name with it.
    public let persons: [String]
    /// Which rows are a person's; `$1` is the person's id.
    let condition: String
    /// How many rows are read together: few where each may be large.
    let together: Int
    /// The columns that nobody is shown: secrets with their hashes, and what is computed from other columns.
    let concealed: Set<ByteString>

    public var name: String { schema.name }
    /// Whether the column `content` has an imported event, which this module does not interpret.
    public var hasEvents: Bool { name.isSameText(as: "event_versions") }

    /// - Parameters:
    ///   - persons: the columns with a person's id, separated by spaces.
    ///   - condition: nil where one of those columns has to hold the person's id.
    init(
        _ schema: SchemaTable, _ area: Area, _ persons: String = "user_id", where condition: String? = nil,
        together: Int = 100, concealing concealed: String = "", erased fate: Fate = .removed
    ) {
        (self.schema, self.area, self.together, self.fate) = (schema, area, together, fate)
        self.persons = persons.split(separator: " ").map(String.init)
        self.condition = condition ?? self.persons.map { "\($0) = $1" }.joined(separator: " OR ")
        self.concealed = Set(
            concealed.split(separator: " ").map { ByteString(String($0)) }
                + schema.columns.filter { $0.hasSuffix("hash") || $0.hasPrefix("sealed") }.map { ByteString($0) })
    }

    /// How many small rows are read together where no index leads to them, so that a read passes those of others.
    private static let manyTogether = 1000

    /// The circles that a person belongs to, or has belonged to.
    static let circles = "circle_id IN (SELECT circle_id FROM members WHERE user_id = $1)"
    private static let connected = "connection_id IN (SELECT id FROM connections WHERE user_id = $1)"
    private static let counted = """
        feed IN (
            SELECT number FROM feeds WHERE \(circles) AND user_id = $1
            UNION ALL SELECT number FROM app_passwords WHERE user_id = $1)
        """
    private static let owned = """
        calendar_id IN (SELECT id FROM own_calendars WHERE user_id = $1 AND deleted_at IS NULL)
        """

    /// Which entries of the audit trail name a person.
    static let naming = """
        actor = 'user:' || CAST($1 AS TEXT)
            OR SUBSTR(actor, 1, LENGTH(CAST($1 AS TEXT)) + 6) = 'user:' || CAST($1 AS TEXT) || ' '
            OR actor IN (SELECT 'device:' || id FROM devices WHERE user_id = $1)
            OR REPLACE(detail, '"user":"' || CAST($1 AS TEXT) || '"', '') <> detail
            OR subject = $1 AND (
                action LIKE 'member.%' OR action LIKE 'password.%' OR action LIKE 'secondFactor.%'
                OR action LIKE 'recoveryCodes.%' OR action LIKE 'signInLink.%' OR action LIKE 'officeDays.%'
                OR action LIKE 'user.%' OR action LIKE 'providerAccount.%')
        """
    /// Which changes name a person.
    static let changed = """
        user_id = $1 OR author = 'user:' || CAST($1 AS TEXT) OR type = 'member' AND item_id = $1
        """

    /// Every table in which something of a person can be found by the person's id.
    public static let all: [PersonTable] = people + scheduled + synchronized + own

    private static let people: [PersonTable] = [
        .init(User.schema, .account, "id"),
        .init(Password.schema, .signIn), .init(SecondFactor.schema, .signIn), .init(Session.schema, .signIn),
        .init(SignInLink.schema, .signIn), .init("sign_in_homes", .signIn), .init(JoinedAccount.schema, .signIn),
        .init(
            SignInFailures.schema, .signIn, "name",
            where: "name = $1 OR SUBSTR(name, 1, LENGTH(CAST($1 AS TEXT)) + 1) = CAST($1 AS TEXT) || ' '"),
        .init(Device.schema, .devices, erased: .removedTogether),
        .init(
            AuditEntry.schema, .audit, "actor subject", where: naming, together: manyTogether, concealing: "salt",
            erased: .anonymous),
    ]

    private static let scheduled: [PersonTable] = [
        .init(Member.schema, .circles, erased: .renamed),
        .init("schedule_items", .schedule, "owner_id", where: "\(circles) AND owner_id = $1", erased: .renamed),
        .init(
            ChangedOccurrence.schema, .schedule, "",
            where: """
                \(circles) AND EXISTS (
                    SELECT 1 FROM schedule_items AS item
                    WHERE item.circle_id = occurrences.circle_id AND item.collection = occurrences.collection
                        AND item.id = occurrences.item_id AND item.owner_id = $1)
                """, erased: .renamed),
        .init(
            CircleChange.schema, .schedule, "user_id author", where: "\(circles) AND (\(changed))",
            together: manyTogether, erased: .renamed),
        .init(PersonalPart.schema, .schedule, where: "\(circles) AND user_id = $1"),
        .init(Feed.schema, .feeds, where: "\(circles) AND user_id = $1", erased: .removedTogether),
        .init("feed_clients", .feeds, "", where: counted, erased: .removedTogether),
        .init("feed_client_days", .feeds, "", where: counted, together: manyTogether, erased: .removedTogether),
        .init("feed_attention", .feeds, "", where: counted, erased: .removedTogether),
        .init(
            "feed_accesses", .feeds, "",
            where: """
                sequence IN (
                    WITH RECURSIVE list (sequence) AS (
                        SELECT MAX(last_sequence) FROM feed_clients WHERE \(counted) GROUP BY feed
                        UNION ALL
                        SELECT a.previous FROM list JOIN feed_accesses AS a ON a.sequence = list.sequence
                    )
                    SELECT sequence FROM list)
                """, together: manyTogether, erased: .removedTogether),
        .init(
            ImportRecord.schema, .imports, "imported_by", where: "\(circles) AND imported_by = $1", together: 10,
            concealing: "source outline", erased: .renamed),
        .init(
            "import_changes", .imports, "imported_by_before",
            where: "import_id IN (SELECT id FROM imports WHERE \(circles)) AND imported_by_before = $1",
            concealing: "content_before", erased: .renamed),
        .init(
            "event_versions", .imports, "visible_to imported_by",
            where: """
                \(circles) AND until_epoch = \(EventEpoch.open) AND (imported_by = $1 OR visible_to = $1)
                """, together: 20, concealing: "fingerprint", erased: .renamed),
        .init(
            Subscription.schema, .imports, "created_by", where: "\(circles) AND created_by = $1",
            concealing: "url_digest validators_of", erased: .renamed),
    ]

    private static let synchronized: [PersonTable] = [
        .init(Connection.schema, .connections, erased: .removedTogether), .init("former_connections", .connections),
        .init(ConnectionAuthorization.schema, .connections, erased: .removedTogether),
        .init(SyncLinkRow.schema, .connections, "", where: connected, together: 50, erased: .removedTogether),
        .init("sync_operations", .connections, "", where: connected, together: 10, erased: .removedTogether),
        .init(SyncRunRow.schema, .connections, "", where: connected, together: 10, erased: .removedTogether),
        .init(
            SyncConflictRow.schema, .connections, "resolved_by", where: connected, together: 20,
            erased: .removedTogether),
        .init(SyncJournalRow.schema, .connections, "", where: connected, together: 20, erased: .removedTogether),
    ]

    private static let own: [PersonTable] = [
        .init(AppPassword.schema, .calendars, erased: .removedTogether),
        .init(PushRegistration.schema, .calendars, concealing: "shown shard"),
        .init(
            OwnCalendar.schema, .calendars, where: "user_id = $1 AND deleted_at IS NULL", erased: .removedTogether),
        .init("own_calendar_numbers", .calendars),
        .init(
            OwnResource.schema, .calendars, "", where: owned, together: 4, concealing: "shown",
            erased: .removedTogether),
        .init("own_removals", .calendars, "", where: owned, erased: .removedTogether),
        .init(CollectionProperty.schema, .calendars),
        .init("personal_calendars", .personal), .init(PersonalEvent.schema, .personal),
        .init("planned_calendars", .phones), .init(PlannedEvent.schema, .phones), .init(PhoneCarrier.schema, .phones),
        .init("phone_former_events", .phones), .init("phone_marks", .phones),
        .init(OfficeProfile.schema, .officeDays), .init(OfficeVisit.schema, .officeDays),
        .init(OfficeDayRecord.schema, .officeDays),
    ]
}

extension WriteTransaction {
    /// Removes some rows of a person by the condition that finds them; returns how many.
    func removeRows(of user: String, in table: PersonTable, limit: Int) throws -> Int {
        let (name, keys) = (table.name, table.schema.key.joined(separator: ", "))
        return try execute(
            """
            DELETE FROM \(name) WHERE (\(keys)) IN (SELECT \(keys) FROM \(name) WHERE (\(table.condition)) LIMIT $2)
            """, [.text(user), .integer(limit)])
    }
}

/// Some rows of a person, in the order of their keys.
public struct PersonRows: Sendable {
    /// The columns that a person is shown, with their values.
    public var rows: [[(column: String, value: SQLValue)]] = []
    /// Where the next rows begin; nil after the last.
    public var next: [SQLValue]?
    /// How many bytes of values make a page full: its reader has several copies of them, in one form and another.
    static let mostBytes = 256 << 10

    /// Ends the query that fills a page.
    struct Full: Error {}
}

extension ReadTransaction {
    /// Returns the next rows of a person in a table.
    ///
    /// - Parameter key: `next` of the rows before; nil for the first.
    public func personRows(of user: String, in table: PersonTable, after key: [SQLValue]?) throws -> PersonRows {
        let (schema, name) = (table.schema, table.name)
        let keys = schema.key.map { "\(name).\($0)" }.joined(separator: ", ")
        let start = key.map { " AND (\(keys)) > (\(SQLText.parameters($0.count, from: 2)))" } ?? ""
        let columns = schema.columns.map { "\(name).\($0)" }.joined(separator: ", ")
        let limit = (key?.count ?? 0) + 2
        var page = PersonRows()
        var bytes = 0
        do {
            try eachRow(
                "SELECT \(columns) FROM \(name) WHERE (\(table.condition))\(start) ORDER BY \(keys) LIMIT $\(limit)",
                [.text(user)] + (key ?? []) + [.integer(table.together)]
            ) { row in
                page.rows.append(
                    zip(schema.columns, row.values).filter { !table.concealed.contains(ByteString($0.0)) }
                        .map { (column: $0.0, value: $0.1) })
                for case .text(let text) in row.values { bytes += text.utf8.count }
                guard bytes >= PersonRows.mostBytes || page.rows.count == table.together else { return }
                page.next = schema.key.map { row.value(of: $0, expectedAt: 0) }
                throw PersonRows.Full()
            }
        } catch is PersonRows.Full {}
        return page
    }
}
