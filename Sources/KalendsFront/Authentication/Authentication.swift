// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// Identifies the caller of an API route; throws 401 when the credential is not accepted.
struct Authentication: Sendable {
    let services: Services
    /// True on the local socket, whose file only the operator can open.
    let isLocal: Bool

    /// Wraps a handler so that it runs only for a known caller who may use this route.
    func required(_ access: Access, _ need: KeyNeed, _ handler: @escaping Handler) -> Handler {
        { request, context in
            var context = context
            try await admit(request, access, need, &context)
            let known = context
            context.readmit = {
                var again = known
                try await admit(request, access, need, &again)
            }
            return try await handler(request, context)
        }
    }

    /// Identifies the caller, and throws unless they may use a route.
    private func admit(
        _ request: Request, _ access: Access, _ need: KeyNeed, _ context: inout KalendsContext
    ) async throws {
        let caller = try await caller(of: request, for: access, &context)
        context.note?.write(caller, pseudonym: services.pseudonym(of:))
        try Rights.route(need, acceptsDevices: access.acceptsDevices, for: caller)
        if caller.bound != nil, !access.isOfCircles(need) { throw Refusal.boundKey }
        if let scopes = context.tokenScopes { try Rights.token(need, within: scopes) }
        let identity = try narrowed(caller, request)
        if access == .installation { try Rights.installation(identity) }
        if [.user, .phone, .companion].contains(access) { _ = try Rights.user(identity) }
        if access == .session, context.session == nil { throw Refusal.sessionNeeded }
        if access == .device, case .device = identity {} else if access == .device { throw Refusal.devicesOnly }
        context.knownCaller = Caller(
            identity, actor: AuditActor(caller, narrowed: identity), session: context.session?.id,
            way: access.acceptsDevices ? .phone : .api, keyQuotas: context.serviceKey?.quotas ?? KeyQuotas())
        context.sender = Sender(
            caller, narrowed: identity, network: services.settings.clientAddress(request, context)?.network)
        context.memory.belongs(to: context.sender)
    }

    /// Identifies the caller. The companion's token is accepted only where it is expected, and a refusal there uses the
    /// companion's wording.
    ///
    /// Failed attempts are limited by network, so that other people's attempts cannot lock out a phone that changes
    /// networks, and apart from those at passwords.
    private func caller(
        of request: Request, for access: Access, _ context: inout KalendsContext
    ) async throws -> Identity {
        guard access == .companion else { return try await caller(of: request, &context) }
        let network = services.settings.network(of: request, context)
        let (brake, now) = (services.passwords.brake, services.now())
        if let user = services.settings.companion?.user(of: request) {
            context.note?.write(.companionToken)
            try await brake.checkCompanion(from: network, now: now)
            return .user(user)
        }
        do {
            return try await caller(of: request, &context)
        } catch let refusal as Refusal where refusal.kind == .unauthenticated {
            if services.settings.companion != nil, let secret = request.headers[.authorization] {
                try await brake.refuse(companion: secret, from: network, now: now)
            }
            throw Refusal.invalidSyncToken
        }
    }

    private func caller(of request: Request, _ context: inout KalendsContext) async throws -> Identity {
        if isLocal { return .operatorAtHand }
        let credential = Credential(request, services.settings)
        context.note?.write(credential)
        switch credential {
        case nil:
            throw Credential.isShown(in: request, services.settings) ? Refusal.malformedCredential : .unauthenticated
        case .serviceKey(let secret): return try await service(secret, &context)
        case .session(let secret, let isCookie):
            let session = try await session(secret)
            if isCookie { try checkOrigin(request) }
            context.session = PresentedSession(id: session.id, secret: secret, expiresAt: session.expiresAt)
            return .user(session.userID)
        case .device(let secret): return try await device(secret)
        case .userToken(let text):
            let bearer = try await services.userTokens.bearer(of: text, now: services.now())
            context.tokenScopes = bearer.scopes
            return .user(bearer.user)
        }
    }

    private func service(_ secret: Secret, _ context: inout KalendsContext) async throws -> Identity {
        let hash = secret.hash
        guard let key = try await look({ try $0.serviceKey(hash: hash) }) else {
            throw Refusal.unknownKey
        }
        guard services.serviceKeys.end(of: key).map({ services.now() < $0 }) ?? true else { throw Refusal.expiredKey }
        // A caller who is admitted again, after a long body, sends no further request.
        if context.serviceKey == nil { try services.keyRequests.take(key, now: services.now()) }
        context.serviceKey = key
        noteUse(of: "serviceKey \(key.id)", last: key.lastUsedAt) { try $0.noteUse(ofServiceKey: key.id, now: $1) }
        return .service(key: key.id, scopes: try key.scopes.map { try Set(stored: $0) }, bound: try key.bound)
    }

