// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What a request says of its connection")
struct RequestFramingTests {
    /// Returns everything that arrives until the server ends the connection.
    private static func all(_ text: String, _ server: TestServer) async throws -> String {
        try await RawConnection(port: try #require(server.client.port)).exchange(text) { _ in false }
    }

    private static func statuses(_ text: String) -> [Int] {
        text.components(separatedBy: "HTTP/1.").dropFirst().compactMap { Int($0.dropFirst(2).prefix(3)) }
    }

    @Test("An answer of the API is taken for nothing else, loads nothing, and is shown in no page")
    func noPage() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let paths = [("/v1/circles/c", 200), ("/v1/circles/none", 404), ("/nowhere", 404), ("/healthz", 200)]
            for (path, status) in paths {
                let answer = try await server.call(.get, path).expect(status)
                #expect(answer.headers[.xContentTypeOptions] == "nosniff", "\(path)")
                #expect(
                    answer.headers[.contentSecurityPolicy] == "default-src 'none'; frame-ancestors 'none'", "\(path)")
            }
            let page = try await server.raw(.get, "/app/sign-in").expect(200)
            #expect(page.headers[.contentSecurityPolicy]?.contains("style-src 'self'") == true)
        }
    }

    @Test(
        "A request without exactly one Host that is one is 400, and the connection ends",
        arguments: [
            "GET PATH HTTP/1.1\r\n\r\n", "GET PATH HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
            "GET PATH HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", "GET PATH HTTP/1.1\r\nHost: a b\r\n\r\n",
            "GET PATH HTTP/1.1\r\nHost: a/b\r\n\r\n", "GET PATH HTTP/1.1\r\nHost: user@x\r\n\r\n",
            "GET PATH HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n",
        ])
    func badHosts(request: String) async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path).expect(200)
            let before = server.services.metrics.fromMemory.count
            for path in ["/healthz", feed.path, "/nowhere"] {
                // Whatever follows is not heard.
                let text = request.replacing("PATH", with: path) + "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                let answer = try await Self.all(text, server)
                #expect(Self.statuses(answer) == [400])
                #expect(answer.contains("\r\nConnection: close\r\n") && answer.contains("\"host-invalid\""))
            }
            #expect(server.services.metrics.fromMemory.count == before)
        }
    }

    @Test(
        "Bytes that are not a request get 400 with a problem document, and the connection ends",
        arguments: [
            "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n", "GET /healthz HTTP/9.9\r\n\r\n", "\u{16}\u{03}\u{01}\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        ])
    func noRequest(text: String) async throws {
        try await TestServer.run(live: true) { server in
            let answer = try await Self.all(text + "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", server)
            #expect(Self.statuses(answer) == [400])
            #expect(answer.contains("\r\nContent-Type: application/problem+json\r\n"), "\(answer)")
            #expect(answer.contains("\r\nConnection: close\r\n") && answer.contains("\"bad-request\""))
        }
    }

    @Test(
        "Every form of a host is taken",
        arguments: ["x", "calendar.example:8080", "[::1]:443", "127.0.0.1", "", "xn--bcher-kva.example", "under_score"])
    func goodHosts(host: String) async throws {
        try await TestServer.run(live: true) { server in
            let answer = try await Self.all(
                "GET /healthz HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", server)
            #expect(Self.statuses(answer) == [200])
        }
    }

    @Test("An answer in place of a request waits for the answers before it, and ends what follows")
    func order() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path).expect(200)
            func get(_ path: String, _ host: String = "Host: x\r\n") -> String { "GET \(path) HTTP/1.1\r\n\(host)\r\n" }
            for before in [
                [feed.path, "/nowhere", feed.path], ["/nowhere", feed.path], [feed.path], ["/nowhere"], [],
            ] {
                let text = before.map { get($0) }.joined() + get("/healthz", "") + get("/healthz")
                let expected = before.map { $0 == "/nowhere" ? 404 : 200 } + [400]
                #expect(try await Self.statuses(Self.all(text, server)) == expected)
            }
        }
    }

    @Test("HTTP/1.0 needs no Host and ends with its answer, unless it asked to go on and the server agrees")
    func old() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            for path in ["/healthz", feed.path, "/nowhere"] {
                let status = path == "/nowhere" ? 404 : 200
                let closed = try await Self.all("GET \(path) HTTP/1.0\r\n\r\nGET \(path) HTTP/1.0\r\n\r\n", server)
                #expect(Self.statuses(closed) == [status])
                #expect(closed.contains("\r\nConnection: close\r\n"))
                let kept = try await Self.all(
                    "GET \(path) HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET \(path) HTTP/1.0\r\n\r\n", server)
                #expect(Self.statuses(kept) == [status, status])
                #expect(kept.contains("\r\nConnection: keep-alive\r\n") && !kept.lowercased().contains("chunked"))
            }
        }
    }

    @Test(
        "A connection ends when its client says so, however that is written",
        arguments: ["close", "Close", "keep-alive, close", "TE, CLOSE", "close ,x"])
    func closing(option: String) async throws {
        try await TestServer.run(live: true) { server in
            let answer = try await Self.all(
                "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: \(option)\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
                server)
            #expect(Self.statuses(answer) == [200])
            #expect(answer.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("An expectation that cannot be met is 417; one in HTTP/1.0 is ignored")
    func expectations() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            try await server.raw(.get, feed.path).expect(200)
            for path in ["/healthz", feed.path] {
                let refused = try await Self.all("GET \(path) HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", server)
                #expect(Self.statuses(refused) == [417] && refused.contains("\"expectation-failed\""))
                #expect(
                    try await Self.statuses(Self.all("GET \(path) HTTP/1.0\r\nExpect: tea\r\n\r\n", server)) == [200])
                // Nothing to continue with.
                let plain = "GET \(path) HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
                #expect(try await Self.statuses(Self.all(plain, server)) == [200])
            }
            #expect(try await Self.statuses(Self.all("GET / HTTP/2.0\r\nHost: x\r\n\r\n", server)) == [400])
        }
    }

    @Test("A body in a content coding is 415 and is not read; identity and a request without a body are not meant")
    func codings() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            func sent(_ coding: String, _ body: String) async throws -> String {
                try await Self.all(
                    "PUT /v1/circles/c/members/zoe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\n"
                        + "Content-Type: application/json\r\nContent-Encoding: \(coding)\r\nConnection: close\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", server)
            }
            let member = #"{"displayName":"Zoe","role":"member"}"#
            for coding in ["gzip", "br", "GZIP, identity"] {
                let refused = try await sent(coding, member)
                #expect(Self.statuses(refused) == [415] && refused.contains("\"unsupported-media-type\""))
                #expect(refused.lowercased().contains("\r\naccept-encoding: identity\r\n"))
            }
            try await server.call(.get, "/v1/circles/c/members/zoe").expect(404)
            #expect(try await Self.statuses(sent("Identity", member)).first == 201)
            let bare = "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
            #expect(try await Self.statuses(Self.all(bare, server)) == [200])
        }
    }

    private static func upload(_ server: TestServer, _ length: Int, _ more: String = "") -> String {
        "POST /v1/circles/c/imports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\n"
            + "Content-Type: text/calendar\r\nContent-Length: \(length)\r\nExpect: 100-Continue\r\n\(more)\r\n"
    }

    @Test("A client that waits for 100 Continue gets it before the body, and then the answer, repeatedly")
    func continues() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let calendar = CalendarHost.calendar(["u": "Gym"])
            let port = try #require(server.client.port)
            try await RawConnection(port: port).converse { connection in
                for _ in 0..<3 {
                    let goOn = try await connection.ask(Self.upload(server, calendar.utf8.count)) {
                        $0.hasSuffix("\r\n\r\n")
                    }
                    #expect(goOn == "HTTP/1.1 100 Continue\r\n\r\n")
                    let answer = try await connection.ask(calendar) { $0.hasSuffix("}") }
                    #expect(Self.statuses(answer) == [201] && !answer.contains("Connection: close"))
                }
            }
        }
    }

    @Test("A client that does not wait gets no 100 Continue; two requests at once get theirs in turn")
    func doesNotWait() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let calendar = CalendarHost.calendar(["u": "Gym"])
            let text = Self.upload(server, calendar.utf8.count) + calendar
            let last = Self.upload(server, calendar.utf8.count, "Connection: close\r\n") + calendar
            let answers = try await Self.all(text + text + last, server)
            #expect(Self.statuses(answers).filter { $0 != 100 } == [201, 201, 201])
        }
    }

    @Test("What is refused is refused before the body, and the connection ends: nobody knows what comes next")
    func refusedAtOnce() async throws {
        var settings = ServerSettings()
        settings.maxImportBytes = 1000
        try await TestServer.run(live: true, settings: settings) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let good = Self.upload(server, 900)
            for (text, status) in [
                (good.replacing("Bearer \(server.key)", with: "Bearer nobody"), 401), (Self.upload(server, 1001), 413),
                (good.replacing("/circles/c/", with: "/circles/d/"), 404), (good.replacing("POST", with: "PUT"), 405),
                (good.replacing("/v1/circles/c/imports", with: feed.path).replacing("POST", with: "GET"), 200),
            ] {
                let answer = try await Self.all(text, server)
                #expect(Self.statuses(answer) == [status])
                #expect(answer.contains("\r\nConnection: close\r\n"))
            }
        }
    }

    @Test("Of a body that nobody asks for the server reads no more than it has, and the next request is answered")
    func unwanted() async throws {
        try await TestServer.run(live: true) { server in
            let body = String(repeating: "x", count: 300_000)
            let text =
                "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n\(body)"
                + "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            let answers = try await Self.all(text, server)
            #expect(Self.statuses(answers) == [404, 200])
        }
    }
}
