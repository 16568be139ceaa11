// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import Storage

/// The four collections of a circle's schedule.
struct ScheduleRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        for collection in ScheduleItem.Collection.allCases {
            let (name, path) = (collection.schemaName, "/v1/circles/{circle}/\(collection.rawValue)")
            let one = Schema.named(name)
            routes.on(
                .get, path,
                Operation(
                    "list\(name)s", "List \(collection.rawValue)", .circle(.read), .scope(.readSchedule),
                    query: .page + Self.filters,
                    [.list(of: .either(one, .named("DeletedItem")))])
            ) { try await list(collection, $0, $1) }
            routes.on(
                .get, "\(path)/{id}",
                Operation("get\(name)", "Read one", .circle(.read), .scope(.readSchedule), [.ok(one)], hasTag: true)
            ) { try await get(collection, $0, $1) }
            routes.on(
                .put, "\(path)/{id}",
                Operation(
                    "put\(name)", "Make or change one", .circle(.write), .scope(.writeSchedule),
                    body: .json(.named("\(name)Input")),
                    [.ok(one), .created(one)], hasTag: true)
            ) { try await put(collection, $0, $1) }
            routes.on(
                .delete, "\(path)/{id}",
                Operation(
                    "delete\(name)", "Delete one", .circle(.write), .scope(.writeSchedule), [.noContent], hasTag: true)
            ) { try await delete(collection, $0, $1) }
        }
    }

    private static let filters: [Operation.Parameter] = [
        .init(name: "from", schema: Schema.string.described("A time or a day: what ends later.")),
        .init(name: "to", schema: Schema.string.described("A time or a day: what begins earlier.")),
        .init(
            name: "updatedSince",
            schema: Schema.string.described("A time or a day: what changed since, deleted items too.")),
    ]

    private func list(
        _ collection: ScheduleItem.Collection, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circleID, caller, page) = (
            try context.identifier("circle"), try context.caller().identity, try Page(request)
        )
        let texts = request.uri.queryParameters
        return try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .read, in: transaction)
            let zone = try circle.zone
            var faults: [Fault] = []
            func time(_ name: String) -> Int? {
                guard let text = texts[Substring(name)] else { return nil }
                if let instant = Instant(rfc3339: text) { return instant.milliseconds }
                if let date = CivilDate(iso: text) {
                    return zone.rules.instant(of: CivilDateTime(startOf: date)).milliseconds
                }
                faults.append(
                    Fault(
                        pointer: "/query/\(name)", code: .invalidTime,
                        message: "This must be a time as RFC 3339 writes it, or a day."))
                return nil
            }
            var query = ScheduleItemQuery(limit: page.fetchLimit)
            query.after = page.after
            query.from = time("from")
            query.to = time("to")
            query.updatedSince = time("updatedSince")
            func offset(_ time: Int?) -> Int {
                time.map { zone.rules.offset(at: Instant(milliseconds: $0)) * 1000 } ?? 0
            }
            (query.offsetAtFrom, query.offsetAtTo) = (offset(query.from), offset(query.to))
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            return try page.filled(key: \ScheduleItem.id) { item in
                if let deletedAt = item.deletedAt {
                    return [
                        "id": .string(item.id), "uid": .string(item.uid),
                        "deletedAt": JSONValue(milliseconds: deletedAt),
                    ]
                }
                return try Self.shown(item, zone, in: transaction).json
            } _: { last, count in
                (query.after, query.limit) = (last?.id ?? page.after, count)
                return try transaction.items(collection, in: circleID, query)
            }
        }.response
    }

    private func get(
        _ collection: ScheduleItem.Collection, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller().identity
        )
        let (json, etag) = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .read, in: transaction)
            guard let item = try transaction.item(id, collection, in: circleID) else {
                throw Refusal.missing(collection.resource)
            }
            return try Self.shown(item, try circle.zone, in: transaction)
        }
        return try .resource(json, for: request, etag: etag)
    }

    private func put(
        _ collection: ScheduleItem.Collection, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circleID, caller, now) = (try context.identifier("circle"), try context.caller().identity, services.now())
        let id = try context.newIdentifier("id")
        let sent = ItemDraft(collection, id, in: circleID, from: try await request.json(context))
        let draft = sent.repeats ? try await followed(sent, id, in: circleID, caller) : sent
        let (headers, quotas) = (request.headers, services.settings.quotas.held(to: caller))
        let ((json, etag), isNew) = try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            var writer = try ScheduleWriter(circle: circle, quotas: quotas, transaction: transaction, now: now)
            let zone = writer.zone
            let (item, outcome) = try writer.put(id, collection, draft) { old in
                let etag = try old.map { try ItemContent($0).json($0, zone: zone).etag }
                try ConditionalGet.checkPreconditions(headers, etag: etag)
            }
            try writer.finish()
            return (try Self.shown(item, zone, in: transaction), outcome == .created)
        }
        return try .resource(json, isNew: isNew, etag: etag)
    }

    /// The draft of a repeating appointment with its rule followed, which no transaction is to wait for.
    private func followed(
        _ draft: ItemDraft, _ id: String, in circleID: String, _ caller: Identity
    ) async throws -> ItemDraft {
        let (zone, changed) = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            return (try circle.zone, try transaction.occurrences(of: id, in: circleID).map(\.originalStart))
        }
        var (draft, budget) = (draft, RecurrenceBudget(steps: SeriesWork.ofFile))
        draft.follow(in: zone, changed: changed, budget: &budget)
        return draft
    }

    private func delete(
        _ collection: ScheduleItem.Collection, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circleID, id, caller) = (
            try context.identifier("circle"), try context.identifier("id"), try context.caller().identity
        )
        let quotas = services.settings.quotas.held(to: caller)
        let (now, headers) = (services.now(), request.headers)
        try await services.store.write { transaction in
            transaction.concerns(circle: circleID)
            let circle = try Rights.circle(circleID, for: caller, .write, in: transaction)
            var writer = try ScheduleWriter(circle: circle, quotas: quotas, transaction: transaction, now: now)
            guard let item = try transaction.item(id, collection, in: circleID) else {
                throw Refusal.missing(collection.resource)
            }
            try ConditionalGet.checkPreconditions(
                headers, etag: try ItemContent(item).json(item, zone: writer.zone).etag)
            _ = try writer.delete(id, collection)
            try writer.finish()
        }
        return .noContent
    }

    /// The most changed occurrences that an appointment lists itself; all are in the list of their own.
    static let mostOccurrences = 1000

    /// An item as it is read, and its tag.
    ///
    /// The tag is over the item without its changed occurrences: each of their changes raises its `sequence`.
    private static func shown(
        _ item: ScheduleItem, _ zone: TimeZoneReference, in transaction: any ReadTransaction
    ) throws -> (json: JSONValue, etag: String) {
        let content = try ItemContent(item)
        let json = content.json(item, zone: zone)
        let etag = try json.etag
        guard case .appointment(let series) = content, case .object(var members) = json else { return (json, etag) }
        let own = series.timeZone.flatMap { TimeZoneReference($0) } ?? zone
        func time(_ instant: Instant) -> JSONValue { .string(instant.rfc3339(offset: own.rules.offset(at: instant))) }
        var occurrences: [JSONValue] = []
        if series.recurrence != nil {
            let found = try transaction.occurrenceTimes(of: item.id, in: item.circleID, limit: mostOccurrences)
            occurrences = found.map { occurrence in
                [
                    "originalStart": Instant(basic: occurrence.originalStart).map(time) ?? .null,
                    "startAt": time(Instant(milliseconds: occurrence.startsAt)),
                    "endAt": time(Instant(milliseconds: occurrence.endsAt)),
                ]
            }
        }
        members["occurrences"] = .array(occurrences)
        return (.object(members), etag)
    }
}

extension RouteTable.Section {
    static let schedule = Self(
        name: "Schedule", about: "Tasks, shifts, appointments and follow-ups, by ids of the host application's choice.")
}
