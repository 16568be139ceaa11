// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Logging
import NIOCore
import Synchronization

/// Detects a proxy that is not configured: its X-Forwarded-For header is not trusted, and the operator should know.
///
/// All its callers then count as one network, which shares one limit of connections and one limit on password attempts.
package final class ProxyNotice: Sendable {
    private let found = Mutex<String?>(nil)

    package init() {}

    /// The first address that sent X-Forwarded-For.
    var address: String? { found.withLock { $0 } }

    /// - Returns: the address, the first time only.
    func note(_ address: IPAddress, _ settings: ServerSettings) -> String? {
        guard address.isInner, !settings.isTrustedProxy(address) else { return nil }
        return found.withLock { found in
            guard found == nil else { return nil }
            found = address.text
            return address.text
        }
    }
}

/// Logs once that a proxy is not trusted, at the first request that shows this.
struct ProxyNoticeLog: RouterMiddleware {
    typealias Context = KalendsContext

    let services: Services
    let notice: ProxyNotice

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        if request.headers.contains(.xForwardedFor), let address = IPAddress(context.remoteAddress),
            let proxy = notice.note(address, services.settings)
        {
            context.logger.warning(
                """
                X-Forwarded-For comes from an address that trustedProxies does not name: everybody behind it counts as \
                one network. If it is your proxy, set trustedProxies (KALENDS_TRUSTED_PROXIES) to it
                """, metadata: ["address": "\(proxy)"])
        }
        return try await next(request, context)
    }
}

extension IPAddress {
    /// Whether the address is this machine's or in a network that is not on the Internet (RFC 1918, RFC 4193,
    /// link-local).
    var isInner: Bool {
        if bytes.count == 4 {
            return bytes[0] == 127 || bytes[0] == 10 || bytes[0] == 172 && (16...31).contains(bytes[1])
                || bytes[0] == 192 && bytes[1] == 168 || bytes[0] == 169 && bytes[1] == 254
                || bytes[0] == 100 && (64...127).contains(bytes[1])
        }
        let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        return isLoopback || bytes[0] & 0xFE == 0xFC || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }
}
