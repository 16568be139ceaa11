// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The changes in a circle, or in all circles, for programs that keep a copy of them.
///
/// Those of one circle are counted by its own numbers, those of all by a number that rises over all circles.
package struct CircleChanges: Sendable {
    /// The number of days for which changes are kept, and the maximum number of kept changes per circle.
    package static let keptDays = 90
    package static let keptCount = 100_000

    /// Some changes in order, and the number of the latest one.
    package struct Found: Sendable {
        package let changes: [CircleChange]
        package let latest: Int
    }

    let acts: Acts

    /// Returns the changes after a number; throws `Refusal` when some of them are no longer stored.
    ///
    /// - Parameters:
    ///   - circle: nil for all circles, which only the installation may see.
    ///   - number: changes with higher numbers are returned; nil returns none, and only the latest number.
    package func list(
        in circle: String?, after number: Int?, limit: Int, for caller: Caller
    ) async throws -> Found {
        if circle == nil, caller.isInstallation { try await acts.store.orderChanges() }
        if circle == nil, let number, let bound = caller.identity.bound {
            return try await list(within: bound, after: number, limit: limit, for: caller)
        }
        return try await acts.store.read { transaction in
            let (oldest, latest) = try Self.span(of: circle, for: caller, in: transaction)
            guard let number else { return Found(changes: [], latest: latest) }
            try Self.check(number, (oldest, latest), what: circle == nil ? "everything" : "the circle")
            let found =
                if let circle {
                    try transaction.changes(
                        in: circle, after: number, seenBy: caller.userID,
                        leavesOutOwn: caller.identity.bound != nil, limit: limit)
                } else {
                    try transaction.changes(afterSequence: number, limit: limit)
                }
            return Found(changes: found, latest: latest)
        }
    }

    /// Looks for the changes of a few circles among those of all, by short reads.
    private func list(
        within bound: CircleBound, after number: Int, limit: Int, for caller: Caller
    ) async throws -> Found {
        var (changes, position): ([CircleChange], Int) = ([], number)
        while true {
            let (start, left) = (position, limit - changes.count)
            let (found, end, latest) = try await acts.store.read { transaction in
                let numbers = try Self.span(of: nil, for: caller, in: transaction)
                try Self.check(start, numbers, what: "everything")
                let (found, end) = try transaction.changes(afterSequence: start, within: bound, limit: left)
                return (found, end, numbers.latest)
            }
            changes += found
            if changes.count >= limit || end >= latest { return Found(changes: changes, latest: latest) }
            position = end
        }
    }

    /// Throws 410 unless all changes after a number are stored.
    ///
    /// - Parameter what: what the caller has to read again.
    static func check(_ number: Int, _ numbers: (oldest: Int, latest: Int), what: String = "the circle") throws {
        // A number above the latest one means that the database was restored from an earlier copy.
        guard number <= numbers.latest, number + 1 >= numbers.oldest else {
            throw Refusal(
                .gone, code: .changesForgotten,
                detail: "Changes after this number are no longer known. Read \(what) again, then go on from "
                    + "latest.", extra: .changes(oldest: numbers.oldest, latest: numbers.latest))
        }
    }

    /// Returns the numbers of the oldest change after which none is missing, and of the latest.
    private static func span(
        of circle: String?, for caller: Caller, in transaction: any ReadTransaction
    ) throws -> (oldest: Int, latest: Int) {
        guard let circle else {
            _ = try Rights.everything(for: caller.identity, in: transaction)
            return (try transaction.forgottenChange() + 1, try transaction.latestChange())
        }
        _ = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
        return try transaction.changeNumbers(in: circle)
    }
}
