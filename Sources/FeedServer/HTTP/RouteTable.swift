// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

typealias Handler = @Sendable (Request, KalendsContext) async throws -> Response

/// The routes before they go to the router: it knows every path's methods, so that any other is 405 with `Allow`.
struct RouteTable {
    private var handlers: [(path: String, methods: [(method: HTTPRequest.Method, handler: Handler)])] = []

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
