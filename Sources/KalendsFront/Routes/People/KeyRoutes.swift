// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import KalendsCore
import Storage

/// The keys of host applications.
struct KeyRoutes: Sendable {
    let serviceKeys: ServiceKeys

    func add(to routes: inout RouteTable) {
        routes.section(RouteTable.Section(name: "Keys", about: "The keys with which host applications call."))
        let key = Schema.named("ServiceKey")
        routes.on(
            .get, "/v1/keys", "listKeys", "List service keys", .installation, .scope(.keys), query: .page,
            [.list(of: key)], list)
        routes.on(
            .post, "/v1/keys", "createKey", "Create a service key", .installation, .scope(.keys),
            body: .json(.named("ServiceKeyInput")), [.created(.named("NewServiceKey"))], refusals: [404], create)
        routes.on(
            .post, "/v1/keys/{id}/revoke", "revokeKey", "End a service key now", .installation, .scope(.keys),
            [.ok(key)], revoke)
    }

    /// A key without scopes may do everything, and one without circles is for all of them.
    static let body = InputBody(
        .required("name", .text()),
        .optional(
            "scopes",
            InputType.list(
                .array(of: .choice(Scope.self), minimum: 1).described("Without scopes the key may do everything."),
                of: 1...Int.max, .wrongType, "This must be a list of at least one scope.",
                each: (.notAChoice, "This must be one of \(Scope.allCases.map(\.rawValue).joined(separator: ", ")).")
            ) { $0.string.flatMap(Scope.init) }.made { Set($0) }),
        .optional("circles", circles), .optional("circlePrefix", prefix), .optional("quotas", quotas),
        example: ["name": "Care app"])

    /// The quotas of a key, with the names of `KeyQuotas`.
    static let quotas = InputType<KeyQuotas>(
        .object([
            .optional(
                "requestsPerMinute", quota(1, "Requests that each server answers within a minute; more are 429.")),
            .optional("feeds", quota(0, "Feeds in the circles that the key reaches; more are 409.")),
            .optional("circles", quota(0, "Circles that the key reaches; more are 409.")),
        ]).described("A missing or null field sets no limit.")
    ) { name, _, fields in
        guard let value = fields.value(name) else { return nil }
        var inner = FieldReader(value, at: "/" + name)
        let quotas = KeyQuotas(
            requestsPerMinute: inner.integer("requestsPerMinute", in: 1...KeyQuotas.most),
            feeds: inner.integer("feeds", in: 0...KeyQuotas.most),
            circles: inner.integer("circles", in: 0...KeyQuotas.most))
        inner.finish()
        fields.add(inner.faults)
        return quotas
    }

    private static func quota(_ least: Int, _ about: String) -> JSONSchema {
        JSONSchema.integer(least...KeyQuotas.most).orNull.described(about)
    }

    private static let circles = InputType<[String]>.list(
        .array(of: .identifier, minimum: 1, maximum: CircleBound.most).described(
            "The ids of the circles that the key is bound to; it makes circles only with these ids."),
        of: 1...CircleBound.most, .wrongType, "This must be a list of 1 to \(CircleBound.most) ids of circles."
    ) { $0.string.flatMap { Identifier.isValid($0) ? $0 : nil } }

    private static let prefix = InputType<String>.identifier.documented(
        Schema.identifier.described("The beginning of the ids of the circles that the key is bound to."))

    /// Reads the body that creates a key; throws 422 with all faults.
    static func read(_ body: JSONValue) throws -> NewKey {
        let (name, scopes, circles, prefix, quotas) = try Self.body.read(body)
        if circles != nil, prefix != nil {
            throw Refusal.invalid(
                "/circlePrefix", code: .contradiction, "A key is bound to circles or to a prefix, not to both.")
        }
        let ids = circles.map { Set($0.map { ByteString($0) }).sorted().map(\.string) }
        return NewKey(
            name: name, scopes: scopes, bound: ids.map(CircleBound.circles) ?? prefix.map(CircleBound.prefix),
            quotas: quotas ?? KeyQuotas())
    }

    /// The properties that a request gives a new key.
    struct NewKey {
        let name: String
        let scopes: Set<Scope>?
        let bound: CircleBound?
        let quotas: KeyQuotas
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let page = try Page(request, context)
        let keys = try await serviceKeys.list(page.request, for: try context.caller())
        return try page.answer(keys, key: \.id, json: { try ShownKey($0, serviceKeys).json })
    }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let new = try Self.read(try await request.json(context))
        return try await context.answering { (made: (ServiceKey, Secret)) in
            let (key, secret) = made
            var json = ShownKey.view.members(of: try ShownKey(key, serviceKeys))
            json["key"] = .string(secret.reveal())
            return try .json(.object(json), status: .created)
        } to: {
            try await serviceKeys.create(
                name: new.name, scopes: new.scopes, bound: new.bound, quotas: new.quotas, for: caller)
        }
    }

    private func revoke(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        return try await context.answering { key in
            try .json(try ShownKey(key, serviceKeys).json)
        } to: {
            try await serviceKeys.revoke(id, for: caller)
        }
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

    private static let quotas = View<KeyQuotas>([
        .count("requestsPerMinute", \.requestsPerMinute), .count("feeds", \.feeds), .count("circles", \.circles),
    ])

    static let view = View<ShownKey>([
        .text("id", \.key.id), .text("name", \.key.name), .text("hint", \.key.hint),
        .instant("createdAt", \.key.createdAt), .instant("lastUsedAt", \.key.lastUsedAt),
        .instant("revokedAt", \.key.revokedAt),
        .instant("expiresAt", \.endsAt).described("90 days after it was made, on a strict server; else null."),
        .choices("scopes", \.scopes).described("Null for everything."),
        .init("circles", Schema.array(of: .identifier).orNull.described("Null for all, or with a prefix.")) {
            $0.key.circles.map { .array($0.map(JSONValue.string)) } ?? .null
        },
        .text("circlePrefix", \.key.circlePrefix).described("Null for all, or with a list."),
        .object("quotas", \.key.quotas, quotas),
    ])
}
