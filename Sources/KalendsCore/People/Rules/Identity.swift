// SPDX-License-Identifier: Apache-2.0

package import FeedTokens

/// The caller who sends a request.
package enum Identity: Hashable, Sendable {
    /// The operator, through the local socket.
    case operatorAtHand
    /// A host application, with the id of its key and the key's scopes; nil allows everything.
    case service(key: String, scopes: Set<Scope>?)
    /// One user of the host application.
    case user(String)
    /// One device of a user, which may use only the routes for devices.
    case device(id: String, user: String)

    /// Whether the caller acts for the installation and not for one user.
    package var isInstallation: Bool {
        switch self {
        case .operatorAtHand, .service: true
        case .user, .device: false
        }
    }

    /// The user for whom the caller acts; nil for the installation.
    package var userID: String? {
        switch self {
        case .operatorAtHand, .service: nil
        case .user(let id), .device(_, let id): id
        }
    }
}

/// The session that a request came with.
package struct PresentedSession: Sendable {
    package var id: String
    /// The secret in the request; the server stores only its hash.
    package var secret: Secret
    /// When the session ends, in milliseconds since 1970.
    package var expiresAt: Int

    package init(id: String, secret: Secret, expiresAt: Int) {
        self.id = id
        self.secret = secret
        self.expiresAt = expiresAt
    }
}
