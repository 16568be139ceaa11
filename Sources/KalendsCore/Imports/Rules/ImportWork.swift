// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The work of an import after its file has arrived: the file is read, and then stored completely or not at all.
///
/// Only the acts that begin it make one, so that it exists only for a caller whose right in the circle was checked; what
/// it reads checks no right again, and each act with which it writes checks it in its own transaction.
package struct ImportWork: Sendable {
    private let context: ImportContext
    package let id: String
    private let circleID: String
    private let caller: Caller
    private let choice: ImportChoice

    /// Counts a file that has arrived, and notes its import as under way; throws 429 if the circle has used up its quota
    /// for the day.
    static func begin(
        _ id: String, in circle: String, for caller: Caller, choosing choice: ImportChoice, bytes: Int,
        _ context: ImportContext
    ) async throws -> ImportWork {
        let quota = ImportQuota(context, for: caller.identity, circle: circle)
        return try await context.acts.act(on: actTarget(for: circle), for: caller) { act in
            try quota.note(bytes: bytes, now: act.now, in: act.transaction)
            var record = ImportRecord(
                id: id, circleID: act.target.id, state: .previewed, importedBy: caller.userID, report: "", source: "",
                createdAt: act.now)
            record.stage = .reading
            try act.transaction.putImport(record)
            let work = ImportWork(context: context, id: id, circleID: act.target.id, caller: caller, choice: choice)
            return .unnoted("An import is noted when it changes something.", work)
        }
    }

    /// Notes that a preview is being committed, so that nobody else commits it; throws 409 for any other import.
    ///
    /// - Parameter isHeld: whether no other server works on the import.
    static func resume(
        _ id: String, for caller: Caller, choosing choice: ImportChoice, isHeld: Bool, _ context: ImportContext
    ) async throws -> ImportWork {
        try await context.acts.act(
            on: .import(id, .write, touchingNoFeed: "No feed shows anything from an import before it is committed."),
            for: caller
        ) { act in
            try act.target.checkCommittable()
            guard isHeld else { throw Refusal.importState("This import is already being committed.") }
            try act.transaction.setStage(.committing, ofImport: id)
            let work = ImportWork(
                context: context, id: id, circleID: act.target.circleID, caller: caller, choice: choice)
            return .unnoted("The commit is noted when it is done.", work)
        }
    }

    /// Reads a file and stores its content for a later commit.
    func preview(_ upload: ImportUpload) async throws {
        let reading = try await read(upload, share: 0.6)
        let plan = try await plan(reading, importedBy: caller.userID, excluded: [])
        // None of the circle's events are written: only the preview itself is staged.
        var staging = EventStaging(plan.circle, context.store)
        do {
            var drafts = ImportDrafts(reading.events, for: plan, payer: caller.payer, context)
            while var group = try await drafts.next(after: &staging) {
                for block in group.blocks { keep(block.packed, as: block.first, &staging) }
                while let (first, items) = try await plan.decide(&group, context.store) {
                    try keep(items, from: first, &staging)
                    if staging.isFull { try await staging.write() }
                    context.registry.reportProgress(
                        id, .reading, 0.6 + 0.4 * Double(group.first) / Double(reading.events.count))
                }
            }
            try await staging.finish()
        } catch {
            await staging.settle()
            throw error
        }
        let counts = plan.counts
        try await context.acts.act(on: Self.actTarget(for: circleID), for: caller) { act in
            var record = try Self.record(id, in: act.transaction)
            record.stage = nil
            record.source = Self.text(reading.summary)
            try Self.report(&record, counts, reading.summary, plan)
            try act.transaction.putImport(record)
            return .unnoted("A preview changes nothing; its commit is noted.", ())
        }
    }

    /// Reads a file and imports it at once.
    func commit(_ upload: ImportUpload) async throws {
        let reading = try await read(upload, share: 0.5)
        context.registry.reportProgress(id, .committing, 0.5)
        try await context.turns.alone(in: circleID) {
            try await apply(reading, importedBy: caller.userID, base: 0, excluded: [], share: 0.5)
        }
    }

    /// Imports the content of a stored preview, which has been marked as under way.
    func commit(excluding excluded: Set<ByteString>) async throws {
        try await context.turns.alone(in: circleID) {
            let record = try await context.store.read { try Self.record(id, in: $0) }
            // These are left over from an interrupted commit.
            try await context.store.recordRepeatedly { try $0.trimItems(ofImport: id, limit: $1) }
            try await apply(
                try Self.reading(record), importedBy: record.importedBy, base: ImportRecord.span, excluded: excluded,
                share: 1)
        }
    }

    /// - Parameters:
    ///   - base: the number of the first block of items.
    ///   - share: the part of the whole work that this step is; it is the last step.
    private func apply(
        _ reading: ImportReading, importedBy: String?, base: Int, excluded: Set<ByteString>, share: Double
    ) async throws {
        try await EventStaging.discard(in: circleID, context.store)
        let plan = try await plan(reading, importedBy: importedBy, excluded: excluded)
        var staging = EventStaging(plan.circle, context.store)
        do {
            try await stage(reading, plan, base: base, share: share, &staging)
            if let unknown = plan.unmetExclusion {
                throw Refusal.invalid(
                    "/exclude", code: .unknownReference, "The import has no item \(unknown.prefix(64)).")
            }
            try await publish(staging, plan, reading.summary, base: base)
        } catch {
            try? await staging.discard()
            throw error
        }
    }

    private func stage(
        _ reading: ImportReading, _ plan: SharedPlan, base: Int, share: Double, _ staging: inout EventStaging
    ) async throws {
        var changes = 0
        var drafts = ImportDrafts(reading.events, for: plan, payer: caller.payer, context)
        while var group = try await drafts.next(after: &staging) {
            while let (first, items) = try await plan.decide(&group, context.store) {
                let made = items.flatMap { $0.stage(&staging) }
                keep(made, from: changes, &staging)
                changes += made.count
                try keep(items, from: base + first, &staging)
                try staging.check(plan.sources, limits)
                if staging.isFull { try await staging.write() }
                context.registry.reportProgress(
                    id, .committing, 1 - share + share * Double(group.first) / Double(reading.events.count))
            }
        }
        try await staging.finish()
    }

    /// Publishes the import for everybody at once.
    private func publish(
        _ staging: EventStaging, _ plan: SharedPlan, _ summary: ImportSummary, base: Int
    ) async throws {
        let counts = plan.counts
        try await context.acts.act(on: .circle(circleID, .write), for: caller) { act in
            let transaction = act.transaction
            var record = try Self.record(id, in: transaction)
            guard record.state == .previewed, record.stage == .reading || record.stage == .committing else {
                throw Refusal.importState("This import is not being committed.")
            }
            record.state = .committed
            record.stage = nil
            record.problem = nil
            record.committedAt = act.now
            record.source = ""
            record.itemBase = base
            try Self.report(&record, counts, summary, plan)
            try transaction.putImport(record)
            try staging.publish(in: transaction, within: limits, now: act.now) {
                try ScheduleWriter(
                    circle: act.circle, quotas: context.settings.quotas.clamped(to: caller.identity),
                    transaction: transaction, now: act.now)
            }
            if staging.count > 0 { try transaction.forgetValidators(in: circleID) }
            return ActResult(noting: AuditNote(.importCommitted, id))
        }
        context.tidying.afterImport(id, in: circleID)
    }

    private func plan(
        _ reading: ImportReading, importedBy: String?, excluded: Set<ByteString>
    ) async throws -> SharedPlan {
        let index = try await reading.index(in: try await context.store.read(circle(in:)), context.store)
        let (now, limits) = (context.now(), limits)
        return try await context.store.read { transaction in
            let before = try transaction.importRecord(id)?.choice
            let owner = try ImportOwner(
                .person(importedBy), index, try circle(in: transaction),
                todos: choice.todos ?? before?.todos ?? .keep, in: transaction)
            let extras = choice.extras ?? before?.extras ?? []
            return SharedPlan(try ImportPlan(owner, limits: limits, keeping: extras, excluded: excluded, now: now))
        }
    }

    private var limits: EventLimits {
        context.settings.eventLimits.clamped(to: caller.identity, context.settings.quotas)
    }

    private func read(_ upload: ImportUpload, share: Double) async throws -> ImportReading {
        let circle = try await context.store.read(circle(in:))
        let (registry, id) = (context.registry, id)
        let reading = try await context.reader.read(upload, in: circle) { part in
            registry.reportProgress(id, .reading, part * share)
        }
        try await ImportQuota(context, for: caller.identity, circle: circleID).check(events: reading.summary.events)
        return reading
    }

    /// A circle whose feeds do not change before an import is committed.
    private static func actTarget(for circle: String) -> ActTarget<Circle> {
        .circle(circle, .write, touchingNoFeed: "No feed shows anything from an import before it is committed.")
    }

    private func circle(in transaction: any ReadTransaction) throws -> Circle {
        guard let circle = try transaction.circle(circleID) else { throw Refusal.missing(.circle) }
        return circle
    }

    private static func record(_ id: String, in transaction: any ReadTransaction) throws -> ImportRecord {
        guard let record = try transaction.importRecord(id) else { throw Refusal.missing(.import) }
        return record
    }
}

