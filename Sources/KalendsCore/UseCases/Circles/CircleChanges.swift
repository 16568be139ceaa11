// SPDX-License-Identifier: Apache-2.0

import Base
package import Storage

/// What happened in a circle, for programs that keep a copy of it.
package struct CircleChanges: Sendable {
    /// How long changes are kept, and how many of a circle.
    package static let keptDays = 90
    package static let keptCount = 100_000

    let acts: Acts

    /// Changes after a number, in order, and the number of the latest one; throws `Refusal` when some of them are
    /// forgotten.
    package func list(
        in circle: String, after number: Int, limit: Int, for caller: Caller
    ) async throws -> ([CircleChange], latest: Int) {
        try await acts.store.read { transaction in
            _ = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            let (oldest, latest) = try transaction.changeNumbers(in: circle)
            // Ahead of all there is: the database was put back to what it was before.
            guard number <= latest, number + 1 >= oldest else {
                throw Refusal(
                    .gone, code: .changesForgotten,
                    detail: "Changes after this number are no longer known. Read the circle again, then go on from "
                        + "latest.", extra: ["oldest": .integer(oldest), "latest": .integer(latest)])
            }
            let found = try transaction.changes(in: circle, after: number, seenBy: caller.userID, limit: limit)
            return (found, latest)
        }
    }
}
