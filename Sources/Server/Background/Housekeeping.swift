// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
package import Logging
import ServiceLifecycle
import Storage

/// The regular work of a running server.
package struct Housekeeping: Service {
    private let services: Services
    private let logger: Logger
    private let prunes: Bool

    /// - Parameter prunes: whether this server removes old data; of several servers, only one does.
    package init(services: Services, logger: Logger, prunes: Bool = true) {
        (self.services, self.logger, self.prunes) = (services, logger, prunes)
    }

    /// How many days runs without changes are listed: with many connections they are most of the stored data.
    private static let idleRunDays = 1
    private static let idleRunsLookedAt = 7

    /// How long a change by a program that ignores our lock can remain unnoticed.
    private static let foreignChange = Duration.milliseconds(250)

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                if prunes { group.addTask { await prune() } }
                group.addTask { await lookForForeignChanges() }
            }
        }
    }

    private func lookForForeignChanges() async {
        var wasInPlace = true
        while (try? await Task.sleep(for: Self.foreignChange)) != nil {
            // A failure here is the database's, and every request that is affected reports it.
            try? await services.maintenance.lookForForeignChange()
            let isInPlace = services.maintenance.isInPlace
            if isInPlace != wasInPlace { report(isInPlace) }
            wasInPlace = isInPlace
        }
    }

    private func report(_ isInPlace: Bool) {
        let database: Logger.Metadata = ["database": "\(services.settings.shownDatabase)"]
        if isInPlace {
            logger.notice("the database is in its place again", metadata: database)
        } else {
            logger.critical(
                """
                the database or its log was deleted or replaced: no change is accepted until it is back; \
                `kalends backup FILE` saves what this process has open
                """, metadata: database)
        }
    }

    /// Removes old data in short transactions.
    package func prune(_ now: Int) async throws {
        let (store, kept, day) = (services.store, services.settings.retention, 86_400_000)
        let trusted = try await store.record { transaction in
            // At most one day per hour, so that a clock which jumps ahead for a while removes little.
            let last = try transaction.setting("prunedAt").flatMap { Int($0) } ?? now
            let trusted = min(now, last + day)
            try transaction.set("prunedAt", to: String(trusted))
            return trusted
        }
        try await store.recordRepeatedly {
            try $0.pruneAccesses(
                before: trusted - kept.accesses * day, daysBefore: trusted - kept.accessCounts * day,
                now: max(now, trusted), limit: $1)
        }
        try await store.recordForAll(
            { try $0.oldChanges(before: trusted - CircleChanges.keptDays * day, limit: $1) },
            { try $0.deleteChanges($1) })
        for circle in try await store.read({ try $0.circlesWithManyChanges(CircleChanges.keptCount) }) {
            try await store.recordRepeatedly {
                try $0.pruneChanges(in: circle, keeping: CircleChanges.keptCount, limit: $1)
            }
        }
        try await store.recordRepeatedly {
            try $0.pruneKeptContents(before: trusted - kept.activity * day, limit: $1)
        }
        try await store.recordRepeatedly {
            try $0.pruneOwnRemovals(before: trusted - OwnCalendars.keptDays * day, limit: $1)
        }
        for calendar in try await store.read({ try $0.ownCalendarsWithManyRemovals(OwnCalendars.keptCount) }) {
            try await store.recordRepeatedly {
                try $0.pruneOwnRemovals(of: calendar, keeping: OwnCalendars.keptCount, limit: $1)
            }
        }
        try await store.recordForAll(
            { try $0.finishedDeliveries(before: now - kept.deliveries * day, limit: $1) },
            { try $0.deleteDeliveries($1) })
        try await store.recordRepeatedly { try $0.prunePreviews(before: now - kept.previews * day, limit: $1) }
        try await store.recordRepeatedly { try $0.pruneImports(before: trusted - kept.imports * day, limit: $1) }
        try await store.recordForAll(
            { try $0.endedSessions(now: min(now, trusted), limit: $1) }, { try $0.deleteSessions($1) })
        let old = trusted - kept.runs * day
        try await store.recordRepeatedly { try $0.pruneAuthorizations(before: now, limit: $1) }
        try await store.recordRepeatedly {
            try $0.pruneSignInLinks(before: min(now, trusted) - SignInLink.memory, limit: $1)
        }
        try await store.record { try $0.pruneOperatorSessions(now: now) }
        try await store.recordRepeatedly {
            try $0.prunePasswordHandouts(now: min(now, trusted), limit: $1)
        }
        try await store.recordRepeatedly {
            try $0.prunePushRegistrations(now: min(now, trusted), limit: $1)
        }
        try await store.recordRepeatedly {
            try $0.pruneAppPasswords(endedBefore: trusted - AppPassword.memory, limit: $1)
        }
        try await store.recordRepeatedly { try $0.pruneKeptAnswers(now: min(now, trusted), limit: $1) }
        try await store.recordRepeatedly { try $0.pruneSyncJournal(before: old, limit: $1) }
        try await store.recordRepeatedly { try $0.pruneSyncRuns(before: old, limit: $1) }
        try await store.recordRepeatedly { try $0.pruneRequests(now: min(now, trusted), limit: $1) }
        let idle = trusted - Self.idleRunDays * day
        try await store.recordRepeatedly {
            try $0.pruneIdleSyncRuns(from: idle - Self.idleRunsLookedAt * day, before: idle, limit: $1)
        }
        try await store.recordRepeatedly { try $0.pruneSyncConflicts(before: old, limit: $1) }
        try await store.recordRepeatedly {
            try $0.pruneSyncLinks(before: trusted - kept.deletions * day, limit: $1)
        }
        // Both tables are small, since their rows are limited.
        try await store.record { transaction in
            try transaction.pruneSignInFailures(before: trusted - SignInThrottle.memory)
            try transaction.pruneSignInHomes()
        }
    }

    /// Removes old data every hour, until it is cancelled.
    func prune() async {
        do {
            while !Task.isCancelled {
                let now = services.now()
                do {
                    try await prune(now)
                    try await services.tidying.tidy()
                } catch {
                    logger.error("pruning failed", metadata: ["error": "\(publicText(error))"])
                }
                try await Task.sleep(for: .seconds(3600))
            }
        } catch {
            // Only the sleep throws, when the server ends.
        }
    }
}
