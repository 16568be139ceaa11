// SPDX-License-Identifier: Apache-2.0

package import FeedTokens

/// The ticket that opens the page of an app's sign-in (Nextcloud's login flow, version 2): which app asks, until when, and for
/// whom the password is kept.
///
/// It is stored nowhere before a person agrees, so that nobody fills the database by asking. The server's key vouches
/// for it, and only the app has the secret whose hash it holds.
package struct AppLoginTicket: Sendable {
    /// How long a person has for agreeing, and the app for asking after that, in milliseconds: 20 minutes.
    static let lifetime = 20 * 60_000

    /// The hash of the secret with which the app asks.
    let fetcher: String
    package let client: ClientFamily
    let expiresAt: Int

    init(for secret: Secret, client: ClientFamily, now: Int) {
        (fetcher, self.client, expiresAt) = (secret.hash, client, now + Self.lifetime)
    }

    /// Reads a ticket; nil for one that this server did not make, and for one that has expired.
    package init?(_ text: String, _ key: SealingKey, now: Int) {
        let parts = text.pieces(separatedBy: ".").map { String($0) }
        guard parts.count == 4, parts[0].utf8.count == 64, let code = Int(parts[1]), let end = Int(parts[2]), now < end
        else { return nil }
        (fetcher, client, expiresAt) = (parts[0], ClientFamily(code: code), end)
        guard signature(key).isSameText(as: parts[3]) else { return nil }
    }

    func text(_ key: SealingKey) -> String { "\(fetcher).\(client.code).\(expiresAt).\(signature(key))" }

    private func signature(_ key: SealingKey) -> String {
        key.name(for: "appLogin/\(fetcher).\(client.code).\(expiresAt)")
    }
}
