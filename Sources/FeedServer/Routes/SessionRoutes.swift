// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Storage

/// Sessions of users who sign in here with a password, for installations without a host application.
struct SessionRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        routes.on(
            .post, "/v1/sessions",
            Operation(
                "signIn", "Sign in with a password", .anyone, .noKey, body: .json(.named("SignIn")),
                [
                    .init(
                        status: 201, text: "Signed in; the cookie is set.", type: "application/json",
                        schema: .named("NewSession"), headers: ["Set-Cookie"])
                ], refusals: [401, 403, 429]), signIn)
        routes.on(
            .get, "/v1/sessions",
            Operation(
                "listSessions", "List one's sessions", .user, .scope(.users), query: .page,
                [.list(of: .named("Session"))]), list)
        routes.on(
            .delete, "/v1/sessions/current",
            Operation("signOut", "Sign out", .session, .scope(.users), [.noContent], refusals: [404]),
            signOut)
        routes.on(
            .delete, "/v1/sessions/{id}",
            Operation("deleteSession", "End one of one's sessions", .user, .scope(.users), [.noContent]),
            delete)
        routes.on(
            .get, "/auth/token",
            Operation(
                "getSessionToken", "The session's own token, to hand on", .session, .wholeKey,
                [.ok(.named("SessionToken"))]),
            token)
    }

    @Sendable
    private func signIn(_ request: Request, _ context: KalendsContext) async throws -> Response {
        // A page elsewhere must not sign its reader in as somebody else.
        guard SameOrigin.holds(request, services.settings, whenSilent: true) else { throw Refusal.otherOrigin }
        var fields = FieldReader(try await request.json(context))
        let user = fields.identifier("userId", isRequired: true)
        let password = fields.password("password", isNew: false)
        fields.finish()
        try fields.check()
        guard let user, let password else { throw Refusal.invalid(fields.faults) }
        let stored = try await checked(user, password, request, context)
        let now = services.now()
        let secret = Secret.make(.session)
        let client = ClientFamily(userAgent: request.headers[.userAgent]).rawValue
        let session = Session(id: FeedLedger.makeID(), userID: user, client: client, now: now)
        let most = services.settings.quotas.sessionsPerUser
        try await services.store.record { transaction in
            // A password that was changed in between opens nothing.
            guard try transaction.password(of: user)?.hash == stored else { throw Refusal.wrongPassword }
            try transaction.insertSession(session, hash: secret.hash, maximum: most)
            try AuditTrail.note(.sessionCreated, session.id, by: AuditActor(user: user), in: transaction, now: now)
        }
        var json = session.json.object ?? [:]
        json["userId"] = .string(user)
        json["token"] = .string(secret.reveal())
        return try .json(
            .object(json), status: .created, headers: [.setCookie: SessionCookie.field(secret, services.settings)])
    }

    /// The stored hash of a password that is right; throws 401 for one that is not, and for a user who has none.
    private func checked(
        _ user: String, _ password: Concealed, _ request: Request, _ context: KalendsContext
    ) async throws -> String {
        let network = services.settings.clientAddress(request, context)?.network ?? "local"
        let passwords = services.passwords
        try await passwords.brake.begin(user, from: network, now: services.now())
        let stored = try await services.store.read { try $0.password(of: user)?.hash }
        guard try await passwords.isRight(password, stored: stored), let stored else { throw Refusal.wrongPassword }
        try await passwords.brake.succeed(user, from: network, now: services.now())
        guard passwords.isWeak(stored: stored) else { return stored }
        // The one moment at which an old hash can be made again with today's parameters.
        let stronger = try await passwords.hash(password)
        return try await services.store.record { transaction in
            guard try transaction.password(of: user)?.hash == stored else { throw Refusal.wrongPassword }
            try transaction.rehashPassword(of: user, hash: stronger)
            return stronger
        }
    }

    @Sendable
    private func list(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, page, now) = (try Rights.user(try context.caller().identity), try Page(request), services.now())
        let sessions = try await services.store.read {
            try $0.sessions(of: user, after: page.after, limit: page.fetchLimit, now: now)
        }
        let current = context.session?.id
        return try page.answer(sessions, key: \.id) { session in
            var json = session.json.object ?? [:]
            json["current"] = .bool(session.id == current)
            return .object(json)
        }
    }

    @Sendable
    private func signOut(_ request: Request, _ context: KalendsContext) async throws -> Response {
        guard let session = context.session else { throw Refusal.missing(.session) }
        let user = try Rights.user(try context.caller().identity)
        _ = try await end(session.id, of: user, context)
        return Response(status: .noContent, headers: [.setCookie: SessionCookie.removal(services.settings)])
    }

    @Sendable
    private func delete(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, user) = (try context.identifier("id"), try Rights.user(try context.caller().identity))
        guard try await end(id, of: user, context) else { throw Refusal.missing(.session) }
        return .noContent
    }

    /// False when the user has no such session.
    private func end(_ id: String, of user: String, _ context: KalendsContext) async throws -> Bool {
        let (actor, now) = (try context.caller().actor, services.now())
        return try await services.store.record { transaction in
            guard try transaction.deleteSession(id, of: user) else { return false }
            try AuditTrail.note(.sessionEnded, id, by: actor, in: transaction, now: now)
            return true
        }
    }

    /// The session's own token, for a page that has to hand it on; it came with the request.
    @Sendable
    private func token(_ request: Request, _ context: KalendsContext) async throws -> Response {
        guard let session = context.session else { throw Refusal.unauthenticated }
        return try .json([
            "token": .string(session.secret.reveal()), "expiresAt": JSONValue(milliseconds: session.expiresAt),
        ])
    }
}

extension Refusal {
    /// The same for a user who is not there: who has a password here is nobody's business.
    static let wrongPassword = Refusal(
        .unauthenticated, code: .passwordWrong, detail: "The user id or the password is wrong.")
}

extension Session {
    fileprivate var json: JSONValue {
        [
            "id": .string(id), "client": .string(client), "createdAt": JSONValue(milliseconds: createdAt),
            "lastUsedAt": JSONValue(milliseconds: lastUsedAt), "expiresAt": JSONValue(milliseconds: expiresAt),
        ]
    }
}
