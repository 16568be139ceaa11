// SPDX-License-Identifier: Apache-2.0

package import Base
package import ICalBridge
import Storage

/// What a feed shows, entry by entry, and what is left out by which rule.
package struct FeedPreview: Sendable {
    /// A day, or a moment that is on a day of the circle's zone.
    package enum Bound: Sendable {
        case day(CivilDate)
        case moment(Instant)
    }

    /// The days that somebody asked for.
    package struct Days: Sendable {
        /// Nil for the first day of the feed's window, and for the day after its last one.
        package var from: Bound?
        package var to: Bound?
        /// What was wrong with the question; reported only to who may see the feed.
        package var faults = FaultList()

        package init(from: Bound? = nil, to: Bound? = nil, faults: FaultList = FaultList()) {
            self.from = from
            self.to = to
            self.faults = faults
        }
    }

    /// The first day that is looked at, and the day after the last.
    package let from: CivilDate
    package let to: CivilDate
    /// The entries that touch these days, in the feed's order, without those that are private to somebody else.
    package let entries: [FeedContents.Entry]
    /// How many entries are private to somebody else, whenever they are: the days asked for would tell when.
    package let hidden: Int
    /// Room for all of this, given back when nobody has the preview any more.
    private let room: MemoryShare

    /// Makes the preview of a feed; throws 404 for one that is not the caller's, 422 for the faults of the question.
    package static func of(
        _ id: String, for caller: Caller, days: Days, _ services: Services
    ) async throws -> FeedPreview {
        let (now, settings) = (services.now(), services.settings)
        let known = try await services.store.read { try Rights.feed(id, for: caller.identity, in: $0) }
        let room = try await services.room(
            forCircle: known.circleID, andOwnOf: known.showsOwn ? known.userID : nil)
        let (live, window, rows) = try await services.store.read { transaction in
            let feed = try Rights.feed(id, for: caller.identity, in: transaction)
            guard let circle = try transaction.circle(feed.circleID) else { throw Refusal.missing(.feed) }
            if !days.faults.isEmpty { throw Refusal.invalid(days.faults) }
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings)
            let today = live.zone.rules.civil(at: Instant(milliseconds: now)).date
            let window = FeedWindow(live.configuration, today: today, zone: live.zone)
            return (live, window, try FeedRows(of: live, window: window, in: transaction))
        }
        let contents = try await FeedContents.make(of: live, window: window, rows, keeping: .outline)
        return FeedPreview(
            contents, from: days.from?.day(in: live.zone) ?? window.firstDay,
            to: days.to?.day(in: live.zone) ?? window.endDay, zone: live.zone, room)
    }

    private init(
        _ contents: FeedContents, from: CivilDate, to: CivilDate, zone: TimeZoneReference, _ room: MemoryShare
    ) {
        (self.from, self.to, self.room) = (from, to, room)
        hidden = contents.entries.count { $0.exclusion == .privateEvent }
        entries = contents.entries.filter {
            $0.exclusion != .privateEvent && $0.touches(from: from, to: to, zone: zone)
        }
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
    /// Whether any part of it lies in these days; a series always does.
    fileprivate func touches(from: CivilDate, to: CivilDate, zone: TimeZoneReference) -> Bool {
        guard let event = events.first, let start = event.start, let end = event.effectiveEnd else { return true }
        if events.count > 1 || !event.recurrence.isEmpty { return true }
        func day(_ time: EventTime) -> CivilDate {
            time.isDate ? time.civilDate : zone.rules.civil(at: time.instant(floatingIn: zone.rules)).date
        }
        return day(start) < to && day(end) >= from
    }
}
