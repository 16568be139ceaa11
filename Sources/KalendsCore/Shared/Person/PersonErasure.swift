// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import Storage

/// The data that stays after the erasure of a person, and by which nobody can be found.
package enum ErasureRemnant: String, CaseIterable, Sendable {
    case items, importedEvents, subscriptions, activity, auditTrail, addresses, otherRecords, keptAnswers, journal
    case elsewhere, unusedSpace, logs, backups

    /// The tables whose rows are counted; none for what every erasure leaves.
    private var tables: [String] {
        switch self {
        case .items: ["schedule_items"]
        case .importedEvents: ["event_versions", "imports", "import_changes"]
        case .subscriptions: ["subscriptions"]
        case .activity: ["changes", "kept_contents"]
        case .auditTrail: ["audit_trail"]
        case .addresses, .otherRecords, .keptAnswers, .journal, .elsewhere, .unusedSpace, .logs, .backups: []
        }
    }

    /// Returns how many rows stay; nil for what an erasure did not meet, and 0 for what is not counted.
    fileprivate func rows(in erasure: Erasure) -> Int? {
        if self == .unusedSpace { return erasure.leavesUnusedSpace ? 0 : nil }
        guard !tables.isEmpty else { return 0 }
        let rows = erasure.kept.filter { count in tables.contains { $0.isSameText(as: count.table) } }
            .reduce(0) { $0 + $1.rows }
        return rows > 0 ? rows : nil
    }

    /// The reason in English; pages have their own words.
    package var reason: String {
        switch self {
        case .items:
            "Tasks, shifts and follow-ups belong to their circle, which has other members; a made-up id took the person's place."
        case .importedEvents:
            "Imported events that others see belong to their circle; who imported them is no longer recorded."
        case .subscriptions: "Followed calendars belong to the circle; who added them is no longer recorded."
        case .activity: "Changes in circles with other members stay, without the name of the person."
        case .auditTrail:
            "Entries of the audit trail stay without names, so that it can be verified that none is missing."
        case .addresses: "Hashes of feeds' addresses and app passwords stay, so that these answer 410 forever."
        case .otherRecords:
            "Records of other people's connections may show the person's name in titles until they are pruned."
        case .keptAnswers: "Answers to sign-ins and to the host application by an Idempotency-Key stay for a day."
        case .journal:
            "Entries of the journal of reads that were not overwritten have the number of a feed that no longer exists."
        case .elsewhere:
            "Events in calendars at providers and on phones, and messages that host applications received, are out of reach."
        case .unusedSpace:
            "The database was not rewritten: unused space of its file may still hold pieces of the data until its next VACUUM."
        case .logs:
            "The log names people by a pseudonym that this server makes; it is deleted when the operator deletes logs."
        case .backups:
            "Backups that were made before still have everything; they are deleted when the operator deletes backups."
        }
    }
}

/// What is left of a person after their erasure.
package struct ErasureReport: Sendable {
    package let erasure: Erasure

    package init(_ erasure: Erasure) { self.erasure = erasure }

    package var isDone: Bool { erasure.endedAt != nil }

    /// What stays, with the number of rows; 0 for what is not counted.
    package var stays: [(what: ErasureRemnant, rows: Int)] {
        ErasureRemnant.allCases.compactMap { what in what.rows(in: erasure).map { (what, $0) } }
    }
}

/// Erases people: what is only theirs is removed, and what a circle shares no longer names them.
package struct PersonErasures: Sendable {
    let services: Services

    /// How long a caller waits for the end; the work goes on without them.
    private static let patience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(50)

    /// Erases a person: when this returns, none of their credentials works any more, and unless there was very much data, all
    /// of it is gone.
    ///
    /// Throws 404 unless the caller is the person or acts for the installation, 403 in a session that did not begin a
    /// moment ago, and 409 where a person is the last owner of circles that have other members. An erasure that is under
    /// way goes on as it is.
    package func erase(_ user: String, for caller: Caller) async throws -> ErasureReport {
        let credentials = try await services.acts.store.read { transaction in
            _ = try Rights.own(of: user, for: caller.identity, in: transaction)
            try RecentSignIn(isNeeded: true).check(caller, in: transaction, now: services.now())
            try Self.checkOwner(user, for: caller, in: transaction)
            return try transaction.credentials(of: user)
        }
        // This comes before the secrets are deleted, since nobody could revoke them afterwards.
        await withTaskGroup(of: Void.self) { group in
            var accounts: Set<ByteString> = []
            for (stored, provider) in credentials where accounts.insert(ByteString(stored.account)).inserted {
                group.addTask { _ = await services.syncContext.providers.revoke(stored, provider, exceptBy: user) }
            }
        }
        let erasure = try await begin(user, for: caller)
        for (stored, _) in credentials { services.grants.forget(stored.connectionID) }
        try await services.passwords.brake.forget(user, now: services.now())
        services.tidying.afterBeginning(erasure: erasure.id)
        return try await end(of: erasure)
    }

    /// Ends everything that the person can do, and stores that the rest is to be removed.
    func begin(_ user: String, for caller: Caller) async throws -> Erasure {
        let (id, isPerson) = (FeedLedger.makeID(), caller.userID != nil)
        let (erasure, gone) = try await services.acts.act(on: .everything(of: user), for: caller) {
            act -> ActResult<(Erasure, [String])> in
            let transaction = act.transaction
            try RecentSignIn(isNeeded: true).check(caller, in: transaction, now: act.now)
            try Self.checkOwner(user, for: caller, in: transaction)
            if let known = try transaction.erasureUnderWay(of: user) { return .unchanged((known, [])) }
            let gone = try transaction.circlesHeld(by: user).alone.map(\.id)
            let erasure = Erasure(id: id, of: user, asker: isPerson ? "person" : caller.actor.text, now: act.now)
            try transaction.beginErasure(erasure, of: user) { Secret.make(.device).hash }
            return ActResult((erasure, gone), noting: AuditNote(.userErased, id))
        }
        for circle in gone { services.renderer.forget(circle: circle) }
        return erasure
    }

    /// Throws 409 when a person would leave circles without an owner, as when they leave one; the host application, which
    /// decides who belongs to a circle, may go on with it.
    private static func checkOwner(_ user: String, for caller: Caller, in transaction: any ReadTransaction) throws {
        guard caller.userID != nil else { return }
        let circles = try transaction.circlesHeld(by: user).asLastOwner
        guard !circles.isEmpty else { return }
        let names = circles.map { "\($0.name) (\($0.id))" }.joined(separator: ", ")
        throw Refusal.conflict(
            "The last owner of circles with other members cannot be erased. Make another member an owner of \(names), or "
                + "remove the other members.", code: .lastOwner)
    }

    /// Waits for the end of an erasure, but not for long.
    private func end(of erasure: Erasure) async throws -> ErasureReport {
        let end = ContinuousClock.now + Self.patience
        while true {
            let found = try await services.store.read { try $0.erasure(erasure.id) }
            if let found, found.endedAt != nil || ContinuousClock.now > end || services.tidying.isClosing {
                return ErasureReport(found)
            }
            try await Task.sleep(for: Self.pause)
        }
    }
}

extension AuthorizedUser {
    /// The circles with other members whose last owner the user is.
    package var circlesAsLastOwner: [Circle] { get throws { try transaction.circlesHeld(by: id).asLastOwner } }
}
