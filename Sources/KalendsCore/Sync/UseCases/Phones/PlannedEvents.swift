// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import ICalBridge
package import Storage

/// The events that users' phones have planned.
package struct PlannedEvents: Sendable {
    /// The name of a phone's calendars as a source.
    static let source = "apple_eventkit"
    /// How often a phone's events are compared before others have to wait for the comparison.
    private static let mostAttempts = 4

    /// The result for the events that a phone sent.
    package struct Report: Sendable {
        package var deleted = 0
        package var upserted = 0
        package var unchanged = 0
        package var failed: [(index: Int, faults: FaultList)] = []
    }

    /// The place where the next page of a list begins.
    package struct Position: Sendable {
        var start: Int
        var source: String
        var id: String

        package init(start: Int, source: String, id: String) {
            self.start = start
            self.source = source
            self.id = id
        }
    }

    /// The filter of a list of events.
    package struct Search: Sendable {
        package var from: Instant?
        package var to: Instant?
        package var position: Position?
        /// The faults of the request; reported only to callers who may see the events.
        package var faults = FaultList()

        package init() {}
    }

    let acts: Acts
    let quotas: Quotas

    /// Replaces the events in a range with those that were sent, in one transaction.
    ///
    /// An event that is refused leaves the stored event with its id in place. As much as possible is done before the
    /// transaction, and it has few statements, since other writers wait for it.
    package func replace(_ range: Range<Instant>, by sent: [SentPlan], for caller: Caller) async throws -> Report {
        let user = try Rights.user(caller.identity)
        let (quotas, now) = (quotas.clamped(to: caller.identity), acts.now())
        let range = range.lowerBound.milliseconds..<range.upperBound.milliseconds
        let wanted = sent.map { $0.faults.isEmpty ? $0.event(of: user, now: now) : nil }
        @Sendable func replacement(in transaction: any ReadTransaction) throws -> PlanReplacement {
            try PlanReplacement(of: user, range, by: wanted, sent, quotas, in: transaction)
        }
        var attempts = 0
        while true {
            attempts += 1
            let isLast = attempts == Self.mostAttempts
            let prepared = try await acts.store.read(replacement)
            let report: Report? = try await acts.act(on: .ownCalendar(of: user), for: caller) { act in
                let transaction = act.transaction
                guard try transaction.readsPhone(of: user) else { throw Refusal.phoneUnread }
                let isCurrent = try transaction.plannedVersion(of: user) == prepared.version
                // To compare all again takes as long as to store it, and others would wait for both.
                guard isCurrent || isLast else { return .unchanged(nil) }
                let replacement = isCurrent ? prepared : try replacement(in: transaction)
                try replacement.store(at: act.now, in: transaction)
                return .unnoted("What is in people's own calendars is their own concern.", replacement.report)
            }
            if let report { return report }
        }
    }

    /// Returns a user's planned events that overlap a range, in order of their starts.
    package func list(
        of user: String, _ search: Search, limit: Int, for caller: Caller
    ) async throws -> [PlannedEvent] {
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
        if !search.faults.isEmpty { throw Refusal.invalid(search.faults) }
        return try await acts.store.read { transaction in
            try transaction.plannedEvents(
                of: user, from: search.from?.milliseconds ?? .min / 2, to: search.to?.milliseconds ?? .max / 2,
                after: search.position.map { ($0.start, $0.source, $0.id) }, limit: limit)
        }
    }
}

/// The changes of a user's planned events when a phone sends those of a range.
private struct PlanReplacement: Sendable {
    /// The version of the user's planned events that it was made from.
    let version: Int
    private(set) var report = PlannedEvents.Report()
    private let user: String
    private let range: Range<Int>
    /// The events that are deleted one by one; nil where one statement deletes all in the range.
    private let gone: [PlannedEventKey]?
    private let rows: PlannedEventRows
    private let change: Usage

    /// The maximum number of events that are deleted one by one.
    private static let fewDeleted = 500

