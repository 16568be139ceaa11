// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing

@testable import KalendsCore
@testable import WebhookSending

/// A receiver of webhooks on this machine that records everything it gets and answers as a test wants.
final class HookReceiver: Sendable {
    enum Reply: Sendable {
        case status(Int)
        /// Reads the message, but the connection ends before the answer.
        case drop
        /// Reads the message and does not answer.
        case silence
    }

    struct Message: Sendable {
        var path: String
        var id: String
        var headers: [String: String]
        var body: [UInt8]

        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
        var circle: String? { json["data"]?["circleId"]?.string }
        var numbers: [Int] { json["data"]?["items"]?.array?.compactMap { $0["number"]?.integer } ?? [] }
    }

    private let kept = Mutex<[Message]>([])
    private let reply = Mutex<@Sendable (Message) -> Reply>({ _ in .status(200) })
    private let openPort = Mutex(0)

    var messages: [Message] { kept.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(openPort.withLock { $0 })/hook-path" }

    func answer(_ reply: @escaping @Sendable (Message) -> Reply) { self.reply.withLock { $0 = reply } }

    static func run(_ body: @escaping @Sendable (HookReceiver) async throws -> Void) async throws {
        let receiver = HookReceiver()
        let router = Router()
        router.post("**") { request, _ in
            let bytes = Array(try await request.body.collect(upTo: 1 << 24).readableBytesView)
            var headers: [String: String] = [:]
            for field in request.headers { headers[field.name.canonicalName] = field.value }
            let message = Message(
                path: request.uri.path, id: headers["webhook-id"] ?? "", headers: headers, body: bytes)
            receiver.kept.withLock { $0.append(message) }
            switch receiver.reply.withLock({ $0 })(message) {
            case .status(let status):
                return Response(status: .init(code: status), headers: [.location: "/elsewhere"])
            case .silence:
                while case .silence = receiver.reply.withLock({ $0 })(message) {
                    try await Task.sleep(for: .milliseconds(20))
                }
                return Response(status: .ok)
            case .drop:
                return Response(
                    status: .ok, headers: [.contentLength: "9"], body: ResponseBody { _ in throw Dropped() })
            }
        }
        let logger = Logger(label: "receiver") { _ in SwiftLogNoOpLogHandler() }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            logger: logger)
        try await application.test(.live) { client in
            let port = try #require(client.port)
            receiver.openPort.withLock { $0 = port }
            // Waiting requests are released, or the end would wait for them.
            defer { receiver.answer { _ in .status(200) } }
            try await body(receiver)
        }
    }

    private struct Dropped: Error {}
}

extension TestServer {
    /// Sends what is due to webhooks now; returns how many messages were accepted.
    @discardableResult
    func sendWebhooks() async throws -> Int {
        let log = self.log
        return try await WebhookDispatch(services: services, logger: Logger(label: "hooks") { _ in log }).once()
    }

    func makeWebhook(_ url: String, _ more: [ByteString: JSONValue] = [:]) async throws -> (id: String, secret: String)
    {
        let answer = try await call(
            .post, "/v1/webhooks", .object(more.merging(["url": .string(url)]) { old, _ in old })
        )
        .expect(201)
        return (try #require(answer.json["id"]?.string), try #require(answer.json["secret"]?.string))
    }
}
