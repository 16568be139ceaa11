// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The passwords with which people's calendar apps sign in: making, listing, changing and ending them.
struct AppPasswordRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.calendarApps)
        let (password, new): (Schema, Schema) = (.named("AppPassword"), .named("NewAppPassword"))
        var made = Operation.Reply.created(new, "The password was made; only this answer has it.")
        made.headers = ["Location"]
        routes.on(
            .post, "/v1/app-passwords", "createAppPassword", "Create a password for a calendar app", .caller,
            .scope(.users), body: .json(.named("AppPasswordInput")), [made], refusals: [409], create)
        routes.on(
            .get, "/v1/app-passwords", "listAppPasswords", "List the passwords of calendar apps", .caller,
            .scope(.users), query: .page, [.list(of: password)], list)
        routes.on(
            .get, "/v1/app-passwords/{id}", "getAppPassword", "Read a calendar app's password, without its secret",
            .appPassword, .scope(.users), [.ok(password)], hasTag: true, get)
        routes.on(
            .patch, "/v1/app-passwords/{id}", "changeAppPassword", "Change what an app may do", .appPassword,
            .scope(.users), body: .json(.named("AppPasswordChange")), [.ok(password)], refusals: [409], hasTag: true,
            change)
        routes.on(
            .delete, "/v1/app-passwords/{id}", "endAppPassword", "End a calendar app's password now", .appPassword,
            .scope(.users), details: "It opens nothing from the next request on, at any server.", [.noContent],
            hasTag: true, end)
        routes.on(
            .get, "/v1/app-passwords/{id}/accesses", "listAppAccesses",
            "List the accesses with an app password, the latest first", .appPassword, .scope(.users), query: .page,
            [.list(of: .named("FeedAccess"))], accesses)
    }

    private var passwords: AppPasswords { services.appPasswords }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let caller = try context.caller()
        let draft = AppPasswords.Draft(try await request.json(context), services.settings.kinds)
        let settings = services.settings
        return try await context.answering { made in
            try .json(
                NewAppPassword(made, settings).json, status: .created,
                headers: [.location: "/v1/app-passwords/\(made.counted.password.id)"])
        } to: {
            try await passwords.create(draft, for: caller)
        }
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (caller, page) = (try context.caller(), try Page(request, context))
        let found = try await passwords.list(page.request, for: caller)
        return try page.answer(found, key: \.password.id, json: \.json)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let found = try await passwords.get(try context.identifier("id"), for: try context.caller())
        // The tag covers what a client can change, so that a request of the app does not make an update stale.
        return try .resource(found.json, for: request, etag: try found.password.etag)
    }

    private func change(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let change = AppPasswords.Change(try await request.json(context), services.settings.kinds)
        let changed = try await passwords.change(id, change, if: request.condition { try $0.etag }, for: caller)
        return try .resource(changed.json, etag: try changed.password.etag)
    }

    private func end(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await passwords.end(
            try context.identifier("id"), if: request.condition { try $0.etag }, for: try context.caller())
        return .noContent
    }

    private func accesses(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, page) = (try context.identifier("id"), try context.caller(), try Page(request, context))
        let before = try page.number ?? Int.max
        let found = try await passwords.accesses(of: id, before: before, limit: page.fetchLimit, for: caller)
        return try page.answer(found, key: { String($0.number) }, json: \.json)
    }
}

extension RouteTable.Section {
    static let calendarApps = Self(
        name: "Calendar apps",
        about: "Passwords with which calendar apps sign in over CalDAV: making, monitoring and ending them.")
}
