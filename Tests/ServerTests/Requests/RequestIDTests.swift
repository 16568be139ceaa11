// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The names by which requests are found")
struct RequestIDTests {
    @Test(
        "What a proxy hands in comes back, of a feed from memory and through the router alike; nothing else of a feed does"
    )
    func feeds() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path).expect(200)
            let port = try #require(server.client.port)
            let start = "GET \(feed.path) HTTP/1.1\r\nX-Request-Id: 7f-A.b_~:+/=@"
            let before = server.services.metrics.fromMemory.count
            let fast = try await RawConnection.ask(port: port, start)
            #expect(server.services.metrics.fromMemory.count == before + 1)
            let routed = try await RawConnection.ask(port: port, start, "Connection: keep-alive, x")
            func requestID(_ answer: String) -> Substring? {
                answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("x-request-id:") }
            }
            #expect(
                requestID(fast)?.hasSuffix(": 7f-A.b_~:+/=@") == true && requestID(fast) == requestID(routed),
                "\(fast)\(routed)")
            #expect(requestID(try await RawConnection.ask(port: port, "GET \(feed.path) HTTP/1.1")) == nil)
        }
    }

    @Test(
        "An invalid name is not accepted",
        arguments: ["a b", "a\"b", "a,b", "ü", "{x}", String(repeating: "a", count: 129), "a\u{7F}"])
    func invalid(_ text: String) {
        #expect(RequestIdentity.valid(text) == nil)
    }

    @Test("An answer has the server's own name of the request when none that can be taken was handed in")
    func own() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        var all: Set<String> = []
        for text in ["", "a b", "{x}", String(repeating: "a", count: 129)] {
            let answer = try await runProgram(
                "/usr/bin/curl",
                [
                    "-s", "-o", "/dev/null", "-D", "-", "-H", "X-Request-Id: \(text)",
                    "http://127.0.0.1:\(server.port)/nowhere",
                ])
            let line = answer.output.split(whereSeparator: \.isNewline).first {
                $0.lowercased().hasPrefix("x-request-id: ")
            }
            let own = try #require(line).dropFirst("x-request-id: ".count)
            #expect(RequestIdentity.valid(String(own)) != nil && !own.contains("aaaaaaa"))
            all.insert(String(own))
        }
        #expect(all.count == 4)
        #expect(await server.stop() == 0)
    }

    @Test("The log names the request as the proxy does, on every way")
    func log() async throws {
        let server = try await RunningServer(["--log-format", "json", "--demo"])
        defer { server.remove() }
        let made = try await server.kalends(["feed", "list", "--json"])
        let id = try #require(try JSONValue(parsing: Array(made.output.split(separator: "\n")[0].utf8))["id"]?.string)
        let shown = try await server.kalends(["feed", "reveal", id])
        let address = try #require(shown.output.firstMatch(of: /http:\/\/\S+/)).output
        for (requestID, path) in [
            ("one-1", String(address)), ("one-1", String(address)),
            ("two-2", "http://127.0.0.1:\(server.port)/nowhere"),
        ] {
            _ = try await runProgram(
                "/usr/bin/curl", ["-s", "-o", "/dev/null", "-H", "X-Request-Id: \(requestID)", path])
        }
        #expect(await server.stop() == 0)
        let lines = try server.log.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let marks = lines.filter { $0["message"] == "request" }.compactMap { $0["requestID"]?.string }
        #expect(marks.count { $0 == "one-1" } == 2 && marks.count { $0 == "two-2" } == 1, "\(marks)")
    }
}
