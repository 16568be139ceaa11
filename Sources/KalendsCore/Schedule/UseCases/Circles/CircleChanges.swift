// SPDX-License-Identifier: Apache-2.0

import Base
package import Storage

/// The changes in a circle, for programs that keep a copy of it.
package struct CircleChanges: Sendable {
    /// How many days changes are kept, and how many changes of a circle are kept at most.
    package static let keptDays = 90
    package static let keptCount = 100_000

    let acts: Acts

    /// Returns the changes after a number, in order, and the number of the latest change; throws `Refusal` when some of
    /// them are no longer stored.
    package func list(
        in circle: String, after number: Int, limit: Int, for caller: Caller
    ) async throws -> ([CircleChange], latest: Int) {
        try await acts.store.read { transaction in
            _ = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            let numbers = try transaction.changeNumbers(in: circle)
            try Self.check(number, numbers)
            let found = try transaction.changes(in: circle, after: number, seenBy: caller.userID, limit: limit)
            return (found, numbers.latest)
        }
    }

    /// Throws 410 unless all changes after a number are stored.
    static func check(_ number: Int, _ numbers: (oldest: Int, latest: Int)) throws {
        // A number above the latest one means that the database was restored from an earlier copy.
        guard number <= numbers.latest, number + 1 >= numbers.oldest else {
            throw Refusal(
                .gone, code: .changesForgotten,
                detail: "Changes after this number are no longer known. Read the circle again, then go on from "
                    + "latest.", extra: ["oldest": .integer(numbers.oldest), "latest": .integer(numbers.latest)])
        }
    }
}
