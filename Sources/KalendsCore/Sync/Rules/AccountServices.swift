// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Outbound

/// Looks up a domain's calendar services in the DNS.
///
/// The answers are as untrusted as the domain: they only name hosts, which are checked like every other address.
struct AccountServices: CalDAVServices {
    let rules: DestinationRules
    /// Whoever named the domain.
    let asker: ByteString

    /// The maximum number of services of one domain that are tried.
    private static let most = 4

    func services(of domain: String) async -> [CalDAVService] {
        guard case .name(let name)? = try? InternetHost(Substring(domain)) else { return [] }
        // Only over TLS: with `_caldav._tcp`, the password would be sent in clear text.
        let service = "_caldavs._tcp.\(name)"
        let found = await rules.services.services(of: service, for: asker).prefix(Self.most)
        guard !found.isEmpty else { return [] }
        let path = await rules.services.texts(of: service, for: asker).lazy.compactMap(Self.path).first
        return found.map { CalDAVService(host: $0.target, port: $0.port, path: path) }
    }

    /// Returns the path in a text such as `path=/dav/` (RFC 6764 section 4).
    private static func path(_ text: String) -> String? {
        guard text.hasPrefix("path=/"), text.utf8.count <= 1024 else { return nil }
        return String(text.dropFirst("path=".count))
    }
}
