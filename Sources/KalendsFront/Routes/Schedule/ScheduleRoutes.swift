// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The collections of a circle's schedule, one for each kind of item.
struct ScheduleRoutes: Sendable {
    let schedule: Schedule
    let reach: Reach
    let kinds: ItemKinds

    func add(to routes: inout RouteTable) {
        routes.section(.schedule)
        for kind in kinds.list {
            let (name, collection) = (kind.name, kind.collection.rawValue)
            let path = "/v1/circles/{circle}/\(collection)"
            let one = Schema.named(name)
            routes.on(
                .get, path, "list\(kind.plural)", "List \(collection)", .circle(.read), .scope(.readSchedule),
                query: .page + Self.filters, [.list(of: .oneOf(one, .named("DeletedItem")))]
            ) { try await list(kind, $0, $1) }
            routes.on(
                .get, "\(path)/{id}", "get\(name)", "Read an item", .circle(.read), .scope(.readSchedule), [.ok(one)],
                hasTag: true
            ) { try await get(kind, $0, $1) }
            routes.on(
                .get, "\(path)/{id}/reach", "get\(name)Reach", "Read who has an item's latest change", .circle(.read),
                .scope(.readSchedule), details: Self.reachDetails, [.ok(.named("Reach"))]
            ) { try await reach(kind, $0, $1) }
            routes.on(
                .put, "\(path)/{id}", "put\(name)", "Create or replace an item", .circle(.write),
                .scope(.writeSchedule), body: .json(.named("\(name)Input")), [.ok(one), .created(one)], hasTag: true
            ) { try await put(kind, $0, $1) }
            routes.on(
                .delete, "\(path)/{id}", "delete\(name)", "Delete an item", .circle(.write), .scope(.writeSchedule),
                [.noContent], hasTag: true
            ) { try await delete(kind, $0, $1) }
        }
    }

    private static let reachDetails =
        "The readers of feeds that show the item, and the calendars that are kept in step. Callers see their own; an "
        + "owner of the circle and the host application see all, but an owner sees only the family of other people's "
        + "programs. The reach of a deleted item is kept for 90 days, and a reader counts for 90 days after it read."

    private func reach(
        _ kind: any ItemContent.Type, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circle, id) = (try context.identifier("circle"), try context.identifier("id", of: kind.resource))
        return try .json(
            try await reach.of(id, kind, in: circle, for: try context.caller()).json)
    }

    private static let filters: [Operation.Parameter] = [
        .init(name: "from", schema: Schema.string.described("A time or a day; only items that end later.")),
        .init(name: "to", schema: Schema.string.described("A time or a day; only items that begin earlier.")),
        .init(
            name: "updatedSince",
            schema: Schema.string.described("A time or a day; only items that changed later, including deleted ones.")),
    ]

    private func list(
        _ kind: any ItemContent.Type, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circle, caller, page) = (
            try context.identifier("circle"), try context.caller(), try Page(request, context)
        )
        return try await schedule.list(
            kind, in: circle, Self.search(request), after: page.after, for: caller
        ) { try page.filled(key: \ShownItem.item.id, json: { try $0.listedJSON }, $0) }.response
    }

    private static func search(_ request: Request) -> ItemSearch {
        let texts = request.uri.queryParameters
        var search = ItemSearch()
        func moment(_ name: String) -> ItemSearch.Moment? {
            guard let text = texts[Substring(name)] else { return nil }
            let moment = ItemSearch.Moment(text: String(text))
            if moment == nil {
                search.faults.append(
                    Fault(pointer: "/query/\(name)", code: .invalidTime, message: ItemSearch.Moment.rule))
            }
            return moment
        }
        search.from = moment("from")
        search.to = moment("to")
        search.updatedSince = moment("updatedSince")
        return search
    }

    private func get(
        _ kind: any ItemContent.Type, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circle, id) = (try context.identifier("circle"), try context.identifier("id", of: kind.resource))
        let (json, etag) = try await schedule.get(id, kind, in: circle, for: try context.caller())
            .jsonAndTag
        return try .resource(json, for: request, etag: etag)
    }

    private func put(
        _ kind: any ItemContent.Type, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circle, caller) = (try context.identifier("circle"), try context.caller())
        let id = try context.newIdentifier("id")
        let draft = ItemDraft(kind, id, in: circle, from: try await request.json(context))
        let (item, isNew) = try await schedule.put(
            id, in: circle, draft, if: request.condition { try $0.etag }, for: caller)
        let (json, etag) = try item.jsonAndTag
        return try .resource(json, isNew: isNew, etag: etag)
    }

    private func delete(
        _ kind: any ItemContent.Type, _ request: Request, _ context: KalendsContext
    ) async throws -> Response {
        let (circle, id) = (try context.identifier("circle"), try context.identifier("id", of: kind.resource))
        try await schedule.delete(
            id, kind, in: circle, if: request.condition { try $0.etag }, for: try context.caller())
        return .noContent
    }
}

extension RouteTable.Section {
    static let schedule = Self(
        name: "Schedule",
        about: "Tasks, shifts, appointments and follow-ups, with ids that the host application chooses.")
}
