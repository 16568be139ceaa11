// SPDX-License-Identifier: Apache-2.0

import Base
import FoundationEssentials
import ICalBridge
import Storage

/// What users' phones have planned.
struct PlannedEvents: Sendable {
    /// What a phone's calendars are called as a source.
    static let source = "apple_eventkit"

    /// What became of the events that a phone sent.
    struct Report: Sendable {
        var deleted = 0
        var upserted = 0
        var unchanged = 0
        var failed: [(index: Int, faults: FaultList)] = []
    }

    /// Where a list begins behind the last page.
    struct Place: Sendable {
        var start: Int
        var source: String
        var id: String
    }

    /// Which events a list has.
    struct Search: Sendable {
        var from: Instant?
        var to: Instant?
        var place: Place?
        /// What was wrong with the question; reported only to who may see the events.
        var faults = FaultList()
    }

    private struct Key: Hashable {
        let id: ByteString
        let start: Int
    }

    let acts: Acts
    let quotas: Quotas

    /// Puts what was sent in place of what lies in the range, in one transaction.
    ///
    /// An event that cannot be taken leaves what is stored under its id.
    func replace(_ range: Range<Instant>, by sent: [SentPlan], for caller: Caller) async throws -> Report {
        let user = try Rights.user(caller.identity)
        let quotas = quotas.held(to: caller.identity)
        let range = range.lowerBound.milliseconds..<range.upperBound.milliseconds
        return try await acts.act(on: .ownCalendar(of: user), for: caller) { act in
            let transaction = act.transaction
            var report = Report()
            let stored = try transaction.plannedEvents(of: user, source: Self.source, overlapping: range)
            var known = Dictionary(
                stored.map { (Key(id: ByteString($0.externalID), start: $0.startsAt), $0) }, uniquingKeysWith: { $1 })
            let kept = Set(
                sent.compactMap { plan in plan.start.flatMap { start in plan.key(at: start.instant, Key.init) } })
            let failed = Set(sent.filter { !$0.faults.isEmpty }.compactMap { $0.externalID.map { ByteString($0) } })
            let gone = stored.filter { event in
                let id = ByteString(event.externalID)
                return !kept.contains(Key(id: id, start: event.startsAt)) && !failed.contains(id)
            }
            try transaction.deletePlannedEvents(gone, of: user, source: Self.source)
            report.deleted = gone.count
            let before = try transaction.plannedUsage(of: user)
            var usage = before
            usage.count -= gone.count
            usage.bytes -= gone.reduce(0) { $0 + $1.bytes }
            for (index, plan) in sent.enumerated() {
                guard plan.faults.isEmpty, let new = plan.event(of: user, now: act.now) else {
                    report.failed.append((index, plan.faults))
                    continue
                }
                // One that lies in the range was read with the others, so the writer is held for as short as can be; what
                // is sent twice is looked up as the first left it.
                let old =
                    try known.removeValue(forKey: Key(id: ByteString(new.externalID), start: new.startsAt))
                    ?? transaction.plannedEvent(new.externalID, at: new.startsAt, of: user, source: Self.source)
                let growth = Usage(count: old == nil ? 1 : 0, bytes: new.bytes - (old?.bytes ?? 0))
                if let refusal = Self.refusal(of: growth, beside: usage, quotas) {
                    report.failed.append((index, refusal.faults))
                    continue
                }
                usage.count += growth.count
                usage.bytes += growth.bytes
                if try Self.put(new, replacing: old, transaction) {
                    report.upserted += 1
                } else {
                    report.unchanged += 1
                }
            }
            let change = Usage(count: usage.count - before.count, bytes: usage.bytes - before.bytes)
            try transaction.addPlannedUsage(change, of: user)
            if report.deleted + report.upserted > 0 { try transaction.touchOwnFeeds(of: user, now: act.now) }
            return .unnoted("What is in people's own calendars is their own concern.", report)
        }
    }

    /// What keeps an event from being stored beside the others; nil when nothing does.
    private static func refusal(of growth: Usage, beside usage: Usage, _ quotas: Quotas) -> Refusal? {
        if growth.count > 0, usage.count >= quotas.plannedEventsPerUser {
            return Refusal.quota("A user has", quotas.plannedEventsPerUser, "planned events")
        }
        if growth.bytes > 0, usage.bytes + growth.bytes > quotas.plannedBytesPerUser {
            return Refusal.quota("A user's planned events have", quotas.plannedBytesPerUser, "bytes")
        }
        return nil
    }

    /// Stores an event; false when it is there as it is.
    private static func put(
        _ new: PlannedEvent, replacing old: PlannedEvent?, _ transaction: any WriteTransaction
    ) throws -> Bool {
        guard let old else {
            try transaction.putPlannedEvent(new)
            return true
        }
        var event = new
        (event.uid, event.sequence, event.createdAt) = (old.uid, old.sequence, old.createdAt)
        event.updatedAt = old.updatedAt
        if event == old { return false }
        (event.sequence, event.updatedAt) = (min(old.sequence + 1, Int(Int32.max)), new.updatedAt)
        try transaction.putPlannedEvent(event)
        return true
    }

    /// A user's planned events that overlap a range, in order of their starts.
    func list(
        of user: String, _ search: Search, limit: Int, for caller: Caller
    ) async throws -> [PlannedEvent] {
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
        if !search.faults.isEmpty { throw Refusal.invalid(search.faults) }
        return try await acts.store.read { transaction in
            try transaction.plannedEvents(
                of: user, from: search.from?.milliseconds ?? .min / 2, to: search.to?.milliseconds ?? .max / 2,
                after: search.place.map { ($0.start, $0.source, $0.id) }, limit: limit)
        }
    }
}

extension SentPlan {
    fileprivate func key<Key>(at start: Instant, _ make: (ByteString, Int) -> Key) -> Key? {
        guard faults.isEmpty else { return nil }
        return externalID.map { make(ByteString($0), start.milliseconds) }
    }

    /// The record of a good event.
    fileprivate func event(of user: String, now: Int) -> PlannedEvent? {
        guard let externalID, let start, let end else { return nil }
        return PlannedEvent(
            userID: user, source: PlannedEvents.source, externalID: externalID, startsAt: start.instant.milliseconds,
            endsAt: end.instant.milliseconds, startOffset: start.offset, endOffset: end.offset, isAllDay: isAllDay,
            title: title, calendarName: calendarName, uid: UUID().uuidString.lowercased(), now: now)
    }
}
