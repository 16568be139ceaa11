// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The cookie of a browser in which the operator's pages are open (RFC 6265); the API never reads it.
enum OperatorCookie {
    private static let names = CookieNames("kalends_operator")

    static func secret(of request: Request, _ settings: ServerSettings) -> Secret? {
        for name in names.accepted(settings) {
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
        text(names.own(settings), secret.reveal(), seconds: OperatorSession.lifetime / 1000, settings)
    }

    /// The header fields that remove a session under each name that it may have.
    static func removals(_ settings: ServerSettings) -> [String] {
        names.removable(settings).map { text($0, "", seconds: 0, settings) }
    }

    private static func text(_ name: String, _ value: String, seconds: Int, _ settings: ServerSettings) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
            + (settings.isSecure ? "; Secure" : "")
    }
}
