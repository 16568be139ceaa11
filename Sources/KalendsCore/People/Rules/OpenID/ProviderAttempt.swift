// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens

/// A sign-in at a provider that has begun, which the browser keeps sealed in a cookie until it is back.
struct ProviderAttempt: Sendable {
    /// What the sign-in is for.
    enum Purpose: String, Sendable { case session, joining, operatorPages }

    /// How long a sign-in may take, in milliseconds.
    static let lifetime = 600_000
    /// How far the clock of the server at which it began may be ahead of this one's, in milliseconds.
    private static let ahead = 60_000
    private static let purpose = "sign-in at a provider"

    let oauth: OAuthAttempt
    let nonce: Concealed
    let purpose: Purpose
    /// The path of the page that it leads to.
    let to: String
    /// The id of the session in which an account is joined.
    let session: String?
    /// Milliseconds since 1970.
    let begunAt: Int

    init(_ purpose: Purpose, to: String, session: String?, now: Int) {
        oauth = OAuthAttempt(random: .random(OAuthAttempt.randomBytes))
        nonce = Concealed(Base64URL.encode(.random(32)))
        (self.purpose, self.to, self.session, begunAt) = (purpose, to, session, now)
    }

    /// The attempt as a cookie's value.
    func sealed(with key: SealingKey) throws -> Concealed {
        let value: JSONValue = [
            "state": .string(oauth.state.reveal()), "verifier": .string(oauth.verifier.reveal()),
            "nonce": .string(nonce.reveal()), "purpose": .string(purpose.rawValue), "to": .string(to),
            "session": JSONValue(session), "begunAt": .integer(begunAt),
        ]
        return Concealed(try key.seal(try value.text(), for: Self.purpose))
    }

    /// Opens a cookie's value; returns nil for one that this server did not seal, or that is too old.
    init?(sealed: Concealed, with key: SealingKey, now: Int) {
        guard let text = try? key.open(sealed.reveal(), for: Self.purpose),
            let value = try? JSONValue(parsing: Array(text.utf8)),
            let state = value["state"]?.string, let verifier = value["verifier"]?.string,
            let nonce = value["nonce"]?.string, let to = value["to"]?.string, let begunAt = value["begunAt"]?.integer,
            let purpose = value["purpose"]?.string.flatMap(Purpose.init), begunAt <= now + Self.ahead,
            now - begunAt < Self.lifetime
        else { return nil }
        oauth = OAuthAttempt(state: Concealed(state), verifier: Concealed(verifier))
        self.nonce = Concealed(nonce)
        (self.purpose, self.to, self.begunAt, session) = (purpose, to, begunAt, value["session"]?.string)
    }

    /// The id of the session that it begins, by which it is used once.
    func sessionID(_ key: SealingKey) -> String { key.name(for: "session of \(oauth.state.reveal())") }
}
