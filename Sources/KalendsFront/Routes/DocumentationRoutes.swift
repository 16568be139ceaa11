// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Synchronization

/// The description of all routes, for programs and for people; added last, since it describes the routes added before.
struct DocumentationRoutes: Sendable {
    let kinds: ItemKinds

    func add(to routes: inout RouteTable) {
        let all = routes.described + [Self.document, Self.page]
        let (sections, kinds) = (routes.sections, kinds)
        let document = { @Sendable in
            OpenAPIDocument(routes: all, sections: sections, schemas: Components.all(kinds))
        }
        let json = Description("application/json") { ByteBuffer(bytes: try document().json.serialized()) }
        let html = Description("text/html; charset=utf-8") { ByteBuffer(string: DocumentationPage(document()).html) }
        routes.on(Self.document) { request, _ in try json.answer(to: request) }
        routes.on(Self.page) { request, _ in try html.answer(to: request) }
    }

    private static let document = RouteTable.Route(
        method: .get, path: "/openapi.json", section: RouteTable.Section.server.name,
        operation: Operation(
            "getOpenAPI", "This document", .anyone, .noKey,
            [.init(status: 200, text: "OpenAPI 3.1.", type: "application/json")], hasTag: true))

    private static let page = RouteTable.Route(
        method: .get, path: "/docs", section: RouteTable.Section.server.name,
        operation: Operation(
            "getDocumentation", "Read this document as a page", .anyone, .noKey,
            [.init(status: 200, text: "A page.", type: "text/html", schema: .string)], hasTag: true))
}

/// One form of the description, made when somebody asks for it first: it takes longer than the rest of a server's start, and
/// most servers are never asked.
private final class Description: Sendable {
    private let type: String
    private let make: @Sendable () throws -> ByteBuffer
    private let made = Mutex<(bytes: ByteBuffer, validators: Validators)?>(nil)

    init(_ type: String, make: @escaping @Sendable () throws -> ByteBuffer) {
        self.type = type
        self.make = make
    }

    func answer(to request: Request) throws -> Response {
        let (bytes, validators) = try made.withLock { made in
            if let made { return made }
            let bytes = try make()
            let new = (bytes, Validators(etag: entityTag(Array(bytes.readableBytesView)), lastModified: nil))
            made = new
            return new
        }
        var headers = validators.fields
        headers[.cacheControl] = "no-cache"
        if ConditionalGet.isNotModified(request.headers, validators) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = type
        // The page loads nothing, and only its inline style is allowed.
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        headers[.xContentTypeOptions] = "nosniff"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
    }
}
