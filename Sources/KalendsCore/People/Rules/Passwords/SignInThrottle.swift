// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Storage
import Synchronization

/// Makes people who guess passwords wait, by user and by network, longer with each guess; its memory and rows are
/// limited.
///
/// Waits end by themselves, after a quarter of an hour at most. A network from which the user has signed in has a
/// separate count, so guesses from elsewhere do not lock the user out at home. These networks and the waits are in the
/// database, so a restart neither locks the user out nor lets the guesser begin again; the few free tries are only in
/// memory. If several servers share the database, all counts are in it, so a guesser gains nothing by asking another
/// server.
package final class SignInThrottle: Sendable {
    private struct Table {
        var failures = LeastRecentlyUsed<ByteString, SignInFailures>(limit: 2 * SignInFailures.maximum)
        /// Hashes of the companion's secrets that were refused.
        var refused = LeastRecentlyUsed<ByteString, Bool>(limit: SignInFailures.maximum)
        var writes = 0
    }

    /// The failures that cause no wait; many people may share a network.
    private static let freeOfUser = 5
    private static let freeOfNetwork = 20
    private static let first = 30_000
    private static let longest = 900_000
    /// The time without a failure, in milliseconds, after which failures are forgotten.
    package static let memory = 3_600_000

    private let store: any Store
    /// Whether other servers count failures too.
    private let isShared: Bool
    private let table = Mutex(Table())

    package init(_ store: any Store, isShared: Bool = false) async throws {
        self.store = store
        self.isShared = isShared
        guard !isShared else { return }
        let known = try await store.read { try $0.latestSignInFailures() }
        table.withLock { table in
            for failures in known { table.failures.keep(failures, for: ByteString(failures.name), cost: 1) }
        }
    }

    /// Counts a try as a failure until `succeed` is called, so that simultaneous tries count too.
    ///
    /// Throws 429 for a try that comes too early, which is not counted.
    package func begin(_ user: String, from network: String, now: Int) async throws {
        try await begin([.user(user, network), .network(network)], now: now)
    }

    /// Counts the refusal of a secret of the companion, by network and apart from passwords. A secret that was refused
    /// before is not a new guess: a program that nobody looks at tries an old one for ever.
    ///
    /// Throws 429 for a try that comes too early, which is not counted.
    package func refuse(companion secret: String, from network: String, now: Int) async throws {
        if isNew(secret) { return try await begin([.companion(network)], now: now) }
        try await checkCompanion(from: network, now: now)
    }

    /// Counts the refusal of an app password, by user and by network and apart from other passwords: a phone with a wrong
    /// one keeps nobody from signing in. One that was refused before is not a new guess.
    ///
    /// Throws 429 for a try that comes too early, which is not counted.
    ///
    /// - Parameter user: nil for a name that cannot be a user's.
    package func refuse(app secret: String, of user: String?, from network: String, now: Int) async throws {
        let counts = (user.map { [Count.app($0, network)] } ?? []) + [.appNetwork(network)]
        if isNew("\(user ?? "") \(secret)") { return try await begin(counts, now: now) }
        try await check(store.read { transaction in try counts.map { try $0.name(in: transaction) } }, now: now)
    }

    /// Whether a secret was not refused before; from now on it was.
    private func isNew(_ secret: String) -> Bool {
        let hash = ByteString(Hexadecimal.text(SHA256.hash(data: Array(secret.utf8))))
        return table.withLock { table in
            defer { table.refused.keep(true, for: hash, cost: 1) }
            return table.refused.find(hash) == nil
        }
    }

    /// Throws 429 while secrets of the companion from this network have to wait; it counts nothing.
    package func checkCompanion(from network: String, now: Int) async throws {
        try await check([Self.companion(network)], now: now)
    }

    /// Throws 429 while what is counted under any of these names has to wait; it counts nothing.
    private func check(_ names: [String], now: Int) async throws {
        let wait =
            if isShared {
                try await store.read { transaction in
                    let now = try transaction.sharedTime()
                    return try names.map { try Self.stored($0, in: transaction, now: now).untilAt - now }.reduce(0, max)
                }
            } else {
                table.withLock { table in names.map { Self.remembered($0, in: &table, now: now).untilAt }.reduce(0, max)
                }
                    - now
            }
        if wait > 0 { throw Self.refusal(wait: wait) }
    }

    /// The subject that an attempt counts for.
    private enum Count {
        case user(String, _ network: String)
        case network(String)
        case companion(_ network: String)
        case app(_ user: String, _ network: String)
        case appNetwork(String)

        func name(in transaction: any ReadTransaction) throws -> String {
            switch self {
            case .user(let user, let network): try SignInThrottle.name(user, network, in: transaction)
            case .network(let network): SignInThrottle.name(network)
            case .companion(let network): SignInThrottle.companion(network)
            // No name of a user or a network begins like this.
            case .app(let user, let network): " app \(try SignInThrottle.name(user, network, in: transaction))"
            case .appNetwork(let network): " app \(SignInThrottle.name(network))"
            }
        }

        /// The number of tries that cause no wait.
        var free: Int {
            switch self {
            case .network, .appNetwork: SignInThrottle.freeOfNetwork
            case .user, .companion, .app: SignInThrottle.freeOfUser
            }
        }
    }

    private func begin(_ counts: [Count], now: Int) async throws {
        if isShared { return try await beginShared(counts) }
        let names = try await store.read { transaction in try counts.map { try $0.name(in: transaction) } }
        let (wait, isThrottled) = table.withLock { table -> (Int, Bool) in
            var all = names.map { Self.remembered($0, in: &table, now: now) }
            let until = all.map(\.untilAt).reduce(0, max)
            guard until <= now else { return (until - now, false) }
            for index in all.indices {
                Self.count(&all[index], free: counts[index].free, now: now)
                table.failures.keep(all[index], for: ByteString(all[index].name), cost: 1)
            }
            return (0, all.contains { $0.untilAt > now })
        }
        if isThrottled { await write(names, now: now) }
        if wait > 0 { throw Self.refusal(wait: wait) }
    }

    private static func refusal(wait: Int) -> Refusal {
        let seconds = (wait + 999) / 1000
        return Refusal(
            .tooMany, code: .tooManyTries, detail: "Too many attempts. Wait \(seconds) seconds before the next one.",
            retryAfter: seconds)
    }

    /// Clears the user's count in this network, removes the try from the network's count, and records the network as
    /// one of the user's.
    func succeed(_ user: String, from network: String, now: Int) async throws {
        if isShared {
            return try await store.record { transaction in
                let now = try transaction.sharedTime()
                try transaction.deleteSignInFailures(try Self.name(user, network, in: transaction))
                if var failures = try transaction.signInFailures(Self.name(network)) {
                    Self.takeBack(&failures, now: now)
                    try transaction.putSignInFailures(failures)
                }
                try transaction.putSignInHome(network, of: user, now: now)
            }
        }
        let name = try await name(user, network)
        table.withLock { table in
            table.failures.remove(ByteString(name))
            guard var failures = table.failures.find(ByteString(Self.name(network))) else { return }
            Self.takeBack(&failures, now: now)
            table.failures.keep(failures, for: ByteString(failures.name), cost: 1)
        }
        await write([name, Self.name(network)], now: now) { try $0.putSignInHome(network, of: user, now: now) }
    }

    /// Removes a try whose password was right from both counts, because its second factor is still to come.
    ///
    /// Earlier failures stay, or whoever knows a password could guess codes without ever having to wait.
    func withdraw(_ user: String, from network: String, now: Int) async throws {
        if isShared {
            return try await store.record { transaction in
                let now = try transaction.sharedTime()
                for name in [try Self.name(user, network, in: transaction), Self.name(network)] {
                    guard var failures = try transaction.signInFailures(name) else { continue }
                    Self.takeBack(&failures, now: now)
                    try transaction.putSignInFailures(failures)
                }
            }
        }
        let names = [try await name(user, network), Self.name(network)]
        table.withLock { table in
            for name in names {
                guard var failures = table.failures.find(ByteString(name)) else { continue }
                Self.takeBack(&failures, now: now)
                table.failures.keep(failures, for: ByteString(name), cost: 1)
            }
        }
        await write(names, now: now, keeping: Self.freeOfUser)
    }

    /// Clears the user's counts after the password has changed.
    func forget(_ user: String, now: Int) async throws {
        let names = try await store.read { try $0.signInHomes(of: user) }.map { "\(user) \($0)" } + [user]
        if isShared {
            return try await store.record { for name in names { try $0.deleteSignInFailures(name) } }
        }
        table.withLock { table in for name in names { table.failures.remove(ByteString(name)) } }
        await write(names, now: now)
    }

    /// Like `begin`, but uses only the database and its clock.
    private func beginShared(_ counts: [Count]) async throws {
        let isFull = table.withLock { table in
            table.writes += 2
            defer { if table.writes >= Self.sweep { table.writes = 0 } }
            return table.writes >= Self.sweep
        }
        let wait = try await store.record { transaction in
            let now = try transaction.sharedTime()
            var all = try counts.map { try Self.stored($0.name(in: transaction), in: transaction, now: now) }
            let until = all.map(\.untilAt).reduce(0, max)
            guard until <= now else { return until - now }
            for index in all.indices {
                Self.count(&all[index], free: counts[index].free, now: now)
                try transaction.putSignInFailures(all[index])
            }
            if isFull { try transaction.pruneSignInFailures(before: now - Self.memory) }
            return 0
        }
        if wait > 0 { throw Self.refusal(wait: wait) }
    }

    private static func stored(
        _ name: String, in transaction: any ReadTransaction, now: Int
    ) throws -> SignInFailures {
        let fresh = SignInFailures(name: name)
        guard let known = try transaction.signInFailures(name) else { return fresh }
        return isRemembered(known, now: now) ? known : fresh
    }

    /// Returns the name under which a user's failures from this network are counted; ids contain no spaces.
    private func name(_ user: String, _ network: String) async throws -> String {
        try await store.read { try Self.name(user, network, in: $0) }
    }

    private static func name(_ user: String, _ network: String, in transaction: any ReadTransaction) throws -> String {
        try transaction.isSignInHome(network, of: user) ? "\(user) \(network)" : user
    }

    private static func name(_ network: String) -> String { " \(network)" }

    private static func companion(_ network: String) -> String { "companion \(network)" }

    /// Stores the current counts of these names, whichever of two simultaneous tries gets here first.
    ///
    /// A full disk does not keep out anybody who has the right password.
    ///
    /// - Parameter count: how many failures are stored even where nobody has to wait for them now.
    private func write(
        _ names: [String], now: Int, keeping count: Int = .max,
        _ more: @escaping @Sendable (any WriteTransaction) throws -> Void = { _ in }
    ) async {
        let isFull = table.withLock { table in
            table.writes += names.count
            defer { if table.writes >= Self.sweep { table.writes = 0 } }
            return table.writes >= Self.sweep
        }
        try? await store.record { [self] transaction in
            try more(transaction)
            for name in names {
                let failures = table.withLock { $0.failures.find(ByteString(name)) }
                if let failures, failures.untilAt > now || failures.count >= count {
                    try transaction.putSignInFailures(failures)
                } else {
                    try transaction.deleteSignInFailures(name)
                }
            }
            if isFull { try transaction.pruneSignInFailures(before: now - Self.memory) }
        }
    }

    /// How many rows may be written before the limit is enforced again.
    private static let sweep = 1_000

    private static func remembered(_ name: String, in table: inout Table, now: Int) -> SignInFailures {
        guard let failures = table.failures.find(ByteString(name)), isRemembered(failures, now: now) else {
            return SignInFailures(name: name)
        }
        return failures
    }

    private static func isRemembered(_ failures: SignInFailures, now: Int) -> Bool {
        now >= failures.lastAt && now - failures.lastAt < memory
    }

    /// Removes the latest try, and the wait that it brought.
    private static func takeBack(_ failures: inout SignInFailures, now: Int) {
        failures.count -= 1
        failures.untilAt = min(failures.untilAt, now)
    }

    private static func count(_ failures: inout SignInFailures, free: Int, now: Int) {
        failures.count += 1
        failures.lastAt = now
        let excess = failures.count - free
        failures.untilAt = excess < 0 ? now : now + min(longest, first << min(excess, 10))
    }
}