// MARK: What is stored of an import

extension ImportWork {
    /// The maximum size in bytes of a file's content in one row.
    private static let part = 128 << 10

    private func keep(_ items: [ImportPlan.Item], from first: Int, _ staging: inout EventStaging) throws {
        for start in stride(from: 0, to: items.count, by: ImportBlock.size) {
            let text = try items[start...].prefix(ImportBlock.size).map {
                Marked(value: Imports.Item($0), isShared: $0.isShared, storedUID: $0.storedUID)
            }.text()
            let block = first + start
            staging.add(bytes: text.utf8.count) { [id] in try $0.putItems(ofImport: id, block: block, items: text) }
        }
    }

    /// Stores what is needed to undo the changes, many rows per statement.
    private func keep(_ changes: [ImportChange], from first: Int, _ staging: inout EventStaging) {
        var (start, index, bytes) = (0, 0, 0)
        func cut(_ end: Int) {
            guard end > start else { return }
            let (group, number) = (Array(changes[start..<end]), first + start)
            staging.add(bytes: bytes) { [id] in try $0.insert(group, ofImport: id, from: number) }
            (start, bytes) = (end, 0)
        }
        while index < changes.count {
            bytes += changes[index].contentBefore?.utf8.count ?? 0
            index += 1
            if index - start == 25 || bytes > 256 << 10 { cut(index) }
        }
        cut(index)
    }

