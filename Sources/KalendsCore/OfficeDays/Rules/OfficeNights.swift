// SPDX-License-Identifier: Apache-2.0

import Logging
import OfficeDays
import ServiceLifecycle
import Storage

/// Decides at 23:59 in each person's time zone what their day was; nights that the server missed are decided at its
/// start.
package struct OfficeNights: Service {
    let store: any Store
    let shards: ShardWork
    let now: Clock
    let logger: Logger

    private static let pause = Duration.seconds(20)
    /// The maximum number of users that one query finds.
    private static let usersAtOnce = 50
    /// How long a transaction continues with further users, so that other writers wait only for a moment.
    private static let stepTime = Duration.milliseconds(40)

    package func run() async throws {
        await logger.repeatedly(every: Self.pause, failure: "office days cannot be decided") { try await once() }
    }

    /// Decides all nights that are over.
    func once() async throws {
        while true {
            let (now, open) = (now(), shards.open)
            let due = try await store.read {
                try $0.dueOfficeNights(now: now, in: open, limit: Self.usersAtOnce)
            }
            if due.isEmpty { return }
            _ = try await shards.work(in: Shards(of: due)) {
                do {
                    try await decide(due, now: now)
                } catch StorageError.leaseLost {
                    throw StorageError.leaseLost
                } catch is StorageError {
                    // A problem with one user's days must not delay anybody else.
                    for user in due { try await decideOrPostpone(user, now: now) }
                }
            }
        }
    }

    /// Decides the nights of the first users, as many as fit into one transaction.
    private func decide(_ users: [String], now: Int) async throws {
        try await store.write { transaction in
            let start = ContinuousClock.now
            transaction.concernsNamedCirclesOnly()
            for (index, user) in users.enumerated() where index == 0 || ContinuousClock.now - start < Self.stepTime {
                for circle in try transaction.circlesShowingOwn(of: user) { transaction.concerns(circle: circle) }
                var book = try OfficeBook(of: user, seed: "", now: now, in: transaction)
                try book.decideNights(now: now, in: transaction)
            }
        }
    }

    private func decideOrPostpone(_ user: String, now: Int) async throws {
        do {
            try await decide([user], now: now)
        } catch StorageError.leaseLost {
            throw StorageError.leaseLost
        } catch let error as StorageError {
            logger.error("a user's office days cannot be decided", metadata: ["error": "\(publicText(error))"])
            try await store.record { try $0.postponeOfficeNight(of: user, until: now + Self.hour) }
        }
    }

    private static let hour = 3_600_000
}
