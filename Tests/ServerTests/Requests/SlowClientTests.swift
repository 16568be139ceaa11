// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Slow and greedy clients")
struct SlowClientTests {
    private static func quick() -> ServerSettings {
        var settings = ServerSettings()
        settings.limits.tick = .milliseconds(100)
        settings.limits.firstByte = .milliseconds(600)
        settings.limits.header = .milliseconds(600)
        settings.limits.bodyIdle = .milliseconds(600)
        return settings
    }

    @Test(
        "A client that sends nothing, half a header or half a body is cut off",
        arguments: [
            "", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Half: ",
            "PUT /v1/circles/c HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
            "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HT",
        ])
    func cuts(text: String) async throws {
        try await TestServer.run(live: true, settings: Self.quick(), keepsLimits: true) { server in
            let port = try #require(server.client.port)
            let start = ContinuousClock.now
            _ = try await RawConnection(port: port).exchange(text) { _ in false }
            #expect(ContinuousClock.now - start >= .milliseconds(400))
        }
    }

    /// Requests behind one that is refused, and behind one that is the last.
    private static func behind(_ path: String) -> [(text: String, statuses: [Int])] {
        let other = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let poll = "GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n"
        return [
            (other + "GET / HTTP/1.1\r\n\r\n" + other, [200, 400]),
            (other + "GET / HTTP/1.1\r\n\r\n" + other + "\0\r\n\r\n", [200, 400]), (poll + last + other, [200, 200]),
        ]
    }

    @Test("Who leaves its side open behind the last answer is cut off, whatever it sent after that request")
    func behindTheLast() async throws {
        var settings = ServerSettings()
        (settings.limits.tick, settings.limits.idle) = (.milliseconds(100), .milliseconds(600))
        try await TestServer.run(live: true, settings: settings, keepsLimits: true) { server in
            let port = try #require(server.client.port)
            // Each on a connection of its own, since one that is kept would be cut off between two calls.
            func call(_ start: String, _ body: String) async throws -> String {
                let text =
                    "\(start) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                return try await RawConnection(port: port).exchange(text) { _ in false }
            }
            _ = try await call("PUT /v1/circles/c", #"{"name":"Home","timeZone":"UTC"}"#)
            _ = try await call("PUT /v1/circles/c/members/ann", #"{"displayName":"Ann","role":"owner"}"#)
            let made = try await call("POST /v1/circles/c/feeds", #"{"userId":"ann"}"#)
            let path = try #require(made.firstMatch(of: /"url":"http:\/\/calendar\.example([^"]*)"/)?.1)
            #expect(try await call("GET \(path)", "").hasPrefix("HTTP/1.1 200 "))
            for (text, statuses) in Self.behind(String(path)) {
                let client = try await OpenConnection(port: port)
                let start = ContinuousClock.now
                try await client.send(text)
                let answers = try await client.rest().components(separatedBy: "HTTP/1.1 ").dropFirst()
                #expect(answers.compactMap { Int($0.prefix(3)) } == statuses)
                try await client.end()
                #expect(ContinuousClock.now - start < .seconds(300))
            }
        }
    }

    @Test("The server stops beside such a connection")
    func stopsBesideThem() async throws {
        let start = ContinuousClock.now
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            for (text, _) in Self.behind(feed.path) {
                try await server.raw(.get, feed.path).expect(200)
                let client = try await OpenConnection(port: try #require(server.client.port))
                try await client.send(text)
                _ = try await client.rest()
            }
        }
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    @Test("A body that goes on after its answer is cut off, and the server lives on")
    func endless() async throws {
        try await TestServer.run(live: true) { server in
            let port = try #require(server.client.port)
            let text =
                "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
                + String(repeating: "x", count: 8 << 20)
            // The end of the connection within the time of an exchange.
            do {
                let answer = try await RawConnection(port: port).exchange(text) { _ in false }
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 404 "))
            } catch let error as IOError {
                // Cut while it was sending.
                #expect([32, 104].contains(error.errnoCode))
            }
            try await server.raw(.get, "/healthz").expect(200)
        }
    }

    @Test(
        "A header beyond the limits is answered with 431, and the connection ends",
        arguments: [
            "GET /healthz HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 200),
            "GET /healthz HTTP/1.1\r\nX: " + String(repeating: "x", count: 20_000),
            "GET /" + String(repeating: "x", count: 20_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
        ])
    func headerTooLarge(text: String) async throws {
        try await TestServer.run(live: true) { server in
            let port = try #require(server.client.port)
            let answer = try await RawConnection(port: port).exchange(text) { _ in false }
            #expect(answer.hasPrefix("HTTP/1.1 431 "))
            #expect(answer.contains("application/problem+json"))
        }
    }

    @Test("Connections beyond those that a network may have are closed at once; others' are not counted for it")
    func counts() {
        var limits = ConnectionLimits()
        (limits.connections, limits.connectionsPerNetwork) = (5, 2)
        let counts = ConnectionCounts(limits)
        #expect(counts.open(from: "a") && counts.open(from: "a") && !counts.open(from: "a"))
        #expect(counts.open(from: nil) && counts.open(from: nil) && counts.open(from: "b") && !counts.open(from: "c"))
        counts.close(from: "a")
        #expect(counts.open(from: "a") && !counts.open(from: "b"))
    }
}
