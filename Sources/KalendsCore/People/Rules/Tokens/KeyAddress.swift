// SPDX-License-Identifier: Apache-2.0

import Outbound

/// Public keys at an address, which are fetched when needed and kept while it cannot be reached.
actor KeyAddress: KeySource {
    /// The largest document that is read, in bytes.
    static let limit = 1 << 20
    /// The time after which the keys are fetched again, in milliseconds.
    private static let fresh = 15 * 60_000
    /// The shortest time between two fetches, in milliseconds, however often unknown keys are asked for.
    private static let pause = 60_000
    private static let patience = Duration.seconds(10)

    private let url: Concealed
    private let intake: Intake
    private let leastBits: Int
    private var keys: KeySet?
    private var fetchedAt = 0
    private var triedAt: Int?
    /// Whether the last try failed.
    private var isDown = false
    /// The fetch under way, which everybody who waits shares.
    private var running: Task<Void, Never>?

    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init(_ url: Concealed, _ intake: Intake, leastBits: Int) {
        (self.url, self.intake, self.leastBits) = (url, intake, leastBits)
    }

    func keys(for token: SignedToken, now: Int) async -> [VerifyingKey] {
        if keys == nil || now - fetchedAt >= Self.fresh || now < fetchedAt {
            // While the address is known not to answer, a token whose key is here does not wait for it.
            let isHere = keys?.keys(for: token).isEmpty == false
            if isDown, isHere { begin(now) } else { await refresh(now) }
        }
        let found = keys?.keys(for: token) ?? []
        guard found.isEmpty else { return found }
        await refresh(now)
        return keys?.keys(for: token) ?? []
    }

    /// Waits for a fetch if one is under way or it is time for another.
    private func refresh(_ now: Int) async {
        begin(now)
        await running?.value
    }

    private func begin(_ now: Int) {
        guard running == nil else { return }
        if let triedAt, now >= triedAt, now - triedAt < Self.pause { return }
        triedAt = now
        running = Task { await take(Self.fetched(url, intake, leastBits), at: now) }
    }

    private func take(_ new: KeySet?, at now: Int) {
        running = nil
        isDown = new == nil
        guard let new else { return }
        keys = new
        fetchedAt = now
    }

    /// Fetches the keys at the address; returns nil unless the answer is 200 with a document.
    private static func fetched(_ url: Concealed, _ intake: Intake, _ leastBits: Int) async -> KeySet? {
        // Only one small document is fetched at a time, and nobody can sign in without it, so it is counted but never
        // refused.
        let holding = intake.memory.enterAlways(.keys)
        defer { withExtendedLifetime(holding) {} }
        guard
            let bytes = try? await withThrowingTaskGroup(
                of: [UInt8].self,
                body: { group in
                    group.addTask { try await document(url, holding) }
                    group.addTask {
                        try await Task.sleep(for: patience)
                        throw CancellationError()
                    }
                    defer { group.cancelAll() }
                    return try await group.next() ?? []
                })
        else { return nil }
        return await KeySet(bytes, leastBits: leastBits)
    }

    private static func document(_ url: Concealed, _ holding: FairPool.Holding) async throws -> [UInt8] {
        try await OperatorClient.with { client in
            var document: [UInt8] = []
            let accept = (name: "Accept", value: "application/jwk-set+json, application/json")
            let answer = try await client.send("GET", url.reveal(), headers: [accept]) { part in
                guard document.count + part.count <= limit else { throw CancellationError() }
                holding.growAlways(by: part.count)
                document += part
                return true
            }
            guard answer.status == 200 else { throw CancellationError() }
            return document
        }
    }
}
