// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Logging
import Pages
import Storage

/// Signs people and operators in at a provider of OpenID Connect, and joins people's accounts there.
struct ProviderSignInPages: Sendable {
    private static let account = "/app/account"
    private static let signIn = "/app/sign-in"

    func add(to routes: inout RouteTable) {
        routes.page(.post, "\(Self.signIn)/provider", for: .anyone, back: Self.signIn) { visit in
            let to = SignInPages.destination(visit.form["to"])
            return try await Self.leave(visit) { try await $0.begin(to: to, isAgain: visit.visitor != nil) }
        }
        routes.page(.post, "\(Self.signIn)/provider/operator", for: .anyone, back: "/app/admin") { visit in
            try await Self.leave(visit) { try await $0.beginForOperator() }
        }
        routes.page(.post, "\(Self.account)/provider", for: .session, back: Self.account) { visit in
            let caller = try visit.caller()
            return try await Self.leave(visit) { try await $0.beginJoining(to: Self.account, for: caller) }
        }
        routes.page(.post, "\(Self.account)/provider/leave", for: .session, back: Self.account) { visit in
            do {
                try await Self.provider(visit).leave(for: try visit.caller())
                return visit.redirect(to: Self.account, done: .providerLeft)
            } catch let refusal as Refusal where refusal.code == .signInTooOld {
                return visit.signIn(to: Self.account)
            }
        }
        routes.page(.get, ProviderSignIn.returnPath, for: .anyone, Self.arrive)
    }

    /// Throws 404 where no provider is set up.
    private static func provider(_ visit: PageVisit) throws -> ProviderSignIn {
        guard let provider = visit.services.providerSignIn else { throw Refusal.noSuchPath }
        return provider
    }

    /// Begins a sign-in and sends the browser to the provider.
    private static func leave(
        _ visit: PageVisit, _ begin: (ProviderSignIn) async throws -> ProviderSignIn.AuthorizationRequest
    ) async throws -> Response {
        let provider = try provider(visit)
        do {
            let authorization = try await begin(provider)
            return try await page(.leaving(address: authorization.url), provider, visit, refreshing: authorization.url)
                .with(cookie: AttemptCookie.field(authorization.attempt, visit.services.settings))
        } catch let fault as OpenIDFault {
            return try await failed(fault, provider, visit)
        } catch let refusal as Refusal where refusal.code == .signInTooOld {
            return visit.signIn(to: account)
        }
    }

    /// Ends a sign-in with which the provider sent the browser back.
    private static func arrive(_ visit: PageVisit) async throws -> Response {
        let (provider, services) = (try provider(visit), visit.services)
        let (request, settings) = (visit.request, services.settings)
        visit.context.note?.write(.provider)
        let query = request.uri.queryParameters.prefix(64).map { (name: String($0.key), value: String($0.value)) }
        do {
            let arrival = try await provider.arrive(
                query, kept: AttemptCookie.value(of: request, settings), session: visit.session,
                client: SignInPages.client(visit), from: settings.network(of: request, visit.context),
                replacing: SessionCookie.secret(of: request, settings))
            switch arrival {
            case .user(let session, let secret, let to):
                visit.context.note?.write(user: session.userID, pseudonym: services.pseudonym(of:))
                return visit.redirect(to: to)
                    .with(cookies: [SessionCookie.field(secret, settings), AttemptCookie.removal(settings)])
            case .joined(let to):
                return visit.redirect(to: to, done: .providerJoined).with(cookie: AttemptCookie.removal(settings))
            case .operatorAtHand(let secret):
                visit.context.note?.write(.operatorAtHand, pseudonym: services.pseudonym(of:))
                // A browser that another site led here sends no strict cookie until a page of ours leads on.
                let path = "/app/admin"
                return try await page(
                    .operatorArrived(path: path), provider, visit, refreshing: settings.basePath + path
                ).with(cookies: [OperatorCookie.field(secret, settings), AttemptCookie.removal(settings)])
            }
        } catch let fault as OpenIDFault {
            return try await failed(fault, provider, visit).with(cookie: AttemptCookie.removal(settings))
        }
    }

    private static func failed(
        _ fault: OpenIDFault, _ provider: ProviderSignIn, _ visit: PageVisit
    ) async throws -> Response {
        visit.context.logger.notice("sign-in at the provider failed", metadata: ["reason": "\(fault.reason)"])
        let status: HTTPResponse.Status =
            switch fault.kind {
            case .begunElsewhere: .badRequest
            case .denied, .unknownPerson, .needsJoining, .taken, .unusableName, .noOperator, .noProof: .forbidden
            case .failed: .badGateway
            case .unavailable: .serviceUnavailable
            }
        let failure = ProviderPage.Failure(rawValue: fault.kind.rawValue) ?? .failed
        let page = ProviderPage(
            .failed(failure, next: visit.session == nil ? signIn : account), provider: provider.settings.name)
        return try await visit.page(page, status: status, path: signIn)
    }

    private static func page(
        _ state: ProviderPage.State, _ provider: ProviderSignIn, _ visit: PageVisit, refreshing address: String
    ) async throws -> Response {
        try await visit.page(
            ProviderPage(state, provider: provider.settings.name), refreshing: address, path: signIn)
    }
}

/// The cookie in which a browser keeps a sign-in that it has begun at a provider.
enum AttemptCookie {
    private static let names = CookieNames("kalends_sign_in")
    private static let lifetime = 600

    static func value(of request: Request, _ settings: ServerSettings) -> Concealed? {
        BrowserCookies.value(of: names.own(settings), in: request).map { Concealed($0) }
    }

    static func field(_ attempt: Concealed, _ settings: ServerSettings) -> String {
        text(attempt.reveal(), seconds: lifetime, settings)
    }

    static func removal(_ settings: ServerSettings) -> String { text("", seconds: 0, settings) }

    /// `Lax`, because the provider sends the browser back.
    private static func text(_ value: String, seconds: Int, _ settings: ServerSettings) -> String {
        "\(names.own(settings))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (settings.isSecure ? "; Secure" : "")
    }
}
