// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// A preview of a feed, entry by entry, with the rule that excludes each entry that is left out.
package struct FeedPreview: Sendable {
    /// A day, or a time from which the day in the circle's zone is taken.
    package enum Bound: Sendable {
        case day(CivilDate)
        case moment(Instant)
    }

    /// The days of the request.
    package struct Days: Sendable {
        /// Nil for the first day of the feed's window; for `to`, nil is the day after the last one.
        package var from: Bound?
        package var to: Bound?
        /// The faults of the request; reported only to callers who may see the feed.
        package var faults = FaultList()

        package init(from: Bound? = nil, to: Bound? = nil, faults: FaultList = FaultList()) {
            self.from = from
            self.to = to
            self.faults = faults
        }
    }

    /// The entries that one part of the preview holds.
    package struct Part: Sendable {
        /// The number of the part's first entry.
        package var start: Int
        /// The part may end after this many bytes of listed entries, and not earlier.
        package var bytes: Int
        /// Whether excluded entries are only counted and not listed.
        package var isShownOnly: Bool

        package init(start: Int = 0, bytes: Int, isShownOnly: Bool = false) {
            (self.start, self.bytes, self.isShownOnly) = (start, bytes, isShownOnly)
        }
    }

    /// The first day of the preview, and the day after the last.
    package let from: CivilDate
    package let to: CivilDate
    /// The entries of the part that touch these days, in the feed's order, without those that are private to somebody
    /// else.
    package let entries: [FeedContents.Entry]
    /// Whether there are more entries after these.
    package let isCut: Bool
    /// How many entries are private to somebody else, regardless of the days: a count for the days would reveal when.
    package let hidden: Int
    /// The memory for the preview, released with the preview.
    private let room: CircleRoom

    /// Makes a part of a feed's preview; throws 404 for a feed that is not the caller's, and 422 for the faults of the
    /// request.
    package static func of(
        _ id: String, for caller: Caller, days: Days, _ part: Part, _ context: FeedContext
    ) async throws -> FeedPreview {
        try await context.readInTurn(for: caller.payer) { transaction, room in
            let feed = try Rights.feed(id, for: caller.identity, in: transaction)
            guard let circle = try transaction.circle(feed.circleID) else { throw Refusal.missing(.feed) }
            if !days.faults.isEmpty { throw Refusal.invalid(days.faults) }
            return try FeedPreview(of: feed, circle, days, part, room, in: transaction, context)
        }.0
    }

    fileprivate init(
        of feed: Feed, _ circle: Circle, _ days: Days, _ part: Part, _ room: CircleRoom?,
        in transaction: any ReadTransaction, _ context: FeedContext
    ) throws {
        guard let room else { throw CircleRoom.Needed() }
        try room.take(circle.id, andOwnOf: feed.showsOwn ? feed.userID : nil, in: transaction)
        let live = try LiveFeedParts(feed: feed, circle: circle, settings: context.settings)
        let today = live.zone.rules.civil(at: Instant(milliseconds: context.now())).date
        let window = FeedWindow(live.configuration, today: today, zone: live.zone)
        let (from, to) = (days.from?.day(in: live.zone), days.to?.day(in: live.zone))
        var taken = Taken(part, from: from ?? window.firstDay, to: to ?? window.endDay, zone: live.zone)
        try FeedContents.each(of: live, window: window, in: transaction) { taken.add($0) }
        (self.from, self.to, self.room) = (taken.from, taken.to, room)
        (entries, isCut, hidden) = (taken.entries, taken.isCut, taken.hidden)
    }

    /// What is kept from the entries that are visited one by one.
    private struct Taken {
        let (from, to): (CivilDate, CivilDate)
        private let zone: TimeZoneReference
        private let part: Part
        private(set) var entries: [FeedContents.Entry] = []
        private(set) var isCut = false
        private(set) var hidden = 0
        private var number = 0
        private var bytes = 0

        init(_ part: Part, from: CivilDate, to: CivilDate, zone: TimeZoneReference) {
            (self.part, self.from, self.to, self.zone) = (part, from, to, zone)
        }

        mutating func add(_ entry: FeedContents.Entry) {
            if entry.exclusion == .privateEvent {
                hidden += 1
                return
            }
            if isCut || part.isShownOnly && entry.exclusion != nil { return }
            guard entry.touches(from: from, to: to, zone: zone) else { return }
            number += 1
            if number <= part.start { return }
            if bytes > part.bytes {
                isCut = true
                return
            }
            bytes += entry.leastLength
            var kept = entry.outline
            if kept.exclusion != nil { kept.events = [] }
            entries.append(kept)
        }
    }
}

extension AuthorizedCircle {
    /// Returns the entries that one of the caller's feeds shows on some days.
    package func preview(
        of feed: String, _ days: FeedPreview.Days, bytes: Int, _ context: FeedContext
    ) throws -> FeedPreview {
        try FeedPreview(
            of: try self.feed(feed), circle, days, .init(bytes: bytes, isShownOnly: true), room, in: transaction,
            context)
    }

    /// Returns the entries that a new feed of the user would show on some days, before it is made; throws 422 for the
    /// faults of its content.
    package func preview(
        of draft: Feeds.Draft, _ days: FeedPreview.Days, bytes: Int, _ context: FeedContext
    ) throws -> FeedPreview {
        guard let user else { throw Refusal.missing(.feed) }
        let now = context.now()
        let faults = draft.faults + [Feeds.expiryFault(draft.expiresAt, now: now)].compactMap(\.self)
        if !faults.isEmpty { throw Refusal.invalid(faults) }
        try Feeds.checkPatients(draft.configuration.patientIds, in: id, transaction)
        var feed = Feed(
            id: "", circleID: id, userID: user, label: draft.label,
            config: try draft.configuration.stored(context.settings.kinds), tokenHint: "", sealedToken: "",
            expiresAt: draft.expiresAt, now: now)
        feed.showsOwn = draft.configuration.showsOwn
        return try FeedPreview(
            of: feed, circle, days, .init(bytes: bytes, isShownOnly: true), room, in: transaction, context)
    }
}

extension FeedPreview.Bound {
    fileprivate func day(in zone: TimeZoneReference) -> CivilDate {
        switch self {
        case .day(let day): day
        case .moment(let instant): zone.rules.civil(at: instant).date
        }
    }
}

extension FeedContents.Entry {
    /// The fewest bytes that any list needs for the entry.
    fileprivate var leastLength: Int {
        if exclusion != nil { return id.utf8.count + 32 }
        return events.reduce(0) { $0 + $1.uid.utf8.count + ($1.summary?.utf8.count ?? 0) + id.utf8.count + 64 }
    }

    /// Whether any part of the entry lies in these days; always true for a series.
    fileprivate func touches(from: CivilDate, to: CivilDate, zone: TimeZoneReference) -> Bool {
        guard let event = events.first, let start = event.start, let end = event.effectiveEnd else { return true }
        if events.count > 1 || !event.recurrence.isEmpty { return true }
        func day(_ time: EventTime) -> CivilDate {
            time.isDate ? time.civilDate : zone.rules.civil(at: time.instant(floatingIn: zone.rules)).date
        }
        return day(start) < to && day(end) >= from
    }
}
