// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Storage

/// The keys of host applications.
struct KeyRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(RouteTable.Section(name: "Keys", about: "What host applications call with."))
        let key = Schema.named("ServiceKey")
        routes.on(
            .get, "/v1/keys",
            Operation("listKeys", "List service keys", .installation, query: .page, [.list(of: key)]), list)
        routes.on(
            .post, "/v1/keys",
            Operation(
                "createKey", "Make a service key", .installation, body: .json(.named("ServiceKeyInput")),
                [.created(.named("NewServiceKey"))]), create)
        routes.on(
            .post, "/v1/keys/{id}/revoke",
            Operation("revokeKey", "End a service key now", .installation, [.ok(key)]), revoke)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request)
        let keys = try await services.store.read { try $0.serviceKeys(after: page.after, limit: page.fetchLimit) }
        return try page.answer(keys, key: \.id, json: \.json)
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        var fields = FieldReader(try await request.json())
        let name = fields.text("name", isRequired: true, maximum: 100)
        fields.finish()
        try fields.check()
        guard let name else { throw Refusal.invalid(fields.faults) }
        let (secret, id, now) = (Secret.make(.serviceKey), FeedLedger.makeID(), services.now())
        let key = try await services.store.write { transaction in
            try transaction.insertServiceKey(id: id, name: name, hash: secret.hash, hint: secret.hint, now: now)
            return try transaction.serviceKey(id)
        }
        var json = key?.json.object ?? [:]
        json["key"] = .string(secret.reveal())
        return try .json(.object(json), status: .created)
    }

    @Sendable
    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, now) = (try context.parameter("id"), services.now())
        let key = try await services.store.write { transaction in
            guard try transaction.serviceKey(id) != nil else { throw Refusal.notFound }
            _ = try transaction.revokeServiceKey(id, now: now)
            return try transaction.serviceKey(id)
        }
        return try .json(key?.json ?? .null)
    }
}

extension ServiceKey {
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "hint": .string(hint),
            "createdAt": JSONValue(milliseconds: createdAt), "lastUsedAt": JSONValue(milliseconds: lastUsedAt),
            "revokedAt": JSONValue(milliseconds: revokedAt),
        ]
    }
}
