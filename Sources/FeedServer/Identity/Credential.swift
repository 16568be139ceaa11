// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird

/// What a request shows of who sends it, before anything is looked up.
enum Credential: Sendable {
    case serviceKey(Secret)
    /// - Parameter isCookie: whether a browser sent it by itself, for whichever page asked.
    case session(Secret, isCookie: Bool)
    case device(Secret)
    case userToken(Concealed)

    /// Nil when there is none, or none that can be one; a cookie counts only without `Authorization`.
    init?(_ request: Request) {
        guard let header = request.headers[.authorization] else {
            guard let secret = SessionCookie.secret(of: request) else { return nil }
            self = .session(secret, isCookie: true)
            return
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let text = parts[1].drop { $0 == " " }
        switch parts[0].lowercased() {
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
