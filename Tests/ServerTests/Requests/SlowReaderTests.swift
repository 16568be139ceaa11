// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdTesting
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Answers that take their reader long")
struct SlowReaderTests {
    /// Returns the path of a feed of about 150 kB, which is far more than the system keeps for a connection.
    private static func feed(_ server: TestServer) async throws -> String {
        try await server.makeCircle()
        let notes = String(repeating: "n", count: 50_000)
        for id in 0..<3 {
            try await server.put(
                "tasks", "t\(id)", ["title": "T", "dueAt": "2026-03-03T09:00:00Z", "notes": .string(notes)])
        }
        return try await server.makeFeed().path
    }

    private static func body(_ answer: String) -> [UInt8] {
        // A line break is one character, of two scalars.
        let scalars = Array(answer.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        let end = zip(scalars.indices, scalars.indices.dropFirst(3)).first {
            scalars[$0.0...$0.1].elementsEqual("\r\n\r\n".utf8)
        }
        return end.map { Array(scalars[($0.1 + 1)...]) } ?? []
    }

    @Test(
        "Who ends its own side after the request gets the whole answer, from memory and from the router",
        arguments: ["", "Connection: keep-alive, x\r\n", "Connection: close\r\n"])
    func halfClosed(field: String) async throws {
        try await TestServer.run(live: true) { server in
            let path = try await Self.feed(server)
            let whole = try await server.raw(.get, path).expect(200).body
            let before = server.services.metrics.fromMemory.count
            let client = try await OpenConnection(port: try #require(server.client.port), isSlow: true)
            try await client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(field)\r\n")
            try await client.endSending()
            // The server sees the end while most of the answer has not left.
            try await Task.sleep(for: .milliseconds(500))
            #expect(Self.body(try await client.rest()) == whole)
            #expect(server.services.metrics.fromMemory.count == before + (field.isEmpty ? 1 : 0))
        }
    }

    @Test(
        "An answer that is on its way when the server stops arrives in full, from memory and from the router",
        arguments: ["", "Connection: keep-alive, x\r\n"])
    func stopping(field: String) async throws {
        var settings = ServerSettings()
        // The reader takes as long as this machine is busy.
        settings.limits.stopping = .seconds(600)
        let reading = Mutex<(whole: [UInt8], answer: Task<String, any Error>)?>(nil)
        try await TestServer.run(live: true, settings: settings) { server in
            let path = try await Self.feed(server)
            let whole = try await server.raw(.get, path).expect(200).body
            let client = try await OpenConnection(port: try #require(server.client.port), isSlow: true)
            try await client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(field)\r\n")
            try await client.begin()
            // The server stops when this body returns, and waits for the reader.
            let answer = Task {
                try await Task.sleep(for: .milliseconds(500))
                return try await client.rest()
            }
            reading.withLock { $0 = (whole, answer) }
        }
        let (whole, answer) = try #require(reading.withLock { $0 })
        #expect(Self.body(try await answer.value) == whole)
    }
}
