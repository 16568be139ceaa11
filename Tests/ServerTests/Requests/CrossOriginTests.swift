// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Pages of other origins that call the API")
struct CrossOriginTests {
    private static var settings: ServerSettings {
        var settings = ServerSettings()
        settings.corsOrigins = ["https://app.example"]
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

    @Test func `no other origin may, nor anything but the API`() async throws {
        try await TestServer.run(settings: Self.settings) { server in
            try await server.makeCircle()
            var other = Self.asking
            other[.origin] = "https://app.example.evil.example"
            let first = try await server.raw(.options, "/v1/circles/c", headers: other).expect(405)
            let read = try await server.call(.get, "/v1/circles/c", headers: [.origin: "https://evil.example"])
            let feed = try await server.makeFeed().path
            let calendar = try await server.raw(.get, feed, headers: [.origin: "https://app.example"]).expect(200)
            let page = try await server.raw(.get, "/healthz", headers: [.origin: "https://app.example"]).expect(200)
            for answer in [first, read, calendar, page] {
                #expect(answer.headers[.accessControlAllowOrigin] == nil)
            }
        }
        try await TestServer.run { server in
            try await server.raw(.options, "/v1/circles/c", headers: Self.asking).expect(405)
        }
    }
}
