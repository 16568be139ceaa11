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
            Operation("listKeys", "List service keys", .installation, .scope(.keys), query: .page, [.list(of: key)]),
            list)
        routes.on(
            .post, "/v1/keys",
            Operation(
                "createKey", "Make a service key", .installation, .scope(.keys), body: .json(.named("ServiceKeyInput")),
                [.created(.named("NewServiceKey"))]), create)
        routes.on(
            .post, "/v1/keys/{id}/revoke",
            Operation("revokeKey", "End a service key now", .installation, .scope(.keys), [.ok(key)]), revoke)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request)
        let keys = try await services.store.read { try $0.serviceKeys(after: page.after, limit: page.fetchLimit) }
        return try page.answer(keys, key: \.id, json: \.json)
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (caller, actor) = (try context.caller().identity, try context.caller().actor)
        var fields = FieldReader(try await request.json(context))
        let name = fields.text("name", isRequired: true)
        let scopes = fields.scopes("scopes")
        fields.finish()
        try fields.check()
        guard let name else { throw Refusal.invalid(fields.faults) }
        try Rights.give(scopes, by: caller)
        let (secret, id, now) = (Secret.make(.serviceKey), FeedLedger.makeID(), services.now())
        let key = try await services.store.write { transaction in
            try transaction.insertServiceKey(
                id: id, name: name, hash: secret.hash, hint: secret.hint, scopes: scopes?.stored, now: now)
            let given = scopes.map { JSONValue.array($0.names.map(JSONValue.string)) } ?? .null
            try AuditTrail.note(.keyCreated, id, detail: ["scopes": given], by: actor, in: transaction, now: now)
            return try transaction.serviceKey(id)
        }
        var json = key?.json.object ?? [:]
        json["key"] = .string(secret.reveal())
        return try .json(.object(json), status: .created)
    }

    @Sendable
    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller().identity, services.now())
        let actor = try context.caller().actor
        let key = try await services.store.write { transaction in
            guard let key = try transaction.serviceKey(id) else { throw Refusal.missing(.key) }
            try Rights.give(key.scopes.map { Set(stored: $0) }, by: caller)
            if try transaction.revokeServiceKey(id, now: now) {
                try AuditTrail.note(.keyRevoked, id, by: actor, in: transaction, now: now)
            }
            return try transaction.serviceKey(id)
        }
        return try .json(key?.json ?? .null)
    }
}

extension ServiceKey {
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "hint": .string(hint),
            "scopes": scopes.map { .array(Set<Scope>(stored: $0).names.map(JSONValue.string)) } ?? .null,
            "createdAt": JSONValue(milliseconds: createdAt), "lastUsedAt": JSONValue(milliseconds: lastUsedAt),
            "revokedAt": JSONValue(milliseconds: revokedAt),
        ]
    }
}

extension FieldReader {
    /// What a key may do; nil for everything.
    fileprivate mutating func scopes(_ name: String) -> Set<Scope>? {
        guard let value = value(name) else { return nil }
        guard let items = value.array, !items.isEmpty else {
            fault(name, code: .wrongType, "This must be a list of at least one scope.")
            return nil
        }
        var scopes: Set<Scope> = []
        for (index, item) in items.enumerated() {
            if let scope = item.string.flatMap(Scope.init) {
                scopes.insert(scope)
            } else {
                fault(
                    "\(name)/\(index)", code: .notAChoice,
                    "This must be one of \(Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
        }
        return scopes
    }
}
