// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

typealias Handler = @Sendable (Request, KalendsContext) async throws -> Response

/// The routes before they are registered: their access, their descriptions, and the methods of each path, so that any
/// other method gets 405 with `Allow`.
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

        static let server = Section(name: "Server", about: "Whether the server is healthy, and what it offers.")
    }

    let authentication: Authentication?
    private(set) var described: [Route] = []
    /// The routes of pages, which are not part of the API and its document.
    private(set) var pages: [PageRoute] = []
    private(set) var sections: [Section] = []
    private(set) var handlers: [(path: String, methods: [(method: HTTPRequest.Method, handler: Handler)])] = []
    /// Where in `handlers` a path is.
    private var places: [ByteString: Int] = [:]

    /// - Parameter authentication: nil for a table of routes without descriptions, which only the operator reaches.
    init(_ authentication: Authentication? = nil) { self.authentication = authentication }

    /// Begins a section, to which the following routes belong.
    mutating func section(_ section: Section) {
        guard sections.last?.name != section.name else { return }
        precondition(
            !sections.contains { $0.name == section.name }, "The routes of \(section.name) do not follow each other.")
        sections.append(section)
    }

    /// Adds a route of the API, with the parts of its operation, to the section that was begun last.
    mutating func on(
        _ method: HTTPRequest.Method, _ path: String, _ id: String, _ summary: String, _ access: Access,
        _ need: KeyNeed, details: String? = nil, query: [Operation.Parameter] = [], body: Operation.Body? = nil,
        _ replies: [Operation.Reply], refusals: [Int] = [], hasTag: Bool = false, takesLong: Bool = false,
        deprecations: [Deprecation] = [], _ handler: @escaping Handler
    ) {
        let operation = Operation(
            id, summary, access, need, details: details, query: query, body: body, replies, refusals: refusals,
            hasTag: hasTag, takesLong: takesLong, deprecations: deprecations)
        on(method, path, operation, handler)
    }

    /// Adds a route of the API to the section that was begun last.
    mutating func on(
        _ method: HTTPRequest.Method, _ path: String, _ operation: Operation, _ handler: @escaping Handler,
        head: Handler? = nil
    ) {
        let section = sections.last ?? .server
        on(Route(method: method, path: path, section: section.name, operation: operation), handler, head: head)
    }

    /// Adds a route of the API for the callers that its operation names.
    ///
    /// - Parameter head: answers HEAD, where the answer to GET without its body is not suitable.
    mutating func on(_ route: Route, _ handler: @escaping Handler, head: Handler? = nil) {
        described.append(route)
        add(route.method, route.path, admitting(route, handler))
        if let head { add(.head, route.path, admitting(route, head)) }
    }

    /// Wraps a handler so that it runs only for the callers that the route's operation names, and once for a key.
    private func admitting(_ route: Route, _ handler: @escaping Handler) -> Handler {
        let operation = route.operation
        guard let authentication else {
            guard !operation.access.needsCredential else {
                preconditionFailure("\(route.path) needs a credential, and this table knows nobody.")
            }
            return route.admitting(handler)
        }
        let gate = OnceGate(services: authentication.services, route: route)
        let handler = route.admitting(gate.admitting(handler))
        guard operation.access.needsCredential else { return handler }
        return authentication.required(operation.access, operation.need, handler)
    }

    /// Adds a route without a description, only for the operator; the program ends when the table is that of the public
    /// port.
    mutating func onlyForOperator(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        precondition(
            authentication?.isLocal ?? true, "\(path) has no operation that says whom it lets in and with which scope.")
        add(method, path, handler)
    }

    /// Adds a route of a page.
    ///
    /// - Parameter wrap: makes the handler that checks the route's access.
    mutating func add(page route: PageRoute, _ wrap: (PageRoute) -> Handler) {
        pages.append(route)
        add(route.method, route.path, wrap(route))
    }

    mutating func add(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        if let place = places[ByteString(path)] {
            handlers[place].methods.append((method, handler))
        } else {
            places[ByteString(path)] = handlers.count
            handlers.append((path, [(method, handler)]))
        }
    }

    /// Registers every route, HEAD for each GET, and a refusal of the methods that a path does not support.
    ///
    /// - Parameter middlewares: what each request passes, outermost first.
    func register(
        in router: Router<KalendsContext>,
        behind middlewares: [any MiddlewareProtocol<Request, Response, KalendsContext>] = []
    ) {
        for middleware in middlewares { router.add(middleware: middleware) }
        let allowed = Router(context: KalendsContext.self)
        for (text, methods) in handlers {
            let path = RouterPath(text)
            var known = methods.map(\.method)
            for (method, handler) in methods {
                router.on(path, method: method, responder: CallbackResponder(callback: handler))
            }
            if let get = methods.first(where: { $0.method == .get }), !known.contains(.head) {
                known.append(.head)
                router.on(
                    path, method: .head,
                    responder: CallbackResponder { try await get.handler($0, $1).createHeadResponse() })
            }
            let allow = known.map(\.rawValue).sorted().joined(separator: ", ")
            allowed.on(path, method: .get) { _, _ in Response(status: .methodNotAllowed, headers: [.allow: allow]) }
        }
        // The middleware that is added now is only for requests without a handler.
        router.add(middleware: MethodRefusals(allowed: allowed.buildResponder()))
    }

    /// Refuses a method that a path does not support, where the router has found no handler. A handler for each of the
    /// thousands of them took longer to register than all others together.
    private struct MethodRefusals: RouterMiddleware {
        typealias Context = KalendsContext

        /// Answers GET of each path with the methods that the path supports.
        let allowed: any HTTPResponder<KalendsContext>

        func handle(
            _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
        ) async throws -> Response {
            guard registered.contains(request.method) else { return try await next(request, context) }
            var head = request.head
            head.method = .get
            let found = try await allowed.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context)
            guard let allow = found.headers[.allow] else { return try await next(request, context) }
            throw ProblemDocument.methodNotAllowed(allow)
        }
    }

    /// IANA's registry of HTTP methods, except those that a server never receives (`*`, PRI, CONNECT).
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
