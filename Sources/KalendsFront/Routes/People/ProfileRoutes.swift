// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The profiles that users set for themselves.
struct ProfileRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        let (path, profile): (String, Schema) = ("/v1/users/{user}", .named("Profile"))
        routes.on(
            .get, path,
            Operation("getProfile", "Read a user's zone", .oneself, .scope(.events), [.ok(profile)], hasTag: true), get)
        routes.on(
            .put, path,
            Operation(
                "putProfile", "Set a user's zone", .oneself, .scope(.events),
                details: "The zone of a user's personal events that do not name one.",
                body: .json(.named("ProfileInput")), [.ok(profile), .created(profile)], hasTag: true), put)
    }

    static let body = InputBody(
        .optional("timeZone", .timeZone), ignoring: ["id", "createdAt", "updatedAt"],
        example: ["timeZone": "America/Los_Angeles"])

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let profile = try await services.profiles.get(try context.identifier("user"), for: try context.caller())
        return try .resource(profile.json, for: request, etag: try profile.etag)
    }

    @Sendable
    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
        let zone = try Self.body.read(try await request.json(context))
        let (profile, isNew) = try await services.profiles.put(
            user, timeZone: zone, if: request.condition { try $0.etag }, for: caller)
        return try .resource(profile.json, isNew: isNew, etag: try profile.etag)
    }
}

extension Profiles.Shown: Viewed {
    static let view = View<Self>([
        .id("id", \.id), .text("timeZone", \.user?.timeZone), .instant("createdAt", \.user?.createdAt),
        .instant("updatedAt", \.user?.updatedAt),
    ])

    fileprivate var etag: String {
        get throws { try JSONValue.array([.string(id), JSONValue(user?.timeZone)]).etag }
    }
}
