// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import Storage

/// Single occurrences of a repeating appointment that are changed or cancelled.
struct OccurrenceRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        let path = "/v1/circles/{circle}/appointments/{id}/occurrences/{start}"
        let one = Schema.named("Occurrence")
        routes.on(
            .put, path,
            Operation(
                "putOccurrence", "Change or cancel one occurrence of a repeating appointment", .circle(.write),
                body: .json(.named("OccurrenceInput"), isRequired: false), [.ok(one), .created(one)],
                refusals: [409], hasTag: true), put)
        routes.on(
            .delete, path,
            Operation(
                "deleteOccurrence", "Have one occurrence as the series has it", .circle(.write), [.noContent],
                refusals: [400, 409], hasTag: true), delete)
    }

    @Sendable
    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller()
        )
        let (start, now) = (try originalStart(context), services.now())
        let (body, headers) = (try await request.json(), request.headers)
        let (json, isNew) = try await services.store.write { transaction -> (JSONValue, Bool) in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            let (series, zone) = try series(id, in: circle, transaction)
            guard try series.hasOccurrence(at: start, in: zone) else { throw Refusal.notFound }
            let content = try OccurrenceContent(from: body, originalStart: start, series: series)
            let new = ChangedOccurrence(
                circleID: circleID, itemID: id, originalStart: start.basic, startsAt: content.startAt.milliseconds,
                endsAt: content.endAt.milliseconds, content: try storedText(content))
            let old = try transaction.occurrence(start.basic, of: id, in: circleID)
            let etag = try old.map {
                try OccurrenceContent($0).json(originalStart: start, series: series, zone: zone).etag
            }
            try ConditionalGet.checkPreconditions(headers, etag: etag)
            if old?.content != new.content {
                try transaction.putOccurrence(new, now: now)
                try transaction.reviseItem(id, .appointments, in: circleID, now: now)
                try transaction.touchCircle(circleID, now: now)
            }
            return (content.json(originalStart: start, series: series, zone: zone), old == nil)
        }
        return try .resource(json, isNew: isNew)
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller()
        )
        let (start, now, headers) = (try originalStart(context), services.now(), request.headers)
        try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            guard let old = try transaction.occurrence(start.basic, of: id, in: circleID) else {
                throw Refusal.notFound
            }
            let (series, zone) = try series(id, in: circle, transaction)
            let json = try OccurrenceContent(old).json(originalStart: start, series: series, zone: zone)
            try ConditionalGet.checkPreconditions(headers, etag: try json.etag)
            _ = try transaction.deleteOccurrence(start.basic, of: id, in: circleID, now: now)
            try transaction.reviseItem(id, .appointments, in: circleID, now: now)
            try transaction.touchCircle(circleID, now: now)
        }
        return .noContent
    }

    private func series(
        _ id: String, in circle: Circle, _ transaction: any ReadTransaction
    ) throws -> (AppointmentContent, TimeZoneReference) {
        guard let item = try transaction.item(id, .appointments, in: circle.id),
            case .appointment(let content) = try ItemContent(item)
        else { throw Refusal.notFound }
        guard content.recurrence != nil else { throw Refusal.conflict("This appointment does not repeat.") }
        return (content, try content.timeZone.flatMap { TimeZoneReference($0) } ?? circle.zone)
    }

    /// The occurrence that the path names. Appointments have times, so a day alone names none.
    private func originalStart(_ context: KalendsContext) throws -> Instant {
        let text = try context.parameter("start")
        guard text.hasSuffix("Z"), let utc = CivilDateTime(basic: text.dropLast()),
            FieldReader.years.contains(utc.date.year)
        else {
            throw Refusal.badRequest("An occurrence is named by its original start in UTC: YYYYMMDDTHHMMSSZ.")
        }
        return Instant(utc: utc)
    }
}

extension OccurrenceContent {
    func json(originalStart: Instant, series: AppointmentContent, zone: TimeZoneReference) -> JSONValue {
        func time(_ instant: Instant) -> JSONValue { .string(instant.rfc3339(offset: zone.rules.offset(at: instant))) }
        return [
            "originalStart": time(originalStart), "startAt": time(startAt), "endAt": time(endAt),
            "provider": .string(provider ?? series.provider), "location": JSONValue(location ?? series.location),
            "notes": JSONValue(notes ?? series.notes), "status": .string(status),
        ]
    }
}
