// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Synchronization

/// Who sent a request, and by which kind of credential: for its line in the log.
///
/// A user appears under a pseudonym, which only somebody with the sealing key can compute from an id.
package final class CallerNote: Sendable {
    /// The kinds of credentials, in the log's words.
    package enum Means: String, Sendable {
        case serviceKey = "service-key"
        case session, device, password
        case passwordAndCode = "password+code"
        case userToken = "user-token"
        case signInLink = "sign-in-link"
        case provider
        case companionToken = "companion-token"
        case operatorSession = "operator-session"
        case appPassword = "app-password"
    }

    struct Content: Sendable {
        var caller: String?
        var means: Means?
    }

    private let written = Mutex(Content())

    var content: Content { written.withLock { $0 } }

    /// Notes the credential, before it is known whether it is accepted.
    package func write(_ means: Means) { written.withLock { $0.means = means } }

    func write(_ credential: Credential?) {
        switch credential {
        case nil: break
        case .serviceKey: write(.serviceKey)
        case .session: write(.session)
        case .device: write(.device)
        case .userToken: write(.userToken)
        }
    }

    /// Notes a user who is known, or who is to be signed in.
    package func write(user: String, pseudonym: (String) -> String) {
        let text = "user/" + pseudonym(user)
        written.withLock { $0.caller = text }
    }

    /// Notes the caller of the API.
    func write(_ identity: Identity, pseudonym: (String) -> String) {
        switch identity {
        case .operatorAtHand: written.withLock { $0.caller = "operator" }
        case .service(let key, _, _): written.withLock { $0.caller = "key/" + key }
        case .user(let user), .userWithin(_, let user): write(user: user, pseudonym: pseudonym)
        case .device(let id, _): written.withLock { $0.caller = "device/" + id }
        }
    }

    /// Calls `body` for each name and value of the line.
    func eachField(_ body: (String, String) -> Void) {
        let content = content
        if let caller = content.caller { body("caller", caller) }
        if let means = content.means { body("credential", means.rawValue) }
    }
}
