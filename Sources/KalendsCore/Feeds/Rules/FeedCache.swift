// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import ICalBridge
import Synchronization

/// A rendered feed: its bytes, and the state that they show.
package struct RenderedFeed: Sendable {
    package var version: FeedVersion
    /// The last change of anything the bytes depend on except the day, in milliseconds since 1970.
    package var changedAt: Int
    package var shown: ShownFeed
    package var text: FeedText
}

/// Caches what feeds show, so that a poll of an unchanged feed reads no events; each kind of cache has its own limit.
package final class FeedCache: Sendable {
    /// Few clients poll forms other than iCalendar, so their tags are kept here and not with each token.
    private struct FormKey: Hashable {
        var token: TokenKey
        var form: CalendarForm
    }

    private struct Asked: Hashable {
        /// A feed is rendered separately for each of its tokens: one may be replaced, and show a notice, before its
        /// rendering begins.
        var token: TokenKey
        var version: FeedVersion
        /// The number of the quarter of an hour; no zone's day begins within one.
        var quarter: Int
        var form: CalendarForm
    }

    private struct State {
        var forms = LeastRecentlyUsed<FormKey, (version: FeedVersion, shown: ShownFeed)>(limit: 8 << 20)
        var weights = LeastRecentlyUsed<ByteString, FeedWeight>(limit: 8 << 20)
        var underWay: [Asked: Task<RenderedFeed, any Error>] = [:]
    }

    /// The approximate size of one entry besides its bytes.
    private static let overhead = 200
    private let state = Mutex(State())
    private let turns = KeyedLock<TokenKey>()

    package init() {}

    /// Makes the bytes of a feed if nobody else is making them at the moment; otherwise returns nil.
    func aloneNow<Value>(_ token: TokenKey, _ make: () throws -> Value?) rethrows -> Value? {
        try turns.aloneNow(token, make) ?? nil
    }

    /// Returns what a feed shows in a form at a time; nil if its bytes have not been made yet or are not cached.
    package func shown(_ live: LiveFeed, for token: TokenKey, as form: CalendarForm, now: Int) -> ShownFeed? {
        let shown: ShownFeed?
        if form == .iCalendar {
            shown = live.shown
        } else {
            let known = state.withLock { $0.forms.find(FormKey(token: token, form: form)) }
            shown = known?.version == live.version ? known?.shown : nil
        }
        return shown.flatMap { $0.holds(at: now) ? $0 : nil }
    }

    /// Returns the feed that `render` makes, calling it once for all who wait for the feed.
    ///
    /// The result may be newer than what was asked for, because a change can be committed in between.
    func rendered(
        _ live: LiveFeed, for token: TokenKey, as form: CalendarForm, now: Int,
        render: @escaping @Sendable () async throws -> RenderedFeed
    ) async throws -> RenderedFeed {
        let asked = Asked(token: token, version: live.version, quarter: now / 900_000, form: form)
        let task = state.withLock { state -> Task<RenderedFeed, any Error> in
            if let known = state.underWay[asked] { return known }
            let new = Task { try await render() }
            state.underWay[asked] = new
            return new
        }
        defer { state.withLock { $0.underWay[asked] = nil } }
        let rendered = try await task.value
        state.withLock { state in
            if form != .iCalendar {
                state.forms.keep(
                    (rendered.version, rendered.shown), for: FormKey(token: token, form: form),
                    cost: Self.overhead)
            }
        }
        return rendered
    }

    /// Returns the weight of a feed in that version on that day; nil if it has not been calculated or is not cached.
    func weight(of feedID: String, _ version: FeedVersion, on day: CivilDate) -> FeedWeight? {
        state.withLock { $0.weights.find(ByteString(feedID)) }.flatMap {
            $0.version == version && $0.day == day ? $0 : nil
        }
    }

    func keep(_ weight: FeedWeight, for feedID: String) {
        state.withLock { $0.weights.keep(weight, for: ByteString(feedID), cost: 2 * Self.overhead) }
    }
}
