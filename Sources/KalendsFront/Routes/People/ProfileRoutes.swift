// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// The profiles that users set for themselves, and their end.
struct ProfileRoutes: Sendable {
    let profiles: Profiles
    let erasures: PersonErasures

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        let (path, profile): (String, Schema) = ("/v1/users/{user}", .named("Profile"))
        routes.on(
            .get, path, "getProfile", "Read a user's zone", .oneself, .scope(.events), [.ok(profile)], hasTag: true, get
        )
        routes.on(
            .put, path, "putProfile", "Set a user's zone", .oneself, .scope(.events),
            details: "The zone of a user's personal events that do not name one.", body: .json(.named("ProfileInput")),
            [.ok(profile), .created(profile)], hasTag: true, put)
        routes.on(
            .delete, path, "eraseUser", "Erase a person", .oneself, .scope(.users),
            details:
                "With `erase=true` only. Feeds, devices, app passwords, sessions and connections end at once, the person "
                + "leaves their circles, and circles without another member are deleted. All data of only that person "
                + "is removed; data that others share no longer names them. The answer says what stays, and why; it is 202 "
                + "while the rest goes on, and the same request asks again. In a session, this is possible within 5 "
                + "minutes of signing in, and not for the last owner of a circle with other members.",
            query: [.init(name: "erase", schema: Schema.one(of: ["true"]))],
            [
                .ok(.named("Erasure")),
                .init(
                    status: 202, text: "The rest is being removed.", type: "application/json", schema: .named("Erasure")
                ),
            ], refusals: [409], takesLong: true, erase)
    }

    static let body = InputBody(
        .optional("timeZone", .timeZone), ignoring: ["id", "createdAt", "updatedAt"],
        example: ["timeZone": "America/Los_Angeles"])

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let profile = try await profiles.get(try context.identifier("user"), for: try context.caller())
        return try .resource(profile.json, for: request, etag: try profile.etag)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
        let zone = try Self.body.read(try await request.json(context))
        let (profile, isNew) = try await profiles.put(
            user, timeZone: zone, if: request.condition { try $0.etag }, for: caller)
        return try .resource(profile.json, isNew: isNew, etag: try profile.etag)
    }

    private func erase(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.identifier("user"), try context.caller())
        guard request.uri.queryParameters["erase"].map(String.init)?.isSameText(as: "true") == true else {
            // Others do not learn that the user exists.
            _ = try await profiles.get(user, for: caller)
            throw Refusal.invalid("/query/erase", code: .required, "This must be true, because it cannot be undone.")
        }
        let report = try await erasures.erase(user, for: caller)
        return try .json(report.json, status: report.isDone ? .ok : .accepted)
    }
}

extension ErasureReport: Viewed {
    static let view = View<Self>([
        .text("id", \.erasure.id).described("The name of the erasure in the audit trail."),
        .init("state", Schema.one(of: ["running", "done"])) { .string($0.isDone ? "done" : "running") },
        .instant("begunAt", \.erasure.begunAt), .instant("endedAt", \.erasure.endedAt),
        .init("removed", .array(of: counted).described("How many rows were removed, by table.")) {
            .array($0.erasure.removed.map { ["table": .string($0.table), "rows": .integer($0.rows)] })
        },
        .init("stays", .array(of: remnant).described("What stays, and why.")) {
            .array(
                $0.stays.map { what, rows in
                    [
                        "what": .string(what.rawValue), "rows": rows > 0 ? .integer(rows) : .null,
                        "why": .string(what.reason),
                    ]
                })
        },
    ])

    private static let counted = Schema.output(.required("table", .string), .required("rows", .count))
    private static let remnant = Schema.output(
        .required("what", .choice(ErasureRemnant.self)),
        .required("rows", .count.orNull.described("Null if the rows are not counted.")), .required("why", .string))
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
