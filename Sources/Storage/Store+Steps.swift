// SPDX-License-Identifier: Apache-2.0

extension Store {
    /// How long a transaction keeps adding work, so that other writers wait only a moment.
    private static var stepTime: Duration { .milliseconds(40) }

    /// Does pieces of work in order, in enough transactions that none is long.
    ///
    /// Others read and write between two of them. Like `record`, it is for changes that affect no cached answer.
    public func recordInSteps(_ pieces: [@Sendable (any WriteTransaction) throws -> Void]) async throws {
        var done = 0
        while done < pieces.count { done = try await record(Self.step(pieces, from: done)) }
    }

    /// Like `recordInSteps`, for what only a later write makes visible, as in `stage`.
    public func stageInSteps(_ pieces: [@Sendable (any WriteTransaction) throws -> Void]) async throws {
        var done = 0
        while done < pieces.count { done = try await stage(Self.step(pieces, from: done)) }
    }

    /// Returns a transaction that does as many pieces as its time allows; it returns the place of the next one.
    private static func step(
        _ pieces: [@Sendable (any WriteTransaction) throws -> Void], from first: Int
    ) -> @Sendable (any WriteTransaction) throws -> Int {
        { transaction in
            let start = ContinuousClock.now
            var next = first
            repeat {
                try pieces[next](transaction)
                next += 1
            } while next < pieces.count && ContinuousClock.now - start < stepTime
            return next
        }
    }

    /// Applies `body` to everything that `find` finds, in short transactions, for work that nobody waits for.
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

    /// Repeats work in short transactions until `body` returns that nothing is left.
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
                    // The time for one row depends on its contents.
                    if end - began > Self.stepTime / 2 { size = max(1, size / 2) }
                    if end - began < Self.stepTime / 8 { size = min(512, size * 2) }
                    if end - start > Self.stepTime / 2 { return (true, size) }
                }
            }
            size = next
            if !isLeft { return }
        }
    }

    /// Raises the revision of every item, because the program or its configuration shows each differently.
    public func reviseEverything(now: Int) async throws {
        var position: (circle: String, collection: String, id: String)? = ("", "", "")
        while let last = position {
            position = try await record { try $0.reviseItems(after: last, now: now, limit: 1000) }
        }
        var hash: String? = ""
        while let last = hash { hash = try await record { try $0.touchNotices(after: last, now: now, limit: 1000) } }
    }

    /// Records that every circle's feeds may look different.
    public func touchAllCircles(now: Int) async throws {
        var circle: String? = ""
        while let last = circle {
            circle = try await write { try $0.touchCircles(after: last, now: now, limit: 1000) }
        }
    }
}
