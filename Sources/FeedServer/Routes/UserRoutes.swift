// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Storage

/// Users who sign in here, and their passwords.
struct UserRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        let path = "/v1/users/{user}/password"
        routes.on(
            .get, "/v1/users",
            Operation(
                "listUsers", "List the users who have a password here", .installation, .scope(.users), query: .page,
                [.list(of: .named("User"))]), list)
        routes.on(
            .put, path,
            Operation(
                "putPassword", "Set a user's password", .oneself, .scope(.users),
                details: "Users give their present one too. Their other sessions and their devices end.",
                body: .json(.named("PasswordInput")),
                [.init(status: 201, text: "Set for the first time."), .noContent]), put)
        routes.on(
            .delete, path,
            Operation("deletePassword", "Take a user's password away", .oneself, .scope(.users), [.noContent]), delete)
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try Rights.installation(try context.caller().identity)
        let (page, now) = (try Page(request), services.now())
        let users = try await services.store.read {
            try $0.usersWithPassword(after: page.after, limit: page.fetchLimit, now: now)
        }
        return try page.answer(users, key: \.id, json: \.json)
    }

    @Sendable
    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller, now) = (try context.newIdentifier("user"), try context.caller().identity, services.now())
        try Rights.password(of: user, for: caller)
        var fields = FieldReader(try await request.json(context))
        let password = fields.password("password", isNew: true)
        let current = caller.isInstallation ? nil : fields.password("currentPassword", isNew: false)
        fields.finish()
        try fields.check()
        guard let password else { throw Refusal.invalid(fields.faults) }
        var known: String?
        if let current { known = try await checked(user, current, request, context) }
        let (hash, old, session) = (try await services.passwords.hash(password), known, context.session?.id)
        let actor = try context.caller().actor
        let isNew = try await services.store.record { transaction in
            // Two changes at once: the second was asked with a password that is no more.
            if let old, try transaction.password(of: user)?.hash != old { throw Refusal.wrongCurrentPassword }
            try transaction.deleteSessions(of: user, except: session)
            try transaction.deleteDevices(of: user)
            let isNew = try transaction.putPassword(of: user, hash: hash, now: now)
            try AuditTrail.note(.passwordSet, user, by: actor, in: transaction, now: now)
            return isNew
        }
        try await services.passwords.brake.forget(user, now: now)
        return Response(status: isNew ? .created : .noContent)
    }

    /// What is stored of a user's present password; throws 422 when it is another.
    private func checked(
        _ user: String, _ password: Concealed, _ request: Request, _ context: KalendsContext
    ) async throws -> String {
        let network = services.settings.clientAddress(request, context)?.network ?? "local"
        try await services.passwords.brake.begin(user, from: network, now: services.now())
        let stored = try await services.store.read { try $0.password(of: user)?.hash }
        guard try await services.passwords.isRight(password, stored: stored), let stored else {
            throw Refusal.wrongCurrentPassword
        }
        try await services.passwords.brake.succeed(user, from: network, now: services.now())
        return stored
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.identifier("user"), try context.caller().identity)
        let (actor, now) = (try context.caller().actor, services.now())
        try Rights.password(of: user, for: caller)
        try Rights.installation(caller)
        let wasThere = try await services.store.record { transaction in
            try transaction.deleteSessions(of: user, except: nil)
            try transaction.deleteDevices(of: user)
            guard try transaction.deletePassword(of: user) else { return false }
            try AuditTrail.note(.passwordRemoved, user, by: actor, in: transaction, now: now)
            return true
        }
        guard wasThere else { throw Refusal.missing(.user) }
        return .noContent
    }
}

extension Rights {
    /// Throws 404 unless the password is the caller's own, or the caller stands for the installation.
    fileprivate static func password(of user: String, for caller: Identity) throws {
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
    }
}

extension Refusal {
    fileprivate static let wrongCurrentPassword = Refusal.invalid(
        "/currentPassword", code: .wrongPassword, "This is not the present password.")
}

extension ListedUser {
    fileprivate var json: JSONValue {
        [
            "id": .string(id), "passwordSetAt": JSONValue(milliseconds: createdAt),
            "passwordChangedAt": JSONValue(milliseconds: changedAt), "sessions": .integer(sessions),
            "devices": .integer(devices),
        ]
    }
}

extension RouteTable.Section {
    static let users = Self(
        name: "Users", about: "Sign-in for installations without a host application, and users' devices.")
}
