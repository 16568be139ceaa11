// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Undoes an import: what was there before is restored, all of it at once, except for events that were edited since.
package struct ImportUndo: Sendable {
    let context: ImportContext
    let caller: Caller

    /// How many changes are processed together.
    private static let group = 200
    /// The maximum number of events that are listed as kept.
    private static let named = 1000

    /// The events that were edited after the import and are therefore kept.
    package struct Kept: Sendable {
        package struct Item: JSONFormed {
            package var uid = ""
            package var summary: String?
            var reason = "It has been changed since, so it stays as it is."

            package init() {}
            fileprivate init(uid: String, summary: String?) { (self.uid, self.summary) = (uid, summary) }

            package static let form = JSONForm<Self>([
                .init("uid", \.uid), .init("summary", \.summary), .init("reason", \.reason),
            ])
        }

        package var count = 0
        /// The first thousand of these events.
        package var items: [Item] = []

        fileprivate mutating func add(_ change: ImportChange, _ stored: ImportedEventRecord?) throws {
            count += 1
            guard items.count < ImportUndo.named else { return }
            items.append(
                Item(uid: change.uid, summary: try stored.flatMap { try StoredEvent.event($0.content).summary }))
        }
    }

    /// Undoes an import; throws 409 if it is not committed, and 403 for a user if it contains events that are private
    /// to somebody else.
    func undo(_ id: String) async throws -> Kept {
        let circle = try await context.store.read { try record(id, in: $0).1.id }
        return try await context.turns.alone(in: circle) {
            try await EventStaging.discard(in: circle, context.store)
            let (record, circle) = try await context.store.read { try self.record(id, in: $0) }
            var staging = EventStaging(circle, context.store)
            do {
                let kept = try await stage(record, &staging)
                try await publish(id, staging)
                return kept
            } catch {
                try? await staging.discard()
                throw error
            }
        }
    }

    private func record(_ id: String, in transaction: any ReadTransaction) throws -> (ImportRecord, Circle) {
        let (record, circle) = try Rights.import(id, for: caller.identity, .write, in: transaction)
        try Self.checkCommitted(record)
        return (record, circle.circle)
    }

    private static func checkCommitted(_ record: ImportRecord) throws {
        guard record.state == .committed else {
            throw Refusal.importState(
                record.state == .undone ? "This import has already been undone." : "This import was never committed.")
        }
    }

    private func stage(_ record: ImportRecord, _ staging: inout EventStaging) async throws -> Kept {
        var (kept, end) = (Kept(), Int.max)
        let (circle, now) = (staging.circle, context.now())
        let zone = try circle.zone.rules
        while true {
            let last = end
            let page = try await context.store.read { transaction in
                try UndoPage(record, before: last, limit: Self.group, circle, in: transaction)
            }
            guard let position = page.position else { break }
            end = position
            if page.hasPrivate, let user = caller.userID, user != record.importedBy { throw Self.isPrivate }
            for change in page.changes {
                let stored = page.stored[change.key]
                let live = stored.flatMap { $0.isLive ? $0 : nil }
                if StoredEvent.isSame(live?.content, change.change.contentBefore) { continue }
                guard change.change.after.isMet(by: live?.content), try page.hasTask(of: change, live, circle) else {
                    try kept.add(change.change, stored)
                    continue
                }
                if let before = try page.before(change, zone, floor: floor(change.key, page), now: now) {
                    staging.put(before, replaces: live != nil)
                } else {
                    staging.end(change.key)
                }
            }
            if staging.isFull { try await staging.write() }
        }
        try await staging.finish()
        return kept
    }

    private func floor(_ key: ImportedEventRecord.Key, _ page: UndoPage) -> Int {
        page.sources[key.source]?.sequenceFloor ?? 0
    }

    private static let isPrivate = Refusal(
        .forbidden,
        detail: "This import brought in events that are private to the person who made it; only they can undo it.")

    private func publish(_ id: String, _ staging: EventStaging) async throws {
        let circle = staging.circle.id
        try await context.acts.act(on: .circle(circle, .write), for: caller) { act in
            let transaction = act.transaction
            guard var record = try transaction.importRecord(id) else { throw Refusal.missing(.import) }
            try Self.checkCommitted(record)
            record.state = .undone
            record.undoneAt = act.now
            try transaction.putImport(record)
            if staging.count > 0 {
                try staging.publish(in: transaction, within: nil, now: act.now) {
                    try ScheduleWriter(
                        circle: act.circle, quotas: context.settings.quotas.clamped(to: caller.identity),
                        transaction: transaction, now: act.now)
                }
                try transaction.forgetValidators(in: circle)
            }
            return ActResult(noting: AuditNote(.importUndone, id))
        }
        context.tidying.afterImport(id, in: circle)
    }
}

