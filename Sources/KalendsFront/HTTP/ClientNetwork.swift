// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import Hummingbird
package import KalendsCore
package import NIOCore
package import Storage

extension ServerSettings {
    /// The address of the real client: that of the connection, or the one that a trusted proxy reports.
    package func clientAddress(_ request: Request, _ context: KalendsContext) -> IPAddress? {
        clientAddress(IPAddress(context.remoteAddress), forwardedFor: request.headers[values: .xForwardedFor])
    }

    /// The network of the real client, by which password attempts are counted; the operator's socket counts as a
    /// network of its own.
    func network(of request: Request, _ context: KalendsContext) -> String {
        clientAddress(request, context)?.network ?? "local"
    }

    /// - Parameter forwardedFor: the values of X-Forwarded-For.
    func clientAddress(_ direct: IPAddress?, forwardedFor: [String]) -> IPAddress? {
        guard let direct, isTrustedProxy(direct) else { return direct }
        // From the right: each proxy appends the address it saw, and those further left may be invented.
        let chain = forwardedFor.flatMap { $0.pieces(separatedBy: ",") }.map { IPAddress($0) }
        var nearest = direct
        for hop in chain.reversed() {
            guard let hop else { break }
            nearest = hop
            if !isTrustedProxy(hop) { break }
        }
        return nearest
    }

    package func isTrustedProxy(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }
}

extension IPAddress {
    /// The address's network, shortened so that it does not identify a person: /24 of IPv4, /48 of IPv6.
    package var network: String { prefix.text }

    /// The same network in the form in which it is recorded.
    package var prefix: NetworkPrefix { NetworkPrefix(bytes) }

    /// The address at the other end of a connection; nil for a local socket.
    package init?(_ socket: SocketAddress?) {
        guard let address = socket?.ipAddress.flatMap({ IPAddress($0) }) else { return nil }
        self = address
    }
}

extension HTTPField.Name {
    package static let xForwardedFor = HTTPField.Name("X-Forwarded-For") ?? .from
}
