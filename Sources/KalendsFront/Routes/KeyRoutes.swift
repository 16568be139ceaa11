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

    private func members(_ key: ServiceKey) throws -> [ByteString: JSONValue] {
        ServiceKey.view.members(of: (key, try key.knownScopes, services.serviceKeys.end(of: key)))
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let keys = try await services.serviceKeys.list(page.request, for: try context.caller())
        return try page.answer(keys, key: \.id, json: { .object(try members($0)) })
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let (name, scopes) = try Self.body.read(try await request.json(context))
        let (key, secret) = try await services.serviceKeys.create(name: name, scopes: scopes, for: caller)
        var json = try members(key)
        json["key"] = .string(secret.reveal())
        return try .json(.object(json), status: .created)
    }

    @Sendable
    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let key = try await services.serviceKeys.revoke(try context.identifier("id"), for: try context.caller())
        return try .json(.object(try members(key)))
    }
}

extension ServiceKey {
    /// The names of the key's scopes; throws `StorageError` for scopes that this version does not know.
    fileprivate var knownScopes: [String]? {
        get throws { try scopes.map { try Set<Scope>(stored: $0).names } }
    }

    static let view = View<(key: ServiceKey, scopes: [String]?, end: Int?)>([
        .text("id", \.key.id), .text("name", \.key.name), .text("hint", \.key.hint),
        .instant("createdAt", \.key.createdAt), .instant("lastUsedAt", \.key.lastUsedAt),
        .instant("revokedAt", \.key.revokedAt),
        .instant("expiresAt", \.end).described("90 days after it was made, on a strict server; else null."),
        .init("scopes", Schema.array(of: .choice(Scope.self)).orNull.described("Null for everything.")) { shown in
            shown.scopes.map { .array($0.map(JSONValue.string)) } ?? .null
        },
    ])
}
