// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

/// An app password with the programs that used it and its problems.
package struct CountedAppPassword: Sendable {
    package var password: AppPassword
    package var clients: [FeedClient] = []
    package var attention: [FeedAttention] = []

    /// Creates the value for a new password, which nobody has used.
    init(_ new: AppPassword) { password = new }

    init(_ password: AppPassword, in transaction: any ReadTransaction) throws {
        self.password = password
        clients = try transaction.clients(of: password.id)
        attention = try transaction.attention(of: password.id)
    }
}

extension ActTarget<Void> {
    /// A user's app passwords, open to that user and to the installation; what is remembered of them is void once the
    /// act is committed, on every server.
    static func appPasswords(of user: String, of resource: Refusal.Resource = .user) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(resource) }
            transaction.concerns(circle: FeedLedger.scope(ofPasswords: user))
            return Opened(held: (), circle: nil)
        })
    }
}

extension ActTarget<AppPassword> {
    /// One of the caller's own app passwords, or any for the installation.
    static func appPassword(_ id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            let password = try Rights.appPassword(id, for: caller.identity, in: transaction)
            transaction.concerns(circle: FeedLedger.scope(ofPasswords: password.userID))
            return Opened(held: password, circle: nil)
        })
    }
}
