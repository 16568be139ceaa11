// SPDX-License-Identifier: Apache-2.0

import Outbound

/// Public keys at an address, which are fetched when needed and kept while it cannot be reached.
struct KeyAddress: KeySource {
    /// The largest document that is read, in bytes.
    static let limit = 1 << 20
    static let patience = Duration.seconds(10)

    private let document: KeptDocument<KeySet>

    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init(_ url: Concealed, _ intake: Intake, leastBits: Int) {
        document = KeptDocument { await Self.fetched(url, intake, leastBits) }
    }

    /// - Parameter fetch: returns nil if the document cannot be had.
    init(leastBits: Int, _ fetch: @escaping @Sendable () async -> [UInt8]?) {
        document = KeptDocument {
            guard let bytes = await fetch() else { return nil }
            return await KeySet(bytes, leastBits: leastBits)
        }
    }

    func keys(for token: SignedToken, now: Int) async -> [VerifyingKey] {
        await document.value(now: now) { !$0.keys(for: token).isEmpty }?.keys(for: token) ?? []
    }

    /// Fetches the keys at the address; returns nil unless the answer is 200 with a document.
    private static func fetched(_ url: Concealed, _ intake: Intake, _ leastBits: Int) async -> KeySet? {
        // Only one small document is fetched at once, and nobody can sign in without it, so it is counted but never
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
