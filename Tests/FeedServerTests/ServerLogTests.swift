// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The log of a server")
struct ServerLogTests {
    /// Returns what a server writes into its log between its start, one request, and its end.
    private static func log(_ arguments: [String]) async throws -> String {
        let server = try await RunningServer(arguments)
        defer { server.remove() }
        let health = try await runProgram("/usr/bin/curl", ["-s", "http://127.0.0.1:\(server.port)/healthz"])
        #expect(health.status == 0)
        #expect(await server.stop() == 0)
        return server.log
    }

    @Test("A server logs each request as a JSON object, and its last line when it ends")
    func server() async throws {
        let folder = try await Self.log(["--log-format", "json"])
        let lines = try folder.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        let request = try #require(lines.first { $0["message"]?.string == "request" })
        #expect(request["method"]?.string == "GET")
        #expect(request["route"]?.string == "/healthz")
        #expect(request["status"]?.integer == 200)
        #expect(request["microseconds"]?.integer ?? 0 > 0)
        #expect(lines.last?["message"]?.string == "stopped")
    }
}
