// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Storage

@Suite("Records by the descriptions of their tables")
struct RecordTableTests {
    private let home: TemporaryStore

    init() throws { home = try TemporaryStore() }

    @Test("Circles and what belongs to them come back as they were stored")
    func circles() async throws {
        try await home.write { transaction in
            try transaction.makeHome()
            try transaction.put(.sample("a", .appointments))
            try Self.keep(
                Circle(
                    id: "x", name: "X", timeZone: "Z", version: 11, changedAt: 12, createdAt: 13, updatedAt: 14,
                    zoneVersion: 10), in: transaction)
            try Self.keep(
                Member(
                    circleID: "home", userID: "cleo", displayName: "Cleo", role: .owner, createdAt: 11, updatedAt: 12,
                    leftAt: 13), in: transaction)
            try Self.keep(
                Patient(circleID: "home", id: "rob", displayName: "Rob", createdAt: 11, updatedAt: 12, removedAt: 13),
                in: transaction)
            try Self.keep(
                ChangedOccurrence(
                    circleID: "home", itemID: "a", originalStart: "20260121T090000Z", startsAt: 11, endsAt: 12,
                    content: "{}", createdAt: 13, updatedAt: 14), in: transaction)
            try Self.keep(
                ImportRecord(
                    id: "i", circleID: "home", state: .undone, stage: .readFailed, problem: "p", importedBy: "ann",
                    report: "r", outline: "o", source: "s", createdAt: 11, committedAt: 12, undoneAt: 13, itemBase: 14),
                in: transaction)
            try Self.keep(
                Subscription(
                    id: "s", circleID: "home", sealedURL: "u", urlDigest: "d", urlHint: "h", host: "o", label: "l",
                    createdBy: "ann", refreshMinutes: 11, state: .paused, etag: "e", lastModified: "m",
                    validatorsOf: "v", nextAt: 12, failures: 13, emptyAnswers: 14, lastFetchedAt: 15, lastChangedAt: 16,
                    lastProblem: "p", problem: .signIn, created: 17, updated: 18, deleted: 19, createdAt: 20,
                    updatedAt: 21), in: transaction)
            try Self.keep(
                CircleChange(
                    sequence: 1011, circleID: "home", number: 1012, at: 13, subject: .item, collection: "tasks",
                    id: "t", part: "p", kind: .deleted, user: "ann", author: "user:ann", way: .google, undoes: 14),
                in: transaction)
            try Self.keep(
                KeptContent(
                    circleID: "home", collection: "tasks", itemID: "t", part: "p", number: 11, cause: 12, at: 13,
                    content: "{}", bytes: 14), in: transaction)
            try Self.keep(
                AuditEntry(
                    number: 11, at: 12, actor: "a", action: "b", subject: "c", circleID: "home", detail: "{}",
                    salt: "s", namesHash: "n", previousHash: "d", hash: "e"), in: transaction)
        }
    }

    @Test("Webhooks and servers come back as they were stored")
    func hosts() async throws {
        try await home.write { transaction in
            try Self.keep(
                Webhook(
                    id: "w", sealedURL: "u", circles: ["home", "x"], subjects: [.item, .fileImport], state: .disabled,
                    disabledReason: "r", sealedSecret: "s", secretHint: "h", sealedFormer: "f", formerEndsAt: 11,
                    position: 12, createdAt: 13, updatedAt: 14, failingSince: 15, lastDeliveredAt: 16), in: transaction)
            try Self.keep(
                WebhookDelivery(
                    // Above the number of the circle's shard, which is stored too.
                    id: "d", webhookID: "w", ordinal: 71, circleID: "home", firstNumber: 72, lastNumber: 73,
                    state: .failed, attempts: 74, nextAt: 75, createdAt: 76, failingSince: 77, lastAttemptAt: 78,
                    lastStatus: 79, lastProblem: "p", finishedAt: 80), in: transaction)
            try Self.keep(
                ServerRecord(
                    journal: .max, token: .max - 1, name: "n", program: "p", shown: "s", folded: 11, recorded: 12,
                    startedAt: 13, seenAt: 14, stoppedAt: 15), in: transaction)
            // A key is bound in one of two ways.
            for (circles, prefix, unbound) in [(["c"], nil, "circle_prefix"), (nil, "p", "circles")] {
                try Self.keep(
                    ServiceKey(
                        id: unbound, name: "n", hash: hash(unbound), hint: "h", scopes: "s", circles: circles,
                        circlePrefix: prefix, quotas: KeyQuotas(requestsPerMinute: 11, feeds: 12, circles: 13),
                        createdAt: 14), without: unbound, in: transaction)
            }
        }
    }

