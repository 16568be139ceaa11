// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import Storage
import Synchronization

/// Decides which connections run in this process, and how many at once: one run per connection, a few per user and per
/// host, and a number of places for each provider, so that a slow provider does not delay the others.
package final class SyncScheduler: Sendable {
    /// The place that runs share: a provider, or a host if users give the addresses.
    struct Gate: Hashable, Sendable {
        var provider: Connection.Provider
        /// The host; nil if all accounts are at one provider.
        var host: ByteString?

        init(_ provider: Connection.Provider, account: String?) {
            self.provider = provider
            guard provider == .caldav, let account else { return }
            // For CalDAV, the account's name is an address.
            let parts = account.split(separator: "/", maxSplits: 2)
            if parts.count > 1, parts[0].hasSuffix(":") { host = ByteString(parts[1]) }
        }

        init(_ own: DueSync) { self.init(own.provider, account: own.accountID) }
    }

    /// Whether a run may begin, and why not.
    enum Admission: Hashable, Sendable {
        case entered
        /// The connection is already running.
        case running
        /// Other runs of the same user have to end first, or the provider has asked the account to wait.
        case userWaits
        /// Other runs with the same provider or host have to end first, or it has asked everybody to wait.
        case full
    }

    private struct State {
        var slots: [ByteString: (gate: Gate, user: ByteString)] = [:]
        var ofProvider: [Connection.Provider: Int] = [:]
        var atGate: [Gate: Int] = [:]
        var ofUser: [ByteString: Int] = [:]
        /// The paces of gates that are not back to normal.
        var paces: [Gate: ProviderPace] = [:]
        /// Until when the accounts wait that their provider has asked to.
        var waits: [ByteString: Int] = [:]
        /// Runs that wait for memory.
        var waitingForRoom = 0
        /// Users whose last run was short, so that no other run waited for its memory.
        var quick = LeastRecentlyUsed<ByteString, Bool>(limit: 100_000)
        /// When a run last found all places of its provider taken.
        var crowdedAt: [Connection.Provider: ContinuousClock.Instant] = [:]
        /// The hashes of secrets that came with first messages of channels that were not known yet.
        var early = LeastRecentlyUsed<ByteString, String>(limit: 1_000)
        /// What each provider's day holds, and when that was looked at.
        var forecasts: (found: [RequestForecast], at: Int)?
        /// Leases that are being given back, by connection and holder.
        var returns: [ByteString: Task<Void, Never>] = [:]
        var sleeper: CheckedContinuation<Void, Never>?
        var isAwake = false
        /// Whether something is due that the last query did not find.
        var isNews = true
        var isClosing = false
        /// How many shards of the work this server has.
        var shards = Shards.count

        func waits(_ account: ByteString?, _ now: Int) -> Bool {
            account.flatMap { waits[$0] }.map { now < $0 } ?? false
        }

        mutating func take(_ id: ByteString, at gate: Gate, of user: ByteString) {
            slots[id] = (gate, user)
            ofProvider[gate.provider, default: 0] += 1
            atGate[gate, default: 0] += 1
            ofUser[user, default: 0] += 1
        }
    }

    /// The holder to whom leases are given, of runs and of everything else that one server at a time does.
    package let holder = FeedLedger.makeID()
    /// How often one user can have their calendars searched for a preview.
    let users = RateLimit(burst: 120, span: 1_000)
    /// How often one user can request a run; there is a limit because each run leaves a record.
    let requestLimit = RateLimit(burst: 300, span: 1_000)
    let metrics = SyncMetrics()
    let requests = RequestCounter()
    /// What the providers answer.
    let answers: ForeignAnswers
    private let state = Mutex(State())

    package init(_ limits: ConnectionLimits = ConnectionLimits()) {
        answers = ForeignAnswers(limit: limits.providerMemory)
    }

    /// The maximum number of simultaneous runs for each provider, for one user, and with one host. The limit for one
    /// host is divided among the servers by their shards; each has at least one.
    static let perProvider = 32
    static let perUser = 2
    static let perHost = 8
    /// The maximum number of hosts and providers whose requests to wait are remembered.
    private static let mostPaces = 10_000
    /// How long a quick run keeps its room at most while others wait.
    private static let patience = Duration.seconds(1)
    /// For how long a provider counts as crowded after a run found no place.
    private static let crowded = Duration.seconds(3)

    /// Takes a place for a run.
    func enter(_ own: DueSync, now: Int) -> Admission {
        let (id, gate, user) = (ByteString(own.id), Gate(own), ByteString(own.userID))
        return state.withLock { state in
            guard !state.isClosing else { return .full }
            guard state.ofProvider[own.provider, default: 0] < Self.perProvider else {
                state.crowdedAt[own.provider] = .now
                return .full
            }
            let limit = min(
                state.paces[gate]?.limit(now: now) ?? .max,
                gate.host == nil ? Self.perProvider : max(1, Self.perHost * state.shards / Shards.count))
            guard state.atGate[gate, default: 0] < limit else { return .full }
            guard state.slots[id] == nil else { return .running }
            guard state.ofUser[user, default: 0] < Self.perUser, !state.waits(own.account, now) else {
                return .userWaits
            }
            state.take(id, at: gate, of: user)
            return .entered
        }
    }

    /// Notes which shards of the work this server has.
    func note(_ shards: Shards) {
        state.withLock { $0.shards = shards.numbers.count }
        requests.note(shards)
    }

    /// Takes a place for a run that a phone is waiting for; only a run of the same connection has to end first, because
    /// no request is sent to a provider.
    func enterAsked(_ own: Connection) -> Bool {
        let (id, gate) = (ByteString(own.id), Gate(own.provider, account: own.accountID))
        return state.withLock { state in
            guard !state.isClosing, state.slots[id] == nil else { return false }
            state.take(id, at: gate, of: ByteString(own.userID))
            return true
        }
    }

    func leave(_ id: String) {
        state.withLock { state in
            guard let index = state.slots.removeValue(forKey: ByteString(id)) else { return }
            state.ofProvider[index.gate.provider, default: 1] -= 1
            Self.lower(&state.atGate, index.gate)
            Self.lower(&state.ofUser, index.user)
        }
        rouse()
    }

    /// Waits for memory, while runs with slow providers give way.
    func waitingForRoom<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.waitingForRoom += 1 }
        defer { state.withLock { $0.waitingForRoom -= 1 } }
        return try await work()
    }

    /// How many wait for the room of runs.
    var awaitingRoom: Int { state.withLock(\.waitingForRoom) }

    /// How many wait for what runs with this provider have taken.
    func awaiting(_ provider: Connection.Provider) -> Int {
        state.withLock { state in
            let isCrowded = state.crowdedAt[provider].map { .now - $0 < Self.crowded } ?? false
            return max(state.waitingForRoom, isCrowded ? 1 : 0)
        }
    }

    /// Whose turn it is when a user's run waits for room: users whose last run was quick have turns of their own, and all
    /// others together one, so that nobody waits for many strangers.
    func turn(of user: String) -> ByteString {
        state.withLock { $0.quick.find(ByteString(user)) != nil } ? ByteString(user) : ""
    }

    /// Remembers whether a user's run kept its room for long while others waited.
    fileprivate func noteRoom(of user: ByteString, for time: Duration) {
        state.withLock { state in
            if time > Self.patience, state.waitingForRoom > 0 {
                state.quick.remove(user)
            } else {
                state.quick.keep(true, for: user, cost: 1)
            }
        }
    }

    /// The number of runs under way, by provider.
    var running: [Connection.Provider: Int] { state.withLock { $0.ofProvider } }

    private static func full(_ gate: Gate) -> Int { gate.host == nil ? perProvider : perHost }

    private static func lower<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
    }

    // MARK: Leases

    /// Gives back the lease of work that could not be ended, as soon as the database can be written to.
    ///
    /// A lease lasts for minutes, so that without this a database that was gone for a moment would keep every
    /// connection that was running from running again for that long.
    func giveBack(_ id: String, of holder: String, in store: any Store) {
        let key = Self.key(id, holder)
        state.withLock { state in
            guard !state.isClosing, state.returns[key] == nil else { return }
            state.returns[key] = Task {
                defer { self.state.withLock { $0.returns[key] = nil } }
                let end = ContinuousClock.now + .milliseconds(DatabaseSyncStore.leaseTime)
                var pause = Duration.milliseconds(100)
                while !Task.isCancelled, ContinuousClock.now < end {
                    do {
                        // The lease belongs to this holder, even if another server now does the other work.
                        try await HeldLeases.$current.withValue([]) {
                            try await store.record { try $0.endSyncLease(of: id, for: holder) }
                        }
                        return wake()
                    } catch {
                        try? await Task.sleep(for: pause)
                        pause = min(pause * 2, .seconds(5))
                    }
                }
            }
        }
    }

    /// Ends an attempt to give a lease back, before the same holder takes it again.
    func keep(_ id: String, of holder: String) async {
        guard let task = state.withLock({ $0.returns[Self.key(id, holder)] }) else { return }
        task.cancel()
        await task.value
    }

    private static func key(_ id: String, _ holder: String) -> ByteString { ByteString("\(id) \(holder)") }

    // MARK: Providers that ask to wait

    /// Records how a run's provider answered: if it asks an account to wait, that account waits; if it asks everybody, all
    /// accounts do.
    ///
    /// - Parameter failure: nil for a run that ended without a failure.
    func note(_ failure: ProviderFailure?, of own: Connection, now: Int) {
        note(
            failure, at: Gate(own.provider, account: own.accountID), user: own.userID,
            account: Self.account(own.provider, own.accountID), now: now)
    }

    func note(_ failure: ProviderFailure?, at gate: Gate, user: String, account: ByteString? = nil, now: Int) {
        let wait = failure?.wait(at: gate.provider)
        if wait != nil { metrics.countWait(gate.provider) }
        state.withLock { state in
            if let wait, !wait.isForAll, let account {
                if state.waits.count >= Self.mostPaces { state.waits = state.waits.filter { now < $0.value } }
                state.waits[account] = now + min(max(wait.seconds ?? 5, 1), 86_400) * 1000
            }
            guard wait != nil || state.paces[gate] != nil else { return }
            var pace = state.paces[gate] ?? ProviderPace(full: Self.full(gate))
            if let wait {
                pace.noteWait(wait.seconds, of: user, isForAll: wait.isForAll, now: now)
            } else if failure == nil {
                pace.noteTaken(now: now)
            }
            if state.paces.count >= Self.mostPaces { state.paces = state.paces.filter { !$0.value.isUsual(now: now) } }
            state.paces[gate] = pace.isUsual(now: now) ? nil : pace
        }
    }

    /// Returns the seconds for which a connection's provider has asked its account to wait; nil if it has not.
    func wait(of own: Connection, now: Int) -> Int? {
        let until = Self.account(own.provider, own.accountID).flatMap { account in state.withLock { $0.waits[account] }
        }
        return until.flatMap { now < $0 ? ($0 - now + 999) / 1000 : nil }
    }

    fileprivate static func account(_ provider: Connection.Provider, _ id: String?) -> ByteString? {
        id.map { ByteString("\(provider.rawValue) \($0)") }
    }

    // MARK: Channels

    /// Remembers the first message of a channel that is not known yet.
    func noteEarly(_ channel: String, _ secretHash: String) {
        state.withLock { $0.early.keep(secretHash, for: ByteString(channel), cost: 1) }
    }

    /// Whether the first message of a channel came before its provider's answer.
    func heardEarly(_ channel: String, _ secretHash: String) -> Bool {
        state.withLock { $0.early.find(ByteString(channel)) }.map { $0.utf8.isSameSecret(as: secretHash.utf8) } ?? false
    }

    // MARK: The day's requests

    /// Returns what each provider's day holds, unless that is older than a minute.
    func forecasts(now: Int) -> [RequestForecast]? {
        state.withLock { $0.forecasts }.flatMap { (0..<60_000).contains(now - $0.at) ? $0.found : nil }
    }

    func keep(_ found: [RequestForecast], now: Int) { state.withLock { $0.forecasts = (found, now) } }

    /// The factor by which the intervals of a provider's connections are longer, so that its requests of the day suffice.
    func stretch(_ provider: Connection.Provider) -> Double {
        state.withLock { $0.forecasts }?.found.first { $0.provider == provider }?.stretch ?? 1
    }

    // MARK: Waking

    /// Makes the scheduler query the database at once, because something has become due.
    func wake() {
        state.withLock { $0.isNews = true }
        rouse()
    }

    /// Returns whether something has become due since the last call.
    func takeNews() -> Bool {
        state.withLock { state in
            defer { state.isNews = false }
            return state.isNews
        }
    }

    /// Ends the pause of the scheduler.
    private func rouse() {
        let sleeper = state.withLock { state in
            defer { state.sleeper = nil }
            state.isAwake = state.sleeper == nil
            return state.sleeper
        }
        sleeper?.resume()
    }

    /// Waits for the given time, or until it is woken.
    func pause(_ time: Duration) async {
        let timer = Task {
            try await Task.sleep(for: time)
            rouse()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAwake = state.withLock { state in
                    if state.isAwake {
                        state.isAwake = false
                        return true
                    }
                    state.sleeper = continuation
                    return false
                }
                if isAwake { continuation.resume() }
            }
        } onCancel: {
            rouse()
        }
        timer.cancel()
    }

    /// Stops new runs from beginning, and waits up to ten seconds for those under way.
    package func close() async {
        let returns = state.withLock { state in
            state.isClosing = true
            return Array(state.returns.values)
        }
        for task in returns { task.cancel() }
        for task in returns { await task.value }
        for _ in 0..<500 where state.withLock({ !$0.slots.isEmpty }) { try? await Task.sleep(for: .milliseconds(20)) }
    }
}

/// The room of a run or a preview.
final class RunRoom: Sendable {
    private let scheduler: SyncScheduler
    private let user: ByteString
    private let share: MemoryShare
    private let began = ContinuousClock.now

    init(_ share: MemoryShare, of user: String, at scheduler: SyncScheduler) {
        (self.scheduler, self.user, self.share) = (scheduler, ByteString(user), share)
    }

    deinit { scheduler.noteRoom(of: user, for: .now - began) }
}

extension DueSync {
    fileprivate var account: ByteString? { SyncScheduler.account(provider, accountID) }
}
