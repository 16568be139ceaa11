// SPDX-License-Identifier: Apache-2.0

extension Store {
    /// How long a transaction keeps adding work, so that other writers wait only for a moment.
    private static var stepTime: Duration { .milliseconds(40) }

    /// Does pieces of work in their order, in as many transactions as it takes for none to be long.
    ///
    /// Others read and write between two of them. For what changes no cached answer, as `record`.
    public func recordInSteps(_ pieces: [@Sendable (any WriteTransaction) throws -> Void]) async throws {
        var done = 0
        while done < pieces.count {
            let first = done
            done = try await record { transaction in
                let start = ContinuousClock.now
                var next = first
                repeat {
                    try pieces[next](transaction)
                    next += 1
                } while next < pieces.count && ContinuousClock.now - start < Self.stepTime
                return next
            }
        }
    }

    /// Removes what is looked for, which nobody has to wait for, in short transactions.
    public func recordForAll<Key: Sendable>(
        _ find: @escaping @Sendable (any ReadTransaction, _ limit: Int) throws -> [Key],
        _ body: @escaping @Sendable (any WriteTransaction, ArraySlice<Key>) throws -> Void
    ) async throws {
        let limit = 5000
        while true {
            let found = try await read { try find($0, limit) }
            try await recordInSteps(
                stride(from: 0, to: found.count, by: 50).map { first in
                    { try body($0, found[first...].prefix(50)) }
                })
            if found.count < limit { return }
        }
    }

    /// Repeats work in short transactions until it says that nothing is left.
    ///
    /// - Parameter body: does as much of the work as it is asked to; returns whether more is left.
    public func recordRepeatedly(
        while isWanted: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable (any WriteTransaction, _ size: Int) throws -> Bool
    ) async throws {
        var size = 32
        while isWanted() {
            let before = size
            let (isLeft, next) = try await record { transaction in
                let start = ContinuousClock.now
                var size = before
                while true {
                    let began = ContinuousClock.now
                    guard try body(transaction, size) else { return (false, size) }
                    let end = ContinuousClock.now
                    // What one row takes depends on what is in it.
                    if end - began > Self.stepTime / 2 { size = max(1, size / 2) }
                    if end - began < Self.stepTime / 8 { size = min(512, size * 2) }
                    if end - start > Self.stepTime / 2 { return (true, size) }
                }
            }
            size = next
            if !isLeft { return }
        }
    }
}

extension Store {
    /// Raises the revision of every item there is, because the program or its configuration shows each differently.
    public func reviseEverything(now: Int) async throws {
        var place: (circle: String, collection: String, id: String)? = ("", "", "")
        while let last = place {
            place = try await record { try $0.reviseItems(after: last, now: now, limit: 1000) }
        }
        var hash: String? = ""
        while let last = hash { hash = try await record { try $0.touchNotices(after: last, now: now, limit: 1000) } }
    }

    /// Notes that every circle's feeds may show something else.
    public func touchAllCircles(now: Int) async throws {
        var circle: String? = ""
        while let last = circle {
            circle = try await write { try $0.touchCircles(after: last, now: now, limit: 1000) }
        }
    }
}
