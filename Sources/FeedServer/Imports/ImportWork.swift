// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What an import does once its file is here: it is looked at, then stored, all of it or nothing.
struct ImportWork: Sendable {
    let services: Services
    let id: String
    let circleID: String
    let caller: Identity
    let actor: AuditActor

    /// How many blocks of a preview are stored at once: few enough that nobody waits long for the database.
    private static let group = 20

    /// Reads a file and keeps what it says, for a commit to come.
    func preview(_ upload: ImportUpload, isKnown: Bool) async throws -> ImportRecord {
        let reading = try await read(upload, share: 0.6)
        if !isKnown { try await insert() }
        let now = services.now()
        var plan = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            let index = try ImportIndex(reading.events, zone: try circle.zone.rules, in: transaction)
            return try ImportPlan(index, circle: circle, importedBy: caller.userID, now: now)
        }
        let blocks = reading.events.blocks
        for first in stride(from: 0, to: blocks, by: Self.group) {
            let before = plan
            plan = try await services.store.record { transaction in
                var plan = before
                for block in first..<min(first + Self.group, blocks) {
                    let packed = try reading.events.packed(block, in: transaction)
                    let items = try plan.decide(
                        try ImportBlock.events(packed), first: block * ImportBlock.size, in: transaction)
                    try transaction.putItems(
                        ofImport: id, block: block, items: try Self.json(items),
                        source: String(decoding: packed, as: UTF8.self))
                }
                return plan
            }
            services.importDesk.tell(id, .reading, 0.6 + 0.4 * Double(first) / Double(max(blocks, 1)))
        }
        let tally = plan.tally
        return try await services.store.record { transaction in
            _ = try Rights.circle(circleID, for: caller, .write, in: transaction)
            var record = try Self.record(id, in: transaction)
            record.stage = nil
            record.source = Self.text(reading.summary)
            try Self.report(&record, tally, reading.summary)
            try transaction.putImport(record)
            return record
        }
    }

    /// Reads a file and brings it in at once.
    func commit(_ upload: ImportUpload, isKnown: Bool) async throws -> ImportRecord {
        let reading = try await read(upload, share: 0.5)
        services.importDesk.tell(id, .committing, 0.5)
        let now = services.now()
        return try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            var record = isKnown ? try Self.record(id, in: transaction) : new(now: now)
            try transaction.putImport(record)
            try apply(reading, to: &record, circle, excluded: [], share: 0.5, in: transaction, now: now)
            return record
        }
    }

    /// Brings in what a preview kept.
    ///
    /// - Parameter check: throws when the import is not in a state for it.
    func commit(
        excluding excluded: Set<String>, _ check: @escaping @Sendable (ImportRecord) throws -> Void
    ) async throws -> ImportRecord {
        let now = services.now()
        return try await services.store.write { transaction in
            var record = try Self.record(id, in: transaction)
            let circle = try Rights.circle(record.circleID, for: caller, .write, in: transaction)
            transaction.concerns(circle: circle.id)
            try check(record)
            let reading: ImportReading
            if record.source.utf8.first == UInt8(ascii: "{") {
                reading = try ImportReading(try ImportSource(stored: record.source))
            } else {
                var reader = PackReader(Array(record.source.utf8))
                let summary = try ImportSummary(&reader)
                reading = ImportReading(
                    summary: summary, events: .stored(importID: id, blocks: summary.blocks))
            }
            try apply(reading, to: &record, circle, excluded: excluded, share: 1, in: transaction, now: now)
            return record
        }
    }

    /// - Parameter share: of the whole work, which ends with this.
    private func apply(
        _ reading: ImportReading, to record: inout ImportRecord, _ circle: Circle, excluded: Set<String>,
        share: Double, in transaction: any WriteTransaction, now: Int
    ) throws {
        let index = try ImportIndex(reading.events, zone: try circle.zone.rules, in: transaction)
        var plan = try ImportPlan(
            index, circle: circle, importedBy: record.importedBy, excluded: excluded, now: now)
        var changes = 0
        for block in 0..<reading.events.blocks {
            let events = try ImportBlock.events(try reading.events.packed(block, in: transaction))
            let items = try plan.decide(events, first: block * ImportBlock.size, in: transaction)
            try transaction.putImportedEvents(items.compactMap(\.record))
            let made = items.compactMap(\.madeChange)
            try transaction.insert(made, ofImport: id, from: changes)
            changes += made.count
            try transaction.putItems(ofImport: id, block: block, items: try Self.json(items), source: "")
            services.importDesk.tell(
                id, .committing, 1 - share + share * Double(block + 1) / Double(reading.events.blocks))
        }
        guard let unknown = plan.unmetExclusions.min() else {
            record.state = .committed
            record.stage = nil
            record.problem = nil
            record.committedAt = now
            record.source = ""
            try Self.report(&record, plan.tally, reading.summary)
            try transaction.putImport(record)
            if changes > 0 { try transaction.touchCircle(circle.id, now: now) }
            try AuditTrail.note(.importCommitted, id, circle: circle.id, by: actor, in: transaction, now: now)
            return
        }
        throw Refusal.invalid("/exclude", "The import has no item \(unknown.prefix(64)).")
    }

    private func read(_ upload: ImportUpload, share: Double) async throws -> ImportReading {
        let circle = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        let (desk, id) = (services.importDesk, id)
        return try await services.importReader.read(upload, assumedTimeZone: circle.timeZone) { part in
            desk.tell(id, .reading, part * share)
        }
    }

    /// Notes that the import is under way.
    func insert() async throws {
        let record = new(now: services.now())
        try await services.store.record { try $0.putImport(record) }
    }

    private func new(now: Int) -> ImportRecord {
        var record = ImportRecord(
            id: id, circleID: circleID, state: .previewed, importedBy: caller.userID, report: "", source: "",
            createdAt: now)
        record.stage = .reading
        return record
    }

    private static func record(_ id: String, in transaction: any ReadTransaction) throws -> ImportRecord {
        guard let record = try transaction.importRecord(id) else { throw Refusal.notFound }
        return record
    }

    private static func json(_ items: [ImportPlan.Item]) throws -> String {
        try JSONValue.array(items.map(\.json)).text()
    }

    private static func report(_ record: inout ImportRecord, _ tally: ImportTally, _ summary: ImportSummary) throws {
        record.outline = try tally.outline(summary).text()
        record.report = try tally.details(summary).text()
    }

    private static func text(_ summary: ImportSummary) -> String {
        var writer = PackWriter()
        summary.write(to: &writer)
        return writer.text
    }
}

extension ImportPlan.Item {
    /// What is stored of it, and the way back.
    fileprivate var madeChange: ImportChange? {
        record.map {
            ImportChange(
                uid: $0.uid, recurrenceID: $0.recurrenceID, contentBefore: contentBefore, contentAfter: $0.content)
        }
    }
}
