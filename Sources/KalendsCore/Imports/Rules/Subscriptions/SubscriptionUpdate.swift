// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Updates a circle's events to match a fetched calendar, during the circle's turn.
struct SubscriptionUpdate: Sendable {
    /// An update that is ready to be published.
    struct Ready: Sendable {
        let staging: EventStaging
        var created = 0
        var updated = 0
        var deleted = 0

        var hasChanges: Bool { created + updated + deleted > 0 }
    }

    let context: ImportContext
    let own: Subscription

    /// Problems after which it is unknown what else the file held.
    private static let cutShort: Set<Problem.Code> = ["missing-end", "too-many-components", "component-refused"]
    /// How many events are processed together.
    private static let group = 500

    private var source: EventSource { .subscription(own.id) }
    private var store: any Store { context.store }

    /// Stages new and changed events, and the removal of events that are gone; throws 409 when there are too many.
    func stage(_ reading: ImportReading, in circle: Circle) async throws -> Ready {
        let index = try await reading.index(in: circle, store)
        let settings = context.settings
        // This does not count against a user's quota, since the server fetches the calendar by itself.
        let limits = settings.eventLimits.clamped(to: .user(own.createdBy ?? ""), settings.quotas)
        let now = context.now()
        var plan = try await store.read { transaction in
            let owner = try ImportOwner(.subscription(own.id, of: own.createdBy), index, circle, in: transaction)
            return try ImportPlan(owner, limits: limits, now: now)
        }
        try await plan.findBroughtSeries(in: reading.events, store)
        return try await stage(reading, SharedPlan(plan), limits)
    }

    private func stage(_ reading: ImportReading, _ plan: SharedPlan, _ limits: EventLimits) async throws -> Ready {
        var staging = EventStaging(plan.circle, store)
        // Events that could not be read this time are kept.
        var unread = Set(
            reading.summary.problems.filter { $0.severity == .error }.compactMap { $0.uid.map { ByteString($0) } })
        do {
            let payer = own.createdBy ?? plan.circle.id
            var drafts = ImportDrafts(reading.events, for: plan, payer: payer, context)
            while var group = try await drafts.next(after: &staging) {
                while let (_, items) = try await plan.decide(&group, store) {
                    for item in items {
                        if let uid = item.storedUID, unread.contains(ByteString(item.event.uid)) {
                            unread.insert(ByteString(uid))
                        }
                        if let record = item.record { staging.put(record, replaces: item.before != nil) }
                    }
                    if staging.isFull { try await staging.write() }
                }
            }
            let deleted = try await endVanished(reading.summary.problems, except: unread, plan, &staging)
            try staging.check(plan.sources, limits)
            try await staging.finish()
            let counts = plan.counts
            return Ready(
                staging: staging, created: counts.count(.created), updated: counts.count(.updated), deleted: deleted)
        } catch {
            try? await staging.discard()
            throw error
        }
    }

    /// Stages the removal of all events of a subscription.
    func stageEnd(in circle: Circle) async throws -> Ready {
        var staging = EventStaging(circle, store)
        do {
            let deleted = try await end(&staging) { _ in true }
            try await staging.finish()
            return Ready(staging: staging, deleted: deleted)
        } catch {
            try? await staging.discard()
            throw error
        }
    }

    private func endVanished(
        _ problems: [Problem], except unread: Set<ByteString>, _ plan: SharedPlan, _ staging: inout EventStaging
    ) async throws -> Int {
        // Behind an entry that only counts further errors, nobody knows which events could not be read.
        let isCutShort = problems.contains {
            Self.cutShort.contains($0.code) || $0.severity == .error && $0.unlisted != nil
        }
        guard !isCutShort else { return 0 }
        return try await end(&staging) { key in
            // Some programs make new UIDs for every response: an event that was matched under another UID is kept.
            !plan.index.contains(key) && !plan.isMatched(key) && !unread.contains(key.uid)
        }
    }

    private func end(
        _ staging: inout EventStaging, _ isGone: (ImportedEventRecord.Key) -> Bool
    ) async throws -> Int {
        var (last, count) = (ImportedEventRecord.Key?.none, 0)
        let (circle, source) = (staging.circle, source)
        while true {
            let after = last
            let page = try await store.read {
                try $0.importedKeys(of: source, in: circle, after: after, limit: Self.group)
            }
            for key in page where isGone(key) {
                staging.end(key)
                count += 1
            }
            if staging.isFull { try await staging.write() }
            guard page.count == Self.group else { return count }
            last = page.last
        }
    }
}
