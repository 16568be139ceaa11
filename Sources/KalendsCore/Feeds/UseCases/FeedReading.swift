// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import ICalBridge
import Storage

/// Reads a feed for a client that has its token.
package struct FeedReading: Sendable {
    let context: FeedContext

    /// Reports that the feed ended between the look-up of its token and the reading of its events.
    package struct Ended: Error {}

    /// The maximum size in bytes of a text for which a whole circle is read in the look at the database that finds its
    /// feed; for longer ones, feeds take turns.
    private static let mostAtOnce = 512 << 10

    private typealias Look = (LiveFeed, LiveFeedParts, FeedDay, FeedWindow, FeedRenderer.Source)

    /// The feed that an address opens.
    package enum Opened: Sendable {
        /// No such address was ever made.
        case unknown
        case ended
        case live(LiveFeed, RenderedFeed?)
    }

    /// Returns what an address opens, and its bytes as iCalendar if they were made in the same look at the database.
    ///
    /// Each look leads to another thread and back, which takes longer than making a small feed.
    ///
    /// - Parameter keep: called with what was rendered.
    package func open(
        _ token: Secret, as form: CalendarForm, now: Int, keep: (RenderedFeed) -> Void
    ) async throws -> Opened {
        let isWanted = form == .iCalendar
        let (resolution, made) = try await context.ledger.resolve(token, now: now) { open, shown, transaction in
            isWanted && shown?.holds(at: now) != true
                ? try renderNow(open, token, now: now, in: transaction) : nil
        }
        switch resolution {
        case .unknown: return .unknown
        case .ended: return .ended
        case .live(let live):
            guard let made = made.flatMap(\.self) else { return .live(live, nil) }
            let rendered = try feed(made)
            keep(rendered)
            context.ledger.remember(rendered.shown, of: rendered.version, for: token)
            return .live(live, rendered)
        }
    }

    private typealias Made = (live: LiveFeed, day: FeedDay, rendered: FeedRenderer.Rendered)

    /// Makes the bytes of a feed; nil if room is needed for them, or others have to be waited for.
    private func renderNow(
        _ open: OpenFeed, _ token: Secret, now: Int, in transaction: any ReadTransaction
    ) throws -> Made? {
        let (size, room) = (
            CircleRoom.textSize(open), MemoryShare(context.memory.feeds, network: ByteString(open.feed.userID))
        )
        guard !open.feed.showsOwn, size <= FeedText.mostJoined, room.holdNow(size) else { return nil }
        return try context.cache.aloneNow(token.key) {
            let parts = try LiveFeedParts(open, context.settings)
            let (day, window) = parts.window(now: now)
            let rendered = try context.renderer.renderNow(
                parts, window: window, in: transaction, room: room, mayReadAll: size <= Self.mostAtOnce)
            return rendered.map { (open.live, day, $0) }
        }
    }

    /// Returns the feed's bytes in a form, rendered once for all clients that wait for them; throws `Ended`.
    ///
    /// - Parameter keep: called once with what was rendered, before anybody else renders it again.
    package func rendered(
        _ live: LiveFeed, _ token: Secret, as form: CalendarForm, now: Int,
        keep: @escaping @Sendable (RenderedFeed) -> Void
    ) async throws -> RenderedFeed {
        let rendered = try await context.cache.rendered(live, for: token.key, as: form, now: now) {
            let rendered = try await render(token, as: form, now: now)
            keep(rendered)
            return rendered
        }
        if form == .iCalendar { context.ledger.remember(rendered.shown, of: rendered.version, for: token) }
        return rendered
    }

    /// Reads a feed's events and makes its bytes; both, and the version that identifies them, come from one snapshot.
    private func render(_ token: Secret, as form: CalendarForm, now: Int) async throws -> RenderedFeed {
        let (renderer, settings, ledger) = (context.renderer, context.settings, context.ledger)
        var room: MemoryShare?
        let (first, size, made) = try await context.store.read { transaction in
            guard let open = try ledger.open(token, now: now, in: transaction) else { throw Ended() }
            return (
                try LiveFeedParts(open, settings), CircleRoom.textSize(open),
                form == .iCalendar ? try renderNow(open, token, now: now, in: transaction) : nil
            )
        }
        if let made { return try feed(made) }
        let owner = first.feed.showsOwn ? first.feed.userID : nil
        let (payer, isLong) = (first.feed.userID, size > Self.mostAtOnce)
        // Readers of large texts may be slow, so nothing else is held while this is waited for.
        let (textRoom, making, isSpooled) = try await context.room(
            forTextOf: first.circle.id, andOwnOf: owner, as: form, for: payer)
        defer { withExtendedLifetime(making) {} }
        switch form {
        case .iCalendar: if let owner { room = try await context.room(forOwnOf: owner) }
        case .jCal, .xCal: room = try await context.room(forFormOf: first.circle.id, andOwnOf: owner, for: payer)
        case .csv: room = try await context.room(forCircle: first.circle.id, andOwnOf: owner, for: payer)
        }
        defer { withExtendedLifetime(room) {} }
        let look: @Sendable (any ReadTransaction) throws -> Look = { transaction in
            guard let open = try ledger.open(token, now: now, in: transaction) else { throw Ended() }
            let parts = try LiveFeedParts(open, settings)
            let (day, window) = parts.window(now: now)
            let source: FeedRenderer.Source =
                if isSpooled {
                    .text(try renderer.renderSpooled(parts, window: window, in: transaction, room: textRoom))
                } else if form != .csv {
                    .text(
                        try renderer.render(
                            parts, window: window, in: transaction, room: form == .iCalendar ? textRoom : nil))
                } else {
                    .events(try FeedContents(of: parts, window: window, in: transaction).events)
                }
            return (open.live, parts, day, window, source)
        }
        let (live, parts, day, window, source) =
            form != .csv
            ? try await renderer.inTurn(first) {
                let turn = isLong ? try await context.turn(ofFeeds: payer) : nil
                defer { withExtendedLifetime(turn) {} }
                return try await ReadPurpose.$isShort.withValue(!isLong) { try await context.store.read(look) }
            } : try await ReadPurpose.$isShort.withValue(false) { try await context.store.read(look) }
        if case .text(let rendered) = source, form == .iCalendar { return try feed((live, day, rendered)) }
        let rendered = try await FeedRenderer.rendered(source, of: parts, window: window, as: form, room: textRoom)
        return try feed((live, day, rendered))
    }

    /// Returns a feed that was rendered, and counts that.
    private func feed(_ made: Made) throws -> RenderedFeed {
        let (live, day, rendered) = made
        if let isWhole = rendered.isWhole, let duration = rendered.duration {
            context.metrics.countRendering(isWhole: isWhole, duration)
        }
        return RenderedFeed(
            version: live.version, changedAt: live.changedAt, shown: day.shown(rendered.hash, size: rendered.size),
            text: try rendered.text.spooledIfLarge())
    }
}

extension LiveFeedParts {
    init(_ open: OpenFeed, _ settings: ServerSettings) throws {
        try self.init(feed: open.feed, circle: open.circle, notice: open.notice, settings: settings)
    }

    /// The day that it is, and the window placed at it.
    func window(now: Int) -> (FeedDay, FeedWindow) {
        let day = FeedDay(zone, now: now)
        return (day, FeedWindow(configuration, today: day.date, zone: zone))
    }
}
