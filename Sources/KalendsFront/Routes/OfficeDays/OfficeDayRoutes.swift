// SPDX-License-Identifier: Apache-2.0

import Calendar
import HTTPTypes
import Hummingbird
import KalendsCore
import OfficeDays
import Storage

/// A user's visits to the office, their own entries for days, and the days.
struct OfficeDayRoutes: Sendable {
    let officeDiary: OfficeDiary

    func add(to routes: inout RouteTable) {
        routes.section(.officeDays)
        let path = "/v1/users/{user}/office-days"
        let (visit, day): (Schema, Schema) = (.named("OfficeVisit"), .named("OfficeDay"))
        let span: [Operation.Parameter] = [
            .init(name: "from", schema: Schema.date.described("A date in the person's zone.")),
            .init(name: "to", schema: Schema.date.described("The last date, included.")),
        ]
        routes.on(
            .get, path, "listOfficeDays", "List days by date", .oneself, .scope(.events),
            details: "Every date from `from` to `to`, or of the current month.", query: span + .page, [.list(of: day)],
            list)
        routes.on(
            .get, "\(path)/preview", "previewOfficeDays",
            "Preview the next two weeks, assuming no visits to the office", .oneself, .scope(.events), [.list(of: day)],
            preview)
        routes.on(
            .get, "\(path)/visits", "listOfficeVisits", "List visits by their start", .oneself, .scope(.events),
            query: span + .page, [.list(of: visit)], visits)
        routes.on(
            .get, "\(path)/visits/{id}", "getOfficeVisit", "Read a visit", .oneself, .scope(.events), [.ok(visit)],
            getVisit)
        routes.on(
            .put, "\(path)/visits/{id}", "putOfficeVisit", "Add or change a visit", .oneself, .scope(.events),
            details: "A visit lasts at most 31 days. Overlapping visits count once.",
            body: .json(.named("OfficeVisitInput")), [.ok(visit), .created(visit)], refusals: [409], putVisit)
        routes.on(
            .delete, "\(path)/visits/{id}", "deleteOfficeVisit", "Delete a visit", .oneself, .scope(.events),
            [.noContent], deleteVisit)
        routes.on(
            .get, "\(path)/days/{date}", "getOfficeDay", "Read a day", .oneself, .scope(.events), [.ok(day)], getDay)
        routes.on(
            .put, "\(path)/days/{date}", "putOfficeDay", "Set where the person worked on a day, regardless of visits",
            .oneself, .scope(.events), body: .json(.named("OfficeDayInput")), [.ok(day)], putDay)
        routes.on(
            .delete, "\(path)/days/{date}", "deleteOfficeDay", "Clear the setting for a day", .oneself,
            .scope(.events), details: "The visits and the end of the day determine its status again.", [.noContent],
            deleteDay)
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller, page) = (try context.identifier("user"), try context.caller(), try Page(request, context))
        let (from, to) = try Self.span(request)
        let days = try await officeDiary.days(
            of: user, from: from, to: to, after: try Self.date(after: page), limit: page.fetchLimit, for: caller)
        return try page.answer(days, key: { $0.day.date.description }, json: \.json)
    }

    private func preview(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let days = try await officeDiary.preview(
            of: try context.identifier("user"), for: try context.caller())
        return try .json(["items": .array(days.map(\.json)), "nextCursor": .null])
    }

    private func visits(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller, page) = (try context.identifier("user"), try context.caller(), try Page(request, context))
        let (from, to) = try Self.span(request)
        let (first, last) = (from ?? CivilDate(daysSinceEpoch: -30_000), to ?? CivilDate(daysSinceEpoch: 200_000))
        guard first <= last else {
            throw Refusal.invalid("/query/to", code: .order, "This must not be before `from`.")
        }
        let found = try await officeDiary.visits(
            of: user, from == nil && to == nil ? nil : first...last, after: try Self.position(after: page),
            limit: page.fetchLimit, for: caller)
        return try page.answer(found, key: { "\($0.visit.startsAt) \($0.visit.id)" }, json: \.json)
    }

    static let visit = InputBody(
        .required("startAt", .instant), .required("endAt", .instant),
        example: ["startAt": "2026-03-02T09:00:00-05:00", "endAt": "2026-03-02T12:30:00-05:00"])

    static let day = InputBody(.required("status", InputType<DayStatus>.choice), example: ["status": "inOffice"])

    private func getVisit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(
            try await officeDiary.visit(
                try context.identifier("id"), of: try context.identifier("user"), for: try context.caller()
            ).json)
    }

    private func getDay(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(
            try await officeDiary.day(
                try Self.date(context), of: try context.identifier("user"), for: try context.caller()
            ).json)
    }

    private func putVisit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, id) = (try context.newIdentifier("user"), try context.newIdentifier("id"))
        let caller = try context.caller()
        let (start, end) = try Self.visit.read(try await request.json(context))
        let (visit, isNew) = try await officeDiary.putVisit(
            id, from: start, to: end, of: user, for: caller)
        return try .json(
            visit.json, status: isNew ? .created : .ok,
            headers: [.location: "/v1/users/\(user)/office-days/visits/\(id)"])
    }

    private func deleteVisit(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await officeDiary.deleteVisit(
            try context.identifier("id"), of: try context.identifier("user"), for: try context.caller())
        return .noContent
    }

    private func putDay(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        let status = try Self.day.read(try await request.json(context))
        let day = try await officeDiary.say(status, on: try Self.date(context), of: user, for: caller)
        return try .json(day.json)
    }

    private func deleteDay(_ request: Request, _ context: KalendsContext) async throws -> Response {
        _ = try await officeDiary.say(
            nil, on: try Self.date(context), of: try context.identifier("user"), for: try context.caller())
        return .noContent
    }

    /// The date of the path; throws 400 for text that is not a date.
    private static func date(_ context: KalendsContext) throws -> CivilDate {
        guard let date = context.parameter("date").flatMap({ CivilDate(iso: $0) }),
            FieldReader.years.contains(date.year)
        else { throw Refusal.badRequest("A day is named by its date, as YYYY-MM-DD.", code: .invalidID) }
        return date
    }

    /// The dates of the query; throws 422 for text that is not a date.
    private static func span(_ request: Request) throws -> (from: CivilDate?, to: CivilDate?) {
        func bound(_ name: String) throws -> CivilDate? {
            guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
            guard let date = CivilDate(iso: text), FieldReader.years.contains(date.year) else {
                throw Refusal.invalid(
                    "/query/\(name)", code: .invalidDate, "This must be a day that exists, as YYYY-MM-DD.")
            }
            return date
        }
        return (try bound("from"), try bound("to"))
    }

    private static func date(after page: Page) throws -> CivilDate? {
        if page.after.isEmpty { return nil }
        guard let date = CivilDate(iso: page.after), FieldReader.years.contains(date.year) else {
            throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
        }
        return date
    }

    private static func position(after page: Page) throws -> (start: Int, id: String)? {
        if page.after.isEmpty { return nil }
        let parts = page.after.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let start = Int(parts[0]) else {
            throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
        }
        return (start, String(parts[1]))
    }
}
