// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// One request of a fetch, to an address that was found good.
struct Hop: Sendable {
    var url: FetchURL
    /// Where to connect to, whatever the host's name leads to by now.
    var address: IPAddress
    var headers: [(name: String, value: String)]
}

/// An answer without its body.
struct HopAnswer: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]

    /// The values of a field, joined as one (RFC 9110 section 5.3); nil when it is not there.
    func field(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// Sends the requests of a fetch.
protocol HopTransport: Sendable {
    /// Sends a request and hands over the body of a 200 as it comes; that of another answer is not read.
    ///
    /// - Parameter sink: makes what takes the body, by the answer's header.
    func get(
        _ hop: Hop, _ sink: @escaping @Sendable (HopAnswer) throws -> CalendarSink
    ) async throws -> (HopAnswer, CalendarSink?)
}

/// The HTTP client, with everything off that it would do by itself: redirects, cookies, proxies, unpacking, look-ups.
struct ClientTransport: HopTransport {
    /// In place of the system's; tests alone have any.
    var trustRoots: [NIOSSLCertificate] = []

    private static let longestHead = 65_536

    func get(
        _ hop: Hop, _ sink: @escaping @Sendable (HopAnswer) throws -> CalendarSink
    ) async throws -> (HopAnswer, CalendarSink?) {
        do {
            return try await HTTPClient.withHTTPClient(configuration: configuration(hop)) { client in
                var request = HTTPClientRequest(url: hop.url.reveal())
                for field in hop.headers { request.headers.add(name: field.name, value: field.value) }
                let response = try await client.execute(request, timeout: .minutes(5))
                let headers = response.headers.map { (name: $0.name, value: $0.value) }
                guard headers.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count }) <= Self.longestHead else {
                    throw FetchFailure.garbled
                }
                let answer = HopAnswer(status: Int(response.status.code), headers: headers)
                guard response.status == .ok else { return (answer, nil) }
                let target = try sink(answer)
                for try await part in response.body { try target.take(part) }
                // A body that ends because nobody waits for it any more is not whole.
                try Task.checkCancellation()
                return (answer, target)
            }
        } catch let error as HTTPClientError {
            throw Self.failure(error)
        } catch is NIOSSLError {
            throw FetchFailure.untrusted
        } catch is NIOSSLExtraError {
            throw FetchFailure.untrusted
        } catch is HTTPParserError {
            throw FetchFailure.garbled
        } catch let failure as FetchFailure {
            throw failure
        } catch let refusal as Refusal {
            // There was no room for it here.
            throw refusal
        } catch {
            try Task.checkCancellation()
            throw FetchFailure.unreachable
        }
    }

    private func configuration(_ hop: Hop) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if !trustRoots.isEmpty { tls.trustRoots = .certificates(trustRoots) }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: .seconds(15)), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // The name stays what TLS and Host say; the connection goes where the look-up that was judged led.
        if case .name(let name) = hop.url.host { configuration.dnsOverride = [name: hop.address.text] }
        let address = hop.address
        // Should a later version of the client read an address in another way, nothing is asked over the connection.
        configuration.http1_1ConnectionDebugInitializer = { channel in
            IPAddress(channel.remoteAddress) == address
                ? channel.eventLoop.makeSucceededVoidFuture()
                : channel.eventLoop.makeFailedFuture(FetchFailure.notPublic)
        }
        return configuration
    }

    private static func failure(_ error: HTTPClientError) -> FetchFailure {
        switch error {
        case .connectTimeout: .unreachable
        case .readTimeout, .writeTimeout, .deadlineExceeded, .cancelled: .timeout
        case .tlsHandshakeTimeout: .untrusted
        default: .garbled
        }
    }
}
