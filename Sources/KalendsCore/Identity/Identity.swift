// SPDX-License-Identifier: Apache-2.0

package import FeedTokens

/// Who a request comes from.
package enum Identity: Hashable, Sendable {
    /// The operator, through the local socket.
    case operatorAtHand
    /// A host application, with the id of its key and what the key may do, nil for everything.
    case service(key: String, scopes: Set<Scope>?)
    /// One user of the host application.
    case user(String)
    /// One device of a user, which opens only the routes for devices.
    case device(id: String, user: String)

    /// Whether it acts for the installation and not for one user.
    package var isInstallation: Bool {
        switch self {
        case .operatorAtHand, .service: true
        case .user, .device: false
        }
    }

    /// The user it acts for, nil for the installation.
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
    /// What the request had; the server itself keeps only its hash.
    package var secret: Secret
    /// Milliseconds since 1970.
    package var expiresAt: Int

    package init(id: String, secret: Secret, expiresAt: Int) {
        self.id = id
        self.secret = secret
        self.expiresAt = expiresAt
    }
}
