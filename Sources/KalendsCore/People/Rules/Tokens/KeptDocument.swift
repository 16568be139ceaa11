// SPDX-License-Identifier: Apache-2.0

/// What a document at an address says, which is fetched when needed and kept while it cannot be had.
actor KeptDocument<Value: Sendable> {
    /// The time after which it is fetched again, in milliseconds.
    private let fresh = 15 * 60_000
    /// The shortest time between two fetches, in milliseconds, however often it does not suffice.
    private let pause = 60_000

    private let fetch: @Sendable () async -> Value?
    private var value: Value?
    private var fetchedAt = 0
    private var triedAt: Int?
    /// Whether the last try failed.
    private var isDown = false
    /// The fetch under way, which everybody who waits shares.
    private var running: Task<Void, Never>?

    /// - Parameter fetch: returns nil if the document cannot be had.
    init(_ fetch: @escaping @Sendable () async -> Value?) { self.fetch = fetch }

    /// Returns the value; nil until it could be fetched once.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - suffices: whether the value has what the caller needs; if not, it is fetched again.
    func value(now: Int, _ suffices: @Sendable (Value) -> Bool = { _ in true }) async -> Value? {
        if value == nil || now - fetchedAt >= fresh || now < fetchedAt {
            // While the address is known not to answer, nobody waits for it who has what they need.
            if isDown, value.map(suffices) == true { begin(now) } else { await refresh(now) }
        }
        if let value, suffices(value) { return value }
        await refresh(now)
        return value
    }

    /// Waits for a fetch if one is under way or it is time for another.
    private func refresh(_ now: Int) async {
        begin(now)
        await running?.value
    }

    private func begin(_ now: Int) {
        guard running == nil else { return }
        if let triedAt, now >= triedAt, now - triedAt < pause { return }
        triedAt = now
        running = Task { await take(fetch(), at: now) }
    }

    private func take(_ new: Value?, at now: Int) {
        running = nil
        isDown = new == nil
        guard let new else { return }
        value = new
        fetchedAt = now
    }
}
