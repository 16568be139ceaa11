// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Server
import Storage
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The reasons why a server does not start, and why a file cannot be read")
struct StartRefusalTests {
    @Test("A host that nobody knows, one of another machine and a port that is taken are named")
    func hosts() async throws {
        func reason(_ host: String, _ port: Int) async -> String {
            do {
                _ = try await ServerPorts.usablePort(host, port)
                return ""
            } catch StorageError.unusable(let reason) {
                return reason
            } catch {
                return "another error: \(error)"
            }
        }
        #expect(await reason("no-such-host.invalid", 0).contains("no-such-host.invalid is not known"))
        #expect(await reason("203.0.113.7", 0).contains("203.0.113.7:0 cannot be listened on"))
        let taken = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(taken.localAddress?.port)
        #expect(await reason("127.0.0.1", port).contains("127.0.0.1:\(port) cannot be listened on"))
        try await taken.close()
        #expect(await reason("127.0.0.1", port).isEmpty)
    }

    @Test("A port for metrics that is taken is named as such, before anything begins")
    func metrics() async throws {
        let taken = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(taken.localAddress?.port)
        let folder = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try await runProgram(
            Programs.kalends,
            [
                "serve", "--port", "0", "--metrics-port", "\(port)", "--database",
                folder.appending(path: "k.sqlite").path,
            ])
        #expect(run.status == 3)
        #expect(run.error.contains("metrics") && run.error.contains(":\(port)"), "\(run.error)")
        try await taken.close()
    }

    @Test(
        "A JSON address without its media type is recognised as JSON", arguments: [nil, "text/calendar", "text/plain"])
    func mediaType(_ type: String?) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var headers: HTTPFields = [.authorization: "Bearer \(server.key)"]
            headers[.contentType] = type
            let answer = try await server.raw(
                .post, "/v1/circles/c/imports", headers: headers,
                body: ByteBuffer(string: #" {"url": "https://calendar.example/a.ics"}"#)
            ).expect(422)
            #expect(answer.json["code"] == "unsupported-media-type")
            #expect(answer.json["detail"]?.string?.contains("Content-Type: application/json") == true)
        }
    }
}
