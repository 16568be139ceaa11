// SPDX-License-Identifier: Apache-2.0

import Base
package import Storage

/// Users who sign in here, and their passwords.
package struct Users: Sendable {
    let acts: Acts
    let passwords: Passwords
    let guessable: GuessablePasswords

    private static func ground(_ user: String) -> Ground<Void> {
        .user(user, touchingNoCircle: "Neither a password nor a session that it begins opens a feed.")
    }

    /// Returns the users who have a password, in order of id; only for the installation.
    package func list(_ page: PageRequest, for caller: Caller) async throws -> [ListedUser] {
        try Rights.installation(caller.identity)
        let now = acts.now()
        return try await acts.store.read { try $0.usersWithPassword(after: page.after, limit: page.limit, now: now) }
    }

    /// Whether anybody signs in here with a password.
    package func havePasswords() async throws -> Bool {
        let now = acts.now()
        return try await acts.store.read { try !$0.usersWithPassword(after: "", limit: 1, now: now).isEmpty }
    }

    /// Throws `Refusal` unless the user is the caller, or the caller acts for the installation.
    package func check(_ user: String, for caller: Caller) throws {
        guard caller.isInstallation || caller.userID.map({ $0 == user }) == true else { throw Refusal.missing(.user) }
    }

    /// Sets a password, and ends the user's other sessions and devices.
    ///
    /// - Parameters:
    ///   - current: the current password, which users have to give; nil for the installation.
    ///   - network: the caller's network, which limits guesses.
    /// - Returns: whether this is the user's first password.
    package func setPassword(
        _ password: Concealed, of user: String, knowing current: Concealed?, from network: String, for caller: Caller
    ) async throws -> Bool {
        try check(user, for: caller)
        guard caller.isInstallation || current != nil else { throw Refusal.wrongCurrentPassword }
        var known: String?
        if let current {
            known = try await checked(user, current, from: network)
            if let fault = guessable.fault(password, of: user) { throw Refusal.invalid([fault]) }
        }
        let (hash, old) = (try await passwords.hash(password), known)
        let isNew = try await acts.act(on: Self.ground(user), for: caller) { act in
            let transaction = act.transaction
            // Another change came first: the request was made with a password that is no longer valid.
            if let old, try transaction.password(of: user)?.hash != old { throw Refusal.wrongCurrentPassword }
            try transaction.deleteSessions(of: user, except: caller.session)
            try transaction.deleteDevices(of: user)
            try transaction.deleteOpenSignInLinks(of: user)
            let isNew = try transaction.putPassword(of: user, hash: hash, now: act.now)
            return Done(isNew, noting: AuditNote(.passwordSet, user))
        }
        try await passwords.brake.forget(user, now: acts.now())
        return isNew
    }

    /// Returns the stored hash of a user's current password; throws `Refusal` when the password is wrong.
    private func checked(_ user: String, _ password: Concealed, from network: String) async throws -> String {
        try await passwords.brake.begin(user, from: network, now: acts.now())
        let stored = try await acts.store.read { try $0.password(of: user)?.hash }
        guard try await passwords.isRight(password, stored: stored), let stored else {
            throw Refusal.wrongCurrentPassword
        }
        try await passwords.brake.succeed(user, from: network, now: acts.now())
        return stored
    }

    /// Deletes a user's password, and ends the user's sessions and devices; only for the installation.
    package func deletePassword(of user: String, for caller: Caller) async throws {
        try check(user, for: caller)
        try Rights.installation(caller.identity)
        let wasThere = try await acts.act(on: Self.ground(user), for: caller) { act in
            // Sessions and devices that a user without a password still has end too.
            try act.transaction.deleteSessions(of: user, except: nil)
            try act.transaction.deleteDevices(of: user)
            try act.transaction.deleteOpenSignInLinks(of: user)
            guard try act.transaction.deletePassword(of: user) else {
                return .unnoted("The user had no password that could end.", false)
            }
            return Done(true, noting: AuditNote(.passwordRemoved, user))
        }
        guard wasThere else { throw Refusal.missing(.user) }
    }
}

extension Refusal {
    fileprivate static let wrongCurrentPassword = Refusal.invalid(
        "/currentPassword", code: .wrongPassword, "This is not the current password.")
}
