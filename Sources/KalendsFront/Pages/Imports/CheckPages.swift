// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages

/// The page that checks a calendar file, as `kalends check` does; no part of the file is stored.
struct CheckPages: Sendable {
    private static let path = "/app/check"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.path, for: .session, back: Self.path, body: .upload, Self.check)
    }

    private static func check(_ visit: PageVisit) async throws -> Response {
        let (services, limit) = (visit.services, visit.services.settings.maxImportBytes)
        do {
            let type = visit.request.headers[.contentType] ?? ""
            guard type.asciiLowercased.hasPrefix("multipart/form-data") else { throw PageRefusal.form }
            let (found, bytes) = try await services.fileCheck.result(
                from: visit.context.sender
            ) { admission in
                let body = ImportBody(
                    request: visit.request, limit: limit, admission: admission,
                    checkToken: { try visit.checkToken($0) })
                guard case .upload(let upload) = try await body.read(), upload.spool.count > 0 else {
                    throw Refusal.invalid("/file", code: .required, "This is required.")
                }
                return upload
            }
            return try await page(visit, CheckPage.Result(found, bytes: bytes))
        } catch let refusal as Refusal {
            guard let problem = ImportPages.problem(refusal, field: "file", limit) else { throw refusal }
            return try await page(visit, draft: Draft(problems: [problem]))
        }
    }

    private static func page(
        _ visit: PageVisit, _ result: CheckPage.Result? = nil, draft: Draft = Draft()
    ) async throws -> Response {
        let page = CheckPage(result: result, mostBytes: visit.services.settings.maxImportBytes, draft: draft)
        var answer = try await visit.page(
            page, status: draft.problems.isEmpty ? .ok : .unprocessableContent, path: path)
        // Nothing of the file may be stored in the browser either.
        if result != nil { answer.headers[.cacheControl] = "no-store" }
        return answer
    }
}

extension CheckPage.Result {
    /// The maximum number of problems that the page lists.
    private static let mostProblems = 200

    fileprivate init(_ found: FileCheck.Result, bytes: Int) {
        func texts(_ all: [String?]) -> String? {
            let all = all.compactMap(\.self).filter { !$0.isEmpty }
            return all.isEmpty ? nil : all.prefix(3).joined(separator: ", ")
        }
        let days = found.calendars.compactMap(\.starts)
        self.init(
            bytes: bytes, events: found.calendars.reduce(0) { $0 + $1.components },
            calendarName: texts(found.calendars.map(\.name)), writtenBy: texts(found.calendars.map(\.productID)),
            first: days.map(\.first).min(), last: days.map(\.last).max(),
            problems: found.problems.prefix(Self.mostProblems).map(FileProblem.init),
            moreProblems: max(0, found.problems.count - Self.mostProblems),
            verdicts: found.clients.map { CheckPage.Verdict($0, isFaultless: found.problems.isEmpty) },
            refusal: found.refusalSentence)
    }
}

extension CheckPage.Verdict {
    /// - Parameter isFaultless: whether the file has no faults.
    fileprivate init(_ verdict: ClientVerdict, isFaultless: Bool) {
        let outcome: Outcome =
            switch verdict.outcome {
            case .refuses: .refused
            case .partly: .partly
            // For most faults it is not known what the app does, so the absence of a reason promises nothing.
            case .takes: verdict.reasons.isEmpty && !isFaultless ? .untroubled : .fine
            }
        self.init(app: verdict.client.title, outcome: outcome, reasons: verdict.reasons.map(\.sentence))
    }
}
