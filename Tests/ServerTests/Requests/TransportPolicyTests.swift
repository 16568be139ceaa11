// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Keeping to https")
struct TransportPolicyTests {
    /// The value of `Strict-Transport-Security` on each kind of answer.
    private static func policies(_ server: TestServer, _ publicURL: String) async throws -> [String: String?] {
        try await server.makeCircle()
        let made = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(201)
        let feed = String(try #require(made.json["url"]?.string).dropFirst(publicURL.count))
        var found: [String: String?] = [:]
        func look(_ name: String, _ status: Int, _ path: String, _ headers: HTTPFields = [:]) async throws -> Answer {
            let answer = try await server.raw(.get, path, headers: headers).expect(status)
            found.updateValue(answer.headers[.strictTransportSecurity], forKey: name)
            return answer
        }
        _ = try await look("health", 200, "/healthz")
        _ = try await look("page", 200, "/app/sign-in")
        _ = try await look("refusal", 401, "/v1/circles/c")
        _ = try await look("nothing", 404, "/nowhere")
        let first = try await look("feed", 200, feed)
        let before = server.services.metrics.fromMemory.count
        _ = try await look("feed from memory", 200, feed)
        let tag = try #require(first.headers[.eTag])
        _ = try await look("unchanged feed", 304, feed, [.ifNoneMatch: tag])
        #expect(server.services.metrics.fromMemory.count == before + 2)
        _ = try await look("no feed", 404, "/feeds/none.ics")
        let broken = try await RawConnection(port: try #require(server.client.port))
            .exchange("GET /healthz HTTP/1.1\r\n\r\n") { _ in false }
        #expect(broken.hasPrefix("HTTP/1.1 400 "))
        let line = broken.components(separatedBy: "\r\n").first { $0.hasPrefix("Strict-Transport-Security: ") }
        found.updateValue(
            line.map { String($0.dropFirst("Strict-Transport-Security: ".count)) }, forKey: "before the router")
        return found
    }

    @Test(
        "Every answer of a server that is reached over https says so, and none of one that is not",
        arguments: [
            ("https://a.example", false, "max-age=31536000"),
            ("https://a.example", true, "max-age=31536000; includeSubDomains"), ("http://calendar.example", false, nil),
        ])
    func everywhere(publicURL: String, isStrict: Bool, policy: String?) async throws {
        var settings = ServerSettings()
        settings.isStrict = isStrict
        try await TestServer.run(live: true, settings: settings, publicURL: publicURL) { server in
            let found = try await Self.policies(server, publicURL)
            #expect(found.count == 9)
            for (name, value) in found { #expect(value == policy, "\(name)") }
        }
    }
}
