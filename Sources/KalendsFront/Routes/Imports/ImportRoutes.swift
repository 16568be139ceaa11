// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// The imports of files: a preview first, then the commit, then perhaps the undo.
struct ImportRoutes: Sendable {
    let imports: Imports
    /// The maximum size in bytes of a file.
    let mostBytes: Int

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        let report = Schema.named("ImportReport")
        var accepted = Operation.Reply(
            status: 202, text: "Under way, as `Prefer: respond-async` requested; the report shows the progress.",
            type: "application/json", schema: report)
        accepted.headers = ["Location", "Preference-Applied"]
        routes.on(
            .post, "/v1/circles/{circle}/imports", "createImport", "Import a calendar file", .circle(.write),
            .scope(.imports), details: "A preview changes nothing; a commit applies the same changes at once.",
            query: [
                .init(name: "mode", schema: Schema.choice(Imports.Mode.self).defaulting(to: "preview")),
                .init(
                    name: "keep",
                    schema: Schema.string.described(
                        "The people and files to keep: `attendees`, `attachments`, or both with a comma.")),
                .init(
                    name: "todos",
                    schema: Schema.choice(ToDoChoice.self).defaulting(to: "keep").described(
                        "What becomes of to-dos: they stay to-dos, or become tasks of the circle.")),
            ] + .page,
            body: Operation.Body(
                contents: [
                    ("text/calendar", .bytes), ("multipart/form-data", .named("ImportUpload")),
                    ("application/json", .named("ImportByURL")),
                ], isRequired: true), [.created(report), accepted], post)
        routes.on(
            .get, "/v1/imports/{id}", "getImport", "Read an import's report", .import(.read), .scope(.imports),
            query: .page, [.ok(report)], get)
        routes.on(
            .post, "/v1/imports/{id}/commit", "commitImport", "Apply a previewed import", .import(.write),
            .scope(.imports), query: .page, body: .json(.named("ImportCommit"), isRequired: false),
            [.ok(report), accepted], refusals: [409], commit)
        routes.on(
            .post, "/v1/imports/{id}/undo", "undoImport", "Undo an import", .import(.write), .scope(.imports),
            details: "Items that were edited later are kept, and listed.", query: .page, [.ok(report)], refusals: [409],
            undo)
    }

    private func post(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller())
        guard let mode = Imports.Mode(text: request.uri.queryParameters["mode"] ?? "preview") else {
            throw Refusal.invalid("/query/mode", code: .notAChoice, "This must be preview or commit.")
        }
        let parameters = request.uri.queryParameters
        guard let todos = ToDoChoice(text: parameters["todos"] ?? "keep") else {
            throw Refusal.invalid("/query/todos", code: .notAChoice, "This must be keep or tasks.")
        }
        let choice = ImportChoice(extras: try Self.kept(parameters["keep"].map(String.init) ?? ""), todos: todos)
        let limit = mostBytes
        let part = try Self.part(request, context)
        if let id = context.begunImport {
            let report = try await imports.report(id, for: caller, part)
            // Who does not wait for the import asks for its state anyway.
            if !request.prefersAsync {
                if report.listed.state == .failed { throw ImportFailure.interrupted }
                if report.listed.isUnderWay { throw Refusal.requestUnderWay }
            }
            return try Self.answer(report, request, status: .created)
        }
        let report = try await context.keeping(Self.begun) {
            try await imports.create(
                in: circleID, for: caller, from: context.sender, mode, choosing: choice, Self.options(request, context),
                part
            ) { admission in
                switch try await ImportBody(request: request, limit: limit, admission: admission).read() {
                case .upload(let file): file
                case .address(let text): try await context.awaiting { try await imports.fetch(text, admission) }
                }
            }
        }
        return try Self.answer(report, request, status: .created)
    }

    /// The state of an import that has begun: its report is the answer, also when the server ends before it is done.
    private static func begun(_ work: ImportWork) throws -> GivenAnswer {
        GivenAnswer(status: 201, fields: [], body: "", importID: work.id)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let report = try await imports.report(id, for: caller, try Self.part(request, context))
        return try .json(Imports.Report.view.json(report))
    }

    static let body = InputBody(
        .optional("exclude", left, or: Set<ByteString>()), .optional("keep", extras), .optional("todos", todos),
        example: ["exclude": []])

    private static let todos = InputType<ToDoChoice>.choice

    private static let left: InputType<Set<ByteString>> =
        InputType<[ByteString]>.list(
            .array(of: .string).described("The `itemId`s to leave out."), .wrongType, "This must be a list of itemIds."
        ) { $0.string.map { ByteString($0) } }.made { Set($0) }

    private static let extras: InputType<Set<EventExtra>> =
        InputType<[EventExtra]>.list(
            .array(of: .one(of: EventExtra.choices.map(\.rawValue))).described(
                "The people and files to keep; without it, the preview's choice."), .notAChoice,
            "This must be a list of attendees and attachments."
        ) { $0.string.flatMap { EventExtra(choice: $0) } }.made { Set($0) }

    private func commit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let part = try Self.part(request, context)
        let (excluded, kept, todos) = try Self.body.read(try await request.json(context))
        // Other imports into the circle come first.
        context.memory.letGo()
        let report = try await imports.commit(
            id, for: caller, excluding: excluded, choosing: ImportChoice(extras: kept, todos: todos),
            Self.options(request, context), part)
        return try Self.answer(report, request, status: .ok)
    }

    private func undo(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let report = try await imports.undo(id, for: caller, try Self.part(request, context))
        return try .json(Imports.Report.view.json(report))
    }

    /// Reads the names of what is kept, with commas between them.
    private static func kept(_ text: String) throws -> Set<EventExtra> {
        let names = text.split(separator: ",")
        let kept = names.compactMap { EventExtra(choice: String($0)) }
        guard kept.count == names.count else {
            throw Refusal.invalid("/query/keep", code: .notAChoice, "This must be attendees, attachments, or both.")
        }
        return Set(kept)
    }

    private static func part(_ request: Request, _ context: KalendsContext) throws -> Imports.Part {
        let page = try Page(request, context)
        return Imports.Part(start: try page.number ?? 0, limit: page.limit)
    }

    private static func options(_ request: Request, _ context: KalendsContext) -> Imports.Options {
        Imports.Options(
            isInBackground: request.prefersAsync, logger: context.logger, text: { try ProblemDocument($0).json.text() })
    }

    /// - Parameter status: the status if the work is done before the answer.
    private static func answer(
        _ report: Imports.Report, _ request: Request, status: HTTPResponse.Status
    ) throws -> Response {
        let json = Imports.Report.view.json(report)
        guard request.prefersAsync else { return try .json(json, status: status) }
        let location = "/v1/imports/\(report.listed.id)"
        return try .json(
            json, status: .accepted, headers: [.location: location, .preferenceApplied: "respond-async"])
    }
}

extension RouteTable.Section {
    static let imports = Self(
        name: "Imports", about: "Calendar files from other programs: preview, import and undo.")
}
