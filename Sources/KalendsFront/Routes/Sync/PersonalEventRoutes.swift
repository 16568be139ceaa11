// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// A person's own events, for the host application and for pages.
struct PersonalEventRoutes: Sendable {
    let personalEvents: PersonalEvents

    /// The members of an event that only the server or a device sets, and which may be sent back with the event.
    static let readOnly: Set<ByteString> = [
        "id", "provider", "externalId", "externalCalendarId", "externalInstanceId", "syncState", "lastSyncedAt",
        "sourceDevice", "circleId", "collection", "createdAt", "updatedAt", "deletedAt",
    ]

    func add(to routes: inout RouteTable) {
        routes.section(.phones)
        let (path, one): (String, Schema) = ("/v1/users/{user}/events", .named("PersonalEvent"))
        let input = Operation.Body.json(.named("PersonalEventInput"))
        routes.on(
            .get, path, "listPersonalEvents", "List a user's own events", .oneself, .scope(.events),
            query: .page + Self.days, [.list(of: one)], list)
        routes.on(
            .post, path, "createPersonalEvent", "Create a personal event", .oneself, .scope(.events),
            details: "The server gives it an id.", body: input, [.created(one)], refusals: [409], create)
        routes.on(
            .get, "\(path)/{id}", "getPersonalEvent", "Read a personal event", .oneself, .scope(.events), [.ok(one)],
            hasTag: true, get)
        routes.on(
            .put, "\(path)/{id}", "putPersonalEvent", "Create or replace a personal event", .oneself, .scope(.events),
            details: "The identifiers that devices use for the event stay as they are.", body: input,
            [.ok(one), .created(one)], refusals: [409], hasTag: true, put)
        routes.on(
            .patch, "\(path)/{id}", "changePersonalEvent", "Change a personal event", .oneself, .scope(.events),
            details: "Null clears a field. The identifiers that devices use for the event stay as they are.",
            body: .json(.named("PersonalEventChange"), isRequired: false), [.ok(one)], hasTag: true, change)
        routes.on(
            .delete, "\(path)/{id}", "deletePersonalEvent", "Delete a personal event", .oneself, .scope(.events),
            details: "Devices are notified of the deletion.", [.noContent], hasTag: true, delete)
    }

    static let days: [Operation.Parameter] = [
        .init(name: "from", schema: Schema.string.described("A time or a day; only items that end later.")),
        .init(name: "to", schema: Schema.string.described("A time or a day; only items that begin earlier.")),
    ]

    private func pathParts(_ context: KalendsContext) throws -> (user: String, id: String, caller: Caller) {
        (try context.identifier("user"), try context.identifier("id"), try context.caller())
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller, page) = (try context.identifier("user"), try context.caller(), try Page(request, context))
        var search = PersonalEvents.Search()
        func moment(_ name: String) -> PersonalMoment? {
            guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
            let moment = PersonalMoment(String(text))
            if moment == nil {
                search.faults.append(
                    Fault(pointer: "/query/\(name)", code: .invalidTime, message: PersonalMoment.rule))
            }
            return moment
        }
        search.from = moment("from")
        search.to = moment("to")
        return try await personalEvents.list(of: user, search, after: page.after, for: caller) {
            try page.filled(key: \PersonalEvent.id, json: { try $0.json }, $0)
        }.response
    }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.identifier("user"), try context.caller())
        let (edit, faults) = Self.edit(try await request.json(context), .put)
        return try await context.answering { (made: (PersonalEvent, isNew: Bool)) in
            let (event, _) = made
            var headers: HTTPFields = [.location: "/v1/users/\(user)/events/\(event.id)"]
            (headers[.eTag], headers[.cacheControl]) = (try event.etag, "private, no-cache")
            return try .json(try event.json, status: .created, headers: headers)
        } to: {
            try await personalEvents.put(nil, of: user, edit, faults: faults, if: .none, for: caller)
        }
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, id, caller) = try pathParts(context)
        let event = try await personalEvents.get(id, of: user, for: caller)
        return try .resource(try event.json, for: request, etag: try event.etag)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.identifier("user"), try context.caller())
        let id = try context.newIdentifier("id")
        let (edit, faults) = Self.edit(try await request.json(context), .put)
        let (event, isNew) = try await personalEvents.put(
            id, of: user, edit, faults: faults, if: request.condition { try $0.etag }, for: caller)
        return try .resource(try event.json, isNew: isNew, etag: try event.etag)
    }

    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, id, caller) = try pathParts(context)
        let (edit, faults) = Self.edit(try await request.json(context), .patch)
        let event = try await personalEvents.change(
            id, of: user, edit, faults: faults, if: request.condition { try $0.etag }, for: caller)
        return try .resource(try event.json, etag: try event.etag)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, id, caller) = try pathParts(context)
        try await personalEvents.delete(
            id, of: user, if: request.condition { try $0.etag }, for: caller)
        return .noContent
    }

    private static func edit(_ body: JSONValue, _ method: PersonalEdit.Method) -> (PersonalEdit, FaultList) {
        var fields = FieldReader(body)
        let edit = PersonalEdit(body, &fields, at: "", method, needsAll: method == .put)
        fields.finish(ignoring: readOnly)
        return (edit, fields.faults)
    }
}

extension RouteTable.Section {
    static let phones = Self(
        name: "Phones", about: "A person's own events, which their devices send and receive.")
}
