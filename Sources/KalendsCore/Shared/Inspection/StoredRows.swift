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
        for table in StoredRecord.Table.allCases {
            var position: StoredRecord.Position?
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

    /// Returns what is wrong with a row, in words that reveal nothing of what is stored.
    private static func fault(_ record: Result<StoredRecord, StorageError>, _ kinds: ItemKinds) -> String? {
        switch record {
        case .failure(let error): return error.description
        case .success(let record):
            do {
                try check(record, kinds)
                return nil
            } catch let fault as StoredContent.Fault {
                return fault.description
            } catch {
                return "what it holds is not as Kalends writes it"
            }
        }
    }

    private static func check(_ record: StoredRecord, _ kinds: ItemKinds) throws {
        switch record {
        case .circle(let circle):
            try StoredContent.require(TimeZoneReference(circle.timeZone) != nil, "its time zone is unknown")
            try StoredContent.require(Identifier.isValid(circle.id), "its id is not a valid one")
        case .member(let member):
            try StoredContent.require(Identifier.isValid(member.userID), "its id is not a valid one")
        case .item(let item): try StoredContent.check(item, kinds)
        case .occurrence(let occurrence): try StoredContent.check(occurrence)
        case .keptContent(let kept): try StoredContent.check(kept, kinds)
        case .feed(let feed): try StoredContent.checkFeed(feed, kinds)
        case .importedEvent(let event): try StoredContent.checkEvent(event.content)
        case .importRecord(let record):
            if !record.report.isEmpty { _ = try Imports.Details(stored: record.report) }
            if let outline = record.outline { _ = try Imports.Outline(stored: outline) }
            if let problem = record.problem { _ = try JSONValue(parsing: problem.utf8) }
        case .importBlock(let items): _ = try [Marked<Imports.Item>](stored: items)
        case .importSource(let source): _ = try ImportBlock.events(Array(source.utf8))
        case .importChange(let change):
            if let content = change.contentBefore { try StoredContent.checkEvent(content) }
        case .audit(let entry): _ = try JSONValue(parsing: Array(entry.detail.utf8))
        case .serviceKey(let key):
            let names = key.scopes?.split(separator: " ").map(String.init) ?? []
            try StoredContent.require(names.allSatisfy { Scope(rawValue: $0) != nil }, "it has an unknown scope")
            if case .circles(let ids)? = try key.bound {
                try StoredContent.require(ids.allSatisfy(Identifier.isValid), "its circles are not valid ids")
            }
        case .connection(let own): try StoredContent.checkConnection(own, kinds)
        case .syncLink(let row): try StoredContent.check(row)
        case .syncOperation(let key, let content): try StoredContent.checkOperation(key, content)
        case .syncPosition(let content): try StoredContent.checkPosition(content)
        case .syncRun(let row): try StoredContent.check(row)
        case .syncConflict(let row): try StoredContent.check(row)
        case .syncJournal(let row): try StoredContent.check(row)
        case .syncChannel(let row): try StoredContent.check(row)
        case .officeProfile(let profile): try StoredContent.check(profile)
        case .officeDay(let day): try StoredContent.check(day)
        case .officeVisit(let visit):
            try StoredContent.require(Visit(visit) != nil, "it is not a visit that can be counted")
        case .user(let user): try StoredContent.check(zone: user.timeZone)
        case .personalEvent(let event):
            try StoredContent.check(event)
            try StoredContent.checkPlaces(of: event)
        case .plannedEvent(let event): try StoredContent.check(event)
        case .appPassword(let password):
            try StoredContent.require(
                ([password.userID] + (password.circleIDs ?? [])).allSatisfy(Identifier.isValid),
                "an id in it is not a valid one")
        case .ownCalendar(let calendar):
            try StoredContent.require(!calendar.components.isEmpty, "it may hold nothing")
        case .ownResource(let resource): try StoredContent.check(resource)
        case .collectionProperty, .pendingSync, .subscription, .webhook, .delivery, .change: break
        }
    }
}
