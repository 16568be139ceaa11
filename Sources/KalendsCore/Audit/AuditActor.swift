// SPDX-License-Identifier: Apache-2.0

/// Who acted, as the audit trail writes it: `operator`, `key:<id>`, `user:<id>` or `device:<id>`.
package struct AuditActor: Hashable, Sendable {
    let text: String

    /// - Parameter narrowed: whom the caller acts for; somebody other than the caller is recorded with the caller:
    ///   `user:ann via key:<id>`. No id has a space in it.
    package init(_ caller: Identity, narrowed: Identity) {
        text = caller == narrowed ? Self.text(caller) : "\(Self.text(narrowed)) via \(Self.text(caller))"
    }

    /// Somebody who signs in, and was nobody before.
    package init(user id: String) { text = Self.text(.user(id)) }

    package static let operatorAtHand = AuditActor(.operatorAtHand, narrowed: .operatorAtHand)

    private static func text(_ identity: Identity) -> String {
        switch identity {
        case .operatorAtHand: "operator"
        case .service(let key, _): "key:\(key)"
        case .user(let id): "user:\(id)"
        case .device(let id, _): "device:\(id)"
        }
    }
}
