// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages

/// Signs people in with user and password, and out.
struct SignInPages: Sendable {
    func add(to routes: inout RouteTable) {
        routes.page(.get, "/app/sign-in", for: .anyone) { visit in
            try await Self.page(visit, to: Self.destination(visit.query["to"]))
        }
        routes.page(.post, "/app/sign-in", for: .anyone, back: "/app/sign-in", Self.signIn)
        routes.page(.post, "/app/sign-in/code", for: .anyone, back: "/app/sign-in", Self.finish)
        routes.page(.post, "/app/sign-out", for: .session, back: "/app") { visit in
            let (services, caller) = (visit.services, try visit.caller())
            let provider = services.providerSignIn
            let token = await provider?.idToken(of: caller)
            // The session here ends first, however long the provider takes to answer.
            try await services.sessions.signOut(for: caller)
            let address: String? =
                if let provider, let token {
                    await provider.signOutAddress(with: token, to: "/app/sign-in")
                } else {
                    nil
                }
            let answer =
                if let address, let name = services.settings.openID?.name {
                    try await visit.page(
                        (ProviderPage(.signedOut(address: address), provider: name), nil), path: "/app/sign-in")
                } else {
                    visit.redirect(to: "/app/sign-in", done: .signedOut)
                }
            return answer.with(cookies: SessionCookie.removals(services.settings)).forgetting()
        }
    }

    private static func signIn(_ visit: PageVisit) async throws -> Response {
        let (services, to) = (visit.services, destination(visit.form["to"]))
        do {
            var fields = FieldReader([
                "user": .string(visit.form["user"] ?? ""), "password": .string(visit.form["password"] ?? ""),
            ])
            let user = fields.identifier("user", isRequired: true)
            let password = fields.password("password", isNew: false)
            try fields.end()
            guard let user, let password else { throw Refusal.invalid(fields.faults) }
            visit.context.note?.write(.password)
            visit.context.note?.write(user: user, pseudonym: services.pseudonym(of:))
            switch try await services.sessions.signIn(
                user, password, in: visit.formToken, client: client(visit),
                from: services.settings.network(of: visit.request, visit.context),
                replacing: SessionCookie.secret(of: visit.request, services.settings))
            {
            case .signedIn(_, let secret):
                return visit.redirect(to: to).with(cookie: SessionCookie.field(secret, services.settings))
            case .needsCode(let ticket): return try await page(visit, to: to, ticket: ticket)
            }
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, ["user", "password"]) else { throw refusal }
            return try await page(visit, to: to, draft, status: status(of: refusal))
        }
    }

    /// The second step, for a user with a second factor; the ticket of the first replaces the password.
    private static func finish(_ visit: PageVisit) async throws -> Response {
        let (services, to) = (visit.services, destination(visit.form["to"]))
        let ticket = Concealed(visit.form["ticket"] ?? "")
        visit.context.note?.write(.passwordAndCode)
        do {
            let code = try SecondFactorRoutes.code.read(["code": visit.typed("code")])
            let (_, secret) = try await services.sessions.signIn(
                ticket: ticket, code: code, in: visit.formToken, client: client(visit),
                from: services.settings.network(of: visit.request, visit.context),
                replacing: SessionCookie.secret(of: visit.request, services.settings)
            ) { visit.context.note?.write(user: $0, pseudonym: services.pseudonym(of:)) }
            return visit.redirect(to: to).with(cookie: SessionCookie.field(secret, services.settings))
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, ["code"]) else { throw refusal }
            // With another password, or too late, a code would not help.
            let isOver = [.signInEnded, .passwordWrong, .secondFactorMissing].contains(refusal.code)
            return try await page(
                visit, to: to, ticket: isOver ? nil : ticket, draft, status: status(of: refusal))
        }
    }

    static func client(_ visit: PageVisit) -> String {
        ClientFamily(userAgent: visit.request.headers[.userAgent]).rawValue
    }

    private static func status(of refusal: Refusal) -> HTTPResponse.Status {
        refusal.kind == .tooMany ? .tooManyRequests : .unprocessableContent
    }

    private static func page(
        _ visit: PageVisit, to: String, ticket: Concealed? = nil, _ draft: Draft = Draft(),
        status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let read =
            if visit.visitor == nil {
                (try await visit.services.users.havePasswords(), nil as Visitor?)
            } else {
                try await visit.readOwn { user, _ in try user.havePasswords }
            }
        let page = SignInPage(
            hasPasswords: read.0, to: to, ticket: ticket?.reveal(), draft: draft,
            provider: visit.services.settings.openID?.name)
        return try await visit.page((page, read.1), status: status, path: "/app/sign-in")
    }

    /// The address to open after signing in, which must be one of our pages.
    static func destination(_ text: String?) -> String {
        guard let text, text == "/app" || text.hasPrefix("/app?") || ReturnAddress(text, []) != nil,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            !text.hasPrefix("/app/sign-")
        else { return "/app" }
        return text
    }
}

extension Response {
    /// The answer with a cookie in addition to its others.
    func with(cookie: String) -> Response { with(cookies: [cookie]) }

    /// The answer with some cookies in addition to its others.
    func with(cookies: [String]) -> Response {
        var answer = self
        for cookie in cookies { answer.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return answer
    }
}
