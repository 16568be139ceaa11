// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore

/// When several members of a circle are busy.
struct FreeBusyRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        routes.on(
            .post, "/v1/circles/{circle}/free-busy", "askFreeBusy", "Ask when members are busy", .circle(.read),
            .scope(.readSchedule),
            details:
                "Counts everything that makes a member busy in the circle, including events that are private to them, "
                + "and shows only the times. Members' own events outside the circle do not count.",
            body: .json(.named("FreeBusyInput")), [.ok(.named("FreeBusy"))], takesLong: true, ask)
    }

    static let body = InputBody(
        .required(
            "userIds",
            InputType<[String]>.list(
                .array(of: .identifier, minimum: 1, maximum: CircleFreeBusy.mostPeople),
                of: 1...CircleFreeBusy.mostPeople, .wrongType,
                "This must be a list of 1 to \(CircleFreeBusy.mostPeople) ids of users.",
                each: (.invalidID, Identifier.rule)
            ) { $0.string.flatMap { Identifier.isValid($0) ? $0 : nil } }),
        .required("from", .instant),
        .required("to", InputType<Instant>.instant.described("At most \(CircleFreeBusy.mostDays) days after `from`.")),
        example: ["userIds": ["ann", "ben"], "from": "2026-03-02T08:00:00Z", "to": "2026-03-06T18:00:00Z"])

    private func ask(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let (users, from, to) = try Self.body.read(try await request.json(context))
        return try .json(
            try await CircleFreeBusy.of(users, in: circle, from: from, to: to, for: caller, services.feedContext).json)
    }
}

extension CircleFreeBusy: Viewed {
    private static let period = View<Period>([
        .instant("start", \.range.from), .instant("end", \.range.to),
        .choice("type", \.kind).described("FBTYPE of iCalendar; periods of different types may overlap."),
    ])

    static let view = View<CircleFreeBusy>([
        .instant("from", \.range.from), .instant("to", \.range.to),
        .list(
            "people", \.people,
            of: View([
                .id("userId", \.userID),
                .list("busy", \.busy, of: period).described(
                    "In order of time; periods of one type that meet are joined."),
            ])),
    ])
}
