// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// The route of a page: its access is declared as for a route of the API, and the test of all routes and callers
/// includes it.
struct PageRoute: Sendable {
    /// The body of a request.
    enum Body: Sendable {
        /// No body, or a form, which is read and whose token is checked before the handler runs.
        case form
        /// A file that may be large: the handler reads it, and checks the token in the part before the file.
        case upload
    }

    let method: HTTPRequest.Method
    let path: String
    let access: Access
    let body: Body
}

/// Answers a page's route: it calls use cases, and answers with one model or a redirect.
typealias PageHandler = @Sendable (PageVisit) async throws -> Response

extension RouteTable {
    /// Adds a page, or the address that a form is sent to.
    ///
    /// - Parameters:
    /// - back: the path of the page that contains the form, with the names of `path`; a browser that opens the form's
    ///   address directly is redirected there, for example by a reload, or after signing in again.
    mutating func page(
        _ method: HTTPRequest.Method, _ path: String, for access: Access, back: String? = nil,
        body: PageRoute.Body = .form, _ handler: @escaping PageHandler
    ) {
        guard let authentication else { preconditionFailure("\(path) is a page, and this table knows nobody.") }
        precondition(method == .get || back != nil, "\(path) takes a form and does not say what page it is on.")
        let door = PageDoor(authentication: authentication)
        add(page: PageRoute(method: method, path: path, access: access, body: body)) { route in
            door.admitting(route, back: back, handler)
        }
        guard let back, !isRead(path) else { return }
        add(page: PageRoute(method: .get, path: path, access: .anyone, body: .form)) { route in
            door.admitting(route, back: nil) { visit in
                let query = visit.request.uri.query.map { "?\($0)" } ?? ""
                return visit.redirect(to: visit.filled(back) + query)
            }
        }
    }

    /// Whether a path has a handler for GET.
    private func isRead(_ path: String) -> Bool {
        handlers.contains { $0.path == path && $0.methods.contains { $0.method == .get } }
    }
}