    /// - Parameters:
    ///   - wanted: what was sent, as it would be stored; nil where that is refused.
    init(
        of user: String, _ range: Range<Int>, by wanted: [PlannedEvent?], _ sent: [SentPlan], _ quotas: Quotas,
        in transaction: any ReadTransaction
    ) throws {
        let source = PlannedEvents.source
        let keys = Set(wanted.compactMap { $0?.key })
        let failed = Set(sent.filter { !$0.faults.isEmpty }.compactMap { $0.externalID.map { ByteString($0) } })
        (self.user, self.range, version) = (user, range, try transaction.plannedVersion(of: user))
        let before = try transaction.plannedUsage(of: user)
        let there = try transaction.plannedEventKeys(of: user, source: source, overlapping: range)
        let gone = there.filter { !keys.contains($0) && !failed.contains($0.externalID) }
        report.deleted = gone.count
        let stays = Set(there).subtracting(gone)
        var known: [PlannedEventKey: PlannedEvent] = [:]
        for event in try transaction.plannedEvents(of: user, source: source, Array(keys.union(stays))) {
            known[event.key] = event
        }
        let staying = stays.compactMap { known[$0] }
        let freed =
            try transaction.plannedBytes(of: user, source: source, overlapping: range)
            - staying.reduce(0) { $0 + $1.bytes }
        var changed: [PlannedEventKey: PlannedEvent] = [:]
        var usage = Usage(count: before.count - gone.count, bytes: before.bytes - freed)
        for (index, event) in wanted.enumerated() {
            guard let event else {
                report.failed.append((index, sent[index].faults))
                continue
            }
            let old = known[event.key]
            let growth = Usage(count: old == nil ? 1 : 0, bytes: event.bytes - (old?.bytes ?? 0))
            if let refusal = Self.refusal(of: growth, beside: usage, quotas) {
                report.failed.append((index, refusal.faults))
                continue
            }
            usage.count += growth.count
            usage.bytes += growth.bytes
            if let new = event.replacing(old) {
                (known[event.key], changed[event.key]) = (new, new)
                report.upserted += 1
            } else {
                report.unchanged += 1
            }
        }
        change = Usage(count: usage.count - before.count, bytes: usage.bytes - before.bytes)
        let deletesAll = gone.count > max(Self.fewDeleted, staying.count)
        self.gone = deletesAll ? nil : gone
        // Those that stay are inserted again after all were deleted.
        rows = PlannedEventRows(
            Array(changed.values) + (deletesAll ? staying.filter { changed[$0.key] == nil } : []))
    }

    func store(at now: Int, in transaction: any WriteTransaction) throws {
        guard report.deleted + report.upserted > 0 else { return }
        let source = PlannedEvents.source
        if let gone {
            for key in gone { try transaction.deletePlannedEvent(key, of: user, source: source) }
        } else {
            try transaction.deletePlannedEvents(of: user, source: source, overlapping: range)
        }
        try transaction.putPlannedEvents(rows)
        try transaction.addPlannedUsage(change, of: user)
        try transaction.touchOwnFeeds(of: user, now: now)
    }

    /// Returns the refusal of an event that exceeds the quotas; nil when it may be stored.
    private static func refusal(of growth: Usage, beside usage: Usage, _ quotas: Quotas) -> Refusal? {
        if growth.count > 0, usage.count >= quotas.plannedEventsPerUser {
            return Refusal.quota("A user has", quotas.plannedEventsPerUser, "planned events")
        }
        if growth.bytes > 0, usage.bytes + growth.bytes > quotas.plannedBytesPerUser {
            return Refusal.quota("A user's planned events have", quotas.plannedBytesPerUser, "bytes")
        }
        return nil
    }
}

extension SentPlan {
    /// Returns the record of a valid event.
    fileprivate func event(of user: String, now: Int) -> PlannedEvent? {
        guard let externalID, let start, let end else { return nil }
        return PlannedEvent(
            userID: user, source: PlannedEvents.source, externalID: externalID, startsAt: start.instant.milliseconds,
            endsAt: end.instant.milliseconds, startOffset: start.offset, endOffset: end.offset, isAllDay: isAllDay,
            title: title, calendarName: calendarName, uid: UUID().uuidString.lowercased(), now: now)
    }
}

extension PlannedEvent {
    /// Returns what to store in place of an old event; nil when nothing has changed.
    fileprivate func replacing(_ old: PlannedEvent?) -> PlannedEvent? {
        guard let old else { return self }
        var event = self
        (event.uid, event.sequence, event.createdAt) = (old.uid, old.sequence, old.createdAt)
        event.updatedAt = old.updatedAt
        if event == old { return nil }
        (event.sequence, event.updatedAt) = (min(old.sequence + 1, Int(Int32.max)), updatedAt)
        return event
    }
}
