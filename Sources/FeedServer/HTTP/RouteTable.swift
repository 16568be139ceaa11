// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

typealias Handler = @Sendable (Request, KalendsContext) async throws -> Response

/// The routes before they go to the router: whom each lets in, what it is described by, and which methods a path has,
/// so that any other is 405 with `Allow`.
struct RouteTable {
    struct Route: Sendable {
        let method: HTTPRequest.Method
        let path: String
        let section: String
        let operation: Operation
    }

    struct Section: Sendable {
        let name: String
        let about: String

        static let server = Section(name: "Server", about: "Whether it is well, and what it offers.")
    }

    private let authentication: Authentication?
    private(set) var described: [Route] = []
    private(set) var sections: [Section] = []
    private(set) var handlers: [(path: String, methods: [(method: HTTPRequest.Method, handler: Handler)])] = []

    /// - Parameter authentication: nil where every route lets everybody in.
    init(_ authentication: Authentication? = nil) { self.authentication = authentication }

    /// Begins a section: what follows belongs to it.
    mutating func section(_ section: Section) {
        if sections.last?.name != section.name { sections.append(section) }
    }

    /// A route of the API, in the section that was begun last.
    mutating func on(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, _ handler: @escaping Handler
    ) {
        let section = sections.last ?? .server
        on(Route(method: method, path: path, section: section.name, operation: operation), handler)
    }

    /// A route of the API, for those whom its operation names.
    mutating func on(_ route: Route, _ handler: @escaping Handler) {
        described.append(route)
        let handler = route.admitting(handler)
        if route.operation.access.needsCredential, let authentication {
            on(route.method, route.path, authentication.required(route.operation.access, handler))
        } else {
            on(route.method, route.path, handler)
        }
    }

    /// A route that no host application meets.
    mutating func on(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        if let index = handlers.firstIndex(where: { $0.path == path }) {
            handlers[index].methods.append((method, handler))
        } else {
            handlers.append((path, [(method, handler)]))
        }
    }

    /// Registers every route, HEAD beside each GET, and a refusal for the methods that a path does not take.
    func register(in router: Router<KalendsContext>) {
        for (path, methods) in handlers {
            var known = methods.map(\.method)
            for (method, handler) in methods { router.on(RouterPath(path), method: method, use: handler) }
            if let get = methods.first(where: { $0.method == .get }), !known.contains(.head) {
                known.append(.head)
                router.on(RouterPath(path), method: .head) { request, context in
                    try await get.handler(request, context).createHeadResponse()
                }
            }
            let allow = known.map(\.rawValue).sorted().joined(separator: ", ")
            for method in Self.registered where !known.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ -> Response in throw Refusal.methodNotAllowed(allow)
                }
            }
        }
    }

    /// IANA's registry of HTTP methods, without those that a server never sees as such (`*`, PRI, CONNECT).
    static let registered: [HTTPRequest.Method] =
        [
            .get, .head, .post, .put, .delete, .patch, .options, .trace,
        ]
        + [
            "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE",
            "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND",
            "PROPPATCH", "QUERY", "REBIND", "REPORT", "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE",
            "UPDATEREDIRECTREF", "VERSION-CONTROL",
        ].compactMap { HTTPRequest.Method(rawValue: $0) }
}
