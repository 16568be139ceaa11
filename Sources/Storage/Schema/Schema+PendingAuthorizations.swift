// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// What the provider returned in a browser that cannot be told to be the beginner's, until the beginner redeems it.
    static let pendingAuthorizations = ["ALTER TABLE connection_authorizations ADD COLUMN sealed_code TEXT"]
}
