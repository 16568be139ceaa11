// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Pages of other origins that call the API")
struct CrossOriginTests {
    private static var settings: ServerSettings {
        var settings = ServerSettings()
        settings.corsOrigins = ["https://app.example", "http://localhost:3000"]
        return settings
    }

    private static let asking: HTTPFields = [
        .origin: "https://app.example", .accessControlRequestMethod: "PUT",
        .accessControlRequestHeaders: "authorization, content-type",
    ]

    @Test func `an origin of the list may ask first and read answers and refusals, and never with cookies`()
        async throws
    {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            let first = try await server.raw(.options, "/v1/circles/c", headers: Self.asking).expect(204)
            #expect(first.headers[.accessControlAllowOrigin] == "https://app.example")
            #expect(first.headers[.accessControlAllowMethods]?.contains("PUT") == true)
            #expect(first.headers[.accessControlAllowHeaders]?.contains("Authorization") == true)
            let read = try await server.call(.get, "/v1/circles/c", headers: [.origin: "https://app.example"])
            let refused = try await server.raw(.get, "/v1/circles/c", headers: [.origin: "https://app.example"])
            #expect(read.status == 200 && refused.status == 401)
            for answer in [first, read, refused] {
                #expect(answer.headers[.accessControlAllowOrigin] == "https://app.example")
                #expect(answer.headers[.accessControlAllowCredentials] == nil)
                #expect(answer.headers[.vary]?.contains("Origin") == true)
            }
        }
    }

    /// The words of a list in a header field.
    private static func words(_ field: String?) -> Set<String> {
        Set((field ?? "").split(separator: ", ").map(String.init))
    }

    @Test func `a page may send every method and field that the document names, and read every field of an answer`()
        async throws
    {
        try await TestServer.run(settings: Self.settings) { server in
            let first = try await server.raw(.options, "/v1/circles/c", headers: Self.asking).expect(204)
            let read = try await server.call(.get, "/v1/circles/c", headers: [.origin: "https://app.example"])
            let methods = Self.words(first.headers[.accessControlAllowMethods])
            let fields = Self.words(first.headers[.accessControlAllowHeaders])
            let shown = Self.words(read.headers[.accessControlExposeHeaders])
            for route in try Routes.table(server.front, isLocal: false).described where route.path.hasPrefix("/v1/") {
                #expect(methods.contains(route.method.rawValue), "\(route.path)")
                for parameter in route.parameters where parameter.location == .header {
                    #expect(fields.contains(parameter.name), "\(route.path)")
                }
                // No page reads cookies that an answer sets.
                for name in route.operation.replies.flatMap(\.headers) where name != "Set-Cookie" {
                    #expect(shown.contains(name), "\(route.path)")
                }
            }
            // What the document says in words, or in its list of ways to sign in.
            #expect(
                fields.isSuperset(of: [
                    "Accept", "Authorization", "Content-Type", "Kalends-User", "Last-Event-ID", "Prefer",
                ]))
            #expect(
                shown.isSuperset(of: [
                    "ETag", "Idempotency-Replayed", "Link", "Retry-After", "WWW-Authenticate", "X-Request-ID",
                ]))
            for list in [methods, fields, shown] { #expect(!list.contains("*")) }
        }
    }

    @Test func `each origin of the list is answered with itself, in whatever the answer is`() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            for origin in ["https://app.example", "http://localhost:3000"] {
                var asking = Self.asking
                asking[.origin] = origin
                let first = try await server.raw(.options, "/v1/circles/c/tasks/t", headers: asking).expect(204)
                #expect(first.headers[.accessControlAllowOrigin] == origin && first.body.isEmpty)
                let own: HTTPFields = [.origin: origin]
                try await server.put("tasks", "t", ["title": "a", "dueAt": "2026-03-03T09:00:00Z"])
                let tag = try #require(
                    try await server.call(.get, "/v1/circles/c", headers: own).expect(200).headers[.eTag])
                let answers = [
                    try await server.call(.get, "/v1/circles/c", headers: [.origin: origin, .ifNoneMatch: tag])
                        .expect(304),
                    try await server.call(.put, "/v1/circles/c", ["titel": 1], headers: own).expect(422),
                    try await server.call(.get, "/v1/circles/none", headers: own).expect(404),
                    try await server.call(.get, "/v1/none", headers: own).expect(404),
                    try await server.call(.post, "/v1/circles/c", headers: own).expect(405),
                    try await server.call(.delete, "/v1/circles/c/tasks/t", headers: own).expect(204),
                ]
                for answer in answers {
                    #expect(answer.headers[values: .accessControlAllowOrigin] == [origin], "\(answer.status)")
                    #expect(answer.headers[.vary]?.contains("Origin") == true, "\(answer.status)")
                    #expect(answer.headers[.accessControlExposeHeaders]?.contains("ETag") == true, "\(answer.status)")
                }
            }
        }
    }

    @Test func `no other origin may, nor anything but the API`() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            for origin in [
                "https://app.example.evil.example", "http://app.example", "https://app.example:444",
                "https://sub.app.example", "HTTPS://APP.EXAMPLE/", "http://localhost", "null", "*", "",
                "https://app.example https://evil.example", "https://app.example, http://localhost:3000",
            ] {
                var other = Self.asking
                other[.origin] = origin
                let first = try await server.raw(.options, "/v1/circles/c", headers: other).expect(405)
                let read = try await server.call(.get, "/v1/circles/c", headers: [.origin: origin]).expect(200)
                for answer in [first, read] {
                    #expect(!answer.headers.contains { $0.name.rawName.hasPrefix("Access-Control") }, "\(origin)")
                    #expect(answer.headers[.vary]?.contains("Origin") == true, "\(origin)")
                }
            }
            let feed = try await server.makeFeed().path
            let calendar = try await server.raw(.get, feed, headers: [.origin: "https://app.example"]).expect(200)
            let page = try await server.raw(.get, "/healthz", headers: [.origin: "https://app.example"]).expect(200)
            for answer in [calendar, page] {
                #expect(answer.headers[.accessControlAllowOrigin] == nil)
            }
        }
        try await TestServer.run { server in
            let first = try await server.raw(.options, "/v1/circles/c", headers: Self.asking).expect(405)
            #expect(first.headers[.vary] == nil)
        }
    }
}
