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
    case keptContent(KeptContent)
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
    case pendingSync(PendingSync)
    case officeProfile(OfficeProfile)
    case officeDay(OfficeDayRecord)
    case officeVisit(OfficeVisit)
    case user(User)
    case personalEvent(PersonalEvent)
    case plannedEvent(PlannedEvent)
    case appPassword(AppPassword)
    case ownCalendar(OwnCalendar)
    case ownResource(OwnResource)
    case collectionProperty(CollectionProperty)

    /// The tables whose rows hold more than their columns show.
    public enum Table: String, Sendable, CaseIterable {
        case circles, members, scheduleItems, occurrences, feeds, importedEvents, imports, importItems, importSources,
            importChanges, subscriptions, webhooks, webhookDeliveries, changes, keptContents, serviceKeys, auditTrail,
            connections, syncLinks, syncOperations, syncPositions, syncRuns, syncConflicts, syncJournal, syncChannels,
            pendingSyncs, officeProfiles, officeDays, officeVisits, users, personalEvents, plannedEvents,
            appPasswords, ownCalendars, ownResources, collectionProperties

        public var name: String { stored.schema.name }

        /// The columns that distinguish rows and in whose order they are read.
        ///
        /// - Parameter hasRowNumbers: whether rows have numbers, which take less time; a clustered table has only its
        ///   key.
        fileprivate func key(hasRowNumbers: Bool) -> [String] {
            switch self {
            case .changes, .keptContents, .auditTrail, .syncLinks, .syncOperations, .syncJournal, .officeVisits, .users,
                .plannedEvents:
                stored.schema.key
            default: hasRowNumbers ? ["rowid"] : stored.schema.key
            }
        }

        /// The table's columns, and how a row is decoded.
        fileprivate var stored: (schema: SchemaTable, read: (SQLRow) throws -> StoredRecord) {
            switch self {
            case .circles: rows(StoredRecord.circle)
            case .members: rows(StoredRecord.member)
            case .scheduleItems: (.scheduleItems, { .item(try ScheduleItem($0)) })
            case .occurrences: rows(StoredRecord.occurrence)
            case .feeds: rows(StoredRecord.feed)
            case .importedEvents:
                (
                    .eventVersions,
                    { .importedEvent(try ImportedEventRecord($0, at: try $0.integer(required: "from_epoch"))) }
                )
            case .imports: rows(StoredRecord.importRecord)
            case .importItems: (.importItems, { .importBlock(items: try $0.text(required: "items")) })
            case .importSources: (.importSources, { .importSource(try $0.text(required: "source")) })
            case .importChanges: (.importChanges, { .importChange(try ImportChange($0)) })
            case .subscriptions: rows(StoredRecord.subscription)
            case .webhooks: rows(StoredRecord.webhook)
            case .webhookDeliveries: rows(StoredRecord.delivery)
            case .changes: rows(StoredRecord.change)
            case .keptContents: rows(StoredRecord.keptContent)
            case .serviceKeys: rows(StoredRecord.serviceKey)
            case .auditTrail: rows(StoredRecord.audit)
            case .connections: rows(StoredRecord.connection)
            case .syncLinks: rows(StoredRecord.syncLink)
            case .syncOperations:
                (
                    .syncOperations,
                    { .syncOperation(key: try $0.text(required: "key"), content: try $0.text(required: "content")) }
                )
            case .syncPositions: (.syncPositions, { .syncPosition(content: try $0.text(required: "content")) })
            case .syncRuns: rows(StoredRecord.syncRun)
            case .syncConflicts: rows(StoredRecord.syncConflict)
            case .syncJournal: rows(StoredRecord.syncJournal)
            case .syncChannels: rows(StoredRecord.syncChannel)
            case .pendingSyncs: rows(StoredRecord.pendingSync)
            case .officeProfiles: rows(StoredRecord.officeProfile)
            case .officeDays: rows(StoredRecord.officeDay)
            case .officeVisits: rows(StoredRecord.officeVisit)
            case .users: rows(StoredRecord.user)
            case .personalEvents: rows(StoredRecord.personalEvent)
            case .plannedEvents: rows(StoredRecord.plannedEvent)
            case .appPasswords: rows(StoredRecord.appPassword)
            case .ownCalendars: rows(StoredRecord.ownCalendar)
            case .ownResources: rows(StoredRecord.ownResource)
            case .collectionProperties: rows(StoredRecord.collectionProperty)
            }
        }

        private func rows<Record: StoredRow>(
            _ make: @escaping (Record) -> StoredRecord
        ) -> (schema: SchemaTable, read: (SQLRow) throws -> StoredRecord) {
            (Record.schema, { make(try Record($0)) })
        }
    }

    /// The place of a row within its table.
    public struct Position: Hashable, Sendable, CustomStringConvertible {
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
    /// - Parameter position: nil for the first rows.
    public func records(
        of table: StoredRecord.Table, after position: StoredRecord.Position?, limit: Int
    ) throws -> [(position: StoredRecord.Position, record: Result<StoredRecord, StorageError>)] {
        let extra = [.feeds, .appPasswords].contains(table) ? ", 0 AS access_count, NULL AS last_accessed_at" : ""
        let (schema, read) = table.stored
        let key = table.key(hasRowNumbers: hasRowNumbers)
        var conditions: [String] = []
        if let position {
            conditions.append("(\(key.joined(separator: ", "))) > (\(SQLText.parameters(position.values.count)))")
        }
        if table == .importSources { conditions.append("part = 0") }
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let positions = key.enumerated().map { "\($1) AS row_place_\($0)" }.joined(separator: ", ")
        let arguments = position?.values ?? []
        let rows = try rows(
            """
            SELECT \(positions), * \(extra) FROM \(schema.name) \(condition)
            ORDER BY \(key.joined(separator: ", ")) LIMIT $\(arguments.count + 1)
            """, arguments + [.integer(limit)])
        return try rows.map { row in
            let position = StoredRecord.Position(
                values: try key.indices.map { index in
                    let column = "row_place_\(index)"
                    return try row.integer(column).map(SQLValue.integer) ?? .text(try row.text(required: column))
                })
            do {
                if table == .importSources {
                    let source = try importSource(
                        ofImport: try row.text(required: "import_id"), block: try row.integer(required: "block"))
                    return (position, .success(.importSource(source)))
                }
                return (position, .success(try read(row)))
            } catch let error as StorageError {
                return (position, .failure(error))
            }
        }
    }
}
