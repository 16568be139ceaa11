// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// A whole answer.
package struct Exchanged: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
}

/// Why there is none, by what the receiver may have done.
package enum ExchangeFailure: Error, Hashable, Sendable {
    /// The request did not leave.
    case neverSent(String)
    /// The request may have been carried out.
    case unanswered(String)
    case tooLong
}

/// Sends requests to where the operator's settings lead, and takes whole answers of a bounded length. Nothing is sent
/// twice, no redirect is followed; connections are kept and used again.
package struct ExchangeClient: Sendable {
    /// From the connection to the end of the answer.
    package var deadline = Duration.seconds(60)

    /// One for the process, as long as the process: its connections are everybody's.
    private static let client: HTTPClient = {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = SystemTrust.roots
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(45)), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each provider has its own bound, by account and project.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    package init() {}

    /// Sends a request and reads its answer.
    ///
    /// - Parameters:
    ///   - method: a token of RFC 9110 section 9, in upper case.
    ///   - longest: bytes of the answer's body that are taken at most.
    package func send(
        _ method: String, _ url: String, headers: [(name: String, value: String)], body: [UInt8]?, longest: Int
    ) async throws(ExchangeFailure) -> Exchanged {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for field in headers { request.headers.add(name: field.name, value: field.value) }
        if let body { request.body = .bytes(body) }
        do {
            let response = try await Self.client.execute(
                request, timeout: .milliseconds(Int64(deadline / .milliseconds(1))))
            let fields = response.headers.map { (name: $0.name, value: $0.value) }
            guard fields.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.longestHead else {
                throw ExchangeFailure.tooLong
            }
            var bytes: [UInt8] = []
            for try await part in response.body {
                guard bytes.count + part.readableBytes <= longest else { throw ExchangeFailure.tooLong }
                bytes.append(contentsOf: part.readableBytesView)
            }
            // A body that ends because nobody waits for it any more is not whole.
            try Task.checkCancellation()
            return Exchanged(status: Int(response.status.code), headers: fields, body: bytes)
        } catch {
            throw Self.failure(error)
        }
    }

    private static let longestHead = 65_536

    /// What fails before a connection is there did not leave; of all else nobody knows.
    private static func failure(_ error: any Error) -> ExchangeFailure {
        switch error {
        case let failure as ExchangeFailure: return failure
        case is NIOConnectionError, is SocketAddressError, is SocketAddressError.UnknownHost:
            return .neverSent("The host could not be reached.")
        case is NIOSSLError, is NIOSSLExtraError:
            return .neverSent("The host has no valid certificate for the address.")
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .getConnectionFromPoolTimeout: return .neverSent("The host could not be reached.")
            case .tlsHandshakeTimeout: return .neverSent("The host did not finish its greeting.")
            case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
                return .neverSent("The address is not a web address.")
            default: return .unanswered("The host did not answer.")
            }
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            return .neverSent("The host could not be reached.")
        default: return .unanswered("The host did not answer.")
        }
    }
}
