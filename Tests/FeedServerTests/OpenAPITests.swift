// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import FeedServer

@Suite("The document of the API")
struct OpenAPITests {
    @Test("It is given to everybody with a tag, and has each route of the table")
    func given() async throws {
        try await TestServer.run { server in
            let answer = try await server.raw(.get, "/openapi.json").expect(200)
            let routes = try Routes.table(server.services, isLocal: false)
            let paths = try #require(answer.json["paths"]?.object)
            for route in routes.described {
                #expect(paths[route.path]?[route.method.rawValue.lowercased()] != nil, "\(route.method) \(route.path)")
            }
            // Nothing is served that is not described; HEAD goes with GET.
            for (path, methods) in routes.handlers {
                for (method, _) in methods where method != .head {
                    #expect(paths[path]?[method.rawValue.lowercased()] != nil, "\(method) \(path)")
                }
            }
            let tag = try #require(answer.headers[.eTag])
            try await server.raw(.get, "/openapi.json", headers: [.ifNoneMatch: tag]).expect(304)
            let ids = routes.described.map(\.operation.id)
            #expect(Set(ids).count == ids.count)
        }
    }

    @Test("Each reader knows exactly the fields that the document names, and misses those that it requires")
    func fields() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            for route in try Routes.table(server.services, isLocal: false).described {
                guard let name = route.operation.body?.contents.first?.schema.json["$ref"]?.string,
                    let schema = Components.all[String(name.split(separator: "/").last ?? "")]
                else { continue }
                let path = paths.path(of: route)
                let unknown = try await server.call(route.method, path, ["no such field": 1])
                try unknown.expect(422)
                let told = unknown.json["errors"]?.array?.first { $0["pointer"] == "/no such field" }?["message"]?
                    .string
                let known = schema.fields.map(\.name).sorted().joined(separator: ", ")
                #expect(told == "This field is not known here. Known are \(known).", "\(route.method) \(route.path)")
                let required = schema.fields.filter(\.isRequired).map { "/" + $0.name }
                #expect(Set(required).isSubset(of: unknown.pointers), "\(route.path): \(unknown.pointers)")
                // Every field refuses what no schema of it allows.
                let wrong = Dictionary(uniqueKeysWithValues: schema.fields.map { ($0.name, JSONValue.number(0.5)) })
                let refused = try await server.call(route.method, path, .object(wrong)).expect(422)
                for field in schema.fields {
                    #expect(
                        refused.pointers.contains { $0 == "/\(field.name)" || $0.hasPrefix("/\(field.name)/") },
                        "\(route.path) takes 0.5 for \(field.name)")
                }
            }
        }
    }

    @Test("The page shows every route, needs nothing from elsewhere, and escapes what it shows")
    func page() async throws {
        try await TestServer.run { server in
            let answer = try await server.raw(.get, "/docs").expect(200)
            #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
            for route in try Routes.table(server.services, isLocal: false).described {
                #expect(answer.text.contains(">\(route.path)<"))
            }
            #expect(!answer.text.contains("<script") && !answer.text.contains("src=") && !answer.text.contains("{{"))
            #expect(answer.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
        }
    }
}

/// Paths of every route to things that are there.
struct RoutePaths: Sendable {
    var values: [String: String]

    /// With a circle, an item of each kind, a feed, an import and a key.
    init(_ server: TestServer, circle: String = "c", owner: String = "ann") async throws {
        values = ["circle": circle, "user": "vic", "patient": "dad", "start": "20260122T180000Z"]
        for (kind, name) in [
            ("tasks", "Task"), ("shifts", "Shift"), ("appointments", "Appointment"), ("follow-ups", "FollowUp"),
        ] {
            let example = try #require(Components.all["\(name)Input"]?.example)
            try await server.call(.put, "/v1/circles/\(circle)/\(kind)/x", example).expect(201)
        }
        values["id"] = "x"
        let feed = try await server.call(.post, "/v1/circles/\(circle)/feeds", ["userId": .string(owner)]).expect(201)
        values["feeds"] = feed.json["id"]?.string
        values["token"] = feed.json["token"]?.string
        values["name"] = "calendar.ics"
        let file =
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:\(circle)\r\nDTSTART:20260303T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        let made = try await server.raw(
            .post, "/v1/circles/\(circle)/imports",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: .init(string: file)
        ).expect(201)
        values["imports"] = made.json["id"]?.string
        values["keys"] = try await server.call(.post, "/v1/keys", ["name": "of the walk"]).expect(201).json["id"]?
            .string
    }

    func path(of route: RouteTable.Route) -> String {
        let parts = route.path.split(separator: "/")
        return "/"
            + parts.enumerated().map { index, part in
                guard part.hasPrefix("{") else { return String(part) }
                let name = String(part.dropFirst().dropLast())
                let kind = index > 0 ? String(parts[index - 1]) : ""
                return (name == "id" ? values[kind] : nil) ?? values[name] ?? "x"
            }.joined(separator: "/")
    }
}
