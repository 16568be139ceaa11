// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The cookie of a browser in which the operator's pages are open (RFC 6265); the API never reads it.
enum OperatorCookie {
    /// The first name is for https; no other host can set a cookie with that name.
    private static let names = ["__Host-kalends_operator", "kalends_operator"]

    static func secret(of request: Request) -> Secret? {
        for name in names {
            for cookie in request.headers[values: .cookie].flatMap({ $0.pieces(separatedBy: ";") }) {
                let parts = cookie.withoutOuterBlanks.pieces(separatedBy: "=", maxSplits: 1)
                guard parts.count == 2, parts[0] == name else { continue }
                if let secret = Secret(.operatorSession, text: parts[1]) { return secret }
            }
        }
        return nil
    }

    /// The header field that gives the browser a session.
    static func field(_ secret: Secret, _ settings: ServerSettings) -> String {
        text(secret.reveal(), seconds: OperatorSession.lifetime / 1000, settings)
    }

    /// The header field that removes the session's cookie.
    static func removal(_ settings: ServerSettings) -> String { text("", seconds: 0, settings) }

    private static func text(_ value: String, seconds: Int, _ settings: ServerSettings) -> String {
        let isSecure = settings.publicURL.hasPrefix("https://")
        return "\(isSecure ? names[0] : names[1])=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }
}
