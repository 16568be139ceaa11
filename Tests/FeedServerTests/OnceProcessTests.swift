// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Requests with a key to a server that is killed")
struct OnceProcessTests {
    private static let keys = 250
    private static let doubles = 4

    @Test("Each of a thousand doubled requests takes effect once, with one answer, over three kills")
    func killed() async throws {
        let first = try await RunningServer()
        defer { first.remove() }
        let key = try await first.kalends(["key", "create", "--name", "t"]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let client = HTTPClient(configuration: configuration)
        @Sendable func send(_ number: Int, _ port: Int) async throws -> (status: Int, body: String) {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/v1/keys")
            request.method = .POST
            request.headers.add(name: "Authorization", value: "Bearer \(key)")
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "Idempotency-Key", value: "\"request-\(number)\"")
            request.body = .bytes(ByteBuffer(string: #"{"name": "n\#(number)"}"#))
            let answer = try await client.execute(request, timeout: .seconds(600))
            return (Int(answer.status.code), String(buffer: try await answer.body.collect(upTo: 1 << 20)))
        }
        var answers: [Int: Set<String>] = [:]
        var server = first
        for round in 0..<4 {
            if round > 0 { server = try await RunningServer(folder: first.folder) }
            let (port, running, isLast) = (server.port, server, round == 3)
            try await withThrowingTaskGroup(of: (Int, String)?.self) { group in
                for number in 0..<Self.keys * Self.doubles {
                    let number = number % Self.keys
                    group.addTask {
                        while true {
                            guard let answer = try? await send(number, port) else {
                                // The server was killed.
                                #expect(!isLast)
                                return nil
                            }
                            if answer.status == 201 { return (number, answer.body) }
                            #expect([409, 429, 503].contains(answer.status), "\(answer.body)")
                            try await Task.sleep(for: .milliseconds(50))
                        }
                    }
                }
                if !isLast {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(300 + 400 * round))
                        await running.kill()
                        return nil
                    }
                }
                for try await found in group {
                    if let (number, body) = found { answers[number, default: []].insert(body) }
                }
            }
        }
        #expect(answers.count == Self.keys)
        for (number, bodies) in answers { #expect(bodies.count == 1, "request \(number) got several answers") }
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/v1/keys?limit=1000")
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        let listed = try await client.execute(request, timeout: .seconds(600)).body.collect(upTo: 1 << 20)
        let names = try JSONValue(parsing: Array(listed.readableBytesView))["items"]?.array?.compactMap {
            $0["name"]?.string
        }
        #expect(names?.count == Self.keys + 1 && Set(names ?? []).count == Self.keys + 1)
        #expect(await server.stop() == 0)
        try await client.shutdown()
    }
}
