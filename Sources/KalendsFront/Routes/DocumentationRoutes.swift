// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// The description of all routes, for programs and for people; added last, since it describes the routes added before.
struct DocumentationRoutes: Sendable {
    let kinds: ItemKinds

    func add(to routes: inout RouteTable) throws {
        let all = routes.described + [Self.document, Self.page]
        let document = OpenAPIDocument(routes: all, sections: routes.sections, schemas: Components.all(kinds))
        let bytes = ByteBuffer(bytes: try document.json.serialized())
        let html = ByteBuffer(string: DocumentationPage(document).html)
        routes.on(Self.document) { request, _ in
            Self.answer(bytes, "application/json", request)
        }
        routes.on(Self.page) { request, _ in
            Self.answer(html, "text/html; charset=utf-8", request)
        }
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
            [.init(status: 200, text: "A page.", type: "text/html")], hasTag: true))

    private static func answer(_ bytes: ByteBuffer, _ type: String, _ request: Request) -> Response {
        let validators = Validators(etag: entityTag(Array(bytes.readableBytesView)), lastModified: nil)
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
