// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

/// The page that checks a calendar file, as `kalends check` does; nothing of the file is stored.
struct CheckPages: Sendable {
    private static let path = "/app/check"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.path, for: .session, back: Self.path, body: .upload, Self.check)
    }

    @Sendable
    private static func check(_ visit: PageVisit) async throws -> Response {
        let (services, limit) = (visit.services, visit.services.settings.maxImportBytes)
        do {
            let type = visit.request.headers[.contentType] ?? ""
            guard type.asciiLowercased.hasPrefix("multipart/form-data") else { throw PageRefusal.form }
            let (found, bytes) = try await FileCheck(services: services).result(
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
    /// The most problems that the page lists.
    private static let mostProblems = 200

    /// - Parameter found: the result in the form of `kalends check --json`.
    fileprivate init(_ found: JSONValue, bytes: Int) {
        let calendars = found["calendars"]?.array ?? []
        func texts(_ name: String) -> String? {
            let all = calendars.compactMap { $0[name]?.string }.filter { !$0.isEmpty }
            return all.isEmpty ? nil : all.prefix(3).joined(separator: ", ")
        }
        func day(_ name: String) -> [CivilDate] {
            calendars.compactMap { $0["starts"]?[name]?.string.flatMap { CivilDate(iso: $0) } }
        }
        let problems = (found["problems"]?.array ?? []).compactMap(FileProblem.init)
        self.init(
            bytes: bytes, events: calendars.reduce(0) { $0 + ($1["components"]?.integer ?? 0) },
            calendarName: texts("name"), writtenBy: texts("productId"), first: day("first").min(),
            last: day("last").max(), problems: Array(problems.prefix(Self.mostProblems)),
            moreProblems: max(0, problems.count - Self.mostProblems),
            verdicts: (found["clients"]?.array ?? []).compactMap {
                CheckPage.Verdict($0, isFaultless: problems.isEmpty)
            }, refusal: found["refusal"]?.string)
    }
}

extension CheckPage.Verdict {
    /// - Parameter isFaultless: whether the file has no faults.
    fileprivate init?(_ found: JSONValue, isFaultless: Bool) {
        guard let client = found["client"]?.string.flatMap({ CalendarClient(text: $0) }),
            let verdict = found["verdict"]?.string
        else { return nil }
        let reasons = (found["reasons"]?.array ?? []).compactMap { $0["message"]?.string }
        let outcome: Outcome =
            switch verdict {
            case "refuses": .refused
            case "partly": .partly
            // For most faults it is not known what the app does, so the absence of a reason promises nothing.
            default: reasons.isEmpty && !isFaultless ? .untroubled : .fine
            }
        self.init(app: client.title, outcome: outcome, reasons: reasons)
    }
}
