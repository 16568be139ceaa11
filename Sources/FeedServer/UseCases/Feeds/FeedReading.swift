// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import ICalBridge
import Storage

/// What a feed shows to whoever comes with its token.
struct FeedReading: Sendable {
    let services: Services

    /// The feed ended between the look-up of its token and the reading of its events.
    struct Ended: Error {}

    /// What is to be rendered: the bytes themselves, or what they are made of once no transaction waits for them.
    private enum Found: Sendable {
        case bytes(FeedRenderer.Rendered)
        case rows(FeedRows)
    }

    /// The feed's bytes in a form, rendered once for all who wait for them; throws `Ended`.
    ///
    /// - Parameter keep: called once for what is rendered, before anybody else has it rendered again.
    func rendered(
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

    /// Reads a feed's events and makes its bytes; both, and the version that they are known by, come from one snapshot.
    private func render(_ token: Secret, as form: CalendarForm, now: Int) async throws -> RenderedFeed {
        let (renderer, settings, ledger) = (services.renderer, services.settings, services.ledger)
        var room: MemoryShare?
        let feed = try await services.store.read { try ledger.open(token, now: now, in: $0)?.feed }
        guard let feed else { throw Ended() }
        let owner = feed.showsOwn ? feed.userID : nil
        if form != .iCalendar {
            room = try await services.room(forCircle: feed.circleID, andOwnOf: owner)
        } else if let owner {
            room = try await services.room(forOwnOf: owner)
        }
        defer { withExtendedLifetime(room) {} }
        let (live, parts, day, window, found) = try await services.store.read { transaction in
            guard let open = try ledger.open(token, now: now, in: transaction) else { throw Ended() }
            let live = open.live
            let parts = try LiveFeedParts(
                feed: open.feed, circle: open.circle, notice: open.notice, settings: settings)
            let day = FeedDay(parts.zone, now: now)
            let window = FeedWindow(parts.configuration, today: day.date, zone: parts.zone)
            let found: Found =
                if form == .iCalendar {
                    .bytes(try renderer.render(parts, window: window, in: transaction))
                } else {
                    .rows(try FeedRows(of: parts, window: window, in: transaction))
                }
            return (live, parts, day, window, found)
        }
        let rendered =
            switch found {
            case .bytes(let rendered): rendered
            case .rows(let rows): try await FeedRenderer.render(parts, window: window, as: form, rows)
            }
        return RenderedFeed(
            version: live.version, changedAt: live.changedAt, shown: day.shown(rendered.hash, size: rendered.size),
            body: rendered.body)
    }
}
