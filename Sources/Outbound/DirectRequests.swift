// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

extension HTTPClient.Configuration {
    /// For hosts that the operator or the host application named: no redirect is followed, and no request is repeated.
    static func direct(read: TimeAmount, connectionsPerHost: Int) -> HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = SystemTrust.roots
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10), read: read), proxy: nil,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        return configuration
    }
}

extension HTTPClientResponse {
    /// The fields of the answer's head, which is a stranger's.
    var fields: [(name: String, value: String)] { headers.map { ($0.name, $0.value.withBoundedMarks) } }
}

extension HTTPClientRequest {
    init(_ method: String, _ url: String, headers: [(name: String, value: String)], body: [UInt8]?) {
        self.init(url: url)
        self.method = HTTPMethod(rawValue: method)
        for field in headers { self.headers.add(name: field.name, value: field.value) }
        if let body { self.body = .bytes(body) }
    }
}
