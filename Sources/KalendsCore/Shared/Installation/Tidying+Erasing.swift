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
                // What comes in meanwhile, such as somebody's tries to sign in as the person, goes too.
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
        try await repeatedly { try $0.removeSome(of: user, in: erasure.id, limit: $1, now: now) }
        for circle in try await store.read({ try $0.circlesEverOf(user) }) where !circle.isDeleted {
            try await rename(user, in: circle.id, erasure)
        }
        // What waits for its place has no number yet.
        try await store.orderChanges()
        try await AuditTrail.order(in: store)
        try await inParts(try await store.read { try $0.changeSpan() }) { transaction, numbers in
            try transaction.renameChanges(of: user, erasure, in: numbers)
        }
        try await inParts(try await store.read { try $0.auditSpan() }) { transaction, numbers in
            let found = try transaction.anonymizeAuditEntries(naming: user, in: erasure.id, numbers)
            guard found > 0 else { return }
            try AuditTrail.note(
                .auditAnonymized, erasure.id, detail: ["entries": .integer(found)], by: .server, in: transaction,
                now: now)
        }
        try checkOpen()
        try await store.record { try $0.removeDevices(of: user, in: erasure.id) }
    }

    private static let mostPasses = 5
    /// How many items of a circle, changes or entries one transaction looks at.
    private static let (renamedTogether, readTogether) = (200, 1000)

    private func rename(_ user: String, in circle: String, _ erasure: Erasure) async throws {
        let (titles, now) = (titles, now())
        var isLeft = true
        while isLeft {
            try checkOpen()
            isLeft = try await store.write { transaction in
                transaction.concerns(circle: circle)
                return try transaction.renameSome(
                    of: user, in: circle, erasure, titles, limit: Self.renamedTogether, now: now)
            }
        }
        try await revise(in: circle)
    }

    /// Does work on the rows with consecutive numbers, in short transactions.
    private func inParts(
        _ all: ClosedRange<Int>?,
        _ body: @escaping @Sendable (any WriteTransaction, ClosedRange<Int>) throws -> Void
    ) async throws {
        guard let all else { return }
        for first in stride(from: all.lowerBound, through: all.upperBound, by: Self.readTogether) {
            try checkOpen()
            let part = first...min(first + Self.readTogether - 1, all.upperBound)
            try await store.record { try body($0, part) }
        }
    }

    /// Throws when the server is about to end, after whose next start the work goes on.
    private func checkOpen() throws { if isClosing { throw CancellationError() } }
}
