// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Logging
import Storage

/// Files that are brought in: a look first, then the commit, then perhaps the way back.
struct ImportRoutes: Sendable {
    let services: Services

    private enum Mode: String, CaseIterable { case preview, commit }

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        let report = Schema.named("ImportReport")
        var accepted = Operation.Reply(
            status: 202, text: "Under way, as `Prefer: respond-async` asked; its report tells how far it is.",
            type: "application/json", schema: report)
        accepted.headers = ["Location", "Preference-Applied"]
        let file = Schema.object([.required("file", .bytes)])
        routes.on(
            .post, "/v1/circles/{circle}/imports",
            Operation(
                "createImport", "Bring in a calendar file", .circle(.write),
                details: "A preview changes nothing; a commit does at once what a preview shows.",
                query: [.init(name: "mode", schema: Schema.choice(Mode.self).defaulting(to: "preview"))] + .page,
                body: Operation.Body(
                    contents: [
                        ("text/calendar", .bytes), ("multipart/form-data", file),
                        ("application/json", .named("ImportByURL")),
                    ], isRequired: true),
                [.created(report), accepted]), post)
        routes.on(
            .get, "/v1/imports/{id}",
            Operation("getImport", "Read an import's report", .import(.read), query: .page, [.ok(report)]), get)
        routes.on(
            .post, "/v1/imports/{id}/commit",
            Operation(
                "commitImport", "Do what the preview shows", .import(.write), query: .page,
                body: .json(.named("ImportCommit"), isRequired: false), [.ok(report), accepted], refusals: [409]),
            commit)
        routes.on(
            .post, "/v1/imports/{id}/undo",
            Operation(
                "undoImport", "Put back what was there before", .import(.write),
                details: "What was edited since stays, and is named.", query: .page, [.ok(report)], refusals: [409]),
            undo)
    }

    @Sendable
    private func post(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller())
        guard let mode = Mode(rawValue: request.uri.queryParameters["mode"].map(String.init) ?? "preview") else {
            throw Refusal.invalid("/query/mode", "This must be preview or commit.")
        }
        let page = try Page(request)
        _ = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        let admission = try services.importDesk.admit(caller.userID)
        let limit = services.settings.maxImportBytes
        let named = try await ImportByURL(fetcher: services.fetcher).upload(request, limit: limit, admission)
        let upload = if let named { named } else { try await ImportUpload(request, limit: limit, admission: admission) }
        let id = FeedLedger.makeID()
        let work = ImportWork(
            services: services, id: id, circleID: circleID, caller: caller, actor: try context.actor())
        guard request.prefersAsync else {
            defer { services.importDesk.forget(id) }
            do {
                let record =
                    switch mode {
                    case .preview: try await work.preview(upload, isKnown: false)
                    case .commit: try await work.commit(upload, isKnown: false)
                    }
                withExtendedLifetime(admission) {}
                return try await answer(record.id, caller, page, status: .created)
            } catch {
                try? await services.store.record { try $0.deleteImport(id) }
                throw error
            }
        }
        try await work.insert()
        try start(id, context.logger) {
            _ =
                switch mode {
                case .preview: try await work.preview(upload, isKnown: true)
                case .commit: try await work.commit(upload, isKnown: true)
                }
            withExtendedLifetime(admission) {}
        }
        return try await accepted(id, caller, page)
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.parameter("id"), try context.caller())
        return try await answer(id, caller, try Page(request))
    }

    @Sendable
    private func commit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.parameter("id"), try context.caller())
        let page = try Page(request)
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
        let work = ImportWork(services: services, id: id, circleID: "", caller: caller, actor: try context.actor())
        guard request.prefersAsync else {
            defer { services.importDesk.forget(id) }
            _ = try await work.commit(excluding: left, Self.checkCommittable)
            return try await answer(id, caller, page)
        }
        try await services.store.record { transaction in
            var record = try Self.record(id, for: caller, .write, in: transaction).0
            try Self.checkCommittable(record)
            record.stage = .committing
            record.problem = nil
            try transaction.putImport(record)
        }
        try start(id, context.logger) {
            _ = try await work.commit(excluding: left) { record in
                guard record.stage == .committing else { throw Refusal.conflict("This import is not being committed.") }
            }
        }
        return try await accepted(id, caller, page)
    }

    @Sendable
    private func undo(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.parameter("id"), try context.caller(), services.now())
        let (page, actor) = (try Page(request), try context.actor())
        let kept = try await services.store.write { transaction in
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
            try AuditTrail.note(.importUndone, id, circle: circle.id, by: actor, in: transaction, now: now)
            return kept
        }
        return try await answer(id, caller, page, extra: ["kept": .array(kept)])
    }

    @Sendable
    private static func checkCommittable(_ record: ImportRecord) throws {
        switch record.stage {
        case .reading: throw Refusal.conflict("This import is being read still.")
        case .committing: throw Refusal.conflict("This import is being committed already.")
        case .readFailed: throw Refusal.conflict("This import failed; its file was not read.")
        case .commitFailed, nil:
            guard record.state == .previewed else {
                throw Refusal.conflict("This import is \(record.state.rawValue) already.")
            }
        }
    }

    private static func record(
        _ id: String, for caller: Identity, _ right: Right, in transaction: any ReadTransaction
    ) throws -> (ImportRecord, Circle) {
        guard let record = try transaction.importRecord(id) else { throw Refusal.notFound }
        return (record, try Rights.circle(record.circleID, for: caller, right, in: transaction))
    }

    /// Lets work go on behind the answer; what it ends with stands in the import.
    private func start(_ id: String, _ logger: Logger, _ work: @escaping @Sendable () async throws -> Void) throws {
        let store = services.store
        try services.importDesk.start(id) {
            do {
                try await work()
            } catch {
                guard !Task.isCancelled, let problem = try? ImportFailure.problem(error, logger)?.text() else { return }
                do {
                    try await store.record { try $0.failImport(id, problem: problem) }
                } catch {
                    logger.error("import failed", metadata: ["error": "\(publicText(error))"])
                }
            }
        }
    }

    private func accepted(_ id: String, _ caller: Identity, _ page: Page) async throws -> Response {
        try await answer(
            id, caller, page, status: .accepted,
            headers: [.location: "/v1/imports/\(id)", .preferenceApplied: "respond-async"])
    }

    /// The report with its state, and one page of its items.
    private func answer(
        _ id: String, _ caller: Identity, _ page: Page, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:],
        extra: [String: JSONValue] = [:]
    ) async throws -> Response {
        let desk = services.importDesk
        var report = try await services.store.read { transaction in
            let record = try Self.record(id, for: caller, .read, in: transaction).0
            return try record.reported(desk.progress(id), page, in: transaction)
        }
        report.merge(extra) { _, new in new }
        return try .json(.object(report), status: status, headers: headers)
    }
}

extension RouteTable.Section {
    static let imports = Self(
        name: "Imports", about: "Calendar files of other programs: looked at first, then brought in, and taken back.")
}
