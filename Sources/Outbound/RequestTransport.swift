// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
package import NIOSSL
internal import Synchronization

/// One request to an address that was checked; redirects are not followed.
package struct OutboundRequest: Sendable {
    /// A token of RFC 9110 section 9, in upper case.
    package var method: String
    package var url: PublicURL
    /// The address to connect to, even if the host's name resolves to another one by then.
    package var address: IPAddress
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]?
    /// Whether the connection may serve later requests to this address with these credentials.
    package var keepsConnection: Bool

    package init(
        method: String = "GET", url: PublicURL, address: IPAddress, headers: [(name: String, value: String)],
        body: [UInt8]? = nil, keepsConnection: Bool = false
    ) {
        (self.method, self.url, self.address, self.headers, self.body) = (method, url, address, headers, body)
        self.keepsConnection = keepsConnection
    }

    /// Whether its method is safe: it changes nothing at the host (RFC 9110 section 9.2.1, RFC 4918 section 9.1, RFC
    /// 3253 section 3.6).
    fileprivate var isSafe: Bool { ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"].contains(method) }
}

/// Receives the body of an answer in pieces, as they arrive.
package protocol AnswerSink: Sendable {
    /// Nothing more is read before it returns.
    ///
    /// - Throws: an error that the sender rethrows; nothing more is read then.
    func take(_ part: [UInt8]) async throws
}

/// Sends requests to hosts that users name.
package protocol RequestTransport: Sendable {
    /// Sends a request and passes on the body of its answer as it arrives.
    ///
    /// - Parameter sink: makes the receiver of the body from the answer's head; nil for a body that is not read.
    func send<Sink: AnswerSink>(
        _ sent: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?
    ) async throws -> (OutboundAnswer, Sink?)
}

/// An HTTP client that follows no redirects, keeps no cookies, uses no proxy, and does not decompress or resolve names.
package struct ClientTransport: RequestTransport {
    /// The authorities to trust in place of the system's; set only by tests.
    package var trustRoots: [NIOSSLCertificate]

    private let clients: KeptClients

    private static let longestHead = 65_536

    /// - Parameter patience: how long a connection is kept without a request; nil for the shared connections.
    package init(trustRoots: [NIOSSLCertificate] = [], patience: Duration? = nil) {
        self.trustRoots = trustRoots
        clients = patience.map { KeptClients(patience: $0) } ?? .shared
    }

    package func send<Sink: AnswerSink>(
        _ sent: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?
    ) async throws -> (OutboundAnswer, Sink?) {
        let isOurs = Flag()
        do {
            return try await exchange(sent, sink, isOurs)
        } catch  where isOurs.isSet {
            // The receiver here ran out of space, or refused the answer.
            throw error
        } catch let error as HTTPClientError {
            throw Self.failure(error)
        } catch NIOSSLError.uncleanShutdown where !sent.isSafe {
            throw OutboundFailure.garbled
        } catch is NIOSSLError {
            throw OutboundFailure.untrusted
        } catch is NIOSSLExtraError {
            throw OutboundFailure.untrusted
        } catch is HTTPParserError {
            throw OutboundFailure.garbled
        } catch let failure as OutboundFailure {
            throw failure
        } catch is NIOConnectionError {
            throw OutboundFailure.unreachable
        } catch let error as IOError where error.errnoCode == ECONNREFUSED {
            throw OutboundFailure.unreachable
        } catch {
            try Task.checkCancellation()
            // The request may have been sent: only one that changes nothing may be sent to another address.
            throw sent.isSafe ? OutboundFailure.unreachable : OutboundFailure.garbled
        }
    }

    /// Sends a request over a separate connection, or over one that is kept.
    private func exchange<Sink: AnswerSink>(
        _ sent: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?, _ isOurs: Flag
    ) async throws -> (OutboundAnswer, Sink?) {
        if sent.keepsConnection {
            let key = KeptClients.Key(sent, trustRoots: trustRoots)
            do {
                return try await clients.with(
                    key, { configuration(sent) }, { try await Self.exchange($0, sent, sink, isOurs) })
            } catch  where sent.isSafe && Self.isEndOfConnection(error) {
                // The host closed a kept connection at the moment when it was to be reused, which says nothing about
                // the request.
                try Task.checkCancellation()
            }
        }
        return try await HTTPClient.withHTTPClient(configuration: configuration(sent)) { client in
            try await Self.exchange(client, sent, sink, isOurs)
        }
    }

    private static func exchange<Sink: AnswerSink>(
        _ client: HTTPClient, _ sent: OutboundRequest, _ sink: (OutboundAnswer) throws -> Sink?, _ isOurs: Flag
    ) async throws -> (OutboundAnswer, Sink?) {
        var request = HTTPClientRequest(url: sent.url.reveal())
        request.method = HTTPMethod(rawValue: sent.method)
        for field in sent.headers { request.headers.add(name: field.name, value: field.value) }
        if let body = sent.body { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: .minutes(5))
        let headers = response.fields
        guard headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= longestHead else {
            throw OutboundFailure.garbled
        }
        let answer = OutboundAnswer(status: Int(response.status.code), headers: headers)
        let target: Sink?
        do {
            target = try sink(answer)
        } catch {
            isOurs.set()
            throw error
        }
        guard let target else { return (answer, nil) }
        for try await part in response.body {
            do {
                try await target.take(Array(part.readableBytesView))
            } catch {
                isOurs.set()
                throw error
            }
        }
        // A body that ended because the task was cancelled is not complete.
        try Task.checkCancellation()
        return (answer, target)
    }

    /// Records that a failure happened here, not at the host.
    private final class Flag: Sendable {
        private let state = Atomic(false)

        var isSet: Bool { state.load(ordering: .acquiring) }
        func set() { state.store(true, ordering: .releasing) }
    }

    private func configuration(_ sent: OutboundRequest) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = trustRoots.isEmpty ? SystemTrust.roots : .certificates(trustRoots)
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(15)), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // TLS and the Host field still use the name; the connection goes to the address that was checked.
        if case .name(let name) = sent.url.host { configuration.dnsOverride = [name: sent.address.text] }
        let address = sent.address
        // Should a later version of the client parse an address differently, nothing is sent over the connection.
        configuration.http1_1ConnectionDebugInitializer = { channel in
            channel.remoteAddress?.ipAddress.flatMap({ IPAddress($0) }) == address
                ? channel.eventLoop.makeSucceededVoidFuture()
                : channel.eventLoop.makeFailedFuture(OutboundFailure.notPublic)
        }
        return configuration
    }

    /// Reports whether the host ended a connection, whenever that was noticed: at the end of a read, by a refused
    /// write, or by a write to a connection already closed here.
    private static func isEndOfConnection(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: [ECONNRESET, EPIPE, ENOTCONN, EBADF].contains(error.errnoCode)
        case let error as ChannelError: [.ioOnClosedChannel, .alreadyClosed, .eof, .outputClosed].contains(error)
        case let error as NIOSSLError: error == .uncleanShutdown
        default: false
        }
    }

    private static func failure(_ error: HTTPClientError) -> OutboundFailure {
        switch error {
        case .connectTimeout: .unreachable
        case .readTimeout, .writeTimeout, .deadlineExceeded, .cancelled: .timeout
        case .tlsHandshakeTimeout: .untrusted
        default: .garbled
        }
    }
}
