// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Hummingbird

/// A page's route: whom it lets in is said as for a route of the API, and the walk over routes and callers has it too.
struct PageRoute: Sendable {
    /// What a request brings.
    enum Body: Sendable {
        /// Nothing, or a form, which is read and whose token is looked at before the handler runs.
        case form
        /// A file that may be large: the handler reads it, and looks at the token in the part before the file.
        case upload
    }

    let method: HTTPRequest.Method
    let path: String
    let access: Access
    let body: Body
}

/// What answers a page's route: it calls use cases, fills one model and answers with it, or leads on.
typealias PageHandler = @Sendable (PageVisit) async throws -> Response

extension RouteTable {
    /// A page, or what a form of one is sent to.
    ///
    /// - Parameters:
    ///   - back: the path of the page that a form is on, with names of `path`; where somebody goes who asks for the
    ///     form's address by itself: by a reload, or after a sign-in in between.
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

    /// Whether a path has a handler of GET.
    private func isRead(_ path: String) -> Bool {
        handlers.contains { $0.path == path && $0.methods.contains { $0.method == .get } }
    }
}
