// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Webhooks of a server that is killed")
struct WebhookProcessTests {
    @Test("What a killed server had not delivered is delivered by the next one, in order and without a gap")
    func killed() async throws {
        try await HookReceiver.run { receiver in
            receiver.answer { _ in .drop }
            let first = try await RunningServer()
            defer { first.remove() }
            let key = try await first.kalends(["key", "create", "--name", "t"]).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            func call(_ method: HTTPMethod, _ path: String, _ body: JSONValue) async throws {
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(first.port)\(path)")
                request.method = method
                request.headers.add(name: "Authorization", value: "Bearer \(key)")
                request.headers.add(name: "Content-Type", value: "application/json")
                request.body = .bytes(try body.serialized())
                let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(600))
                #expect((200..<300).contains(answer.status.code))
            }
            try await call(.POST, "/v1/webhooks", ["url": .string(receiver.url)])
            try await call(.PUT, "/v1/circles/c", ["name": "C", "timeZone": "UTC"])
            for item in 0..<10 {
                try await call(
                    .PUT, "/v1/circles/c/tasks/t\(item)", ["title": "x", "dueAt": "2026-03-03T09:00:00Z"])
            }
            try await eventually("The first server sends a message.") { !receiver.messages.isEmpty }
            await first.kill()
            receiver.answer { _ in .status(200) }
            let second = try await RunningServer(folder: first.folder)
            func seen() -> [Int] {
                var ids: Set<String> = []
                return receiver.messages.filter { ids.insert($0.id).inserted }.flatMap(\.numbers)
            }
            try await eventually("All messages arrive.") { seen().count >= 11 }
            #expect(seen() == Array(1...11))
            #expect(await second.stop() == 0)
        }
    }
}
