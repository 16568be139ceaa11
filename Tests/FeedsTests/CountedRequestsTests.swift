// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import ServerTestSupport

/// Each test is a row of the table in docs/feeds.md.
@Suite("What counts as a read")
struct CountedRequestsTests {
    /// Requests by the fast path, and through the router because of an unusual header field.
    private static let ways = ["Accept: */*", "Connection: keep-alive, x"]

    private struct Home: Sendable {
        let server: TestServer
        let id: String
        let path: String
        let port: Int
        let etag: String

        func count() async throws -> Int? {
            try await server.call(.get, "/v1/feeds/\(id)").expect(200).json["accessCount"]?.integer
        }

        func expectCount(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let found = try await self.count()
            #expect(found == count, sourceLocation: sourceLocation)
        }

        /// Sends a request and checks the status of its answer.
        func expect(
            _ status: Int, _ start: String, _ fields: String..., sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let lines = ([start] + fields).joined(separator: "\r\n")
            let answer = try await RawConnection.ask(port: port, lines)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), sourceLocation: sourceLocation)
        }

        /// Waits until this many reads are counted.
        func awaitCount(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            try await eventually("\(count) are counted.") { try await (self.count() ?? 0) >= count }
            try await expectCount(count, sourceLocation: sourceLocation)
        }
    }

    /// Runs a test with a feed that is cached and has a count of 0.
    private func withFeed(_ body: @escaping @Sendable (Home) async throws -> Void) async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let etag = try #require(try await server.raw(.head, feed.path).expect(200).headers[.eTag])
            let port = try #require(server.client.port)
            try await body(Home(server: server, id: feed.id, path: feed.path, port: port, etag: etag))
        }
    }

    @Test("Each GET that is answered with 200 or 304 counts once", arguments: ways)
    func get(way: String) async throws {
        try await withFeed { home in
            try await home.expect(200, "GET \(home.path) HTTP/1.1", way)
            try await home.expectCount(1)
            try await home.expect(304, "GET \(home.path) HTTP/1.1", way, "If-None-Match: \(home.etag)")
            try await home.expectCount(2)
            try await home.expect(200, "GET \(home.path) HTTP/1.1", way, "Accept-Encoding: gzip")
            try await home.expect(200, "GET \(home.path) HTTP/1.1", way, "Accept: text/csv")
            try await home.expectCount(4)
        }
    }

    @Test("HEAD does not count", arguments: ways)
    func head(way: String) async throws {
        try await withFeed { home in
            try await home.expect(200, "HEAD \(home.path) HTTP/1.1", way)
            try await home.expect(304, "HEAD \(home.path) HTTP/1.1", way, "If-None-Match: \(home.etag)")
            try await home.expectCount(0)
        }
    }

    @Test("A request for a range is answered in full and counts once", arguments: ways)
    func range(way: String) async throws {
        try await withFeed { home in
            let whole = try await RawConnection.ask(port: home.port, "GET \(home.path) HTTP/1.1", way)
            for (number, range) in ["bytes=0-9", "bytes=5-", "bytes=-1", "bytes=0-1,4-5", "bytes=999999-"].enumerated()
            {
                let part = try await RawConnection.ask(
                    port: home.port, "GET \(home.path) HTTP/1.1", way, "Range: \(range)", "If-Range: \(home.etag)")
                #expect(part == whole, "\(range)")
                try await home.expectCount(number + 2)
            }
        }
    }

    @Test("A complete request counts, also when its sender is gone before the answer", arguments: ways)
    func aborted(way: String) async throws {
        try await withFeed { home in
            for number in 1...20 {
                try sendAndClose(home.port, "GET \(home.path) HTTP/1.1\r\nHost: x\r\n\(way)\r\n\r\n")
                // The count is exact as soon as the server has read the request.
                try await home.awaitCount(number)
            }
            try await Task.sleep(for: .milliseconds(200))
            try await home.expectCount(20)
        }
    }

    @Test("A request whose sender is gone while its feed is made counts too")
    func abortedInRendering() async throws {
        try await withFeed { home in
            for number in 1...10 {
                // After a change nothing is in memory.
                try await home.server.put(
                    "tasks", "t\(number)", ["title": "T", "dueAt": "2026-03-03T09:00:00-08:00"])
                try sendAndClose(home.port, "GET \(home.path) HTTP/1.1\r\nHost: x\r\n\r\n")
                try await home.awaitCount(number)
            }
        }
    }

    @Test("A request that breaks off before its last line does not count")
    func cutShort() async throws {
        try await withFeed { home in
            let request = "GET \(home.path) HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n"
            for length in [4, 20, request.utf8.count - 12, request.utf8.count - 2] {
                try sendAndClose(home.port, String(decoding: request.utf8.prefix(length), as: UTF8.self))
            }
            // One that is whole comes after them, so that they were read.
            try await home.expect(200, "GET \(home.path) HTTP/1.1")
            try await Task.sleep(for: .milliseconds(300))
            try await home.expectCount(1)
        }
    }

    @Test("Pipelined and repeated requests count once each", arguments: ways)
    func pipelined(way: String) async throws {
        try await withFeed { home in
            let one = "GET \(home.path) HTTP/1.1\r\nHost: x\r\n\(way)\r\nIf-None-Match: \(home.etag)\r\n\r\n"
            let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            let text = String(repeating: one, count: 100) + last
            let answers = try await RawConnection(port: home.port).exchange(text) { _ in false }
            #expect(answers.components(separatedBy: "HTTP/1.1 304 ").count == 101)
            try await home.expectCount(100)
            for number in 101...103 {
                try await home.expect(200, "GET \(home.path) HTTP/1.1", way)
                try await home.expectCount(number)
            }
        }
    }

    @Test("403, 404, 405 and 410 do not count; an Accept without any form of ours gets iCalendar and counts")
    func others() async throws {
        try await withFeed { home in
            let token = home.path.split(separator: "/")[1]
            try await home.expect(404, "GET /feeds/\(token.dropLast())/x.ics HTTP/1.1")
            try await home.expect(404, "GET /feeds/\(token)/x.png HTTP/1.1")
            for (method, status) in [("PUT", 403), ("POST", 405), ("MOVE", 403), ("OPTIONS", 200), ("DELETE", 403)] {
                try await home.expect(status, "\(method) \(home.path) HTTP/1.1", "Content-Length: 0")
            }
            try await home.expectCount(0)
            try await home.expect(200, "GET \(home.path) HTTP/1.1", "Accept: image/png")
            try await home.expectCount(1)
            let new = try await home.server.call(.post, "/v1/feeds/\(home.id)/regenerate", ["graceSeconds": 60])
            let path = try TestServer.path(new)
            try await home.expect(200, "GET \(home.path) HTTP/1.1")
            try await home.expect(200, "GET \(path) HTTP/1.1")
            try await home.expectCount(3)
            home.server.clock.advance(seconds: 60)
            try await home.expect(410, "GET \(home.path) HTTP/1.1")
            try await home.expectCount(3)
            try await home.server.call(.post, "/v1/feeds/\(home.id)/revoke").expect(200)
            try await home.expect(410, "GET \(path) HTTP/1.1")
            try await home.expectCount(3)
        }
    }

    /// Sends bytes over its own connection and closes that in an orderly way, without waiting for an answer.
    private func sendAndClose(_ port: Int, _ text: String) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // The address is read as what it is, an IPv4 one of that size.
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let bytes = Array(text.utf8)
        let sent = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, 0) }
        #expect(sent == bytes.count)
    }
}
