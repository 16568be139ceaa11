// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import Storage

/// What happened in a circle, and how it is undone.
struct ActivityRoutes: Sendable {
    let activity: Activity

    func add(to routes: inout RouteTable) {
        routes.section(
            RouteTable.Section(
                name: "Activity", about: "Who changed what in a circle and how, before and after; and undo."))
        let one = Schema.named("Activity")
        routes.on(
            .get, "/v1/circles/{circle}/activity", "listActivity", "List what happened in a circle", .circle(.read),
            .scope(.readSchedule),
            details:
                "The oldest comes first. The state before and after is kept for `keepActivityDays` (30) days.",
            query: [
                .init(
                    name: "since",
                    schema: Schema.integer(0...Int.max).described("A change's number; only later changes are listed.")),
                .init(name: "from", schema: Schema.string.described("A time or a day; only later changes are listed.")),
            ] + .page, [.list(of: one)], refusals: [410], list)
        routes.on(
            .post, "/v1/circles/{circle}/activity/{number}/undo", "undoActivity",
            "Undo a change of an item, an occurrence or an imported event", .circle(.write), .scope(.writeSchedule),
            details: "Possible for `keepActivityDays` (30) days. A deletion is restored, a creation is deleted, and an "
                + "update gets its earlier values, unless somebody has changed them since: 409 says who and when. The "
                + "answer is the change that this makes; it can be undone, too.", [.ok(one)],
            refusals: [409, 410], undo)
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller, page) = (
            try context.identifier("circle"), try context.caller(), try Page(request, context)
        )
        let since =
            request.uri.queryParameters["since"] == nil
            ? nil : try request.queryInteger("since", in: 0...Int.max, default: 0)
        let from = try request.uri.queryParameters["from"].map { text in
            guard let moment = ItemSearch.Moment(text: String(text)) else {
                throw Refusal.invalid("/query/from", code: .invalidTime, ItemSearch.Moment.rule)
            }
            return moment
        }
        return try await activity.list(
            in: circle, after: try page.number ?? since, from: from, for: caller
        ) { zone, fetch in
            try page.filled(key: { String($0.change.number) }, json: { $0.json(zone) }, fetch)
        }.response
    }

    private func undo(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        guard let number = context.parameter("number").flatMap({ Int($0) }), number > 0 else {
            throw Refusal.missing(.change)
        }
        return try await context.answering { (done: (entry: Activity.Entry, zone: TimeZoneReference)) in
            try .json(done.entry.json(done.zone))
        } to: {
            try await activity.undo(number, in: circle, for: caller)
        }
    }
}

extension ItemSearch.Moment {
    /// A time as RFC 3339 writes it, or a day; nil for anything else.
    init?(text: String) {
        if let instant = Instant(rfc3339: text) {
            self = .time(instant)
        } else if let date = CivilDate(iso: text) {
            self = .day(date)
        } else {
            return nil
        }
    }

    static let rule = "This must be a time as RFC 3339 writes it, or a day."
}
