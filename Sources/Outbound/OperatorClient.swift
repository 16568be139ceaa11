// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

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
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = SystemTrust.roots
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(15)), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // Hosts must not wait for each other's connections: each caller has its own limit.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 4096
        return configuration
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
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for field in headers { request.headers.add(name: field.name, value: field.value) }
        if let body { request.body = .bytes(body) }
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
        return OutboundAnswer(
            status: Int(response.status.code), headers: response.headers.map { (name: $0.name, value: $0.value) })
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
