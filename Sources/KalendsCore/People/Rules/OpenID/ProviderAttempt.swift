// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens

/// A sign-in at a provider that has begun, which the browser keeps sealed in a cookie until it is back.
struct ProviderAttempt: JSONFormed {
    /// The purpose of the sign-in.
    enum Purpose: String, CaseIterable, JSONPart { case session, joining, operatorPages }

    /// How long a sign-in may take, in milliseconds.
    static let lifetime = 600_000
    /// How far the clock of the server at which it began may be ahead of this one's, in milliseconds.
    private static let ahead = 60_000
    private static let purpose = "sign-in at a provider"

    private(set) var oauth = OAuthAttempt(random: .random(OAuthAttempt.randomBytes))
    private(set) var nonce = Concealed(Base64URL.encode(.random(32)))
    private(set) var purpose = Purpose.session
    /// The path of the page that it leads to.
    private(set) var to = ""
    /// The id of the session in which an account is joined.
    private(set) var session: String?
    /// Milliseconds since 1970.
    private(set) var begunAt = 0

    static let form = JSONForm<Self>([
        .sealed("state", \.oauth.state), .sealed("verifier", \.oauth.verifier), .sealed("nonce", \.nonce),
        .init("purpose", \.purpose), .init("to", \.to), .init("session", \.session), .init("begunAt", \.begunAt),
    ])

    init() {}

    init(_ purpose: Purpose, to: String, session: String?, now: Int) {
        (self.purpose, self.to, self.session, begunAt) = (purpose, to, session, now)
    }

    /// The attempt as a cookie's value.
    func sealed(with key: SealingKey) throws -> Concealed {
        Concealed(try key.seal(try text(), for: Self.purpose))
    }

    /// Opens a cookie's value; returns nil for one that this server did not seal, or that is too old.
    init?(sealed: Concealed, with key: SealingKey, now: Int) {
        guard let text = try? key.open(sealed.reveal(), for: Self.purpose),
            let attempt = try? Self(stored: text), attempt.begunAt <= now + Self.ahead,
            now - attempt.begunAt < Self.lifetime
        else { return nil }
        self = attempt
    }

    /// The id of the session that it begins, by which it is used once.
    func sessionID(_ key: SealingKey) -> String { key.name(for: "session of \(oauth.state.reveal())") }
}
