// SPDX-License-Identifier: Apache-2.0

import Base
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
        guard let mode = Mode(text: request.uri.queryParameters["mode"] ?? "preview") else {
            throw Refusal.invalid("/query/mode", code: .notAChoice, "This must be preview or commit.")
        }
        let page = try Page(request)
        _ = try await services.store.read { try Rights.circle(circleID, for: caller, .write, in: $0) }
        let admission = try services.intake.files.enter(context.sender)
        let limit = services.settings.maxImportBytes
        let named = try await ImportByURL(fetcher: services.fetcher).upload(request, limit: limit, admission)
        let upload = if let named { named } else { try await ImportUpload(request, limit: limit, admission: admission) }
        if named == nil { try ImportByURL.checkMediaType(of: upload) }
        try await ImportQuota(services, for: caller, circle: circleID).note(
            bytes: upload.spool.count, now: services.now())
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
                try? await services.store.record { try $0.forgetImport(id) }
                services.tidying.afterForgetting(id)
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
        let (id, caller) = (try context.identifier("id"), try context.caller())
        return try await answer(id, caller, try Page(request))
    }

    @Sendable
    private func commit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let page = try Page(request)
        var fields = FieldReader(try await request.json(context))
        var excluded: Set<ByteString> = []
        if let value = fields.value("exclude") {
            if case .array(let items) = value, items.allSatisfy({ $0.string != nil }) {
                excluded = Set(items.compactMap(\.string).map { ByteString($0) })
            } else {
                fields.fault("exclude", code: .wrongType, "This must be a list of itemIds.")
            }
        }
        fields.finish()
        try fields.check()
        let left = excluded
        // From here on nobody else commits it.
        let circle = try await services.store.record { transaction in
            let (record, circle) = try Self.record(id, for: caller, .write, in: transaction)
            try Self.checkCommittable(record)
            try transaction.setStage(.committing, ofImport: id)
            return circle.id
        }
        let work = ImportWork(services: services, id: id, circleID: circle, caller: caller, actor: try context.actor())
        guard request.prefersAsync else {
            defer { services.importDesk.forget(id) }
            do {
                _ = try await work.commit(excluding: left)
            } catch {
                try? await services.store.record { transaction in
                    if try transaction.importRecord(id)?.stage == .committing {
                        try transaction.setStage(nil, ofImport: id)
                    }
                }
                throw error
            }
            return try await answer(id, caller, page)
        }
        try start(id, context.logger) { _ = try await work.commit(excluding: left) }
        return try await accepted(id, caller, page)
    }

    @Sendable
    private func undo(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request))
        let kept = try await ImportUndo(services: services, caller: caller, actor: try context.actor()).undo(id)
        return try await answer(
            id, caller, page, extra: ["kept": .array(kept.items), "keptCount": .integer(kept.count)])
    }

    @Sendable
    private static func checkCommittable(_ record: ImportRecord) throws {
        switch record.stage {
        case .reading: throw Refusal.importState("This import is being read still.")
        case .committing: throw Refusal.importState("This import is being committed already.")
        case .readFailed, .forgotten: throw Refusal.importState("This import failed; its file was not read.")
        case .commitFailed, nil:
            guard record.state == .previewed else {
                throw Refusal.importState("This import is \(record.state.rawValue) already.")
            }
        }
    }

    private static func record(
        _ id: String, for caller: Identity, _ right: Right, in transaction: any ReadTransaction
    ) throws -> (ImportRecord, Circle) {
        guard let record = try transaction.importRecord(id) else { throw Refusal.missing(.import) }
        return (record, try Rights.circle(record.circleID, for: caller, right, of: .import, in: transaction))
    }

    /// Lets work go on behind the answer; what it ends with stands in the import.
    private func start(_ id: String, _ logger: Logger, _ work: @escaping @Sendable () async throws -> Void) throws {
        let (store, tidying) = (services.store, services.tidying)
        try services.importDesk.start(id) {
            do {
                try await work()
            } catch {
                guard !Task.isCancelled, let problem = try? ImportFailure.problem(error, logger)?.text() else { return }
                do {
                    let circle = try await store.record { transaction in
                        try transaction.failImport(id, problem: problem)
                        return try transaction.importRecord(id)?.circleID
                    }
                    if let circle { tidying.afterImport(id, in: circle) }
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
        extra: [ByteString: JSONValue] = [:]
    ) async throws -> Response {
        let desk = services.importDesk
        var report = try await services.store.read { transaction in
            let record = try Self.record(id, for: caller, .read, in: transaction).0
            return try record.reported(desk.progress(id), page, to: caller, in: transaction)
        }
        report.merge(extra) { _, new in new }
        return try .json(.object(report), status: status, headers: headers)
    }
}

extension Refusal {
    /// 409: in its present state nothing such can be done with an import.
    static func importState(_ detail: String) -> Refusal { .conflict(detail, code: .importState) }
}

extension RouteTable.Section {
    static let imports = Self(
        name: "Imports", about: "Calendar files of other programs: looked at first, then brought in, and taken back.")
}
