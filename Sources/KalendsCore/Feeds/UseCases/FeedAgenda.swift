// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import ICalBridge
import Storage

/// What a feed shows on some days, for a person who opens its address in a browser.
package struct FeedAgenda: Sendable {
    /// The calendar's name, as calendar apps show it.
    package let name: String
    package let zone: TimeZoneReference
    /// The last day on which this address works, in the feed's zone, if another has replaced it.
    package let lastDay: CivilDate?
    /// In order of time.
    package let occurrences: [Occurrence]
    /// False where the feed shows more on these days.
    package let isComplete: Bool
    /// The origins whose pages may show it in a frame.
    package let embedOrigins: [String]
    package let live: LiveFeed
}

extension FeedReading {
    /// Reads a feed's parts with room for what it shows, in the turn of all who have addresses of the same user: that of the
    /// user is for their own pages. Throws `Ended`.
    ///
    /// - Parameter owner: the feed's user, if known.
    func look<Value: Sendable>(
        at token: Secret, ownedBy owner: String? = nil, now: Int,
        _ body: @escaping @Sendable (LiveFeed, LiveFeedParts, any ReadTransaction) throws -> Value
    ) async throws -> Value {
        let (ledger, context) = (context.ledger, context)
        var owner = owner
        if owner == nil {
            owner = try await context.store.read { try ledger.open(token, now: now, in: $0)?.feed.userID }
        }
        guard let owner else { throw Ended() }
        return try await context.readInTurn(for: "feeds of \(owner)") { transaction, room in
            guard let open = try ledger.open(token, now: now, in: transaction) else { throw Ended() }
            try room.take(open.circle.id, andOwnOf: open.feed.showsOwn ? open.feed.userID : nil, in: transaction)
            return try body(open.live, try LiveFeedParts(open, context.settings), transaction)
        }.0
    }

    /// Returns what a feed shows on some days; throws `Ended`.
    ///
    /// - Parameters:
    ///   - owner: the feed's user, if known.
    ///   - days: gets the day that it is in the feed's zone; returns the first day, and the day after the last.
    package func agenda(
        of token: Secret, ownedBy owner: String?, now: Int,
        days: @escaping @Sendable (CivilDate) -> (from: CivilDate, to: CivilDate)
    ) async throws -> FeedAgenda {
        try await look(at: token, ownedBy: owner, now: now) { feed, live, transaction in
            let (today, window) = live.window(now: now)
            let (from, to) = days(today.date)
            let (start, end) = (
                live.zone.rules.instant(of: CivilDateTime(startOf: from)),
                live.zone.rules.instant(of: CivilDateTime(startOf: to))
            )
            var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
            var (found, isComplete): ([Occurrence], Bool) = ([], true)
            try FeedContents.each(of: live, window: window, in: transaction) { entry in
                guard entry.exclusion == nil else { return }
                guard found.count < CircleDays.most else {
                    isComplete = false
                    return
                }
                let (occurrences, isWhole) = entry.events.occurrences(
                    from: start, to: end, in: live.zone, most: CircleDays.most - found.count, &budget)
                found += occurrences
                isComplete = isComplete && isWhole
            }
            return FeedAgenda(
                name: FeedRenderer.calendar(live, events: []).name ?? "", zone: live.zone,
                lastDay: live.notice.map { RenewalNotice($0, live).lastDay },
                occurrences: found.sorted { $0.order(in: live.zone) < $1.order(in: live.zone) },
                isComplete: isComplete,
                embedOrigins: live.configuration.embedOrigins, live: feed)
        }
    }
}
