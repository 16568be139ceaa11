// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The caller of a use case, and the identity whose rights it has.
package struct Caller: Sendable {
    /// The identity whose rights count.
    package let identity: Identity
    /// How the audit trail names the caller.
    let actor: AuditActor
    /// The id of the session that the caller used; nil for another credential.
    package let session: String?
    /// The way by which the caller's changes come in.
    let way: ChangeAuthor.Way
    /// What the caller's service key may do at most.
    let keyQuotas: KeyQuotas

    package init(
        _ identity: Identity, actor: AuditActor, session: String? = nil, way: ChangeAuthor.Way = .api,
        keyQuotas: KeyQuotas = KeyQuotas()
    ) {
        (self.identity, self.actor, self.session, self.way) = (identity, actor, session, way)
        self.keyQuotas = keyQuotas
    }

    /// The operator, through the local socket or on the command line.
    package static let operatorAtHand = Caller(.operatorAtHand, actor: .operatorAtHand)

    /// A user who is signing in and was not known before.
    static func signingIn(_ user: String) -> Caller { Caller(.user(user), actor: AuditActor(user: user)) }

    /// A user's calendar app, which has the rights of its user; the audit trail names the app password.
    static func app(password id: String, of user: String) -> Caller {
        Caller(.user(user), actor: AuditActor(appPassword: id, of: user), way: .caldav)
    }

    /// Whether the caller acts for the installation rather than for one user.
    package var isInstallation: Bool { identity.isInstallation }

    /// The user for whom the caller acts; nil for the installation.
    package var userID: String? { identity.userID }

    /// The author of the caller's changes: the user for whom the caller acts, or else the caller.
    var author: ChangeAuthor { author(undoing: nil) }

    /// The author of changes that undo the change with a number.
    func author(undoing number: Int?) -> ChangeAuthor {
        ChangeAuthor(name: userID.map { AuditActor(user: $0).text } ?? actor.text, way: way, undoes: number)
    }

    /// Whether what is a user's own is the caller's: the user's, and the installation's, but no bound key's.
    func owns(_ user: String) -> Bool {
        identity.bound == nil && (isInstallation || userID.map { $0 == user } == true)
    }

    /// Returns the fault of the user for whom the caller makes something; nil when that is a valid one.
    ///
    /// - Parameter thing: what is made, with its article.
    func ownerFault(_ named: String?, of thing: String) -> Fault? {
        guard let userID else {
            guard named == nil else { return nil }
            return Fault(
                pointer: "/userId", code: .required,
                message: "The host application must say for whom it makes \(thing): here, or in Kalends-User.")
        }
        guard let named, named != userID else { return nil }
        return Fault(pointer: "/userId", code: .contradiction, message: "You can make \(thing) only for yourself.")
    }

    /// The party that takes turns with others for the resources of a call: a user, or the installation.
    package var payer: String { userID ?? "" }

    /// The id of the registered device that calls; nil for another credential.
    var device: String? { if case .device(let id, _) = identity { id } else { nil } }
}
