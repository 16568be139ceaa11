// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// What came of one attempt; nothing in it tells of the address.
struct WebhookAnswer: Sendable {
    var status: Int?
    var problem: String?
    /// Seconds, as the receiver asks.
    var retryAfter: Int?

    var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
    /// The receiver wants no more (RFC 9110 section 15.5.11).
    var isGone: Bool { status == 410 }
}

/// Sends messages to the addresses that the operator's host application named, inner ones too.
struct WebhookSender: Sendable {
    let client: HTTPClient

    /// From the connection to the end of the answer.
    private static let deadline = Duration.seconds(15)
    /// How much of an answer is read before the connection is given up.
    private static let bodyLimit = 1024

    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(15)), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // Webhooks of one host must not wait for each other's connections: each has its own bound.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
        return configuration
    }

    func send(_ message: WebhookMessage) async -> WebhookAnswer {
        let late = WebhookAnswer(problem: "The receiver did not answer in time.")
        return (try? await within(Self.deadline) { await exchange(message) }) ?? late
    }

    private func exchange(_ message: WebhookMessage) async -> WebhookAnswer {
        var request = HTTPClientRequest(url: message.url)
        request.method = .POST
        for field in message.headers { request.headers.add(name: field.name, value: field.value) }
        request.body = .bytes(message.body)
        do {
            let answer = try await client.execute(request, timeout: .minutes(1))
            var read = 0
            for try await part in answer.body {
                read += part.readableBytes
                if read > Self.bodyLimit { break }
            }
            let status = Int(answer.status.code)
            return WebhookAnswer(
                status: status,
                problem: (200..<300).contains(status) ? nil : "The receiver answered with the status \(status).",
                retryAfter: answer.headers.first(name: "retry-after").flatMap { Int($0) })
        } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
            return WebhookAnswer(problem: "The receiver did not answer in time.")
        } catch let error as HTTPClientError where error == .connectTimeout {
            return WebhookAnswer(problem: "The receiver could not be reached.")
        } catch {
            return WebhookAnswer(problem: "The connection to the receiver failed.")
        }
    }
}
