// SPDX-License-Identifier: Apache-2.0

/// The actor as the audit trail stores it: `operator`, `server`, `key:<id>`, `user:<id>`, `device:<id>`, or
/// `user:<id> with app-password:<id>`.
package struct AuditActor: Hashable, Sendable {
    let text: String

    /// - Parameter narrowed: the user that the caller acts for; if they differ, both are recorded: `user:ann via
    ///   key:<id>`. No id contains a space.
    package init(_ caller: Identity, narrowed: Identity) {
        text = caller == narrowed ? Self.text(caller) : "\(Self.text(narrowed)) via \(Self.text(caller))"
    }

    /// Creates the actor for somebody who is signing in, and had no identity before.
    package init(user id: String) { text = Self.text(.user(id)) }

    /// Creates the actor for a device by itself.
    init(device id: String, of user: String) { text = Self.text(.device(id: id, user: user)) }

    /// Creates the actor for a calendar app with an app password.
    init(appPassword id: String, of user: String) { text = "\(Self.text(.user(user))) with app-password:\(id)" }

    /// The server itself.
    static let server = AuditActor(text: "server")

    private init(text: String) { self.text = text }

    package static let operatorAtHand = AuditActor(.operatorAtHand, narrowed: .operatorAtHand)

    private static func text(_ identity: Identity) -> String {
        switch identity {
        case .operatorAtHand: "operator"
        case .service(let key, _, _): "key:\(key)"
        case .user(let id), .userWithin(_, let id): "user:\(id)"
        case .device(let id, _): "device:\(id)"
        }
    }
}
