// SPDX-License-Identifier: Apache-2.0

import Base
package import FeedTokens
package import ICalBridge
import Storage

/// Reads a feed for a client that has its token.
package struct FeedReading: Sendable {
    package let services: Services

    package init(services: Services) { self.services = services }

    /// Reports that the feed ended between the look-up of its token and the reading of its events.
    package struct Ended: Error {}

    /// What is to be rendered: finished bytes, or the events from which they are made after the transaction.
    private enum Found: Sendable {
        case bytes(FeedRenderer.Rendered)
        case events([Event])
    }

    private typealias Look = (LiveFeed, LiveFeedParts, FeedDay, FeedWindow, Found)

    /// Returns the feed's bytes in a form, rendered once for all clients that wait for them; throws `Ended`.
    ///
    /// - Parameter keep: called once with what was rendered, before anybody else renders it again.
    package func rendered(
        _ live: LiveFeed, _ token: Secret, as form: CalendarForm, now: Int,
        keep: @escaping @Sendable (RenderedFeed) -> Void
    ) async throws -> RenderedFeed {
        let rendered = try await services.feeds.rendered(live, for: token.key, as: form, now: now) {
            let rendered = try await render(token, as: form, now: now)
            keep(rendered)
            return rendered
        }
        if form == .iCalendar { services.ledger.remember(rendered.shown, of: rendered.version, for: token) }
        return rendered
    }

    /// Reads a feed's events and makes its bytes; both, and the version that identifies them, come from one snapshot.
    private func render(_ token: Secret, as form: CalendarForm, now: Int) async throws -> RenderedFeed {
        let (renderer, settings, ledger) = (services.renderer, services.settings, services.ledger)
        var room: MemoryShare?
        let first = try await services.store.read { transaction in
            try ledger.open(token, now: now, in: transaction).map {
                try LiveFeedParts(feed: $0.feed, circle: $0.circle, notice: $0.notice, settings: settings)
            }
        }
        guard let first else { throw Ended() }
        let owner = first.feed.showsOwn ? first.feed.userID : nil
        if form != .iCalendar {
            room = try await services.room(forCircle: first.circle.id, andOwnOf: owner)
        } else if let owner {
            room = try await services.room(forOwnOf: owner)
        }
        defer { withExtendedLifetime(room) {} }
        let textRoom = form == .iCalendar ? try await services.room(forTextOf: first.circle.id) : nil
        let look: @Sendable (any ReadTransaction) throws -> Look = { transaction in
            guard let open = try ledger.open(token, now: now, in: transaction) else { throw Ended() }
            let live = open.live
            let parts = try LiveFeedParts(
                feed: open.feed, circle: open.circle, notice: open.notice, settings: settings)
            let day = FeedDay(parts.zone, now: now)
            let window = FeedWindow(parts.configuration, today: day.date, zone: parts.zone)
            let found: Found =
                if form == .iCalendar {
                    .bytes(try renderer.render(parts, window: window, in: transaction, room: textRoom))
                } else {
                    .events(try FeedContents(of: parts, window: window, in: transaction).events)
                }
            return (live, parts, day, window, found)
        }
        let (live, parts, day, window, found) =
            form == .iCalendar
            ? try await renderer.inTurn(first) { try await services.store.read(look) }
            : try await services.store.read(look)
        let rendered =
            switch found {
            case .bytes(let rendered): rendered
            case .events(let events): FeedRenderer.render(parts, window: window, as: form, events)
            }
        if let isWhole = rendered.isWhole, let duration = rendered.duration {
            services.metrics.countRendering(isWhole: isWhole, duration)
        }
        return RenderedFeed(
            version: live.version, changedAt: live.changedAt, shown: day.shown(rendered.hash, size: rendered.size),
            text: rendered.text)
    }
}
