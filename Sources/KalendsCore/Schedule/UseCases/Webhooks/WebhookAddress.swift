// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// An address that messages can be sent to.
package struct WebhookAddress: Hashable, Sendable {
    /// The rule for an address, as a sentence.
    package static let rule =
        "This must be an address with http:// or https://, without user name and fragment, with a port from 1 to 65535."

    let text: String

    /// Nil for an address to which nothing can be sent.
    package init?(_ text: String) {
        guard Self.isUsable(text) else { return nil }
        self.text = text
    }

    /// Whether messages can be sent to an address: the HTTP client ends the process for an invalid port.
    package static func isUsable(_ text: String) -> Bool {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()), url.user == nil,
            let host = url.host(percentEncoded: true), !host.isEmpty, !host.contains("%"), url.fragment == nil,
            text.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return false }
        let authority = text.drop { !$0.is("/") }.dropFirst(2).prefix { !"/?#".contains($0) }
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return true }
        let port = authority[authority.index(after: colon)...]
        return port.isEmpty || port.utf8.count <= 5 && (1...65_535).contains(Int(port) ?? 0)
    }
}
