// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Storage

/// Users who sign in here, and their passwords.
struct UserRoutes: Sendable {
    let users: Users
    let personData: PersonData
    let settings: ServerSettings

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        let path = "/v1/users/{user}/password"
        routes.on(
            .get, "/v1/users", "listUsers", "List the users who have a password here", .installation, .scope(.users),
            query: .page, [.list(of: .named("User"))], list)
        routes.on(
            .put, path, "putPassword", "Set a user's password", .oneself, .scope(.users),
            details:
                "Users must also give their current password, and a code if they have a second factor. Their other "
                + "sessions and devices are signed out.", body: .json(.named("PasswordInput")),
            [.init(status: 201, text: "The password was set for the first time."), .noContent], refusals: [409], put)
        routes.on(
            .delete, path, "deletePassword", "Remove a user's password", .oneself, .scope(.users), [.noContent], delete)
        routes.on(
            .get, "/v1/users/{user}/export", "exportUser", "Export all data that is stored about a person", .oneself,
            .scope(.users),
            details: "One archive, as `tar` and gzip make it: JSON of all rows that are theirs or name them, without "
                + "secrets, their calendars as .ics, and README.txt, which explains the files. In a session, this is "
                + "possible within 5 minutes of signing in. The audit trail notes it.",
            [.init(status: 200, text: "The archive.", type: PersonArchiveAnswer.type, schema: .bytes)], takesLong: true,
            export)
    }

    private func export(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let user = try context.identifier("user")
        let archive = try await personData.archive(of: user, for: try context.caller())
        return PersonArchiveAnswer(archive: archive, user: user, context: context).response
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (caller, page) = (try context.caller(), try Page(request, context))
        let users = try await users.list(page.request, for: caller)
        return try page.answer(users, key: \.id, json: \.json)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        try users.check(user, for: caller)
        var fields = FieldReader(try await request.json(context))
        let password = fields.password("password", isNew: true)
        let current = caller.isInstallation ? nil : fields.password("currentPassword", isNew: false)
        let code = caller.isInstallation ? nil : fields.code("code", isRequired: false)
        try fields.end()
        guard let password else { throw Refusal.invalid(fields.faults) }
        let isNew = try await users.setPassword(
            password, of: user, with: current.map { Reauthentication(password: $0, code: code) },
            from: settings.network(of: request, context), for: caller)
        return Response(status: isNew ? .created : .noContent)
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await users.deletePassword(of: try context.identifier("user"), for: try context.caller())
        return .noContent
    }
}

extension ListedUser: Viewed {
    static let view = View<Self>([
        .id("id", \.id), .instant("passwordSetAt", \.createdAt), .instant("passwordChangedAt", \.changedAt),
        .count("sessions", \.sessions), .count("devices", \.devices),
        .instant("secondFactorAt", \.secondFactorAt)
            .described("When the second factor was set up; null without one."),
    ])
}

extension RouteTable.Section {
    static let users = Self(
        name: "Users", about: "Sign-in for installations without a host application, and users' devices.")
}
