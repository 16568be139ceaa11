// SPDX-License-Identifier: Apache-2.0

import Outbound

/// The outcome of one attempt; nothing in it reveals the address.
struct WebhookAnswer: Sendable {
    var status: Int?
    var problem: String?
    /// The wait that the receiver requests, in seconds.
    var retryAfter: Int?

    var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
    /// Whether the receiver wants no more messages (RFC 9110 section 15.5.11).
    var isGone: Bool { status == 410 }
}

/// Sends messages to the addresses that the host application gave, including addresses in internal networks.
struct WebhookSender: Sendable {
    let client: OperatorClient

    /// The longest time from the connection to the end of the response.
    private static let deadline = Duration.seconds(15)
    /// The maximum number of bytes that are read from a response before the connection is closed.
    private static let bodyLimit = 1024

    func send(_ message: WebhookMessage) async -> WebhookAnswer {
        let late = WebhookAnswer(problem: "The receiver did not answer in time.")
        return (try? await within(Self.deadline) { await exchange(message) }) ?? late
    }

    private func exchange(_ message: WebhookMessage) async -> WebhookAnswer {
        do {
            var read = 0
            let answer = try await client.send("POST", message.url, headers: message.headers, body: message.body) {
                read += $0.count
                return read <= Self.bodyLimit
            }
            return WebhookAnswer(
                status: answer.status,
                problem: (200..<300).contains(answer.status)
                    ? nil : "The receiver answered with the status \(answer.status).",
                retryAfter: answer.field("retry-after").flatMap { Int($0) })
        } catch let failure as OutboundFailure where failure.kind == .timeout {
            return WebhookAnswer(problem: "The receiver did not answer in time.")
        } catch let failure as OutboundFailure where failure.kind == .unreachable {
            return WebhookAnswer(problem: "The receiver could not be reached.")
        } catch {
            return WebhookAnswer(problem: "The connection to the receiver failed.")
        }
    }
}
