// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Users who sign in here, and their passwords.
package struct Users: Sendable {
    let acts: Acts
    let passwords: Passwords
    let guessable: GuessablePasswords
    let proofs: ReauthenticationCheck

    /// Returns the users who have a password, in order of id; only for the installation.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [ListedUser] {
        try Rights.installation(caller.identity)
        let now = acts.now()
        return try await acts.store.read { try $0.usersWithPassword(after: page.after, limit: page.limit, now: now) }
    }

    /// Whether anybody signs in here with a password.
    package func havePasswords() async throws -> Bool {
        try await acts.store.read { try $0.havePasswords }
    }

    /// Throws `Refusal` unless the user is the caller, or the caller acts for the installation.
    package func check(_ user: String, for caller: Caller) throws {
        guard caller.isInstallation || caller.userID.map({ $0 == user }) == true else { throw Refusal.missing(.user) }
    }

    /// Sets a password, and ends the user's other sessions, devices and app passwords and the sign-in at a provider; a
    /// second factor stays.
    ///
    /// - Parameters:
    ///   - proof: what users have to give; nil for the installation.
    ///   - network: the caller's network, which limits guesses.
    /// - Returns: whether this is the user's first password.
    package func setPassword(
        _ password: Concealed, of user: String, with proof: Reauthentication?, from network: String, for caller: Caller
    ) async throws -> Bool {
        try check(user, for: caller)
        guard caller.isInstallation || proof != nil else { throw Refusal.wrongCurrentPassword }
        var known: ReauthenticationCheck.Begun?
        if let proof {
            let begun = try await proofs.begin(proof, of: user, from: network)
            if let fault = guessable.fault(password, of: user) {
                try await proofs.withdraw(begun)
                throw Refusal.invalid([fault])
            }
            known = begun
        } else if caller.identity == .operatorAtHand, let fault = guessable.fault(password, of: user) {
            throw Refusal.invalid([fault])
        }
        let (hash, begun, proofs) = (try await passwords.hash(password, from: network), known, proofs)
        let isNew = try await acts.act(on: .appPasswords(of: user), for: caller) { act in
            let transaction = act.transaction
            if let begun { try proofs.use(begun, in: transaction, now: act.now) }
            try transaction.deleteSessions(of: user, except: caller.session)
            try transaction.deleteDevices(of: user)
            try transaction.endAppPasswords(of: user, now: act.now)
            try transaction.deleteOpenSignInLinks(of: user)
            let left = try transaction.deleteJoinedAccounts(of: user)
            try transaction.deleteUnconfirmedSecondFactor(of: user)
            let isNew = try transaction.putPassword(of: user, hash: hash, now: act.now)
            return ActResult(
                isNew, noting: AuditNote(.passwordSet, user),
                and: left ? AuditNote(.providerAccountLeft, user) : nil)
        }
        if let begun { try await proofs.accept(begun) }
        try await passwords.brake.forget(user, now: acts.now())
        return isNew
    }

    /// Deletes a user's password with its second factor, and ends the user's sessions, devices, app passwords and the
    /// sign-in at a provider; only for the installation. Throws 404 for a user who had neither a password nor the latter.
    package func deletePassword(of user: String, for caller: Caller) async throws {
        try check(user, for: caller)
        try Rights.installation(caller.identity)
        let wasThere = try await acts.act(on: .appPasswords(of: user), for: caller) { act in
            // Sessions and devices that a user without a password still has end too.
            try act.transaction.deleteSessions(of: user, except: nil)
            try act.transaction.deleteDevices(of: user)
            try act.transaction.endAppPasswords(of: user, now: act.now)
            try act.transaction.deleteOpenSignInLinks(of: user)
            let hadFactor = try act.transaction.deleteSecondFactor(of: user)
            let left = try act.transaction.deleteJoinedAccounts(of: user) ? AuditNote(.providerAccountLeft, user) : nil
            guard try act.transaction.deletePassword(of: user) else {
                guard let left else { return .unnoted("The user had no password that could end.", false) }
                return ActResult(true, noting: left)
            }
            return ActResult(
                true, noting: AuditNote(.passwordRemoved, user),
                and: hadFactor ? AuditNote(.secondFactorRemoved, user) : nil, left)
        }
        guard wasThere else { throw Refusal.missing(.user) }
    }
}

extension ReadTransaction {
    fileprivate var havePasswords: Bool {
        get throws { try !usersWithPassword(after: "", limit: 1, now: 0).isEmpty }
    }
}

extension AuthorizedUser {
    /// Whether anybody signs in here with a password.
    package var havePasswords: Bool { get throws { try transaction.havePasswords } }
}
