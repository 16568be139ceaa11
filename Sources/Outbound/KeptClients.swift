// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Crypto
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// Clients whose connections serve several requests of one account: all requests of a connection have the credentials
/// that it was opened with.
///
/// A client connects to only one address of one host, the one that was checked, and serves only one account: another
/// address or other credentials mean another client, so that no request ever uses a connection that was opened for
/// another.
final class KeptClients: Sendable {
    struct Key: Hashable, Sendable {
        let isSecure: Bool
        let host: InternetHost
        let port: Int
        let address: IPAddress
        /// A digest of the credentials.
        let account: [UInt8]
        let trustRoots: [NIOSSLCertificate]

        init(_ request: OutboundRequest, trustRoots: [NIOSSLCertificate]) {
            (isSecure, host, port, address) = (
                request.url.isSecure, request.url.host, request.url.port, request.address
            )
            self.trustRoots = trustRoots
            var hash = SHA256()
            for field in request.headers where Self.credentials.contains(where: { $0 == field.name.lowercased() }) {
                hash.update(data: Array("\(field.name.lowercased()):\(field.value)\n".utf8))
            }
            account = Array(hash.finalize())
        }

        private static let credentials = ["authorization", "cookie", "proxy-authorization"]
    }

    private struct Kept {
        let client: HTTPClient
        var users = 0
        var usedAt: ContinuousClock.Instant
    }

    /// Lives as long as the process, and is shared by all callers.
    static let shared = KeptClients(patience: .seconds(30))

    /// How long a connection, and then its client, is kept without a request.
    private let patience: Duration
    /// The maximum number of kept clients; clients of requests in progress are not counted.
    static let most = 256

    private let kept = Mutex<[Key: Kept]>([:])

    init(patience: Duration) { self.patience = patience }

    deinit { Self.end(kept.withLock { $0.values.map(\.client) }) }

    /// Does work with the client of a key.
    ///
    /// - Parameter make: returns the configuration of a new client.
    func with<Value>(
        _ key: Key, _ make: () -> HTTPClient.Configuration, _ work: (HTTPClient) async throws -> Value
    ) async throws -> Value {
        let client = kept.withLock { kept in
            if kept[key] == nil {
                var configuration = make()
                configuration.connectionPool.idleTimeout = .milliseconds(Int64(patience / .milliseconds(1)))
                let new = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                kept[key] = Kept(client: new, usedAt: .now)
            }
            kept[key]?.users += 1
            return kept[key]?.client
        }
        defer { giveBack(key) }
        guard let client else { throw OutboundFailure.unreachable }
        return try await work(client)
    }

    private func giveBack(_ key: Key) {
        let retired = kept.withLock { kept -> [HTTPClient] in
            kept[key]?.users -= 1
            kept[key]?.usedAt = .now
            let idle = kept.filter { $0.value.users == 0 }.sorted { $0.value.usedAt < $1.value.usedAt }
            let now = ContinuousClock.now
            var surplus = kept.count - Self.most
            var retired: [HTTPClient] = []
            for (key, one) in idle where surplus > 0 || now - one.usedAt > patience {
                retired.append(one.client)
                kept[key] = nil
                surplus -= 1
            }
            return retired
        }
        Self.end(retired)
    }

    /// Shuts down clients that are no longer used; errors at their shutdown do not matter.
    private static func end(_ clients: [HTTPClient]) {
        guard !clients.isEmpty else { return }
        Task { for client in clients { try? await client.shutdown() } }
    }
}
