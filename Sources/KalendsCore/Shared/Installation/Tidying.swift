// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Removes rows that are no longer shown, and finishes what was interrupted when a process ended. All of it happens in
/// the background, in short transactions.
package final class Tidying: Sendable {
    let store: any Store
    let maintenance: any StoreMaintenance
    let turns: CircleLock
    let titles: NamesInTitles
    let now: Clock

    package init(
        _ store: any Store, _ maintenance: any StoreMaintenance, _ turns: CircleLock, _ kinds: ItemKinds,
        now: @escaping Clock
    ) {
        (self.store, self.maintenance, self.turns, self.now) = (store, maintenance, turns, now)
        titles = kinds.namesInTitles
    }

    /// Whether the server is about to end.
    var isClosing: Bool { turns.isClosing }

    /// How many versions may stay until the next hourly run: feeds are updated from them, change by change.
    private static let fewVersions = 1000

    /// Does work in the background; if it fails, it is tried again every hour and at the next start.
    func later(_ work: @escaping @Sendable () async throws -> Void) {
        turns.later { try? await work() }
    }

    func repeatedly(
        _ body: @escaping @Sendable (any WriteTransaction, _ size: Int) throws -> Bool
    ) async throws {
        try await store.recordRepeatedly(while: { !self.turns.isClosing }, body)
    }

    /// Removes what an import no longer needs, and the versions of events that it replaced if there are many.
    func afterImport(_ id: String, in circle: String) {
        later {
            try await self.repeatedly { try $0.trimItems(ofImport: id, limit: $1) }
            try await self.sweepIfMany(in: circle)
        }
    }

    func afterUpdate(in circle: String) { later { try await self.sweepIfMany(in: circle) } }

    /// Removes an import that has been forgotten.
    func afterForgetting(_ id: String) { later { try await self.purge(import: id) } }

    private func purge(import id: String) async throws {
        try await repeatedly { try $0.purgeForgottenImport(id, limit: $1) }
    }

    private func sweepIfMany(in circle: String) async throws {
        let count = try await store.read { try $0.endedVersions(in: circle, limit: Self.fewVersions) }
        if count >= Self.fewVersions { try await sweep(circle) }
    }

    private func sweep(_ circle: String) async throws {
        try await turns.alone(in: circle) {
            try await self.repeatedly { try $0.sweepEvents(in: circle, limit: $1) }
        }
    }

    /// Removes what is left of a deleted circle; returns when everything is gone.
    func purge(circle: String) async throws {
        // Later connections of a circle with the same id continue with the marks of these.
        try await purgeConnections()
        try await turns.alone(in: circle) {
            guard try await self.store.read({ try $0.isBeingRemoved(circle: circle) }) else { return }
            try await self.repeatedly { try $0.purgeCircle(circle, limit: $1) }
        }
    }

    func afterDeleting(circle: String) { later { try await self.purge(circle: circle) } }

    /// Removes what is stored about connections that have ended, unless runs have to do that; returns when everything
    /// is gone.
    private func purgeConnections() async throws {
        for id in try await store.read({ try $0.connectionsBeingRemoved(limit: 10_000) }) {
            try await purge(connection: id)
        }
    }

    /// Removes what is stored about a connection that was deleted; returns when everything is gone.
    private func purge(connection id: String) async throws {
        try await repeatedly { try $0.purgeConnection(id, limit: $1) }
    }

    /// Removes what is stored about a connection that was deleted; what cannot be removed now is removed later.
    func afterDeleting(connection id: String) async { try? await purge(connection: id) }

    func afterEndingConnections() { later { try await self.purgeConnections() } }

    /// Raises the revisions of items that show changed data, if that is still due.
    func revise(in circle: String) async throws {
        guard try await store.read({ try $0.hasRevisionsDue(in: circle) }) else { return }
        let now = now()
        var isLeft = true
        while isLeft {
            isLeft = try await store.write { [titles] transaction in
                transaction.concerns(circle: circle)
                return try transaction.reviseSomeDue(in: circle, titles, now: now)
            }
        }
    }

    /// Removes what is left of an own calendar that was deleted.
    private func purge(ownCalendar id: String) async throws {
        try await repeatedly { try $0.purgeOwnCalendar(id, limit: $1) }
    }

    func afterDeleting(ownCalendar id: String) { later { try await self.purge(ownCalendar: id) } }

    // MARK: At every start, and every hour

    /// Finishes what the last process left unfinished.
    ///
    /// - Parameter interrupted: imports that it did not finish.
    package func begin(after interrupted: [String]) {
        later {
            for id in interrupted { try await self.repeatedly { try $0.trimItems(ofImport: id, limit: $1) } }
            for circle in try await self.store.read({ try $0.circlesWithStagedEvents(limit: 10_000) }) {
                try await self.turns.alone(in: circle) { try await EventStaging.discard(in: circle, self.store) }
            }
            for circle in try await self.store.read({ try $0.circlesWithRevisionsDue(limit: 10_000) }) {
                try await self.revise(in: circle)
            }
            try await self.tidy()
        }
    }

    /// Removes everything that is no longer shown.
    package func tidy() async throws {
        try await purgeConnections()
        for circle in try await store.read({ try $0.circlesBeingRemoved(limit: 10_000) }) {
            try await purge(circle: circle)
        }
        for id in try await store.read({ try $0.forgottenImports(limit: 10_000) }) { try await purge(import: id) }
        for id in try await store.read({ try $0.ownCalendarsBeingRemoved(limit: 10_000) }) {
            try await purge(ownCalendar: id)
        }
        try await forgetDeletedTasks()
        var last = ""
        while !turns.isClosing {
            let after = last
            guard let circle = try await store.read({ try $0.circleWithEndedVersions(after: after) }) else { break }
            try await sweep(circle)
            last = circle
        }
        // They come last, and each by itself: one that cannot end now keeps nothing else from being removed.
        var failure: (any Error)?
        for erasure in try await store.read({ try $0.erasuresUnderWay() }) {
            do { try await erase(erasure.id) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
