// SPDX-License-Identifier: Apache-2.0

/// A row as the program reads it, for looking at all of them.
public enum StoredRecord: Sendable {
    case circle(Circle)
    case member(Member)
    case item(ScheduleItem)
    case occurrence(ChangedOccurrence)
    case feed(Feed)
    case importedEvent(ImportedEventRecord)
    case importRecord(ImportRecord)
    /// The items of a block of an import; `source` is what earlier versions kept beside them.
    case importBlock(items: String, source: String)
    /// What was read of a file, of one block.
    case importSource(String)
    case importChange(ImportChange)
    case subscription(Subscription)
    case webhook(Webhook)
    case delivery(WebhookDelivery)
    case change(CircleChange)
    case serviceKey(ServiceKey)
    case audit(AuditEntry)
    case connection(Connection)
    case officeProfile(OfficeProfile)
    case officeDay(OfficeDayRecord)
    case personalEvent(PersonalEvent)

    /// The tables whose rows hold more than their columns tell.
    public enum Table: String, Sendable, CaseIterable {
        case circles, members, scheduleItems, occurrences, feeds, importedEvents, imports, importItems, importSources,
            importChanges,
            subscriptions, webhooks, webhookDeliveries, changes, serviceKeys, auditTrail, connections,
            officeProfiles, officeDays, personalEvents

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
            case .officeProfiles: "office_profiles"
            case .officeDays: "office_days"
            case .personalEvents: "personal_events"
            default: rawValue
            }
        }

        /// What rows are counted by, in the order of which they are read.
        fileprivate var counter: String {
            switch self {
            case .changes: "sequence"
            case .auditTrail: "number"
            default: "rowid"
            }
        }
    }
}

extension ReadTransaction {
    /// Some rows of a table in the order of their places, from behind one; a row that cannot be read is an error of its
    /// own.
    public func records(
        of table: StoredRecord.Table, after place: Int, limit: Int
    ) throws -> [(place: Int, record: Result<StoredRecord, StorageError>)] {
        let extra =
            table == .feeds
            ? """
            , 0 AS access_count, NULL AS last_accessed_at
            """ : ""
        let rows = try rows(
            """
            SELECT \(table.counter) AS row_place, * \(extra) FROM \(table.name)
            WHERE \(table.counter) > $1\(table == .importSources ? " AND part = 0" : "")
            ORDER BY \(table.counter) LIMIT $2
            """, [.integer(place), .integer(limit)])
        return try rows.map { row in
            let place = try row.integer(required: "row_place")
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
            case .importItems:
                .importBlock(items: try row.text(required: "items"), source: try row.text(required: "source"))
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
            case .officeDays: .officeDay(try OfficeDayRecord(row))
            case .personalEvents: .personalEvent(try PersonalEvent(row))
            }
    }
}
