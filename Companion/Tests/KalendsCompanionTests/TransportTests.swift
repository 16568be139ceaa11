// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import KalendsCompanion
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Companion: requests over the network", .serialized)
struct TransportTests {
    private func send(
        _ server: LocalServer, _ path: String, limit: Int = 1 << 20,
        by transport: URLSessionTransport = URLSessionTransport(silence: 10, whole: 20)
    ) async throws -> HTTPAnswer {
        try await send(server.port, path, limit: limit, by: transport)
    }

    private func send(
        _ port: Int, _ path: String, limit: Int, by transport: URLSessionTransport
    ) async throws -> HTTPAnswer {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.setValue("Device hidden", forHTTPHeaderField: "Authorization")
        return try await transport.send(request, limit: limit)
    }

    @Test("An answer comes with its status and body")
    func plain() async throws {
        let server = try LocalServer()
        let answer = try await send(server, "/flaky/0/x?answer=%7B%22a%22%3A1%7D")
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"a":1}"#)
        #expect(try server.requests(1).first?["authorization"]?.string == "Device hidden")
    }

    @Test(
        "An answer beyond its bound is given up, whether or not it says how long it is",
        arguments: ["/announced", "/endless"])
    func bounded(_ path: String) async throws {
        let server = try LocalServer()
        await #expect(throws: CompanionFailure.badAnswer) { try await send(server, path) }
    }

    @Test("An answer of exactly the bound is taken, and one byte more is not")
    func exactBound() async throws {
        let server = try LocalServer()
        #expect(try await send(server, "/flaky/0/x", limit: 2).body.count == 2)
        await #expect(throws: CompanionFailure.badAnswer) { try await send(server, "/flaky/0/x", limit: 1) }
    }

    @Test("A silent server and one that never ends are left in time", arguments: ["/silent", "/drip"])
    func timesOut(_ path: String) async throws {
        let server = try LocalServer()
        let start = ContinuousClock.now
        await #expect(throws: CompanionFailure.timedOut) {
            try await send(server, path, by: URLSessionTransport(silence: 1, whole: 2))
        }
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test("A proxy that wants a name and a password is answered at once, with its status")
    func basic() async throws {
        let server = try LocalServer()
        #expect(try await send(server, "/basic").status == 401)
    }

    @Test("After a request that got no answer, the next ones use another connection")
    func afterSilence() async throws {
        let server = try LocalServer()
        let transport = URLSessionTransport(silence: 1, whole: 2)
        for _ in 0..<3 {
            #expect(try await send(server, "/flaky/0/x", by: transport).status == 200)
            await #expect(throws: CompanionFailure.timedOut) { try await send(server, "/silent", by: transport) }
        }
        let ports = try server.requests(6).map { $0["port"]?.integer }
        #expect(ports[0] == ports[1], "A connection serves several requests.")
        #expect(ports[2] != ports[1] && ports[4] != ports[3])
    }

    @Test("A redirection is not followed, so that the token stays with its server")
    func redirection() async throws {
        let server = try LocalServer()
        #expect(try await send(server, "/redirect").status == 302)
        _ = try await send(server, "/flaky/0/after")
        let paths = try server.requests(2).map { $0["path"]?.string }
        #expect(paths == ["/redirect", "/flaky/0/after"])
    }

    @Test("No cookie is kept")
    func cookies() async throws {
        let server = try LocalServer()
        _ = try await send(server, "/cookie")
        _ = try await send(server, "/cookie")
        #expect(try server.requests(2).allSatisfy { $0["cookie"] == .null })
    }

    @Test("A connection that breaks off, and one that nobody takes, are offline", arguments: ["/short", "/reset"])
    func brokenOff(_ path: String) async throws {
        let server = try LocalServer()
        await #expect(throws: CompanionFailure.offline) { try await send(server, path) }
    }

    @Test("A port where nobody listens is offline")
    func nobody() async throws {
        // Port 1 is reserved, and nothing listens on it.
        let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        await #expect(throws: CompanionFailure.offline) {
            try await URLSessionTransport().send(request, limit: 100)
        }
    }

    @Test("Many requests at once, some of them given up, each get their own answer")
    func many() async throws {
        let server = try LocalServer()
        let transport = URLSessionTransport(silence: 10, whole: 20)
        let (port, workers, rounds) = (server.port, 8, 10)
        for wave in 0..<4 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<workers {
                    group.addTask {
                        for round in 0..<rounds {
                            let text = "\"\(wave)-\(worker)-\(round)\""
                            let path = "/flaky/0/x?answer=\(text.replacing("\"", with: "%22"))"
                            let answer = try await send(port, path, limit: 100, by: transport)
                            #expect(String(decoding: answer.body, as: UTF8.self) == text)
                            await #expect(throws: CompanionFailure.badAnswer) {
                                try await send(port, path, limit: 1, by: transport)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // The server waits when nobody reads what it writes.
            _ = try server.requests(workers * rounds * 2)
        }
    }

    @Test("A cancelled request ends at once")
    func cancelled() async throws {
        let server = try LocalServer()
        let start = ContinuousClock.now
        let task = Task { try await send(server, "/silent") }
        try await Task.sleep(for: .milliseconds(300))
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(30))
    }
}

@Suite("Companion: addresses and waits")
struct ServiceRuleTests {
    @Test(
        "What a person types becomes an address",
        arguments: [
            ("calendar.example.org", "https://calendar.example.org"),
            (" https://calendar.example.org/ ", "https://calendar.example.org"),
            ("HTTPS://calendar.example.org/kalends//", "https://calendar.example.org/kalends"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://[::1]:8080/", "http://[::1]:8080"),
            ("http://localhost:8080/", "http://localhost:8080"),
        ])
    func typed(_ text: String, _ url: String) throws {
        #expect(try ServerAddress(text).url.absoluteString == url)
    }

    @Test(
        "An invalid server address, or one that would send the token in plain text, is refused",
        arguments: [
            ("", ServerAddress.Fault.notAnAddress), ("ftp://example.org", .notAnAddress), ("https://", .notAnAddress),
            ("http://example.org", .notEncrypted), ("http://127.example.org", .notEncrypted),
            ("http://10.0.0.1", .notEncrypted), ("https://ann:secret@example.org", .hasUser),
            ("https://example.org/?token=secret", .hasQuery), ("https://example.org/#x", .hasQuery),
        ])
    func refused(_ text: String, _ fault: ServerAddress.Fault) {
        #expect(throws: fault) { try ServerAddress(text) }
        #expect(!"\(fault)".contains("secret"))
    }

    @Test("Waits double up to the longest, spread over their upper half")
    func doubling() {
        let retry = RequestRetry(attempts: 9, first: .seconds(2), longest: .seconds(60))
        #expect(
            (1...7).map { retry.wait(after: $0, .offline, chance: 1) }
                == [2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(retry.wait(after: 1, .timedOut, chance: 0) == .seconds(1))
        #expect(retry.wait(after: 9, .offline, chance: 0.5) == nil)
        #expect(retry.wait(after: 1, .unauthorized, chance: 0.5) == nil)
        #expect(
            RequestRetry(attempts: 100, longest: .seconds(60)).wait(after: 99, .offline, chance: 0) == .seconds(30))
    }

    @Test("A server that asks for a wait gets it, unless it is longer than a run may take")
    func askedFor() {
        let policy = RequestRetry()
        #expect(policy.wait(after: 1, .tooManyRequests(retryAfter: 7), chance: 0) == .seconds(7))
        #expect(policy.wait(after: 1, .server(status: 503, retryAfter: 3_600), chance: 0) == nil)
    }
}
