// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Pages

/// The steps of an import: choosing a file, previewing it, committing it, and perhaps undoing it.
struct ImportPages: Sendable {
    static let start = "/app/circles/{circle}/import"
    private static let one = "/app/circles/{circle}/import/{import}"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.start, for: .circle(.write)) { try await Self.first($0) }
        routes.page(.post, Self.start, for: .circle(.write), back: Self.start, body: .upload, Self.begin)
        routes.page(.get, Self.one, for: .circle(.read)) { visit in
            try await Self.show(visit, from: visit.query["cursor"].flatMap { Int($0) } ?? 0, leaving: LeftOut())
        }
        routes.page(.get, "\(Self.one)/progress", for: .circle(.read), Self.progress)
        // Shows another part of the list and keeps what has been left out so far.
        routes.page(.post, "\(Self.one)/page", for: .circle(.write), back: Self.one) { visit in
            // To turn a page is a part of choosing, which those who only look do not.
            _ = try await visit.read(.write) { _, _ in }
            let start = visit.form["to"].flatMap { Int($0) } ?? 0
            return try await Self.show(
                visit, from: start, leaving: try await Self.leftOut(visit), choosing: Self.choice(visit))
        }
        routes.page(.post, "\(Self.one)/commit", for: .circle(.write), back: Self.one, Self.commit)
        routes.page(.post, "\(Self.one)/undo", for: .circle(.write), back: Self.one, Self.undo)
        routes.page(.post, "\(Self.one)/discard", for: .circle(.write), back: Self.one) { visit in
            try await Self.once(visit) { id, caller in
                try await visit.services.imports.discard(id, for: caller)
                return visit.redirect(to: visit.filled(Self.start))
            }
        }
    }

    /// Accepts a file or its address, and continues the import after the answer.
    private static func begin(_ visit: PageVisit) async throws -> Response {
        let (services, caller, circle) = (visit.services, try visit.caller(), try visit.id("circle"))
        var form = PageForm()
        do {
            let isFile = (visit.request.headers[.contentType] ?? "").asciiLowercased.hasPrefix("multipart/form-data")
            if !isFile {
                let bytes = try await PageForm.bytes(of: visit.request, visit.context)
                form = try PageForm(bytes, type: visit.request.headers[.contentType])
                try visit.checkToken(form["token"])
            }
            let address = form["url"]?.withoutOuterBlanks ?? ""
            let imports = services.imports
            let report = try await imports.create(
                in: circle, for: caller, from: visit.context.sender, .preview, options(visit),
                Imports.Part(start: 0, limit: 1)
            ) { admission in
                guard isFile else {
                    guard !address.isEmpty else { throw missing("url") }
                    return try await visit.context.awaiting { try await imports.fetch(String(address), admission) }
                }
                let body = ImportBody(
                    request: visit.request, limit: services.settings.maxImportBytes, admission: admission,
                    checkToken: { try visit.checkToken($0) })
                guard case .upload(let upload) = try await body.read(), upload.spool.count > 0 else {
                    throw missing("file")
                }
                return upload
            }
            return visit.redirect(to: "\(visit.filled(start))/\(report.listed.id)")
        } catch let refusal as Refusal {
            guard let draft = draft(refusal, form, services.settings.maxImportBytes) else { throw refusal }
            return try await first(visit, draft)
        }
    }

    /// The form with the problem of a file or an address; nil for any other refusal.
    private static func draft(_ refusal: Refusal, _ form: PageForm, _ most: Int) -> Draft? {
        let field = form["url"] == nil ? "file" : "url"
        if let problem = problem(refusal, field: field, most) {
            return Draft(values: form.typed(["url"]), problems: [problem])
        }
        guard refusal.kind == .invalid, var draft = Draft(refusal, of: form, ["file", "url"]) else { return nil }
        draft.problems = draft.problems.map { problem in
            problem.field.isEmpty ? Draft.Problem(field: field, code: problem.code) : problem
        }
        return draft
    }

    /// The problem of a whole file; nil for any other refusal.
    ///
    /// - Parameter most: the most bytes that a file may have.
    static func problem(_ refusal: Refusal, field: String, _ most: Int) -> Draft.Problem? {
        if refusal.kind == .tooLarge {
            let size = most < 1 << 20 ? "\(most) B" : "\(most >> 20) MB"
            return .init(field: field, code: .tooLarge, detail: size)
        }
        switch refusal.code {
        case .providerFailed, .providerUnreachable, .fileUnreadable, .unsupportedMediaType:
            return .init(field: field, code: field == "url" ? .unreachable : .unreadable)
        default:
            let isMissing = refusal.faults.count == 1 && refusal.faults.first?.code == .required
            return isMissing ? .init(field: field, code: .missing) : nil
        }
    }

    private static func missing(_ field: String) -> Refusal {
        Refusal.invalid("/\(field)", code: .required, "This is required.")
    }

    /// The progress of an import, for the page that waits for it.
    private static func progress(_ visit: PageVisit) async throws -> Response {
        let (report, visitor) = try await found(visit, Imports.Part(start: 0, limit: 1))
        let hundredths = report.listed.hundredths
        let language = visit.frame(for: visitor, path: nil).language
        return try visit.json([
            "progress": .number(Double(hundredths) / 100), "done": .bool(!report.listed.isUnderWay),
            "text": .string(Words.of(language)("percent", ["number": String(hundredths)])),
        ])
    }

    /// - Parameters:
    /// - start: the number of the first item.
    /// - leftOut: the items that the person has deselected on other parts of the list.
    /// - choice: the person's choices, which replace those of the import's request.
    private static func show(
        _ visit: PageVisit, from start: Int, leaving leftOut: LeftOut, choosing choice: ImportChoice = ImportChoice()
    ) async throws -> Response {
        // The number is limited so that later additions cannot overflow.
        let start = min(max(0, start), 1 << 40)
        let (report, visitor) = try await found(visit, Imports.Part(start: start, limit: itemsOfPage))
        let listed = report.listed
        let shown = report.page(in: visitor.zone, start: start, leftOut, choosing: choice)
        var draft = Draft()
        let state: ImportPage.State
        switch listed.state {
        case .reading: state = .reading(id: listed.id, progress: listed.hundredths)
        case .committing: state = .committing(id: listed.id, progress: listed.hundredths)
        case .failed where listed.canBeCommittedAgain:
            draft = Draft(problems: [.init(field: "", code: .unknown)])
            state = .previewed(shown)
        case .failed: state = .failed(code: .unreadable, detail: nil)
        case .previewed: state = .previewed(shown)
        case .committed: state = .committed(shown)
        case .undone: state = .undone(kept: [])
        }
        return try await page(visit, state, draft, visitor)
    }

    private static func commit(_ visit: PageVisit) async throws -> Response {
        try await once(visit) { id, caller in
            let excluded = try await items(leftOut(visit), of: id, for: caller, visit.services.imports)
            _ = try await visit.services.imports.commit(
                id, for: caller, excluding: excluded, choosing: choice(visit), options(visit),
                Imports.Part(start: 0, limit: 1))
            return visit.redirect(to: visit.filled(one))
        }
    }

    private static func undo(_ visit: PageVisit) async throws -> Response {
        try await once(visit) { id, caller in
            let kept =
                try await visit.services.imports.undo(
                    id, for: caller, Imports.Part(start: 0, limit: 1)
                ).kept ?? []
            guard !kept.isEmpty else { return visit.redirect(to: visit.filled(one)) }
            // The events that remain are listed only now, since they are not stored anywhere.
            let (_, visitor) = try await visit.read { _, _ in }
            return try await page(visit, .undone(kept: kept.map { $0.summary ?? "" }), Draft(), visitor)
        }
    }

    /// Changes the import of the path; if another tab has already done so, the answer redirects to the import's page.
    private static func once(
        _ visit: PageVisit, _ body: (String, Caller) async throws -> Response
    ) async throws -> Response {
        let (report, _) = try await found(visit, Imports.Part(start: 0, limit: 1))
        do {
            return try await body(report.listed.id, try visit.caller())
        } catch let refusal as Refusal where refusal.code == .importState {
            return visit.redirect(to: visit.filled(one))
        }
    }

    /// The import of the path; throws 404 for one of another circle.
    private static func found(_ visit: PageVisit, _ part: Imports.Part) async throws -> (Imports.Report, Visitor) {
        let (services, id) = (visit.services, try visit.id("import"))
        let earlier = services.importRegistry.progress(id)
        return try await visit.read(isLarge: true) { circle, _ in
            try circle.report(of: id, part, earlier: earlier, services.importing)
        }
    }

    private static let itemsOfPage = 1000

    /// The items that a form leaves out: those from other pages, and those of its own boxes, which select single items
    /// or all events with one title.
    private static func leftOut(_ visit: PageVisit) async throws -> LeftOut {
        let form = visit.form
        var all = LeftOut(text: form["left"])
        let first = form["first"].flatMap { Int($0) }.map { min(max(0, $0), 1 << 40) } ?? 0
        let count = form["count"].flatMap { Int($0) }.map { min(max(0, $0), itemsOfPage) } ?? 0
        var chosen = form.all("exclude").compactMap { Int($0) }
        let examples = Set(form.all("same").compactMap { Int($0) })
        if !examples.isEmpty, count > 0 {
            let (report, _) = try await found(visit, Imports.Part(start: first, limit: count))
            let titles = report.items.map { ByteString($0.summary ?? "") }
            let wanted = Set(titles.indices.filter { examples.contains(first + $0) }.map { titles[$0] })
            chosen += titles.indices.filter { wanted.contains(titles[$0]) }.map { first + $0 }
        }
        all.set(first..<first + count, to: chosen)
        return all
    }

    /// The choices of a form.
    private static func choice(_ visit: PageVisit) -> ImportChoice {
        ImportChoice(
            extras: Set(visit.form.all("keep").compactMap { EventExtra(choice: $0) }),
            todos: visit.form["todos"].flatMap { ToDoChoice(text: $0) } ?? .keep)
    }

    /// The ids of items by their numbers.
    private static func items(
        _ leftOut: LeftOut, of id: String, for caller: Caller, _ imports: Imports
    ) async throws -> Set<ByteString> {
        var (ids, start): (Set<ByteString>, Int?) = ([], 0)
        // Numbers beyond the end of the list are ignored.
        while let from = start, let first = leftOut.first(from: from) {
            let report = try await imports.report(
                id, for: caller, Imports.Part(start: first, limit: itemsOfPage))
            for (index, item) in report.items.enumerated() where leftOut.contains(first + index) {
                ids.insert(ByteString(item.id))
            }
            start = report.next
        }
        return ids
    }

    private static func options(_ visit: PageVisit) -> Imports.Options {
        Imports.Options(
            isInBackground: true, logger: visit.context.logger, text: { try ProblemDocument($0).json.text() })
    }

    /// How many imports the first page lists.
    private static let mostEarlier = 10

    /// The page on which an import begins.
    private static func first(_ visit: PageVisit, _ draft: Draft = Draft()) async throws -> Response {
        let services = visit.services
        let read = try await visit.read(.write, isLarge: true) { circle, _ in
            ImportPage(
                state: .start, mostBytes: services.settings.maxImportBytes, draft: draft,
                earlier: try circle.imports(limit: mostEarlier, services.importing).map(\.earlier))
        }
        return try await visit.page(read, status: draft.status, path: visit.filled(start))
    }

    private static func page(
        _ visit: PageVisit, _ state: ImportPage.State, _ draft: Draft, _ visitor: Visitor
    ) async throws -> Response {
        let page = ImportPage(state: state, mostBytes: visit.services.settings.maxImportBytes, draft: draft)
        return try await visit.page((page, visitor), path: visit.filled(one))
    }
}

extension Imports.Listed {
    fileprivate var hundredths: Int { isUnderWay ? Int(((progress ?? 0) * 100).rounded()) : 0 }

    fileprivate var earlier: ImportPage.Earlier {
        let shown: ImportPage.Earlier.State =
            switch state {
            case .reading, .committing: .underWay
            case .failed: canBeCommittedAgain ? .previewed : .failed
            case .previewed: .previewed
            case .committed: .committed
            case .undone: .undone
            }
        return ImportPage.Earlier(
            id: id, at: createdAt.milliseconds, state: shown, counts: ImportPage.Counts(counts ?? Imports.Counts()),
            canUndo: state == .committed)
    }
}
