// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import Storage

/// Files that are brought in: a look first, then the commit, then perhaps the way back.
struct ImportRoutes: Sendable {
    let services: Services

    private enum Mode: String, CaseIterable { case preview, commit }

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        let report = Schema.named("ImportReport")
        let file = Schema.object([.required("file", .bytes)])
        routes.on(
            .post, "/v1/circles/{circle}/imports",
            Operation(
                "createImport", "Bring in a calendar file", .circle(.write),
                details: "A preview changes nothing; a commit does at once what a preview shows.",
                query: [.init(name: "mode", schema: Schema.choice(Mode.self).defaulting(to: "preview"))] + .page,
                body: Operation.Body(
                    contents: [("text/calendar", .bytes), ("multipart/form-data", file)], isRequired: true),
                [.created(report)]), post)
        routes.on(
            .get, "/v1/imports/{id}",
            Operation("getImport", "Read an import's report", .import(.read), query: .page, [.ok(report)]), get)
        routes.on(
            .post, "/v1/imports/{id}/commit",
            Operation(
                "commitImport", "Do what the preview shows", .import(.write), query: .page,
                body: .json(.named("ImportCommit"), isRequired: false), [.ok(report)], refusals: [409]), commit)
        routes.on(
            .post, "/v1/imports/{id}/undo",
            Operation(
                "undoImport", "Put back what was there before", .import(.write),
                details: "What was edited since stays, and is named.", query: .page, [.ok(report)], refusals: [409]),
            undo)
    }

    @Sendable
    private func post(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        guard let mode = Mode(rawValue: request.uri.queryParameters["mode"].map(String.init) ?? "preview") else {
            throw Refusal.invalid("/query/mode", "This must be preview or commit.")
        }
        let circle = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        let (bytes, charset) = try await file(request)
        let source = try await services.importReader.read(
            bytes, assumedTimeZone: circle.timeZone, charset: charset)
        let stored = mode == .preview ? try storedText(source) : ""
        let id = FeedLedger.makeID()
        let record = try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            let plan = try ImportPlan(source, circle: circle, importedBy: caller.userID, in: transaction, now: now)
            let report = try plan.report(source, zone: try circle.zone.rules).text()
            var record = ImportRecord(
                id: id, circleID: circleID, state: .previewed, importedBy: caller.userID, report: report,
                source: stored, createdAt: now)
            if mode == .commit {
                record.state = .committed
                record.committedAt = now
            }
            try transaction.putImport(record)
            if mode == .commit {
                _ = try plan.apply(toImport: id, circle: circleID, in: transaction, now: now)
            }
            return record
        }
        return try answer(record, request, status: .created)
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.parameter("id"), try context.caller())
        let record = try await services.store.read { try Self.record(id, for: caller, .read, in: $0).0 }
        return try answer(record, request)
    }

    @Sendable
    private func commit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.parameter("id"), try context.caller(), services.now())
        var fields = FieldReader(try await request.json())
        var excluded: Set<String> = []
        if let value = fields.value("exclude") {
            if case .array(let items) = value, items.allSatisfy({ $0.string != nil }) {
                excluded = Set(items.compactMap(\.string))
            } else {
                fields.fault("exclude", "This must be a list of itemIds.")
            }
        }
        fields.finish()
        try fields.check()
        let left = excluded
        let record = try await services.store.write { transaction in
            var (record, circle) = try Self.record(id, for: caller, .write, in: transaction)
            transaction.concerns(circle: circle.id)
            guard record.state == .previewed else {
                throw Refusal.conflict("This import is \(record.state.rawValue) already.")
            }
            let source = try ImportSource(stored: record.source)
            var plan = try ImportPlan(source, circle: circle, importedBy: record.importedBy, in: transaction, now: now)
            let unknown = left.subtracting(plan.items.map(\.id)).sorted()
            guard unknown.isEmpty else {
                throw Refusal.invalid("/exclude", "The import has no item \(unknown[0].prefix(64)).")
            }
            for index in plan.items.indices where left.contains(plan.items[index].id) {
                plan.items[index].change = .skipped
                plan.items[index].reason = "It was excluded."
                plan.items[index].record = nil
            }
            record.state = .committed
            record.committedAt = now
            record.source = ""
            record.report = try plan.report(source, zone: try circle.zone.rules).text()
            try transaction.putImport(record)
            _ = try plan.apply(toImport: id, circle: circle.id, in: transaction, now: now)
            return record
        }
        return try answer(record, request)
    }

    @Sendable
    private func undo(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.parameter("id"), try context.caller(), services.now())
        let (record, kept) = try await services.store.write { transaction in
            var (record, circle) = try Self.record(id, for: caller, .write, in: transaction)
            transaction.concerns(circle: circle.id)
            guard record.state == .committed else {
                throw Refusal.conflict(
                    record.state == .undone ? "This import is undone already." : "This import was never committed.")
            }
            let kept = try ImportUndo.undo(record, circle: circle, in: transaction, now: now)
            record.state = .undone
            record.undoneAt = now
            try transaction.putImport(record)
            return (record, kept)
        }
        return try answer(record, request, extra: ["kept": .array(kept)])
    }

    private static func record(
        _ id: String, for caller: Identity, _ right: Right, in transaction: any ReadTransaction
    ) throws -> (ImportRecord, Circle) {
        guard let record = try transaction.importRecord(id) else { throw Refusal.notFound }
        return (record, try Rights.circle(record.circleID, for: caller, right, in: transaction))
    }

    /// The report with its state, and one page of its items.
    private func answer(
        _ record: ImportRecord, _ request: Request, status: HTTPResponse.Status = .ok, extra: [String: JSONValue] = [:]
    ) throws -> Response {
        let page = try Page(request)
        guard case .object(var report) = try JSONValue(parsing: Array(record.report.utf8)) else {
            throw StorageError.unexpectedResult("A report is no object.")
        }
        let start = Int(page.after) ?? 0
        let items = report["items"]?.array ?? []
        let shown = items.dropFirst(start).prefix(page.limit)
        report["items"] = .array(Array(shown))
        report["nextCursor"] =
            start + shown.count < items.count
            ? .string(Base64URL.encode(Array(String(start + shown.count).utf8))) : .null
        report["id"] = .string(record.id)
        report["circleId"] = .string(record.circleID)
        report["state"] = .string(record.state.rawValue)
        report["createdAt"] = JSONValue(milliseconds: record.createdAt)
        report["committedAt"] = JSONValue(milliseconds: record.committedAt)
        report["undoneAt"] = JSONValue(milliseconds: record.undoneAt)
        report.merge(extra) { _, new in new }
        return try .json(.object(report), status: status)
    }

    /// The file of a request: its body, or the part `file` of a form.
    private func file(_ request: Request) async throws -> (bytes: [UInt8], charset: String?) {
        let limit = services.settings.maxImportBytes
        let type = request.headers[.contentType] ?? ""
        guard type.lowercased().hasPrefix("multipart/form-data") else {
            return (try await request.bytes(limit: limit), Self.charset(type))
        }
        // The form's own lines come on top of the file.
        let body = try await request.bytes(limit: limit + 65_536)
        guard let part = MultipartForm.part(named: "file", of: body, contentType: type) else {
            throw Refusal.badRequest("The form has no part named file.")
        }
        guard part.content.count <= limit else { throw Refusal.tooLarge(limit: limit) }
        return (Array(part.content), part.contentType.flatMap(Self.charset))
    }

    private static func charset(_ contentType: String) -> String? {
        MultipartForm.parameter("charset", of: contentType).flatMap { name in
            name.utf8.count <= 40 && name.utf8.allSatisfy { $0 > 32 && $0 < 127 } ? name : nil
        }
    }
}

extension RouteTable.Section {
    static let imports = Self(
        name: "Imports", about: "Calendar files of other programs: looked at first, then brought in, and taken back.")
}
