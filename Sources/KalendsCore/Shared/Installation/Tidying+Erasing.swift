// SPDX-License-Identifier: Apache-2.0

import Storage

extension Tidying {
    func afterBeginning(erasure id: String) { later { try await self.erase(id) } }

    /// Takes an erasure to its end, from wherever it is.
    func erase(_ id: String) async throws {
        try await turns.alone(in: "erasure/\(id)") {
            guard let erasure = try await self.store.read({ try $0.erasure(id) }), erasure.endedAt == nil else {
                return
            }
            if let user = erasure.userID {
                // Rows that arrive in the meantime, such as somebody's attempts to sign in as the person, are removed too.
                for _ in 0..<Self.mostPasses {
                    try await self.remove(user, erasure)
                    if try await !self.store.read({ try $0.hasRows(of: user) }) { break }
                }
                try await self.store.record { try $0.forgetPerson(ofErasure: id) }
            }
            let isRewritten = try await self.maintenance.overwriteRemoved()
            let now = self.now()
            try await self.store.record { try $0.endErasure(id, leavesUnusedSpace: !isRewritten, now: now) }
        }
    }

    private func remove(_ user: String, _ erasure: Erasure) async throws {
        for circle in try await store.read({ try $0.circlesEverOf(user) }) where circle.isDeleted {
            try await purge(circle: circle.id)
        }
        let now = now()
        let devices = try await store.read { try $0.devices(of: user, after: "", limit: .max).map(\.id) }
        for caller in [AuditActor(user: user)] + devices.map({ AuditActor(device: $0, of: user) }) {
            let counted = OnceRequest.counted(of: caller)
            try await repeatedly { try $0.forgetKeptAnswers(of: counted, limit: $1) }
        }
        try await repeatedly { try $0.removeHoldings(of: user, in: erasure.id, limit: $1, now: now) }
        for search in ErasureSearch.removals(of: user, erasure) { try await carryOut(search, erasure) }
        try await store.record { try $0.forgetOwnSource(of: user) }
        for table in PersonTable.all where table.fate == .removed {
            try await repeatedly { try $0.removeSome(of: user, in: table, erasure.id, limit: $1) }
        }
        for circle in try await store.read({ try $0.circlesEverOf(user) }) where !circle.isDeleted {
            try await rename(user, in: circle.id, erasure)
        }
        // A row that waits for its place has no number yet.
        try await store.orderChanges()
        try await AuditTrail.order(in: store)
        try await inParts(try await store.read { try $0.changeSpan() }) { transaction, numbers in
            try transaction.renameChanges(of: user, erasure, in: numbers)
        }
        let entries = try await store.read { try $0.auditSpan() }
        let accounts = try await accounts(of: user, in: entries)
        // Which accounts the person has joined is known only from entries that name the person: those go last.
        if !accounts.isEmpty {
            try await inParts(entries) { transaction, numbers in
                let found = try transaction.anonymizeOpenings(with: accounts, in: erasure.id, numbers)
                try Self.note(found, anonymizedBy: erasure, in: transaction, now: now)
            }
        }
        try await inParts(entries) { transaction, numbers in
            let found = try transaction.anonymizeAuditEntries(naming: user, in: erasure.id, numbers)
            try Self.note(found, anonymizedBy: erasure, in: transaction, now: now)
        }
        try checkOpen()
        try await store.record { try $0.removeDevices(of: user, in: erasure.id) }
    }

    /// Notes how many entries of the audit trail were anonymized, if any was.
    private static func note(
        _ found: Int, anonymizedBy erasure: Erasure, in transaction: any WriteTransaction, now: Int
    ) throws {
        guard found > 0 else { return }
        try AuditTrail.note(
            .auditAnonymized, erasure.id, detail: AuditEntry.Anonymized(entries: found).json, by: .server,
            in: transaction, now: now)
    }

    private static let mostPasses = 5
    /// How many rows are found at once, and how many changes or entries one transaction looks at.
    private static let (foundTogether, readTogether) = (5000, 1000)

    /// Finds rows by reads and takes the person from them in short transactions, until none is found.
    ///
    /// - Parameter circle: the circle whose feeds may show the rows.
    private func carryOut(_ search: ErasureSearch, _ erasure: Erasure, concerning circle: String? = nil) async throws {
        var isLeft = true
        while isLeft {
            let keys = try await store.read { try $0.keys(of: search, limit: Self.foundTogether) }
            var done = 0
            while done < keys.count {
                try checkOpen()
                let rest = keys[done...]
                done =
                    if let circle {
                        try await store.write { transaction in
                            transaction.concerns(circle: circle)
                            return try transaction.carryOut(search, on: rest, in: erasure.id)
                        }
                    } else {
                        try await store.record { try $0.carryOut(search, on: rest, in: erasure.id) }
                    }
            }
            isLeft = keys.count == Self.foundTogether
        }
    }

    private func rename(_ user: String, in circle: String, _ erasure: Erasure) async throws {
        let (titles, now) = (titles, now())
        try checkOpen()
        let isNamed = try await store.write { transaction in
            transaction.concerns(circle: circle)
            return try transaction.beginRenaming(of: user, in: circle, erasure, now: now)
        }
        guard isNamed else { return }
        let names = ErasureSearch.names(of: user, in: circle, erasure)
        for search in names { try await carryOut(search, erasure, concerning: circle) }
        // An import or an undo that was under way may have named the person once more; none is while this has its turn.
        try await turns.alone(in: circle) {
            for search in ErasureSearch.removals(of: user, erasure) { try await self.carryOut(search, erasure) }
            for search in names { try await self.carryOut(search, erasure, concerning: circle) }
            try await EventStaging.discard(in: circle, self.store)
            // The person's private events in calendars that the circle follows are gone. In this turn nobody changes the
            // others.
            let (shown, bytes) = try await self.store.read { transaction in
                (
                    try transaction.circle(circle).map(transaction.shownEventsOfSubscriptions) ?? [:],
                    try transaction.eventBytes(in: circle)
                )
            }
            try await self.store.write { transaction in
                transaction.concerns(circle: circle)
                try transaction.setEventCounts(shown, in: circle)
                try transaction.setEventBytes(bytes, in: circle)
                try transaction.endRenaming(of: user, in: circle, erasure, titles, now: now)
            }
        }
        try await revise(in: circle)
    }

    /// Does work on the rows with consecutive numbers, in short transactions.
    private func inParts(
        _ all: ClosedRange<Int>?,
        _ body: @escaping @Sendable (any WriteTransaction, ClosedRange<Int>) throws -> Void
    ) async throws {
        for part in Self.parts(all) {
            try checkOpen()
            try await store.record { try body($0, part) }
        }
    }

    private static func parts(_ all: ClosedRange<Int>?) -> [ClosedRange<Int>] {
        guard let all else { return [] }
        return stride(from: all.lowerBound, through: all.upperBound, by: readTogether).map {
            $0...min($0 + readTogether - 1, all.upperBound)
        }
    }

    /// Returns the details of the audit trail's entries that say which accounts at providers a person has joined, each
    /// once.
    private func accounts(of user: String, in entries: ClosedRange<Int>?) async throws -> [String] {
        var found: Set<ByteString> = []
        for part in Self.parts(entries) {
            try checkOpen()
            let details = try await store.read { try $0.detailsOfJoinedAccounts(of: user, in: part) }
            found.formUnion(details.map { ByteString($0) })
        }
        return found.sorted().map(\.string)
    }

    /// Throws when the server is about to end, after whose next start the work goes on.
    private func checkOpen() throws { if isClosing { throw CancellationError() } }
}
