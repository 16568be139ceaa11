// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials
public import Storage
internal import Synchronization

/// What an app password opens at one moment.
public enum AppPasswordResolution: Sendable {
    case live(AppPassword)
    /// It once opened something and never will again.
    case ended
    /// No such password was ever made.
    case unknown
}

/// App passwords that were looked up, and the key of their hashes.
final class AppPasswordMemory: Sendable {
    private struct Known {
        /// Nil when the password has ended.
        let password: AppPassword?
        let slot: WriteClock.Slot
        /// The clock's time before it was read.
        let asOf: UInt64
    }

    private struct State {
        var key: SymmetricKey?
        var known = LeastRecentlyUsed<ByteString, Known>(limit: 20_000)
    }

    private let clock: WriteClock
    private let state = Mutex(State())

    init(clock: WriteClock) { self.clock = clock }

    var key: SymmetricKey? {
        get { state.withLock { $0.key } }
        set { state.withLock { $0.key = newValue } }
    }

    /// The remembered password, or a remembered end; nil when it has to be looked up.
    func find(_ hash: ByteString, now: Int) -> AppPasswordResolution? {
        guard let known = state.withLock({ $0.known.find(hash) }) else { return nil }
        guard let password = known.password else { return .ended }
        guard clock.isUnchanged(known.slot, since: known.asOf) else { return nil }
        return password.isLive(at: now) ? .live(password) : .ended
    }

    func remember(_ hash: ByteString, _ password: AppPassword?, asOf time: UInt64) {
        let slot = WriteClock.Slot(circle: FeedLedger.scope(ofPasswords: password?.userID ?? ""))
        state.withLock { $0.known.keep(Known(password: password, slot: slot, asOf: time), for: hash, cost: 1) }
    }
}

extension FeedLedger {
    /// The subject that writes to a user's app passwords name. No circle has such an id.
    public static func scope(ofPasswords user: String) -> String { "app passwords \(user)" }

    /// Stores a new app password with a secret of its own.
    public func mint(
        _ new: AppPassword, in transaction: any WriteTransaction
    ) throws -> (password: AppPassword, secret: AppSecret) {
        let secret = AppSecret.make()
        let key: SymmetricKey
        if let stored = try hashKey(in: transaction) {
            key = stored
        } else {
            // All hashes depend on it, so it is sealed and never changes, also when the sealing key does.
            key = SymmetricKey(size: .bits256)
            let text = unsafe key.withUnsafeBytes { unsafe Data($0) }.base64EncodedString()
            try transaction.set(Self.hashKey, to: try self.key.seal(text, for: Self.hashKeyPurpose))
        }
        var password = new
        password.number = try transaction.insertAppPassword(new, hash: secret.hash(under: key))
        return (password, secret)
    }

    /// Looks an app password up by its hash; answers from memory as long as no write has touched its user's.
    ///
    /// An end that was committed before this call is seen. Throws `SealingKey.Failure.wrongKey` when the key of the
    /// hashes was sealed with a key that the server does not have.
    public func resolve(_ secret: AppSecret, now: Int) async throws -> AppPasswordResolution {
        let time = store.clock.now
        if let key = passwords.key {
            let hash = secret.hash(under: key)
            if let known = passwords.find(ByteString(hash), now: now) { return known }
            guard let found = try await store.read({ try $0.appPassword(hash: hash) }) else { return .unknown }
            return remember(hash, found, asOf: time, now: now)
        }
        let look = try await store.read { transaction -> (SymmetricKey, String, HashedAppPassword?)? in
            guard let key = try hashKey(in: transaction) else { return nil }
            let hash = secret.hash(under: key)
            return (key, hash, try transaction.appPassword(hash: hash))
        }
        guard let (key, hash, found) = look else { return .unknown }
        passwords.key = key
        guard let found else { return .unknown }
        return remember(hash, found, asOf: time, now: now)
    }

    private func remember(
        _ hash: String, _ found: HashedAppPassword, asOf time: UInt64, now: Int
    ) -> AppPasswordResolution {
        passwords.remember(ByteString(hash), found.password, asOf: time)
        guard let password = found.password, password.isLive(at: now) else { return .ended }
        return .live(password)
    }

    private func hashKey(in transaction: any ReadTransaction) throws -> SymmetricKey? {
        guard let sealed = try transaction.setting(Self.hashKey) else { return nil }
        guard let data = Data(base64Encoded: try key.open(sealed, for: Self.hashKeyPurpose)) else {
            throw SealingKey.Failure.wrongKey
        }
        return SymmetricKey(data: data)
    }

    /// The setting that holds the key of the hashes, and what it is sealed for.
    package static let hashKey = "appPasswordKey"
    package static let hashKeyPurpose = "settings/appPasswordKey"

    // MARK: Handing out

    /// Keeps a password sealed for whoever has a secret, once and until a time.
    ///
    /// - Parameter fetcher: the hash of the secret.
    /// - Returns: false when a password waits for this secret, or has waited.
    public func handOut(
        _ secret: AppSecret, of password: AppPassword, to fetcher: String, until time: Int,
        in transaction: any WriteTransaction
    ) throws -> Bool {
        try transaction.insertPasswordHandout(
            PasswordHandout(
                hash: fetcher, passwordID: password.id,
                sealed: try key.seal(secret.reveal(), for: Self.purpose(ofHandout: fetcher)), expiresAt: time))
    }

    /// Takes a password that was kept for a secret; nil when it was taken before, has expired or never was.
    public func take(
        for fetcher: String, in transaction: any WriteTransaction, now: Int
    ) throws -> (password: AppPassword, secret: AppSecret)? {
        guard let handout = try transaction.passwordHandout(hash: fetcher), let sealed = handout.sealed,
            try transaction.usePasswordHandout(hash: fetcher, now: now),
            let password = try transaction.appPassword(handout.passwordID), password.isLive(at: now)
        else { return nil }
        guard let secret = AppSecret(text: try key.open(sealed, for: Self.purpose(ofHandout: fetcher))) else {
            throw SealingKey.Failure.wrongKey
        }
        return (password, secret)
    }

    package static func purpose(ofHandout hash: String) -> String { "passwordHandouts/\(hash)" }
}
