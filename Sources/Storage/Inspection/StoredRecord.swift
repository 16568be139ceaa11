// SPDX-License-Identifier: Apache-2.0

/// A row as the program decodes it, for checking all rows.
public enum StoredRecord: Sendable {
    case circle(Circle)
    case member(Member)
    case item(ScheduleItem)
    case occurrence(ChangedOccurrence)
    case feed(Feed)
    case importedEvent(ImportedEventRecord)
    case importRecord(ImportRecord)
    /// The items of a block of an import.
    case importBlock(items: String)
    /// The part of a file that one block of an import read.
    case importSource(String)
    case importChange(ImportChange)
    case subscription(Subscription)
    case webhook(Webhook)
    case delivery(WebhookDelivery)
    case change(CircleChange)
    case serviceKey(ServiceKey)
    case audit(AuditEntry)
    case connection(Connection)
    case syncLink(SyncLinkRow)
    case syncOperation(key: String, content: String)
    case syncPosition(content: String)
    case syncRun(SyncRunRow)
    case syncConflict(SyncConflictRow)
    case syncJournal(SyncJournalRow)
    case syncChannel(SyncChannelRow)
    case syncWish(SyncWish)
    case officeProfile(OfficeProfile)
    case officeDay(OfficeDayRecord)
    case officeVisit(OfficeVisit)
    case user(User)
    case personalEvent(PersonalEvent)
    case plannedEvent(PlannedEvent)

    /// The tables whose rows hold more than their columns show.
    public enum Table: String, Sendable, CaseIterable {
        case circles, members, scheduleItems, occurrences, feeds, importedEvents, imports, importItems, importSources,
            importChanges,
            subscriptions, webhooks, webhookDeliveries, changes, serviceKeys, auditTrail, connections, syncLinks,
            syncOperations, syncPositions, syncRuns, syncConflicts, syncJournal, syncChannels, syncWishes,
            officeProfiles, officeDays, officeVisits, users, personalEvents, plannedEvents

        public var name: String {
            switch self {
            case .scheduleItems: "schedule_items"
            case .importedEvents: "event_versions"
            case .importSources: "import_sources"
            case .importItems: "import_items"
            case .importChanges: "import_changes"
            case .webhookDeliveries: "webhook_deliveries"
            case .serviceKeys: "service_keys"
            case .auditTrail: "audit_trail"
            case .syncLinks: "sync_links"
            case .syncOperations: "sync_operations"
            case .syncPositions: "sync_positions"
            case .syncRuns: "sync_runs"
            case .syncConflicts: "sync_conflicts"
            case .syncJournal: "sync_journal"
            case .syncChannels: "sync_channels"
            case .syncWishes: "sync_wishes"
            case .officeProfiles: "office_profiles"
            case .officeDays: "office_days"
            case .officeVisits: "office_visits"
            case .personalEvents: "personal_events"
            case .plannedEvents: "planned_events"
            case .circles, .members, .occurrences, .feeds, .imports, .subscriptions, .webhooks, .changes, .connections,
                .users:
                rawValue
            }
        }

        /// The columns that distinguish rows and in whose order they are read; a clustered table has only its key.
        fileprivate var key: [String] {
            switch self {
            case .changes: ["sequence"]
            case .auditTrail: ["number"]
            case .syncLinks: ["connection_id", "collection", "item_id"]
            case .syncOperations: ["connection_id", "key"]
            case .syncJournal: ["connection_id", "number"]
            case .officeVisits: ["user_id", "id"]
            case .users: ["id"]
            case .plannedEvents: ["user_id", "source", "external_id", "starts_at"]
            default: ["rowid"]
            }
        }

        /// The columns of the primary key, for engines whose rows have no numbers.
        fileprivate var primaryKey: [String] {
            switch self {
            case .circles, .feeds, .imports, .subscriptions, .webhooks, .webhookDeliveries, .serviceKeys, .connections,
                .syncRuns, .syncChannels:
                ["id"]
            case .members: ["circle_id", "user_id"]
            case .scheduleItems: ["circle_id", "collection", "id"]
            case .occurrences: ["circle_id", "collection", "item_id", "original_start"]
            case .importedEvents: ["circle_id", "uid", "recurrence_id", "source", "from_epoch"]
            case .importItems: ["import_id", "block"]
            case .importSources: ["import_id", "block", "part"]
            case .importChanges: ["import_id", "position"]
            case .syncPositions, .syncWishes: ["connection_id"]
            case .syncConflicts: ["connection_id", "id"]
            case .officeProfiles: ["user_id"]
            case .officeDays: ["user_id", "day"]
            case .personalEvents: ["user_id", "id"]
            case .changes, .auditTrail, .syncLinks, .syncOperations, .syncJournal, .officeVisits, .users,
                .plannedEvents:
                key
            }
        }
    }

