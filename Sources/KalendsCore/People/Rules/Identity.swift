// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import Storage

/// The caller who sends a request.
package enum Identity: Hashable, Sendable {
    /// The operator, through the local socket.
    case operatorAtHand
    /// A host application, with the id of its key, the key's scopes and the circles to which it is bound; nil allows
    /// everything.
    case service(key: String, scopes: Set<Scope>?, bound: CircleBound? = nil)
    /// One user, for whom a key acts that is bound to circles.
    case userWithin(CircleBound, user: String)
    /// One user of the host application.
    case user(String)
    /// One device of a user, which may use only the routes for devices.
    case device(id: String, user: String)

    /// Whether the caller acts for the installation and not for one user.
    package var isInstallation: Bool {
        switch self {
        case .operatorAtHand, .service: true
        case .user, .userWithin, .device: false
        }
    }

    /// The circles to which the caller's key is bound; nil for all.
    package var bound: CircleBound? {
        switch self {
        case .service(_, _, let bound): bound
        case .userWithin(let bound, _): bound
        case .operatorAtHand, .user, .device: nil
        }
    }

    /// Whether a circle may exist for the caller.
    func reaches(_ circle: String) -> Bool { bound?.contains(circle) ?? true }

    /// The user for whom the caller acts; nil for the installation.
    package var userID: String? {
        switch self {
        case .operatorAtHand, .service: nil
        case .user(let id), .userWithin(_, let id), .device(_, let id): id
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
