// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore

/// The credential that a request carries, before anything is looked up.
enum Credential: Sendable {
    case serviceKey(Secret)
    /// - Parameter isCookie: whether the browser sent it automatically, whichever page made the request.
    case session(Secret, isCookie: Bool)
    case device(Secret)
    case userToken(Concealed)

    /// Whether a request carries a credential of any form.
    static func isShown(in request: Request, _ settings: ServerSettings) -> Bool {
        request.headers[.authorization] != nil || SessionCookie.isSent(with: request, settings)
    }

    /// Nil when the request has no well-formed credential; a cookie counts only without `Authorization`.
    init?(_ request: Request, _ settings: ServerSettings) {
        guard let header = request.headers[.authorization] else {
            guard let secret = SessionCookie.secret(of: request, settings) else { return nil }
            self = .session(secret, isCookie: true)
            return
        }
        let parts = header.pieces(separatedBy: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let text = parts[1].withoutOuterBlanks
        switch parts[0].asciiLowercased {
        case "bearer":
            if let secret = Secret(.serviceKey, text: text) {
                self = .serviceKey(secret)
            } else if let secret = Secret(.session, text: text) {
                self = .session(secret, isCookie: false)
            } else if text.utf8.contains(UInt8(ascii: ".")) {
                self = .userToken(Concealed(String(text)))
            } else {
                return nil
            }
        case "device":
            guard let secret = Secret(.device, text: text) else { return nil }
            self = .device(secret)
        default: return nil
        }
    }
}