    /// The place of a row within its table.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        fileprivate var values: [SQLValue]

        /// The place as people are shown it; long texts are cut off.
        public var description: String {
            values.map { value in
                switch value {
                case .integer(let number): String(number)
                case .text(let text): "'\(text.prefix(80))'"
                case .null: ""
                }
            }.joined(separator: " ")
        }
    }
}

extension ReadTransaction {
    /// Returns some rows of a table in the order of their places, after a given place; a row that cannot be read is an
    /// error of its own.
    ///
    /// - Parameter place: nil for the first rows.
    public func records(
        of table: StoredRecord.Table, after place: StoredRecord.Place?, limit: Int
    ) throws -> [(place: StoredRecord.Place, record: Result<StoredRecord, StorageError>)] {
        let extra =
            table == .feeds
            ? """
            , 0 AS access_count, NULL AS last_accessed_at
            """ : ""
        let key = hasRowNumbers ? table.key : table.primaryKey
        var conditions: [String] = []
        if let place {
            conditions.append("(\(key.joined(separator: ", "))) > (\(SQLText.parameters(place.values.count)))")
        }
        if table == .importSources { conditions.append("part = 0") }
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let places = key.enumerated().map { "\($1) AS row_place_\($0)" }.joined(separator: ", ")
        let arguments = place?.values ?? []
        let rows = try rows(
            """
            SELECT \(places), * \(extra) FROM \(table.name) \(condition)
            ORDER BY \(key.joined(separator: ", ")) LIMIT $\(arguments.count + 1)
            """, arguments + [.integer(limit)])
        return try rows.map { row in
            let place = StoredRecord.Place(
                values: try key.indices.map { index in
                    let column = "row_place_\(index)"
                    return try row.integer(column).map(SQLValue.integer) ?? .text(try row.text(required: column))
                })
            do {
                if table == .importSources {
                    let source = try importSource(
                        ofImport: try row.text(required: "import_id"), block: try row.integer(required: "block"))
                    return (place, .success(.importSource(source)))
                }
                return (place, .success(try StoredRecord(row, of: table)))
            } catch let error as StorageError {
                return (place, .failure(error))
            }
        }
    }
}

extension StoredRecord {
    fileprivate init(_ row: SQLRow, of table: Table) throws {
        self =
            switch table {
            case .circles: .circle(try Circle(row))
            case .members: .member(try Member(row))
            case .scheduleItems: .item(try ScheduleItem(row))
            case .occurrences: .occurrence(try ChangedOccurrence(row))
            case .feeds: .feed(try Feed(row))
            case .importedEvents:
                .importedEvent(try ImportedEventRecord(row, at: try row.integer(required: "from_epoch")))
            case .imports: .importRecord(try ImportRecord(row))
            case .importItems: .importBlock(items: try row.text(required: "items"))
            case .importSources: .importSource(try row.text(required: "source"))
            case .importChanges: .importChange(try ImportChange(row))
            case .subscriptions: .subscription(try Subscription(row))
            case .webhooks: .webhook(try Webhook(row))
            case .webhookDeliveries: .delivery(try WebhookDelivery(row))
            case .changes: .change(try CircleChange(row))
            case .serviceKeys: .serviceKey(try ServiceKey(row))
            case .auditTrail: .audit(try AuditEntry(row))
            case .connections: .connection(try Connection(row))
            case .officeProfiles: .officeProfile(try OfficeProfile(row))
            case .syncLinks: .syncLink(try SyncLinkRow(row))
            case .syncOperations:
                .syncOperation(key: try row.text(required: "key"), content: try row.text(required: "content"))
            case .syncPositions: .syncPosition(content: try row.text(required: "content"))
            case .syncRuns: .syncRun(try SyncRunRow(row))
            case .syncConflicts: .syncConflict(try SyncConflictRow(row))
            case .syncJournal: .syncJournal(try SyncJournalRow(row))
            case .syncChannels: .syncChannel(try SyncChannelRow(row))
            case .syncWishes: .syncWish(try SyncWish(row))
            case .officeDays: .officeDay(try OfficeDayRecord(row))
            case .officeVisits: .officeVisit(try OfficeVisit(row))
            case .users: .user(try User(row))
            case .personalEvents: .personalEvent(try PersonalEvent(row))
            case .plannedEvents: .plannedEvent(try PlannedEvent(row))
            }
    }
}
