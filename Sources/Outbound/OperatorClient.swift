// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// A client for addresses that the operator or the host application named: receivers of webhooks, key sets.
///
/// They may be in an internal network. Redirects are not followed, because the operator and the host application decide
/// where requests go, not an answer; connections are kept and reused.
package struct OperatorClient: Sendable {
    private let client: HTTPClient

    /// Runs `body` with a client that lives as long as it.
    package static func with<Value: Sendable>(
        _ body: (OperatorClient) async throws -> Value
    ) async throws -> Value {
        try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await body(OperatorClient(client: client))
        }
    }

    private static var configuration: HTTPClient.Configuration {
        // Hosts must not wait for each other's connections: each caller has its own limit.
        .direct(read: .seconds(15), connectionsPerHost: 4096)
    }

    /// Sends a request and reads its answer.
    ///
    /// - Parameters:
    ///   - method: a token of RFC 9110 section 9, in upper case.
    ///   - url: an address that `isUsable` accepts.
    ///   - take: receives the body piece by piece; returns whether more is wanted.
    /// - Throws: `OutboundFailure` of the kind `timeout`, `unreachable`, `untrusted` or `garbled`, and the errors of
    ///   `take`.
    package func send(
        _ method: String, _ url: String, headers: [(name: String, value: String)], body: [UInt8]? = nil,
        _ take: ([UInt8]) throws -> Bool
    ) async throws -> OutboundAnswer {
        try await Self.lookUp(url)
        let request = HTTPClientRequest(method, url, headers: headers, body: body)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: .minutes(1))
        } catch {
            throw try Self.failure(error)
        }
        var parts = response.body.makeAsyncIterator()
        while true {
            let part: ByteBuffer?
            do { part = try await parts.next() } catch { throw try Self.failure(error) }
            guard let part, try take(Array(part.readableBytesView)) else { break }
        }
        return OutboundAnswer(status: Int(response.status.code), headers: response.fields)
    }

    /// Until when names are not looked up again.
    private static let found = Mutex(LeastRecentlyUsed<ByteString, ContinuousClock.Instant>(limit: 10_000))

    /// Looks up the host of an address on the Internet in the host's turn: where the client itself would be the first to
    /// do so, silent name servers of one host would let all others wait.
    private static func lookUp(_ url: String) async throws {
        guard case .name(let text)? = try? PublicURL(url, allowsHTTP: true).host else { return }
        let (name, now) = (ByteString(text), ContinuousClock.now)
        if let end = found.withLock({ $0.find(name) }), now < end { return }
        guard try await !SystemResolver().addresses(of: text, for: name).isEmpty else {
            throw OutboundFailure.unreachable
        }
        found.withLock { $0.keep(now + .seconds(60), for: name, cost: 1) }
    }

    private static func failure(_ error: any Error) throws -> OutboundFailure {
        switch error as? HTTPClientError {
        case HTTPClientError.deadlineExceeded, HTTPClientError.readTimeout: return .timeout
        case HTTPClientError.connectTimeout: return .unreachable
        default:
            try Task.checkCancellation()
            return .garbled
        }
    }
}
