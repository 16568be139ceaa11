// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Outbound

/// What the DNS says of a domain's calendars.
///
/// The answers are as untrusted as the domain: they only name hosts, which are judged like every other address.
struct AccountServices: CalDAVServices {
    let rules: DestinationRules

    /// Services of one domain that are tried.
    private static let most = 4

    func services(of domain: String) async -> [CalDAVService] {
        guard case .name(let name)? = try? InternetHost(Substring(domain)) else { return [] }
        // Over TLS only: `_caldav._tcp` would have the password sent in clear.
        let service = "_caldavs._tcp.\(name)"
        let found = await rules.services.services(of: service).prefix(Self.most)
        guard !found.isEmpty else { return [] }
        let path = await rules.services.texts(of: service).lazy.compactMap(Self.path).first
        return found.map { CalDAVService(host: $0.target, port: $0.port, path: path) }
    }

    /// `path=/dav/` (RFC 6764 section 4).
    private static func path(_ text: String) -> String? {
        guard text.hasPrefix("path=/"), text.utf8.count <= 1024 else { return nil }
        return String(text.dropFirst("path=".count))
    }
}
