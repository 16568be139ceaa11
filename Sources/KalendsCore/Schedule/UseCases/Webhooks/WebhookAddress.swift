// SPDX-License-Identifier: Apache-2.0

/// An address that messages can be sent to.
package struct WebhookAddress: Hashable, Sendable {
    /// The rule for an address, as a sentence.
    package static let rule =
        "This must be an address with http:// or https://, without user name and fragment, with a port from 1 to 65535."

    let text: String

    /// Nil for an address to which nothing can be sent.
    package init?(_ text: String) {
        guard WebhookMessage.isUsable(text) else { return nil }
        self.text = text
    }
}
