// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore

/// Single occurrences of a repeating appointment that are changed or cancelled.
struct OccurrenceRoutes: Sendable {
    let occurrences: Occurrences

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        let collection = "/v1/circles/{circle}/appointments/{id}/occurrences"
        let path = "\(collection)/{start}"
        let one = Schema.named("Occurrence")
        routes.on(
            .get, collection, "listOccurrences", "List the changed occurrences of an appointment", .circle(.read),
            .scope(.readSchedule), query: .page, [.list(of: one)], list)
        routes.on(
            .get, path, "getOccurrence", "Read a changed occurrence", .circle(.read), .scope(.readSchedule), [.ok(one)],
            refusals: [400], hasTag: true, get)
        routes.on(
            .put, path, "putOccurrence", "Change or cancel one occurrence of a repeating appointment", .circle(.write),
            .scope(.writeSchedule), body: .json(.named("OccurrenceInput"), isRequired: false),
            [.ok(one), .created(one)], refusals: [409], hasTag: true, put)
        routes.on(
            .delete, path, "deleteOccurrence", "Reset one occurrence to the series", .circle(.write),
            .scope(.writeSchedule), [.noContent], refusals: [400, 409], hasTag: true, delete)
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id, caller) = (
            try context.identifier("circle"), try context.identifier("id", of: AppointmentContent.resource),
            try context.caller()
        )
        let page = try Page(request, context)
        return try await occurrences.list(of: id, in: circle, after: page.after, for: caller) {
            try page.filled(key: \ShownOccurrence.originalStart.basic, json: \.json, $0)
        }.response
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id, caller) = (
            try context.identifier("circle"), try context.identifier("id", of: AppointmentContent.resource),
            try context.caller()
        )
        let start = try originalStart(context)
        let occurrence = try await occurrences.get(start, of: id, in: circle, for: caller)
        return try .resource(occurrence.json, for: request)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id, caller) = (
            try context.identifier("circle"), try context.identifier("id", of: AppointmentContent.resource),
            try context.caller()
        )
        let (start, body) = (try originalStart(context), try await request.json(context))
        let (occurrence, isNew) = try await occurrences.put(
            start, of: id, in: circle, if: request.condition { try $0.json.etag }, for: caller
        ) { try OccurrenceContent(from: body, originalStart: start, series: $0) }
        return try .resource(occurrence.json, isNew: isNew)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circle, id, caller) = (
            try context.identifier("circle"), try context.identifier("id", of: AppointmentContent.resource),
            try context.caller()
        )
        try await occurrences.delete(
            try originalStart(context), of: id, in: circle, if: request.condition { try $0.json.etag }, for: caller)
        return .noContent
    }

    /// The occurrence that the path names. Appointments have times, so a date without a time does not name one.
    private func originalStart(_ context: KalendsContext) throws -> Instant {
        guard let text = context.parameter("start"), text.hasSuffix("Z"),
            let utc = CivilDateTime(basic: text.dropLast()),
            FieldReader.years.contains(utc.date.year)
        else {
            throw Refusal.badRequest(
                "An occurrence is named by its original start in UTC: YYYYMMDDTHHMMSSZ.", code: .invalidID)
        }
        return Instant(utc: utc)
    }
}
