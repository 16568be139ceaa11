// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// A complete answer.
package struct Exchanged: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
}

/// The reason for a missing answer, which says whether the receiver may have acted on the request.
package enum ExchangeFailure: Error, Hashable, Sendable {
    /// The request was not sent.
    case neverSent(String)
    /// The request may have been carried out.
    case unanswered(String)
    case tooLong
}

/// Sends requests to addresses from the operator's settings, and reads complete answers of a limited length. No request
/// is repeated, no redirect is followed; connections are kept and reused.
package struct ExchangeClient: Sendable {
    /// The time from connecting to the end of the answer.
    package var deadline = Duration.seconds(60)

    /// One client for the life of the process; all callers share its connections.
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        // Each provider has its own limit, by account and project.
        configuration: .direct(read: .seconds(45), connectionsPerHost: 256))

    package init() {}

    /// Sends a request and reads its answer.
    ///
    /// - Parameters:
    ///   - method: a token of RFC 9110 section 9, in upper case.
    ///   - longest: the maximum number of bytes of the answer's body.
    ///   - admit: is given the number of bytes so far before they are kept; if it returns false, the answer counts as
    ///     too long.
    package func send(
        _ method: String, _ url: String, headers: [(name: String, value: String)], body: [UInt8]?, longest: Int,
        admit: @Sendable (Int) async -> Bool = { _ in true }
    ) async throws(ExchangeFailure) -> Exchanged {
        let request = HTTPClientRequest(method, url, headers: headers, body: body)
        do {
            let response = try await Self.client.execute(
                request, timeout: .milliseconds(Int64(deadline / .milliseconds(1))))
            let fields = response.fields
            guard fields.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.longestHead else {
                throw ExchangeFailure.tooLong
            }
            var bytes: [UInt8] = []
            for try await part in response.body {
                let count = bytes.count + part.readableBytes
                guard count <= longest, await admit(count) else { throw ExchangeFailure.tooLong }
                bytes.append(contentsOf: part.readableBytesView)
            }
            // A body that ended because the task was cancelled is not complete.
            try Task.checkCancellation()
            return Exchanged(status: Int(response.status.code), headers: fields, body: bytes)
        } catch {
            throw Self.failure(error)
        }
    }

    private static let longestHead = 65_536

    /// A failure before there is a connection means that the request was not sent; any other failure leaves that open.
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
