// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Pages

/// Checks the visitor of a page and the origin of a form: all checks before a handler runs.
struct PageDoor: Sendable {
    let authentication: Authentication

    private var services: Services { authentication.services }

    /// Wraps a page's handler so that it runs only for callers that the route admits, and for a form only when one of our
    /// pages sent it with the token of this session.
    ///
    /// - Parameter back: the path of the page that contains the form.
    func admitting(_ route: PageRoute, back: String?, _ handler: @escaping PageHandler) -> Handler {
        { request, context in
            var visit = PageVisit(services: services, request: request, context: context)
            if route.method != .get {
                guard SameOrigin.holds(request, services.settings, whenSilent: false) else { throw PageRefusal.form }
            }
            if route.access == .operatorPages {
                guard let secret = OperatorCookie.secret(of: request, services.settings),
                    let caller = try await authentication.operatorCaller(secret)
                else {
                    // The provider's button sends its form as the user who is signed in, so the page has their token.
                    if let session = try await authentication.session(ofBrowser: request) { visit.enter(session) }
                    let provider = services.settings.openID.flatMap { $0.operatorGroup == nil ? nil : $0.name }
                    return try await visit.page(
                        SignInLinkPage(state: .needed(provider: provider), isForOperator: true), status: .forbidden,
                        path: "/app")
                }
                visit.enter(operator: caller)
            } else if let session = try await authentication.session(ofBrowser: request) {
                visit.enter(session)
            } else if route.access.needsCredential, route.path.hasSuffix("/progress") {
                // The request comes from a script, not from a person.
                throw Refusal.unauthenticated
            } else if route.access.needsCredential {
                return visit.signIn(to: back.map(visit.filled))
            }
            if route.method != .get, case .form = route.body {
                let bytes = try await PageForm.bytes(of: request, visit.context)
                visit.form = try PageForm(bytes, type: request.headers[.contentType])
                try visit.checkToken(visit.form["token"])
            }
            do {
                return try await handler(visit)
            } catch let refusal as Refusal where refusal.kind == .unauthenticated && route.access.needsCredential {
                // The session ended before the form was sent.
                return visit.signIn(to: back.map(visit.filled))
            }
        }
    }
}

/// Refusals that only pages have.
enum PageRefusal: Error {
    /// A form without its token, with the token of another session, or from another site's page.
    case form
}
