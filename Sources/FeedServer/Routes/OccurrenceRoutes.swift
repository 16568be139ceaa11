// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import Storage

/// Single occurrences of a repeating appointment that are changed or cancelled.
struct OccurrenceRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        let collection = "/v1/circles/{circle}/appointments/{id}/occurrences"
        let path = "\(collection)/{start}"
        let one = Schema.named("Occurrence")
        routes.on(
            .get, collection,
            Operation(
                "listOccurrences", "List the changed occurrences of an appointment", .circle(.read),
                .scope(.readSchedule), query: .page,
                [.list(of: one)]), list)
        routes.on(
            .get, path,
            Operation(
                "getOccurrence", "Read a changed occurrence", .circle(.read), .scope(.readSchedule), [.ok(one)],
                refusals: [400], hasTag: true),
            get)
        routes.on(
            .put, path,
            Operation(
                "putOccurrence", "Change or cancel one occurrence of a repeating appointment", .circle(.write),
                .scope(.writeSchedule),
                body: .json(.named("OccurrenceInput"), isRequired: false), [.ok(one), .created(one)],
                refusals: [409], hasTag: true), put)
        routes.on(
            .delete, path,
            Operation(
                "deleteOccurrence", "Have one occurrence as the series has it", .circle(.write), .scope(.writeSchedule),
                [.noContent],
                refusals: [400, 409], hasTag: true), delete)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller().identity
        )
        let page = try Page(request)
        return try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .read, in: transaction)
            let (series, zone) = try appointment(id, in: circle, transaction)
            return try page.filled(key: \ChangedOccurrence.originalStart) { occurrence in
                try OccurrenceContent(occurrence).json(
                    originalStart: try occurrence.start, series: series, zone: zone)
            } _: { last, count in
                try transaction.occurrences(
                    of: id, in: circleID, after: last?.originalStart ?? page.after, limit: count)
            }
        }.response
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller().identity
        )
        let start = try originalStart(context)
        let json = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .read, in: transaction)
            let (series, zone) = try appointment(id, in: circle, transaction)
            guard let changed = try transaction.occurrence(start.basic, of: id, in: circleID) else {
                throw Refusal.missing(.occurrence)
            }
            return try OccurrenceContent(changed).json(originalStart: start, series: series, zone: zone)
        }
        return try .resource(json, for: request)
    }

    @Sendable
    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller().identity
        )
        let (start, now) = (try originalStart(context), services.now())
        let (body, headers) = (try await request.json(context), request.headers)
        let most = services.settings.quotas.held(to: caller).occurrencesPerItem
        let seen = try await services.store.read { transaction in
            try series(id, in: try Rights.circle(circleID, for: caller, .write, in: transaction), transaction)
        }
        // Looked for before the transaction, which looks again if the series is another by then.
        let isThere = seen.0.hasOccurrence(at: start, in: seen.1)
        let (json, isNew) = try await services.store.write { transaction -> (JSONValue, Bool) in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            let (series, zone) = try series(id, in: circle, transaction)
            let isSame = series.timing(in: zone) == seen.0.timing(in: seen.1)
            let isStart = isSame ? isThere : series.hasOccurrence(at: start, in: zone)
            guard isStart == true else { throw Refusal.missing(.occurrence) }
            let content = try OccurrenceContent(from: body, originalStart: start, series: series)
            let new = ChangedOccurrence(
                circleID: circleID, itemID: id, originalStart: start.basic, startsAt: content.startAt.milliseconds,
                endsAt: content.endAt.milliseconds, content: try storedText(content))
            let old = try transaction.occurrence(start.basic, of: id, in: circleID)
            let etag = try old.map {
                try OccurrenceContent($0).json(originalStart: start, series: series, zone: zone).etag
            }
            try ConditionalGet.checkPreconditions(headers, etag: etag)
            if old == nil, try transaction.occurrenceCount(of: id, in: circleID) >= most {
                throw Refusal.quota("A series has", most, "changed occurrences")
            }
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
            try context.identifier("circle"), try context.identifier("id"), try context.caller().identity
        )
        let (start, now, headers) = (try originalStart(context), services.now(), request.headers)
        try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            guard let old = try transaction.occurrence(start.basic, of: id, in: circleID) else {
                throw Refusal.missing(.occurrence)
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

    /// An appointment that repeats; throws 409 for one that does not.
    private func series(
        _ id: String, in circle: Circle, _ transaction: any ReadTransaction
    ) throws -> (AppointmentContent, TimeZoneReference) {
        let (content, zone) = try appointment(id, in: circle, transaction)
        guard content.recurrence != nil else {
            throw Refusal.conflict("This appointment does not repeat.", code: .notRecurring)
        }
        return (content, zone)
    }

    private func appointment(
        _ id: String, in circle: Circle, _ transaction: any ReadTransaction
    ) throws -> (AppointmentContent, TimeZoneReference) {
        guard let item = try transaction.item(id, .appointments, in: circle.id),
            case .appointment(let content) = try ItemContent(item)
        else { throw Refusal.missing(.appointment) }
        return (content, try content.timeZone.flatMap { TimeZoneReference($0) } ?? circle.zone)
    }

    /// The occurrence that the path names. Appointments have times, so a day alone names none.
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

extension ChangedOccurrence {
    var start: Instant {
        get throws {
            guard let start = Instant(basic: originalStart) else {
                throw StorageError.unexpectedResult("An occurrence has a start that is no time.")
            }
            return start
        }
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
