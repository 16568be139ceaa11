// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The document of the API")
struct OpenAPITests {
    @Test("It is given to everybody with a tag, and has each route of the table")
    func given() async throws {
        try await TestServer.run { server in
            let answer = try await server.raw(.get, "/openapi.json").expect(200)
            let routes = try Routes.table(server.front, isLocal: false)
            let paths = try #require(answer.json["paths"]?.object)
            for route in routes.described {
                #expect(paths[route.path]?[route.method.rawValue.lowercased()] != nil, "\(route.method) \(route.path)")
            }
            // Nothing is served that is not described, pages apart; HEAD goes with GET.
            for (path, methods) in routes.handlers {
                for (method, _) in methods where method != .head {
                    if routes.pages.contains(where: { $0.path == path && $0.method == method }) { continue }
                    #expect(paths[path]?[method.rawValue.lowercased()] != nil, "\(method) \(path)")
                }
            }
            let tag = try #require(answer.headers[.eTag])
            try await server.raw(.get, "/openapi.json", headers: [.ifNoneMatch: tag]).expect(304)
            for (path, item) in paths {
                for (method, operation) in item.object ?? [:] {
                    for (status, response) in operation["responses"]?.object ?? [:] {
                        #expect(response["description"]?.string?.isEmpty == false, "\(method) \(path) \(status)")
                    }
                }
            }
            let ids = routes.described.map(\.operation.id)
            #expect(Set(ids).count == ids.count)
        }
    }

    @Test("Each reader knows exactly the fields that the document names, and misses those that it requires")
    func fields() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            for route in try Routes.table(server.front, isLocal: false).described {
                guard let content = route.operation.body?.contents.first, content.type == "application/json",
                    let name = content.schema.json["$ref"]?.string,
                    let schema = Components.all(.all)[String(name.split(separator: "/").last ?? "")]
                else { continue }
                let path = paths.path(of: route)
                // Whose own things these are, and whose path it is.
                let user: String? = RoutePaths.needsUser(route.operation.access) ? "xia" : nil
                // Phones send what they have.
                guard schema.json["additionalProperties"] == false else {
                    try await Self.expectWrong(server, route, path, schema, as: user)
                    continue
                }
                let unknown = try await server.call(route.method, path, ["no such field": 1], as: user)
                try unknown.expect(422)
                let reported = unknown.json["errors"]?.array?.first { $0["pointer"] == "/no such field" }?["message"]?
                    .string
                let known = schema.fields.map(\.name).sorted().joined(separator: ", ")
                #expect(
                    reported == "This field is unknown. The known names are \(known).",
                    "\(route.method) \(route.path)")
                let required = schema.fields.filter(\.isRequired).map { "/" + $0.name }
                #expect(Set(required).isSubset(of: unknown.pointers), "\(route.path): \(unknown.pointers)")
                try await Self.expectWrong(server, route, path, schema, as: user)
            }
        }
    }

    /// Expects that every field refuses what no schema of it allows.
    private static func expectWrong(
        _ server: TestServer, _ route: RouteTable.Route, _ path: String, _ schema: Schema, as user: String?
    ) async throws {
        let wrong = Dictionary(
            uniqueKeysWithValues: schema.fields.map { (ByteString($0.name), JSONValue.number(0.5)) })
        let refused = try await server.call(route.method, path, .object(wrong), as: user).expect(422)
        for field in schema.fields {
            #expect(
                refused.pointers.contains { $0 == "/\(field.name)" || $0.hasPrefix("/\(field.name)/") },
                "\(route.path) takes 0.5 for \(field.name)")
        }
    }

    @Test("The page shows every route, needs nothing from elsewhere, and escapes what it shows")
    func page() async throws {
        try await TestServer.run { server in
            let answer = try await server.raw(.get, "/docs").expect(200)
            #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
            for route in try Routes.table(server.front, isLocal: false).described {
                #expect(answer.text.contains(">\(route.path)<"))
            }
            #expect(!answer.text.contains("<script") && !answer.text.contains("src=") && !answer.text.contains("{{"))
            #expect(answer.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        }
    }
}
