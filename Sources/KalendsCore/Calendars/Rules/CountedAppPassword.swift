// SPDX-License-Identifier: Apache-2.0

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