    private func keep(_ packed: [UInt8], as block: Int, _ staging: inout EventStaging) {
        var rest = packed[...]
        var number = 0
        while !rest.isEmpty {
            var length = min(rest.count, Self.part)
            // A part must not end within a character.
            while length < rest.count, rest[rest.startIndex + length] & 0xC0 == 0x80 { length += 1 }
            let (text, part) = (String(decoding: rest.prefix(length), as: UTF8.self), number)
            staging.add(bytes: length) { [id] in try $0.putSource(ofImport: id, block: block, part: part, text) }
            rest = rest.dropFirst(length)
            number += 1
        }
    }

    private static func reading(_ record: ImportRecord) throws -> ImportReading {
        var reader = PackReader(Array(record.source.utf8))
        let summary = try ImportSummary(&reader)
        return ImportReading(
            summary: summary, events: ImportEvents(place: .stored(importID: record.id), count: summary.events))
    }

    private static func report(
        _ record: inout ImportRecord, _ counts: ImportCounts, _ summary: ImportSummary, _ plan: SharedPlan
    ) throws {
        record.outline = try counts.outline(summary).text()
        record.report = try counts.details(summary, plan.index, plan.choice).text()
    }

    private static func text(_ summary: ImportSummary) -> String {
        var writer = PackWriter()
        summary.write(to: &writer)
        return writer.text
    }
}

extension ImportRecord {
    fileprivate func checkCommittable() throws {
        switch stage {
        case .reading:
            throw Refusal(.conflict, code: .importState, detail: "This import is still being read.", retryAfter: 2)
        case .committing: throw Refusal.importState("This import is already being committed.")
        case .readFailed, .forgotten: throw Refusal.importState("This import failed; its file was not read.")
        case .commitFailed, nil:
            guard state == .previewed else { throw Refusal.importState("This import is already \(state.rawValue).") }
        }
    }

    /// What the importer chose for the preview.
    fileprivate var choice: ImportChoice? {
        get throws {
            guard !report.isEmpty else { return nil }
            let details = try Imports.Details(stored: report)
            return ImportChoice(extras: Set(details.keep), todos: details.todos)
        }
    }
}

extension ImportPlan.Item {
    /// Writes the item's row; returns the changes, with what is needed to undo them.
    fileprivate func stage(_ staging: inout EventStaging) -> [ImportChange] {
        guard let record else { return [] }
        staging.put(record, replaces: before != nil)
        var changes = [ImportChange(record.key, before: before, after: .digest(StoredEvent.digest(record.content)))]
        if let former {
            staging.end(former.key)
            changes.append(ImportChange(former.key, before: former, after: .gone))
        }
        return changes
    }
}
