// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What texts may hold")
struct TextLimitTests {
    private static func task(_ title: String, _ notes: String? = nil) -> JSONValue {
        ["title": .string(title), "notes": JSONValue(notes), "dueAt": "2026-03-03T09:00:00Z"]
    }

    @Test(
        "A control character is refused by name; tabs and line breaks are taken", arguments: Array(0...31) + [127, 133])
    func control(_ scalar: Int) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let character = String(try #require(UnicodeScalar(scalar)))
            let answer = try await server.call(
                .put, "/v1/circles/c/tasks/t", Self.task("a\(character)b", "c\(character)d"))
            if [9, 10, 13].contains(scalar) {
                try answer.expect(201)
                return
            }
            try answer.expect(422)
            #expect(Set(answer.pointers) == ["/title", "/notes"])
            #expect(answer.json["errors"]?.array?.first?["code"] == "unwanted-character")
        }
    }

    @Test("Thirty marks in a row are taken, thirty-one are refused, in titles, notes, names and labels")
    func marks() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (count, isFine) in [(30, true), (31, false)] {
                let text = "e" + String(repeating: "\u{301}", count: count)
                let answers = [
                    try await server.call(.put, "/v1/circles/c/tasks/t", Self.task(text, text)),
                    try await server.call(.put, "/v1/circles/c/patients/p", ["displayName": .string(text)]),
                    try await server.call(.post, "/v1/circles/c/feeds", ["label": .string(text), "userId": "ann"]),
                ]
                for answer in answers {
                    #expect(answer.status == (isFine ? 201 : 422), "\(answer.text)")
                    if !isFine { #expect(answer.json["errors"]?.array?.first?["code"] == "too-many-marks") }
                }
            }
        }
    }

    @Test("Notes are counted in bytes, and names in characters")
    func lengths() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = "/v1/circles/c/tasks/t"
            try await server.call(.put, path, Self.task("t", String(repeating: "é", count: 32_768))).expect(201)
            let long = try await server.call(.put, path, Self.task("t", String(repeating: "é", count: 32_769)))
            try long.expect(422)
            #expect(long.text.contains("65536 bytes"))
            try await server.call(.put, path, Self.task(String(repeating: "é", count: 1000))).expect(200)
            try await server.call(.put, path, Self.task(String(repeating: "é", count: 1001))).expect(422)
            for count in [1000, 1001] {
                let name = JSONValue.string(String(repeating: "é", count: count))
                try await server.call(.put, "/v1/circles/c/patients/p\(count)", ["displayName": name])
                    .expect(count == 1000 ? 201 : 422)
            }
        }
    }

    @Test("A NUL never reaches the database: not by a path, a query, a header or a body")
    func nul() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            for route in try Routes.table(server.front, isLocal: false).described {
                let body = try RoutePaths.body(of: route)
                var headers: HTTPFields = [.authorization: "Bearer \(server.key)"]
                if let body { headers[.contentType] = body.type }
                if RoutePaths.needsUser(route.operation.access) { headers[.kalendsUser] = "xia" }
                let label = "\(route.method) \(route.path)"
                // Each part of the path in turn, and each parameter of the query.
                let parts = route.path.split(separator: "/").map(String.init)
                let filled = paths.path(of: route).split(separator: "/").map(String.init)
                for (index, part) in parts.enumerated() where part.hasPrefix("{") {
                    for bad in ["a%00b", "%c3%a9"] {
                        var own = filled
                        own[index] = bad
                        let path = "/" + own.joined(separator: "/")
                        let answer = try await server.raw(route.method, path, headers: headers, body: body?.bytes)
                        #expect((400..<500).contains(answer.status), "\(label) \(part): \(answer.status)")
                    }
                }
                for parameter in route.operation.query {
                    let path = "\(paths.path(of: route))?\(parameter.name)=a%00b"
                    let answer = try await server.raw(route.method, path, headers: headers, body: body?.bytes)
                    #expect((400..<500).contains(answer.status), "\(label) ?\(parameter.name): \(answer.status)")
                }
            }
        }
    }

    @Test("A NUL within any field of a body is refused or left out, and never ends in a failure of the server")
    func nulInBodies() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            for route in try Routes.table(server.front, isLocal: false).described {
                guard
                    let name = route.operation.body?.contents.last?.schema.json["$ref"]?.string?.split(separator: "/")
                        .last,
                    let schema = Components.all(.all)[String(name)], let example = schema.example?.object
                else { continue }
                let user: String? = RoutePaths.needsUser(route.operation.access) ? "xia" : nil
                for field in schema.fields {
                    for bad in [JSONValue.string("a\u{0}b"), ["a\u{0}b"], ["a\u{0}b": "a\u{0}b"]] {
                        let body = JSONValue.object(example.merging([ByteString(field.name): bad]) { $1 })
                        let answer = try await server.call(route.method, paths.path(of: route), body, as: user)
                        #expect(answer.status < 500, "\(route.method) \(route.path) \(field.name): \(answer.text)")
                        // Otherwise nobody looked at the body.
                        if user != nil { #expect(answer.json["code"] != "user-required", "\(route.path)") }
                    }
                }
            }
            // Calendars in JSON and XML can spell it out.
            for file in [
                #"["vcalendar",[],[["vevent",[["uid",{},"text","a\u0000b"],["summary",{},"text","c\u0000d"],"#
                    + #"["dtstart",{"tzid":"X\u0000Y"},"date-time","2026-03-03T09:00:00"]],[]]]]"#,
                "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\u{0}b\r\nSUMMARY:c\u{0}d\r\nDTSTART:20260303T090000Z\r\n"
                    + "END:VEVENT\r\nEND:VCALENDAR\r\n",
            ] {
                for mode in ["preview", "commit"] {
                    let answer = try await server.raw(
                        .post, "/v1/circles/c/imports?mode=\(mode)",
                        headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                        body: ByteBuffer(string: file))
                    #expect([201, 422].contains(answer.status), "\(answer.text)")
                }
            }
        }
    }
}