    private func session(_ secret: Secret) async throws -> Session {
        let (hash, now) = (secret.hash, services.now())
        guard let session = try await look({ try $0.session(hash: hash, now: now) }) else {
            throw Refusal.unknownSession
        }
        noteUse(of: "session \(session.id)", last: session.lastUsedAt) {
            try $0.noteUse(ofSession: session.id, now: $1)
        }
        return session
    }

    /// Looks a credential up, without waiting for lists and exports.
    private func look<Found: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Found?
    ) async throws -> Found? {
        try await ReadPurpose.$isShort.withValue(true) { try await services.store.read(body) }
    }

    /// The session in a browser's cookie; nil when it does not exist or has ended. Other credentials do not belong to a
    /// browser.
    func session(ofBrowser request: Request) async throws -> Session? {
        guard let secret = SessionCookie.secret(of: request, services.settings) else { return nil }
        do {
            return try await session(secret)
        } catch let refusal as Refusal where refusal.kind == .unauthenticated {
            return nil
        }
    }

    private func device(_ secret: Secret) async throws -> Identity {
        let hash = secret.hash
        guard let device = try await look({ try $0.device(hash: hash) }) else {
            throw Refusal.unknownDevice
        }
        noteUse(of: "device \(device.id)", last: device.lastUsedAt) { try $0.noteUse(ofDevice: device.id, now: $1) }
        return .device(id: device.id, user: device.userID)
    }

    /// The caller with the secret of an operator's session; nil once the session has ended. Only the operator's pages
    /// accept this secret.
    func operatorCaller(_ secret: Secret) async throws -> Caller? {
        let found = try await ReadPurpose.$isShort.withValue(true) { try await services.operatorSessions.find(secret) }
        guard let session = found else { return nil }
        noteUse(of: "operatorSession \(session.id)", last: session.lastUsedAt) {
            try $0.noteUse(ofOperatorSession: session.id, now: $1)
        }
        return Caller(.operatorAtHand, actor: .operatorAtHand, session: session.id, way: .page)
    }

    /// Once a minute is enough to show whether a credential is still in use; nobody waits for it, because neither a full
    /// disk nor somebody who writes for long must stop anybody from reading.
    private func noteUse(
        of credential: String, last: Int?, _ note: @escaping @Sendable (any WriteTransaction, Int) throws -> Void
    ) {
        let now = services.now()
        guard last.map({ now - $0 >= 60_000 }) ?? true else { return }
        services.uses.add(credential) { try note($0, now) }
    }

    /// A browser sends cookies for any page that asks, so a request that changes something must come from one of our
    /// pages.
    private func checkOrigin(_ request: Request) throws {
        if [.get, .head, .options].contains(request.method) { return }
        guard SameOrigin.holds(request, services.settings, whenSilent: false) else { throw Refusal.otherOrigin }
    }

    /// `Kalends-User` narrows a call of the installation to what that user may do.
    private func narrowed(_ identity: Identity, _ request: Request) throws -> Identity {
        guard let user = request.headers[.kalendsUser] else { return identity }
        guard Identifier.isValid(user) else {
            throw Refusal.badRequest("Kalends-User is not a user id. \(Identifier.rule)", code: .invalidID)
        }
        guard identity.isInstallation || identity.userID == user else {
            throw Refusal(
                .forbidden, code: .userNotAllowed,
                detail: "Only a service key can act for other users with Kalends-User.")
        }
        guard identity.isInstallation else { return identity }
        return identity.bound.map { .userWithin($0, user: user) } ?? .user(user)
    }
}

extension Refusal {
    fileprivate static let devicesOnly = Refusal(
        .forbidden, code: .deviceRequired, detail: "This is only for a registered device.")

    fileprivate static let invalidSyncToken = Refusal(
        .unauthenticated, code: .syncTokenInvalid, detail: "Invalid sync token")

    static let otherOrigin = Refusal(
        .forbidden, code: .originNotAllowed,
        detail: "A browser's session can change things only from the server's own pages: send Origin, or the token as "
            + "Authorization: Bearer …")
}

extension HTTPField.Name {
    static let kalendsUser = HTTPField.Name("Kalends-User") ?? .from
}
