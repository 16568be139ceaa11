// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import OfficeDays
package import Storage

/// Reads every stored row as the server does, for `restore` and `doctor`.
package enum StoredRows {
    private static let page = 500

    /// Returns the first faults: those of types and ranges, or otherwise those of the content; empty for a sound
    /// database.
    package static func faults(
        in store: any Store, _ maintenance: any StoreMaintenance, _ kinds: ItemKinds
    ) async throws -> [StoredFault] {
        var faults = try await maintenance.valueFaults()
        // If a value has the wrong type, nothing else can be relied on.
        guard faults.isEmpty else { return faults }
        for table in StoredRecords.all {
            var position: StoredRecords.Position?
            reading: while faults.count < StoredFault.limit {
                // Reading page by page keeps transactions short, so that the write-ahead log can be emptied, and memory
                // small.
                let from = position
                let found = try await store.read { transaction in
                    let rows = try transaction.records(of: table, after: from, limit: page)
                    return (
                        rows.last?.position,
                        rows.compactMap { row in
                            fault(row.record, kinds).map {
                                StoredFault(table: table.name, row: row.position.description, reason: $0)
                            }
                        }
                    )
                }
                faults += found.1
                guard let last = found.0 else { break reading }
                position = last
            }
        }
        return Array(faults.prefix(StoredFault.limit))
    }

    /// Returns what is wrong with a row, in words that reveal nothing about the stored data.
    private static func fault(_ record: Result<any Sendable, StorageError>, _ kinds: ItemKinds) -> String? {
        switch record {
        case .failure(let error): return error.description
        case .success(let record):
            do {
                try check(record, kinds)
                return nil
            } catch let fault as StoredContent.Fault {
                return fault.description
            } catch {
                return "its content is not as Kalends writes it"
            }
        }
    }

    private static func check(_ record: any Sendable, _ kinds: ItemKinds) throws {
        switch record {
        case let circle as Circle:
            try StoredContent.require(TimeZoneReference(circle.timeZone) != nil, "its time zone is unknown")
            try StoredContent.require(Identifier.isValid(circle.id), "its id is not a valid one")
        case let member as Member:
            try StoredContent.require(Identifier.isValid(member.userID), "its id is not a valid one")
        case let item as ScheduleItem: try StoredContent.check(item, kinds)
        case let occurrence as ChangedOccurrence: try StoredContent.check(occurrence)
        case let kept as KeptContent: try StoredContent.check(kept, kinds)
        case let feed as Feed: try StoredContent.checkFeed(feed, kinds)
        case let event as ImportedEventRecord: try StoredContent.checkEvent(event.content)
        case let record as ImportRecord:
            if !record.report.isEmpty { _ = try Imports.Details(stored: record.report) }
            if let outline = record.outline { _ = try Imports.Outline(stored: outline) }
            if let problem = record.problem { _ = try JSONValue(parsing: problem.utf8) }
        case let block as ImportedItems: _ = try [Marked<Imports.Item>](stored: block.items)
        case let source as ImportedSource: _ = try ImportBlock.events(Array(source.text.utf8))
        case let change as ImportChange:
            if let content = change.contentBefore { try StoredContent.checkEvent(content) }
        case let entry as AuditEntry: _ = try JSONValue(parsing: Array(entry.detail.utf8))
        case let key as ServiceKey:
            let names = key.scopes?.split(separator: " ").map(String.init) ?? []
            try StoredContent.require(names.allSatisfy { Scope(rawValue: $0) != nil }, "it has an unknown scope")
            if case .circles(let ids)? = try key.bound {
                try StoredContent.require(ids.allSatisfy(Identifier.isValid), "its circles are not valid ids")
            }
        case let own as Connection: try StoredContent.checkConnection(own, kinds)
        case let row as SyncLinkRow: try StoredContent.check(row)
        case let row as SyncOperationRow: try StoredContent.checkOperation(row.key, row.content)
        case let row as SyncPositionRow: try StoredContent.checkPosition(row.content)
        case let row as SyncRunRow: try StoredContent.check(row)
        case let row as SyncConflictRow: try StoredContent.check(row)
        case let row as SyncJournalRow: try StoredContent.check(row)
        case let row as SyncChannelRow: try StoredContent.check(row)
        case let profile as OfficeProfile: try StoredContent.check(profile)
        case let day as OfficeDayRecord: try StoredContent.check(day)
        case let visit as OfficeVisit:
            try StoredContent.require(Visit(visit) != nil, "it is not a visit that can be counted")
        case let user as User: try StoredContent.check(zone: user.timeZone)
        case let event as PersonalEvent:
            try StoredContent.check(event)
            try StoredContent.checkPlaces(of: event)
        case let event as PlannedEvent: try StoredContent.check(event)
        case let password as AppPassword:
            try StoredContent.require(
                ([password.userID] + (password.circleIDs ?? [])).allSatisfy(Identifier.isValid),
                "an id in it is not a valid one")
        case let calendar as OwnCalendar:
            try StoredContent.require(!calendar.components.isEmpty, "it may hold nothing")
        case let resource as OwnResource: try StoredContent.check(resource)
        default: break
        }
    }
}
