// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// Checks of the engine's records: this version can read each of them, it agrees with the columns beside it, and no
/// number in it makes a sum overflow.
extension StoredContent {
    static let contradiction = "its record belongs to something else"

    /// Checks the numbers of a record, and then reads it as the engine does.
    static func record<Record: Decodable>(_ text: String) throws -> Record {
        try checkNumbers(of: text)
        return try storedRecord(text)
    }

    static func check(_ row: SyncLinkRow) throws {
        let link: Link = try record(row.content)
        try require(
            link.item.collection.rawValue.isSameText(as: row.collection) && link.item.id.isSameText(as: row.itemID)
                && (link.item.occurrence?.basic ?? "").isSameText(as: row.occurrence)
                && link.state.rawValue.isSameText(as: row.state), contradiction)
    }

    static func check(_ row: SyncRunRow) throws {
        let run: RunRecord = try record(row.content)
        try require(
            run.id.isSameText(as: row.id) && run.state.rawValue.isSameText(as: row.state.rawValue), contradiction)
    }

    static func check(_ row: SyncConflictRow) throws {
        let conflict: ConflictRecord = try record(row.content)
        try require(
            conflict.id.isSameText(as: row.id) && (conflict.state == .open) == row.isOpen
                && conflict.item.collection.rawValue.isSameText(as: row.collection)
                && conflict.item.id.isSameText(as: row.itemID), contradiction)
    }

    static func check(_ row: SyncJournalRow) throws {
        let entry: JournalEntry = try record(row.content)
        try require(
            entry.id.isSameText(as: row.id) && entry.run.isSameText(as: row.runID)
                && entry.direction.rawValue.isSameText(as: row.direction)
                && entry.change.rawValue.isSameText(as: row.change), contradiction)
    }

    static func check(_ row: SyncChannelRow) throws {
        let channel: WatchChannel = try record(row.content)
        try require(channel.id.isSameText(as: row.id), contradiction)
    }

    static func checkOperation(_ key: String, _ content: String) throws {
        let operation: CalendarSync.Operation = try record(content)
        try require(operation.key.isSameText(as: key), contradiction)
    }

    static func checkPosition(_ content: String) throws { let _: Position = try record(content) }
}