    @Test("Users and how they sign in come back as they were stored")
    func users() async throws {
        try await home.write { transaction in
            try Self.keep(
                User(id: "ann", timeZone: "Z", language: "de", readsPhone: true, createdAt: 11, updatedAt: 12),
                in: transaction)
            try Self.keep(Password(userID: "ann", hash: "h", createdAt: 11, changedAt: 12), in: transaction)
            try Self.keep(
                Erasure(
                    id: "e", userID: "ann", asker: "person", removed: [.init(table: "feeds", rows: 11)],
                    kept: [.init(table: "changes", rows: 12), .init(table: "audit_trail", rows: 13)],
                    leavesUnusedSpace: true, begunAt: 14, endedAt: 15), in: transaction)
            try Self.keep(SecondFactor(userID: "ann", sealed: "s", createdAt: 11, lastStep: 12), in: transaction)
            try Self.keep(
                Session(
                    id: "s", hash: hash("s"), userID: "ann", client: "c", createdAt: 11, lastUsedAt: 12, expiresAt: 13,
                    sealedIDToken: "t", provedAt: 14), in: transaction)
            try Self.keep(
                JoinedAccount(issuer: "i", subject: "s", userID: "ann", createdAt: 11), in: transaction)
            try Self.keep(
                OperatorSession(id: "o", hash: hash("o"), createdAt: 11, lastUsedAt: 12, expiresAt: 13),
                in: transaction)
            try Self.keep(
                SignInLink(id: "l", hash: hash("l"), userID: "ann", leadsTo: "/", createdAt: 11, expiresAt: 12),
                in: transaction)
            try Self.keep(SignInFailures(name: "n", count: 11, lastAt: 12, untilAt: 13), in: transaction)
            try Self.keep(
                Device(
                    id: "d", hash: hash("d"), userID: "ann", deviceID: "phone", name: "n", platform: "p", createdAt: 11,
                    registeredAt: 12), in: transaction)
            try Self.keep(
                OfficeProfile(
                    userID: "ann", settings: "{}", seed: "s", countsFrom: 11, nightsThrough: 12, nextNightAt: 13,
                    enabledAt: 14, firstEnabledAt: 15, problem: "p", lastSyncAt: 16, lastSync: .partial, writes: 17,
                    errors: 18, createdAt: 19, updatedAt: 20), in: transaction)
            try Self.keep(
                OfficeDayRecord(
                    userID: "ann", day: 11, word: "inOffice", decision: "{}", status: "remote", eventState: "managed",
                    eventTarget: "t", updatedAt: 12), in: transaction)
            try Self.keep(
                OfficeVisit(userID: "ann", id: "v", startsAt: 11, endsAt: 12, createdAt: 13, updatedAt: 14),
                in: transaction)
        }
    }

    @Test("What synchronization records comes back as it was stored")
    func synchronization() async throws {
        try await home.write { transaction in
            try Self.keep(
                Connection(
                    id: "c", circleID: "home", userID: "ann", provider: .google, label: "l", accountID: "a",
                    accountName: "n", calendarID: "i", calendarName: "m", calendarTimeZone: "Z", state: .paused,
                    stateAt: 11, config: "{}", lastSyncAt: 12, lastSyncStatus: .partial, lastSyncError: "e",
                    failures: 13, nextSyncAt: 14, lookEvery: 19, missingSince: 15, ending: .future, endingAt: 16,
                    createdAt: 17,
                    updatedAt: 18), in: transaction)
            try Self.keep(
                ConnectionAuthorization(
                    stateHash: hash("h"), connectionID: "c", userID: "ann", sessionID: "s", sealedVerifier: "v",
                    returnTo: "/", expiresAt: 11, sealedCode: "o"), in: transaction)
            try Self.keep(
                ConnectionCredential(connectionID: "c", sealed: "s", account: "a", version: 11, updatedAt: 12),
                in: transaction)
            try Self.keep(
                SyncChannelRow(
                    id: "h", connectionID: "c", secretHash: hash("x"), expiresAt: 11, renewAt: 12, lastHeardAt: 13,
                    content: "{}"), in: transaction)
            try Self.keep(
                SyncConflictRow(
                    connectionID: "c", id: "f", collection: "tasks", itemID: "t", number: 1, state: .resolved, at: 11,
                    resolvedBy: "ann",
                    content: "{}"), in: transaction)
            try Self.keep(
                SyncJournalRow(
                    connectionID: "c", number: 1, id: "j", runID: "r", at: 12, direction: "out", change: "created",
                    content: "{}"), in: transaction)
            try Self.keep(
                SyncLinkRow(
                    connectionID: "c", collection: "tasks", itemID: "t", state: "linked", externalID: "e",
                    lastSyncedAt: 11, since: 12, content: "{}"), in: transaction)
            try Self.keep(
                SyncRunRow(
                    id: "r", connectionID: "c", number: 1, state: .held, startedAt: 11, approvedAt: 12, content: "{}"),
                in: transaction)
            try Self.keep(
                PendingSync(connectionID: "c", kind: .undo, runID: "r", undoneRunID: "u", dueAt: 11), in: transaction)
        }
    }

