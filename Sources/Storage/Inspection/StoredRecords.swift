// SPDX-License-Identifier: Apache-2.0

/// A table whose rows the program reads as records, for checking all of them.
public struct StoredRecords: Sendable {
    private static let types: [any StoredRow.Type] = [
        AppPassword.self, AuditEntry.self, ChangedOccurrence.self, Circle.self, CircleChange.self,
        CollectionProperty.self, Connection.self, ConnectionAuthorization.self, ConnectionCredential.self, Device.self,
        Erasure.self, Feed.self, ImportChange.self, ImportRecord.self, ImportedEventRecord.self, ImportedItems.self,
        JoinedAccount.self, KeptAnswer.self,
        KeptContent.self, Member.self, OfficeDayRecord.self, OfficeProfile.self, OfficeVisit.self,
        OperatorSession.self, OwnCalendar.self, OwnResource.self, Password.self, PasswordHandout.self, Patient.self,
        PendingSync.self, PersonalEvent.self, PersonalPart.self, PhoneCarrier.self, PlannedEvent.self,
        PushRegistration.self, ResourceName.self, ScheduleItem.self, SecondFactor.self, ServerRecord.self,
        ServiceKey.self, Session.self,
        SignInFailures.self, SignInLink.self, Subscription.self, SyncChannelRow.self, SyncConflictRow.self,
        SyncJournalRow.self, SyncLinkRow.self, SyncOperationRow.self, SyncPositionRow.self, SyncRunRow.self, User.self,
        Webhook.self, WebhookDelivery.self,
    ]

    /// All tables, but for those whose rows are no more than their columns show.
    public static let all: [StoredRecords] =
        types.map { rows(of: $0) } + [
            StoredRecords(schema: "import_sources", condition: "part = 0") { row, transaction in
                ImportedSource(
                    text: try transaction.importSource(
                        ofImport: try row.text(required: "import_id"), block: try row.integer(required: "block")))
            }
        ]

    fileprivate let schema: SchemaTable
    /// The values that a query computes in addition to the columns.
    fileprivate var computed: [String] = []
    /// Which rows are read.
    fileprivate var condition: String?
    fileprivate let read: @Sendable (SQLRow, any ReadTransaction) throws -> any Sendable

    public var name: String { schema.name }

    private static func rows<Record: StoredRow>(of type: Record.Type) -> StoredRecords {
        StoredRecords(
            schema: Record.schema, computed: Record.table.columns.filter { !$0.isStored }.map(\.name)
        ) { row, _ in try Record(row) }
    }

    /// The numbers that a record's column may hold; nil where its description does not say so.
    static func range(_ table: String, _ column: String) -> ClosedRange<Int>? {
        func range<Record: StoredRow>(_ type: Record.Type) -> ClosedRange<Int>? {
            guard Record.schema.name.isSameText(as: table) else { return nil }
            return Record.table.columns.first { $0.name.isSameText(as: column) }?.range
        }
        return types.lazy.compactMap { range($0) }.first
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

/// The part of a file that one block of an import read.
public struct ImportedSource: Sendable {
    public let text: String
}

extension ReadTransaction {
    /// Returns some rows of a table in the order of their places, after a given place; a row that cannot be read is an
    /// error of its own.
    ///
    /// - Parameter position: nil for the first rows.
    public func records(
        of table: StoredRecords, after position: StoredRecords.Position?, limit: Int
    ) throws -> [(position: StoredRecords.Position, record: Result<any Sendable, StorageError>)] {
        // Numbers of rows take less time; a clustered table has only its key.
        let key = hasRowNumbers && !table.schema.isClustered ? ["rowid"] : table.schema.key
        var conditions = table.condition.map { [$0] } ?? []
        if let position {
            conditions.append("(\(key.joined(separator: ", "))) > (\(SQLText.parameters(position.values.count)))")
        }
        let condition = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let positions = key.enumerated().map { "\($1) AS row_place_\($0)" }.joined(separator: ", ")
        let arguments = position?.values ?? []
        let rows = try rows(
            """
            SELECT \(positions), *\(table.computed.map { ", 0 AS \($0)" }.joined()) FROM \(table.name) \(condition)
            ORDER BY \(key.joined(separator: ", ")) LIMIT $\(arguments.count + 1)
            """, arguments + [.integer(limit)])
        return try rows.map { row in
            let position = StoredRecords.Position(
                values: try key.indices.map { index in
                    let column = "row_place_\(index)"
                    return try row.integer(column).map(SQLValue.integer) ?? .text(try row.text(required: column))
                })
            do {
                return (position, .success(try table.read(row, self)))
            } catch let error as StorageError {
                return (position, .failure(error))
            }
        }
    }
}
