// SPDX-License-Identifier: Apache-2.0

/// An address that messages can be sent to.
package struct WebhookAddress: Hashable, Sendable {
    /// What an address must be.
    package static let rule =
        "This must be an address with http:// or https://, without user name and fragment, with a port from 1 to 65535."

    let text: String

    /// Nil for what cannot be sent to.
    package init?(_ text: String) {
        guard WebhookMessage.isUsable(text) else { return nil }
        self.text = text
    }
}
