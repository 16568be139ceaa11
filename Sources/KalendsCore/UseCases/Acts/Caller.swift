// SPDX-License-Identifier: Apache-2.0

import Base

/// Who asks, and in whose name: what every use case is given.
package struct Caller: Sendable {
    /// Whose rights count.
    package let identity: Identity
    /// How the audit trail names the caller.
    let actor: AuditActor
    /// The id of the session that the caller came with, nil for another credential.
    package let session: String?

    package init(_ identity: Identity, actor: AuditActor, session: String? = nil) {
        (self.identity, self.actor, self.session) = (identity, actor, session)
    }

    /// The operator, through the local socket or on the command line.
    package static let operatorAtHand = Caller(.operatorAtHand, actor: .operatorAtHand)

    /// A user who signs in and is not known before.
    static func signingIn(_ user: String) -> Caller { Caller(.user(user), actor: AuditActor(user: user)) }

    /// Whether it acts for the installation and not for one user.
    package var isInstallation: Bool { identity.isInstallation }

    /// The user it acts for, nil for the installation.
    package var userID: String? { identity.userID }

    /// The id of the registered device that it is; nil for another credential.
    var device: String? { if case .device(let id, _) = identity { id } else { nil } }
}
