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

    /// A key without scopes may do everything.
    static let body = InputBody(
        .required("name", .text()),
        .optional(
            "scopes",
            InputType.list(
                .array(of: .choice(Scope.self), minimum: 1).described("Without scopes the key may do everything."),
                of: 1...Int.max, .wrongType, "This must be a list of at least one scope.",
                each: (.notAChoice, "This must be one of \(Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
            ) { $0.string.flatMap(Scope.init) }.made { Set($0) }),
        example: ["name": "Care app"])

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let keys = try await services.serviceKeys.list(page.request, for: try context.caller())
        return try page.answer(keys, key: \.id, json: { try ShownKey($0, services.serviceKeys).json })
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let (name, scopes) = try Self.body.read(try await request.json(context))
        return try await context.answering { (made: (ServiceKey, Secret)) in
            let (key, secret) = made
            var json = ShownKey.view.members(of: try ShownKey(key, services.serviceKeys))
            json["key"] = .string(secret.reveal())
            return try .json(.object(json), status: .created)
        } to: {
            try await services.serviceKeys.create(name: name, scopes: scopes, for: caller)
        }
    }

    @Sendable
    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let key = try await services.serviceKeys.revoke(try context.identifier("id"), for: try context.caller())
        return try .json(try ShownKey(key, services.serviceKeys).json)
    }
}

/// A service key as answers show it.
struct ShownKey: Viewed {
    let key: ServiceKey
    let endsAt: Int?
    /// Nil for everything.
    let scopes: [Scope]?

    /// Throws `StorageError` for scopes that this version does not know.
    init(_ key: ServiceKey, _ keys: ServiceKeys) throws {
        (self.key, endsAt) = (key, keys.end(of: key))
        scopes = try key.scopes.map { text in
            let known = try Set<Scope>(stored: text)
            return Scope.allCases.filter(known.contains)
        }
    }

    static let view = View<ShownKey>([
        .text("id", \.key.id), .text("name", \.key.name), .text("hint", \.key.hint),
        .instant("createdAt", \.key.createdAt), .instant("lastUsedAt", \.key.lastUsedAt),
        .instant("revokedAt", \.key.revokedAt),
        .instant("expiresAt", \.endsAt).described("90 days after it was made, on a strict server; else null."),
        .choices("scopes", \.scopes).described("Null for everything."),
    ])
}