    @Test("What phones bring and carry comes back as it was stored")
    func phones() async throws {
        try await home.write { transaction in
            try Self.keep(
                PhoneCarrier(
                    userID: "ann", source: "c", carrier: "d", turn: 11, seenAt: 12, deliveredAt: 13, shown: "s"),
                in: transaction)
            try Self.keep(
                PlannedEvent(
                    userID: "ann", source: "c", externalID: "e", startsAt: 11, endsAt: 12, startOffset: 13,
                    endOffset: 14, isAllDay: true, title: "t", calendarName: "n", uid: "u", sequence: 15,
                    createdAt: 16, updatedAt: 17), in: transaction)
            var content = PersonalEvent.Content(title: "title", date: "2026-01-01")
            (content.startTime, content.endTime, content.endDate) = ("09:00", "10:00", "2026-01-02")
            (content.timeZone, content.description) = ("Z", "description")
            (content.location, content.recurrence) = ("location", "recurrence")
            var mapping = PersonalEvent.Mapping(
                provider: "apple", externalID: "x", instanceKey: "k", state: .conflict)
            (mapping.instanceID, mapping.calendarID) = ("instance", "calendar")
            (mapping.lastSyncedAt, mapping.sourceDevice) = (11, "device")
            var tie = PersonalEvent.ItemAndDevice(
                source: "c", circleID: "home", collection: "tasks", itemID: "t", generation: 12, carrier: "d", turn: 13)
            (tie.sentAt, tie.earlier) = (14, "{}")
            var event = PersonalEvent(
                userID: "ann", id: "p", uid: "u", sequence: 15, content: content, mapping: mapping, firstDay: 16,
                lastDay: 17, createdAt: 18, updatedAt: 19, changedAt: 20, deletedAt: 21, tie: tie)
            event.noteStored()
            try Self.keep(event, in: transaction)
            var free = PersonalEvent(
                userID: "ann", id: "q", uid: "v", content: content, mapping: .none, firstDay: 1, lastDay: nil,
                createdAt: 22)
            free.noteStored()
            try transaction.put(free)
            #expect(try transaction.personalEventEverKnown("q", of: "ann") == free)
        }
    }

    /// Stores a record that has a value of its own in each column, and then other numbers in its place.
    ///
    /// - Parameter column: one that cannot have a value beside the others.
    private static func keep<Record: StoredRow & Equatable>(
        _ record: Record, without column: String? = nil, in transaction: any WriteTransaction
    ) throws {
        let (table, name) = (Record.table, Comment(rawValue: Record.schema.name))
        let columns = table.columns.filter { $0.value != nil }
        let stored = columns.filter { $0.name != column }.compactMap { $0.value?(record) }
        #expect(Set(stored).count == stored.count && !stored.contains(.null), name)
        try transaction.insert(new: record)

        // A number in the key is the first of its kind.
        let key = table.schema.key.map { key in columns.first { $0.name == key }?.value?(record) ?? .integer(1) }
        let condition = table.schema.key.enumerated().map { "\($1) = $\($0 + 1)" }.joined(separator: " AND ")
        let text = "\(select: Record.self) WHERE \(condition)"
        let row = try #require(try transaction.row(text, key), name)
        #expect(try Record(row) == record, name)

        // Only what is stored again changes, and it changes back; a record with a number in its key is stored once.
        let isKey = { (name: String) in table.schema.key.contains(name) }
        let changing = columns.filter { $0.changes && !isKey($0.name) }
        guard !changing.isEmpty, !table.columns.contains(where: { $0.countedWithin != nil && isKey($0.name) }) else {
            return
        }
        let values = zip(row.columns, row.values).map { column, value -> SQLValue in
            if case .integer(let number) = value, !isKey(column) { .integer(number + 40) } else { value }
        }
        let other = try Record(SQLRow(columns: row.columns, values: values))
        #expect(other != record, name)
        try transaction.put(other)
        let changed = try #require(try transaction.row(text, key), name)
        for column in columns {
            let expected = changing.contains { $0.name == column.name } ? other : record
            let found = changed.value(of: column.name, expectedAt: 0)
            #expect(found == column.value?(expected), "\(table.schema.name).\(column.name)")
        }
        try transaction.update(record)
        #expect(try transaction.row(text, key).map(Record.init) == record, name)
        if table.columns.contains(where: { $0.countedWithin != nil }) { return }
        try transaction.put(all: [other])
        #expect(try transaction.row(text, key)?.values == changed.values, name)
        try transaction.put(all: [record])
        #expect(try transaction.row(text, key).map(Record.init) == record, name)
    }
}
