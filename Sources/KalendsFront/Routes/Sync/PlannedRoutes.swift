// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import Storage

/// The plans of phones: titles and times.
struct PlannedRoutes: Sendable {
    let services: Services

    private static let shape = JSONShape.object([
        "range_start": .scalar, "range_end": .scalar,
        "events": .list(of: SentPlan.shape, most: PhoneRoutes.mostEvents),
    ])

    func add(to routes: inout RouteTable) {
        routes.section(.phones)
        routes.on(
            .post, "/api/apple_sync/planned_upsert", "upsertPlannedEvents",
            "Replace the events that a phone has planned in a range", .companion, .scope(.events),
            details: "Events that overlap the range and are not in the body are removed, in one transaction. Only the "
                + "named fields are kept; others are ignored.", body: .json(.named("PlannedUpsert")),
            [.ok(.named("PlannedReport"))], refusals: [409], takesLong: true, upsert)
        routes.on(
            .get, "/v1/users/{user}/planned", "listPlannedEvents", "List the events that a user's phones have planned",
            .oneself,
            .scope(.events),
            query: .page + [.init(name: "from", schema: Schema.instant), .init(name: "to", schema: Schema.instant)],
            [.list(of: .named("PlannedEvent"))], list)
    }

    private func upsert(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let body = try await request.phoneJSON(context, keeping: Self.shape)
        var fields = FieldReader(body)
        let start = fields.instant("range_start", isRequired: true)
        let end = fields.instant("range_end", isRequired: true)
        if let start, let end, end <= start {
            fields.fault("range_end", code: .order, "The end of the range must be after its start.")
        }
        let events = fields.events(most: PhoneRoutes.mostEvents)
        try fields.check()
        guard let start, let end else { throw Refusal.invalid(fields.faults) }
        let sent = events.enumerated().map { SentPlan($1, at: "/events/\($0)") }
        let report = try await services.plannedEvents.replace(start..<end, by: sent, for: caller)
        try await services.phoneItems(context.logger).note(.sendsPlans, of: caller)
        return try .json(report.json)
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller, page) = (try context.identifier("user"), try context.caller(), try Page(request, context))
        var search = PlannedEvents.Search()
        func instant(_ name: String) -> Instant? {
            guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
            let instant = Instant(rfc3339: text)
            if instant == nil {
                search.faults.append(
                    Fault(
                        pointer: "/query/\(name)", code: .invalidTime,
                        message: "This must be a time as RFC 3339 writes it, with an offset."))
            }
            return instant
        }
        search.from = instant("from")
        search.to = instant("to")
        if !page.after.isEmpty { search.position = try PlannedEvents.Position(cursor: page.after) }
        let found = try await services.plannedEvents.list(of: user, search, limit: page.fetchLimit, for: caller)
        return try page.answer(found, key: \.cursor, json: \.json)
    }
}

extension PlannedEvents.Position {
    fileprivate init(cursor: String) throws {
        let parts = cursor.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let start = Int(parts[0]) else {
            throw Refusal.invalid("/query/cursor", code: .invalidCursor, "This is not a cursor from a list.")
        }
        self.init(start: start, source: String(parts[1]), id: String(parts[2]))
    }
}

extension PlannedEvent: Viewed {
    fileprivate var cursor: String { "\(startsAt) \(source) \(externalID)" }

    /// Times have the offsets that the phone sent, which determine the days of an all-day event.
    static let view = View<Self>([
        .text("externalId", \.externalID), .text("title", \.title),
        .text("startAt") { Instant(milliseconds: $0.startsAt).rfc3339(offset: $0.startOffset) }.documented(.instant),
        .text("endAt") { Instant(milliseconds: $0.endsAt).rfc3339(offset: $0.endOffset) }.documented(.instant),
        .flag("allDay", \.isAllDay), .text("sourceCalendarName", \.calendarName),
    ])
}

extension PlannedEvents.Report {
    fileprivate var json: JSONValue {
        var list = RejectedList()
        for (index, faults) in failed {
            var members = faults.members
            members["index"] = .integer(index)
            members["error"] = .string(
                faults.named.prefix(3).map {
                    "\($0.pointer.split(separator: "/").dropFirst(2).first ?? "event"): \($0.message)"
                }.joined(separator: " "))
            list.add(.object(members))
        }
        let members: [ByteString: JSONValue] = [
            "ok": true, "deleted": .integer(deleted), "upserted": .integer(upserted),
            "unchanged": .integer(unchanged),
        ]
        return .object(members.merging(list.members("failed")) { $1 })
    }
}
