// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Every limit of the document, on it and one beyond")
struct LimitTests {
    /// Returns a value that is just within a schema, and one that is just beyond it.
    private static func edges(_ schema: Schema, _ name: String) -> [(within: JSONValue, beyond: JSONValue)] {
        var edges: [(JSONValue, JSONValue)] = []
        let json = schema.json
        if let most = json["maxLength"]?.integer, json["enum"] == nil, name != "timeZone", name != "color" {
            // A limit in bytes is the same in letters only where each of them is one byte.
            let letter = name == "password" || json["x-maxBytes"] != nil ? "x" : "é"
            let isIdentifier = json["pattern"]?.string?.hasPrefix("^[A-Za-z0-9") == true
            let fill = isIdentifier ? "x" : letter
            edges.append(
                (.string(String(repeating: fill, count: most)), .string(String(repeating: fill, count: most + 1))))
        }
        if let least = json["minLength"]?.integer, least > 1 {
            edges.append(
                (.string(String(repeating: "x", count: least)), .string(String(repeating: "x", count: least - 1))))
        }
        if let least = json["minimum"]?.integer { edges.append((.integer(least), .integer(least - 1))) }
        if let most = json["maximum"]?.integer, most < Int.max { edges.append((.integer(most), .integer(most + 1))) }
        if let most = json["maxItems"]?.integer, let element = json["items"] {
            let item = item(element)
            edges.append(
                (.array(Array(repeating: item, count: most)), .array(Array(repeating: item, count: most + 1))))
        }
        return edges
    }

    private static func item(_ schema: JSONValue) -> JSONValue {
        if let first = schema["enum"]?.array?.first { return first }
        if schema["type"] == "integer" { return schema["minimum"] ?? 0 }
        if schema["format"] == "date-time" { return "2026-03-03T09:00:00Z" }
        if schema["format"] == "date" { return "2026-03-03" }
        return "x"
    }

    @Test("A field takes what its schema allows to the last letter and number, and names itself one beyond")
    func fields() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            var tried = 0
            for route in try Routes.table(server.front, isLocal: false).described {
                for (_, schema) in route.operation.body?.contents ?? [] {
                    guard let name = schema.json["$ref"]?.string?.split(separator: "/").last,
                        let body = Components.all(.all)[String(name)], let example = body.example?.object,
                        // An address is no text of any letters; a password is tried once a second at most.
                        ![
                            "SignIn", "ImportByURL", "SubscriptionInput", "WebhookInput", "WebhookChange",
                            "AccountInput", "Authorization", "SignInProof",
                        ].contains(name)
                    else { continue }
                    // The former name of a device's label is not taken beside the label; a page is no text of any letters.
                    for field in body.fields
                    where !(name == "PasswordInput" && field.name == "currentPassword")
                        && !(name == "DeviceInput" && field.name == "name")
                        && !(name == "SignInLinkInput" && field.name == "to")
                    {
                        for (within, beyond) in Self.edges(field.schema, field.name) {
                            tried += 1
                            let user: String? = RoutePaths.needsUser(route.operation.access) ? "xia" : nil
                            let label = "\(route.method) \(route.path) \(field.name)"
                            let bad = try await server.call(
                                route.method, paths.path(of: route),
                                .object(example.merging([ByteString(field.name): beyond]) { $1 }), as: user
                            ).expect(422)
                            #expect(
                                bad.pointers.contains { $0.hasPrefix("/\(field.name)") },
                                "\(label): \(bad.text.prefix(300))")
                            let good = try await server.call(
                                route.method, paths.path(of: route),
                                .object(example.merging([ByteString(field.name): within]) { $1 }), as: user)
                            #expect(
                                !good.pointers.contains {
                                    $0.hasPrefix("/\(field.name)") && !good.text.contains("no such")
                                },
                                "\(label): \(good.text.prefix(300))")
                            #expect(good.status != 413 && good.status < 500)
                        }
                    }
                }
            }
            #expect(tried > 45)
        }
    }

    @Test("Lists take limits from 1 to 1000, a body 1 MiB and a path's id 128 letters, and one beyond is refused")
    func around() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (limit, status) in [("0", 422), ("1", 200), ("1000", 200), ("1001", 422), ("x", 422), ("-1", 422)] {
                for list in ["/v1/circles", "/v1/circles/c/tasks", "/v1/circles/c/imports", "/v1/keys", "/v1/webhooks"]
                {
                    try await server.call(.get, "\(list)?limit=\(limit)").expect(status)
                }
            }
            for (count, status) in [(128, 201), (129, 400)] {
                let id = String(repeating: "x", count: count)
                try await server.call(.put, "/v1/circles/\(id)", ["name": "n", "timeZone": "UTC"]).expect(status)
            }
            let task = #"{"title": "t", "dueAt": "2026-03-03T09:00:00Z"}"#
            for (length, status) in [(1 << 20, 201), (1 << 20 + 1, 413)] {
                let body = task + String(repeating: " ", count: length - task.utf8.count)
                try await server.raw(
                    .put, "/v1/circles/c/tasks/t\(status)", headers: [.authorization: "Bearer \(server.key)"],
                    body: ByteBuffer(string: body)
                ).expect(status)
            }
            // Cursors are what somebody sends.
            for number in ["9223372036854775807", "-9223372036854775808", "99999999999999999999"] {
                let cursor = Data(number.utf8).base64EncodedString()
                    .replacingOccurrences(of: "=", with: "").replacingOccurrences(of: "+", with: "-")
                let paths = try await RoutePaths(server)
                let bound = try await server.call(
                    .post, "/v1/keys", ["name": "k", "circles": ["c"]]
                ).expect(201).json["key"]?.string
                for route in try Routes.table(server.front, isLocal: false).described
                where route.method == .get && route.operation.query.contains(where: { $0.name == "cursor" }) {
                    let user: String? =
                        [.user, .phone, .companion].contains(route.operation.access) ? "ann" : nil
                    for text in [cursor, number] {
                        let answer = try await server.call(.get, "\(paths.path(of: route))?cursor=\(text)", as: user)
                        #expect([200, 410, 422].contains(answer.status), "\(route.path): \(answer.text)")
                        guard route.operation.access.isOfCircles(route.operation.need) else { continue }
                        let own = try await server.bearing(
                            try #require(bound), .get, "\(paths.path(of: route))?cursor=\(text)")
                        #expect([200, 404, 410, 422].contains(own.status), "\(route.path): \(own.text)")
                    }
                }
            }
        }
    }
}
