// SPDX-License-Identifier: Apache-2.0

import Base

/// The caller of a use case, and the identity whose rights it has.
package struct Caller: Sendable {
    /// The identity whose rights count.
    package let identity: Identity
    /// How the audit trail names the caller.
    let actor: AuditActor
    /// The id of the session that the caller used; nil for another credential.
    package let session: String?

    package init(_ identity: Identity, actor: AuditActor, session: String? = nil) {
        (self.identity, self.actor, self.session) = (identity, actor, session)
    }

    /// The operator, through the local socket or on the command line.
    package static let operatorAtHand = Caller(.operatorAtHand, actor: .operatorAtHand)

    /// A user who is signing in and was not known before.
    static func signingIn(_ user: String) -> Caller { Caller(.user(user), actor: AuditActor(user: user)) }

    /// Whether the caller acts for the installation rather than for one user.
    package var isInstallation: Bool { identity.isInstallation }

    /// The user for whom the caller acts; nil for the installation.
    package var userID: String? { identity.userID }

    /// Whether what is a user's own is the caller's: the user's, and the installation's, but no bound key's.
    func owns(_ user: String) -> Bool {
        identity.bound == nil && (isInstallation || userID.map { $0 == user } == true)
    }

    /// Who takes turns with others for what a call needs: a user, or the installation.
    package var payer: String { userID ?? "" }

    /// The id of the registered device that calls; nil for another credential.
    var device: String? { if case .device(let id, _) = identity { id } else { nil } }
}
