// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// The page of a sign-in link: opening it changes nothing, and its only button signs in.
struct SignInLinkPages: Sendable {
    private static let path = "/app/sign-in/links/{secret}"

    /// Slows down networks that try one link after another.
    private let brake = GuessThrottle()

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .anyone) { visit in
            let secret = Self.secret(visit)
            guard let secret else { return try await page(visit, .unknown, secret: nil) }
            return try await page(visit, try await visit.services.signInLinks.state(of: secret), secret: secret)
        }
        routes.page(.post, Self.path, for: .anyone, back: Self.path, signIn)
    }

    /// Lets the answer to a link that never was wait, ever longer for a network that tries many.
    private func slowDown(_ visit: PageVisit) async throws {
        let network = visit.services.settings.network(of: visit.request, visit.context)
        let delay = brake.delay(forMissFrom: network, now: visit.services.now())
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
    }

    private static func secret(_ visit: PageVisit) -> Secret? {
        visit.context.parameter("secret").flatMap { Secret(.signInLink, text: $0) }
    }

    private func signIn(_ visit: PageVisit) async throws -> Response {
        let settings = visit.services.settings
        visit.context.note?.write(.signInLink)
        guard let secret = Self.secret(visit) else { return try await page(visit, .unknown, secret: nil) }
        let client = ClientFamily(userAgent: visit.request.headers[.userAgent]).rawValue
        switch try await visit.services.signInLinks.signIn(
            secret, client: client, replacing: SessionCookie.secret(of: visit.request, settings)
        ) {
        case .user(let session, let token, let to):
            visit.context.note?.write(user: session.userID, pseudonym: visit.services.pseudonym(of:))
            return visit.redirect(to: to).with(cookie: SessionCookie.field(token, settings))
        case .operatorAtHand(_, let token, let to):
            visit.context.note?.write(.operatorAtHand, pseudonym: visit.services.pseudonym(of:))
            return visit.redirect(to: to).with(cookie: OperatorCookie.field(token, settings))
        case .refused(let state): return try await page(visit, state, secret: secret)
        }
    }

    private func page(
        _ visit: PageVisit, _ state: SignInLinks.State, secret: Secret?
    ) async throws -> Response {
        if case .unknown = state { try await slowDown(visit) }
        let (shown, status): (SignInLinkPage, HTTPResponse.Status) =
            switch state {
            case .ready(let link):
                (
                    SignInLinkPage(
                        state: .ready(
                            path: "/app/sign-in/links/\(secret?.reveal() ?? "")", user: link.userID,
                            expiresAt: link.expiresAt), isForOperator: link.userID == nil), .ok
                )
            case .used(let link): (SignInLinkPage(state: .used, isForOperator: link.userID == nil), .gone)
            case .expired(let link): (SignInLinkPage(state: .expired, isForOperator: link.userID == nil), .gone)
            case .unknown: (SignInLinkPage(state: .unknown), .notFound)
            }
        // This page's address is a secret, so nothing links back to it.
        var answer = try await visit.page(shown, status: status, path: "/app")
        answer.headers[.cacheControl] = "no-store"
        return answer
    }
}
