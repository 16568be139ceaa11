// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Outbound
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Where a CalDAV server leads")
struct AccountRedirectTests {
    private static func refusal(
        of location: String, services: [String: [ServiceRecord]] = [:]
    ) async throws -> (answer: Answer, hosts: Set<String>) {
        let transport = ConnectRecorder { request in
            request.url.reveal().hasPrefix("https://example.org/")
                ? .redirect(location) : OutboundAnswer(status: 404, headers: [])
        }
        var settings = ServerSettings()
        settings.fetching.transport = transport
        settings.fetching.resolver = NamedHosts(
            [
                "example.org": [["198.51.101.7"]], "dav.example.org": [["198.51.101.8"]],
                "other.example": [["198.51.101.9"]], "inner.example.org": [["10.0.0.7"]],
            ], otherwise: ["127.0.0.1"])
        settings.fetching.services = NamedServices(services)
        let result = ResultBox()
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let made = try await server.call(.post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann")
                .expect(201)
            let id = try #require(made.json["id"]?.string)
            let answer = try await server.call(
                .put, "/v1/connections/\(id)/account",
                ["url": "example.org", "username": "alice", "password": "secret"], as: "ann")
            result.set(answer)
        }
        return (
            try #require(result.value),
            Set(transport.urls.compactMap { $0.split(separator: "/").dropFirst().first.map(String.init) })
        )
    }

    @Test(
        "A redirect leads to no host that the address does not belong to, to no inner one, and never out of TLS",
        arguments: [
            ("https://10.0.0.7/dav/", false), ("https://127.0.0.1/dav/", false), ("https://inner.example.org/", false),
            ("https://other.example/dav/", false), ("http://example.org/dav/", false),
            ("https://dav.example.org/dav/", true), ("https://dav.example.org:8443/dav/", false),
        ])
    func redirects(_ location: String, isFollowed: Bool) async throws {
        let (answer, hosts) = try await Self.refusal(of: location)
        #expect(answer.status == 422 && answer.pointers == ["/url"], "\(answer.text)")
        #expect(hosts == (isFollowed ? ["example.org", "dav.example.org"] : ["example.org"]))
        #expect(!answer.text.contains("secret"))
    }

    @Test("A name server's answer with somebody else's host is shown, and the password is not sent there")
    func named() async throws {
        let record = ServiceRecord(priority: 0, weight: 0, port: 443, target: "other.example")
        let (answer, hosts) = try await Self.refusal(
            of: "https://example.org/nowhere", services: ["_caldavs._tcp.example.org": [record]])
        #expect(answer.status == 422 && answer.text.contains("other.example"), "\(answer.text)")
        #expect(hosts == ["example.org"])
        let inner = ServiceRecord(priority: 0, weight: 0, port: 443, target: "inner.example.org")
        let (refused, asked) = try await Self.refusal(
            of: "https://example.org/nowhere", services: ["_caldavs._tcp.example.org": [inner]])
        #expect(refused.status == 422 && asked == ["example.org"])
        let own = ServiceRecord(priority: 0, weight: 0, port: 8443, target: "dav.example.org")
        let (_, reached) = try await Self.refusal(
            of: "https://example.org/nowhere", services: ["_caldavs._tcp.example.org": [own]])
        #expect(reached == ["dav.example.org:8443", "example.org"])
    }

    private final class ResultBox: Sendable {
        private let kept = Mutex<Answer?>(nil)
        var value: Answer? { kept.withLock { $0 } }
        func set(_ answer: Answer) { kept.withLock { $0 = answer } }
    }
}