/// Some changes of an import, the last first, with the stored state of their events.
private struct UndoPage: Sendable {
    struct Change: Sendable {
        let change: ImportChange
        let key: ImportedEventRecord.Key
    }

    let changes: [Change]
    /// The position of the earliest of these changes; nil if there are none.
    let position: Int?
    let stored: [ImportedEventRecord.Key: ImportedEventRecord]
    let sources: [EventSource: EventSourceState]
    let hasPrivate: Bool
    /// The tasks made from to-dos, by UID.
    private let tasks: [ByteString: ScheduleItem]
    private let record: ImportRecord
    private let taken: Set<ByteString>

    init(
        _ record: ImportRecord, before end: Int, limit: Int, _ circle: Circle, in transaction: any ReadTransaction
    ) throws {
        self.record = record
        sources = try transaction.eventSources(in: circle.id)
        var found = try transaction.changes(ofImport: record.id, before: end, limit: limit)
        let own = EventSource.own(record.importedBy)
        let keys = found.map { ($0.change.uid, $0.change.recurrenceID) }
        // What is stored now may be longer than what was there before.
        let sizes = try transaction.importedSizes(keys, of: [.shared, own, .tasks], in: circle)
        found = Array(found.prefix(sizes.fitting(ImportOwner.mostRead) { $0 }.count))
        position = found.last?.position
        stored = try transaction.importedVersions(
            Array(keys.prefix(found.count)), of: [.shared, own, .tasks], in: circle)
        changes = found.map { change, _ in
            Change(
                change: change,
                key: ImportedEventRecord.Key(change.source, uid: change.uid, recurrenceID: change.recurrenceID))
        }
        hasPrivate = changes.contains { $0.key.source == own }
        tasks = try transaction.importedTasks(
            changes.filter { $0.key.source == .tasks }.map(\.change.uid), in: circle.id)
        let restored = changes.filter { $0.change.contentBefore != nil && $0.key.source == .shared }.map(\.change.uid)
        taken = Set(
            try transaction.sameUIDEvents(restored, of: .shared, visibleTo: nil, in: circle)
                // The row of a task goes with the same undo.
                .filter { $0.visibleTo == nil && $0.shownUID == nil && $0.source != .tasks }.map(\.uid))
    }

    /// Whether the task made from a to-do is as the import left it; true for what is not a task.
    ///
    /// - Parameter live: the row of the to-do.
    func hasTask(of change: Change, _ live: ImportedEventRecord?, _ circle: Circle) throws -> Bool {
        guard change.key.source == .tasks else { return true }
        guard let live else { return tasks[change.key.uid] == nil }
        // A task that was deleted need not be deleted again.
        guard let task = tasks[change.key.uid] else { return change.change.contentBefore == nil }
        return try TaskContent(stored: task.content).says(
            try StoredEvent.event(live.content), in: try circle.zone)
    }

    /// Returns the row that restores the earlier content, with a revision above all that were shown since; nil if there
    /// was not an event.
    func before(
        _ change: Change, _ zone: any TimeZoneRules, floor: Int, now: Int
    ) throws -> ImportedEventRecord? {
        guard let content = change.change.contentBefore else { return nil }
        let (event, known, origin) = (try StoredEvent.event(content), stored[change.key], change.change.before)
        let span = event.span(floatingIn: zone)
        var row = ImportedEventRecord(
            circleID: record.circleID, source: change.key.source, uid: change.change.uid,
            recurrenceID: change.change.recurrenceID, startsAt: span.start, endsAt: span.end,
            fingerprint: event.fingerprint(floatingIn: zone), content: content,
            fileSequence: origin?.fileSequence ?? known?.fileSequence ?? 0,
            fileModifiedAt: origin.map(\.fileModifiedAt) ?? known?.fileModifiedAt,
            importedBy: origin.map(\.importedBy) ?? known?.importedBy, now: now)
        row.createdAt = known?.createdAt ?? now
        row.sequence = max(floor, (known?.sequence ?? -1) + 1)
        row.visibleTo = [.shared, .tasks].contains(change.key.source) ? nil : record.importedBy ?? ""
        row.shownUID = known?.shownUID ?? origin?.shownUID
        if row.shownUID == nil, known?.isLive != true, taken.contains(ByteString(row.uid)) {
            row.shownUID = StoredEvent.derivedUID(row.uid, of: row.source)
        }
        return row
    }
}

extension ImportChange.After {
    /// Whether the event is as the import left it.
    fileprivate func isMet(by content: String?) -> Bool {
        switch self {
        case .gone: content == nil
        case .digest(let digest): content.map { StoredEvent.digest($0).isSameText(as: digest) } ?? false
        }
    }
}
