// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The sessions of users who sign in here with a password, for installations without a host application.
struct SessionRoutes: Sendable {
    let sessions: Sessions
    let settings: ServerSettings
    /// A user's name in the log.
    let pseudonym: @Sendable (_ user: String) -> String

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        routes.on(
            .post, "/v1/sessions", "signIn", "Sign in with a password", .anyone, .noKey,
            details: "A user with a second factor sends a code too; without it the answer is 401 with the code "
                + "`second-factor-needed`.", body: .json(.named("SignIn")),
            [
                .init(
                    status: 201, text: "Signed in; the cookie is set.", type: "application/json",
                    schema: .named("NewSession"), headers: ["Set-Cookie"])
            ], refusals: [401, 403, 409, 429], signIn)
        routes.on(
            .get, "/v1/sessions", "listSessions", "List the user's sessions", .user, .scope(.users), query: .page,
            [.list(of: .named("Session"))], list)
        routes.on(
            .delete, "/v1/sessions/current", "signOut", "Sign out", .session, .scope(.users), [.noContent],
            refusals: [404], signOut)
        routes.on(
            .delete, "/v1/sessions/{id}", "deleteSession", "End a session", .user, .scope(.users), [.noContent], delete)
        routes.on(
            .get, "/auth/token", "getSessionToken", "Read the session's own token, to pass it on", .session, .wholeKey,
            [.ok(.named("SessionToken"))], token)
    }

    static let body = InputBody(
        .required("userId", .identifier), .required("password", .password),
        .optional(
            "code", .code.described("From a user with a second factor: a code of the app, or a recovery code.")),
        example: ["userId": "jane", "password": "correct horse battery"])

    private func signIn(_ request: Request, _ context: KalendsContext) async throws -> Response {
        // A page of another site must not sign its reader in as somebody else.
        guard SameOrigin.holds(request, settings, whenSilent: true) else { throw Refusal.otherOrigin }
        let (user, password, code) = try Self.body.read(try await request.json(context))
        context.note?.write(code == nil ? .password : .passwordAndCode)
        context.note?.write(user: user, pseudonym: pseudonym)
        return try await context.answering { (made: (Session, Secret)) in
            let (session, secret) = made
            var json = Session.view.members(of: session)
            json["userId"] = .string(user)
            if !settings.isStrict { json["token"] = .string(secret.reveal()) }
            return try .json(
                .object(json), status: .created,
                headers: [.setCookie: SessionCookie.field(secret, settings)])
        } to: {
            try await sessions.signIn(
                user, password, code: code, client: ClientFamily(userAgent: request.headers[.userAgent]).rawValue,
                from: settings.network(of: request, context),
                replacing: SessionCookie.secret(of: request, settings))
        }
    }

    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (caller, page) = (try context.caller(), try Page(request, context))
        let sessions = try await sessions.list(page.request, for: caller)
        return try page.answer(sessions, key: \.id) { session in
            var json = Session.view.members(of: session)
            json["current"] = .bool(caller.session.map { $0 == session.id } ?? false)
            return .object(json)
        }
    }

    private func signOut(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await sessions.signOut(for: try context.caller())
        return Response(status: .noContent).with(cookies: SessionCookie.removals(settings)).forgetting()
    }

    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await sessions.delete(try context.identifier("id"), for: try context.caller())
        return .noContent
    }

    /// Returns the session's own token, for a page that has to pass it on; it was part of the request.
    private func token(_ request: Request, _ context: KalendsContext) async throws -> Response {
        guard !settings.isStrict else {
            throw Refusal(
                .forbidden, code: .cookieOnly,
                detail: "A strict server gives a session's token only as a cookie. Register a device instead.")
        }
        guard let session = context.session else { throw Refusal.unauthenticated }
        return try .json([
            "token": .string(session.secret.reveal()), "expiresAt": .integer(session.expiresAt),
        ])
    }
}

extension Session: Viewed {
    static let view = View<Session>([
        .text("id", \.id), .text("client", \.client), .instant("createdAt", \.createdAt),
        .instant("lastUsedAt", \.lastUsedAt), .instant("expiresAt", \.expiresAt),
    ])
}
