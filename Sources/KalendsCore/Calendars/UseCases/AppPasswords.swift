// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

/// The passwords with which people's calendar apps sign in over CalDAV, and what their use counts.
///
/// They are in one ledger with the tokens of feeds: their hashes, their ends and their accesses.
package struct AppPasswords: Acting {
    let acts: Acts
    let ledger: FeedLedger
    let counter: AccessCounter
    let settings: ServerSettings
    let sealingKey: SealingKey
    let passwords: Passwords
    /// Limits how often one user gets a new password.
    let mints: RateLimit
    let recently: RecentSignIn
    let sharing: (any SharedStore)?

    /// Returns the caller's app passwords, or everybody's for the installation, in order of id; those that were ended
    /// are left out.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [CountedAppPassword] {
        try await counter.foldForReading()
        return try await store.read { transaction in
            try transaction.appPasswords(of: caller.userID, after: page.after, limit: page.limit)
                .map { try CountedAppPassword($0, in: transaction) }
        }
    }

    /// Returns one app password; throws 404 for one that is not the caller's, and for one that was ended.
    package func get(_ id: String, for caller: Caller) async throws -> CountedAppPassword {
        try await counter.foldForReading()
        return try await store.read { transaction in
            try CountedAppPassword(try Rights.appPassword(id, for: caller.identity, in: transaction), in: transaction)
        }
    }

    /// Returns the accesses with an app password, the latest first.
    ///
    /// - Parameter number: the number of the access before which the part begins.
    package func accesses(
        of id: String, before number: Int, limit: Int, for caller: Caller
    ) async throws -> [ListedAccess] {
        try await counter.foldForReading()
        return try await store.read { transaction in
            _ = try Rights.appPassword(id, for: caller.identity, in: transaction)
            return try transaction.accesses(of: id, before: number, limit: limit)
        }
    }

    /// Brings the counts in the answer to a change up to date, if possible: a password must end whatever was counted.
    func foldIfPossible() async { try? await counter.fold() }
}

extension AuthorizedUser {
    /// Returns the user's app passwords, in order of id; accesses that are not folded are missing from their counts.
    package func appPasswords(_ page: PageRequest) throws -> [CountedAppPassword] {
        try transaction.appPasswords(of: id, after: page.after, limit: page.limit)
            .map { try CountedAppPassword($0, in: transaction) }
    }

    /// Returns what was ended since a time, with its last access, the latest end first.
    package func endedAppPasswords(since time: Int, limit: Int) throws -> [AppPassword] {
        try transaction.endedAppPasswords(of: id, since: time, limit: limit)
    }

    /// Returns one of the user's app passwords; throws 404 for any other, and for one that was ended.
    package func appPassword(_ id: String) throws -> CountedAppPassword {
        try CountedAppPassword(try Rights.appPassword(id, for: .user(self.id), in: transaction), in: transaction)
    }
}
