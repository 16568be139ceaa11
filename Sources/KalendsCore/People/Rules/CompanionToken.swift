// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The one token that a phone's companion may use instead of a device's token, and the user for whom it acts.
package struct CompanionToken: Sendable {
    private let digest: SHA256.Digest
    private let user: String

    init(_ token: Concealed, user: String) {
        digest = SHA256.hash(data: token.bytes)
        self.user = user
    }

    /// Returns the user if the text is the token; the time it takes reveals nothing about the token.
    package func user(showing text: Substring) -> String? {
        // Digests are compared in constant time.
        SHA256.hash(data: Array(text.utf8)) == digest ? user : nil
    }

    /// Reads the two settings, which must be given together.
    init?(_ values: inout SettingValues) {
        let token = values.filled(.companionSyncToken)
        let user = values.filled(.companionSyncUser)
        if let user, !Identifier.isValid(user) {
            values.note(.companionSyncUser, "is not a user id. \(Identifier.rule)")
        }
        switch (token, user) {
        case (let token?, let user?): self.init(Concealed(token), user: user)
        case (nil, nil): return nil
        case (_?, nil):
            values.note(.companionSyncToken, "needs companionSyncUser, the user that it acts for.")
            return nil
        case (nil, _?):
            values.note(.companionSyncUser, "needs companionSyncToken.")
            return nil
        }
    }
}
