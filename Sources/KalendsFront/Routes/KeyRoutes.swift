// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import KalendsCore
import Storage

/// The keys of host applications.
struct KeyRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(RouteTable.Section(name: "Keys", about: "The keys with which host applications call."))
        let key = Schema.named("ServiceKey")
        routes.on(
            .get, "/v1/keys",
            Operation("listKeys", "List service keys", .installation, .scope(.keys), query: .page, [.list(of: key)]),
            list)
        routes.on(
            .post, "/v1/keys",
            Operation(
                "createKey", "Create a service key", .installation, .scope(.keys),
                body: .json(.named("ServiceKeyInput")),
                [.created(.named("NewServiceKey"))]), create)
        routes.on(
            .post, "/v1/keys/{id}/revoke",
            Operation("revokeKey", "End a service key now", .installation, .scope(.keys), [.ok(key)]), revoke)
    }

    private func json(_ key: ServiceKey) throws -> JSONValue {
        var json = try key.json.object ?? [:]
        json["expiresAt"] = JSONValue(milliseconds: services.serviceKeys.end(of: key))
        return .object(json)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let keys = try await services.serviceKeys.list(page.request, for: try context.caller())
        return try page.answer(keys, key: \.id, json: { try json($0) })
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        var fields = FieldReader(try await request.json(context))
        let name = fields.text("name", isRequired: true)
        let scopes = fields.scopes("scopes")
        try fields.end()
        guard let name else { throw Refusal.invalid(fields.faults) }
        let (key, secret) = try await services.serviceKeys.create(name: name, scopes: scopes, for: caller)
        var json = try self.json(key).object ?? [:]
        json["key"] = .string(secret.reveal())
        return try .json(.object(json), status: .created)
    }

    @Sendable
    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let key = try await services.serviceKeys.revoke(try context.identifier("id"), for: try context.caller())
        return try .json(try json(key))
    }
}

extension ServiceKey {
    /// Throws `StorageError` for scopes that this version does not know.
    var json: JSONValue {
        get throws {
            let scopes = try scopes.map { try Set<Scope>(stored: $0).names.map(JSONValue.string) }
            return [
                "id": .string(id), "name": .string(name), "hint": .string(hint),
                "scopes": scopes.map(JSONValue.array) ?? .null,
                "createdAt": JSONValue(milliseconds: createdAt), "lastUsedAt": JSONValue(milliseconds: lastUsedAt),
                "revokedAt": JSONValue(milliseconds: revokedAt),
            ]
        }
    }
}

extension FieldReader {
    /// The scopes of a key; nil when it may do everything.
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
