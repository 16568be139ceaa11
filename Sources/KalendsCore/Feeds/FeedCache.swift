// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
package import ICalBridge
import Synchronization

/// A feed as it was rendered: its bytes, and the state that they show.
package struct RenderedFeed: Sendable {
    package var version: FeedVersion
    /// The last change of anything the bytes depend on, the day aside, in milliseconds since 1970.
    package var changedAt: Int
    package var shown: ShownFeed
    package var text: FeedText
}

/// Remembers what feeds show, so that an unchanged poll reads no event; each kind of memory has its own limit.
package final class FeedCache: Sendable {
    /// Few readers poll forms other than iCalendar: their tags are kept here, and not beside each token.
    private struct FormKey: Hashable {
        var token: TokenKey
        var form: CalendarForm
    }

    private struct Asked: Hashable {
        /// A feed's tokens are rendered apart: one may be replaced, and show so, before its rendering begins.
        var token: TokenKey
        var version: FeedVersion
        /// A quarter of an hour: no zone's day begins within one.
        var quarter: Int
        var form: CalendarForm
    }

    private struct State {
        var forms = LeastRecentlyUsed<FormKey, (version: FeedVersion, shown: ShownFeed)>(limit: 8 << 20)
        var weights = LeastRecentlyUsed<ByteString, FeedWeight>(limit: 8 << 20)
        var underWay: [Asked: Task<RenderedFeed, any Error>] = [:]
    }

    /// What one entry takes besides its bytes, about.
    private static let overhead = 200
    private let state = Mutex(State())

    package init() {}

    /// What a feed shows in a form at a time, nil when its bytes were not made yet or are not remembered.
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

    /// The feed as `render` makes it, once for all who wait for it.
    ///
    /// What is rendered may be newer than what was asked for: a change can commit in between.
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

    /// What a feed of that version weighs on that day, nil when it was not worked out or is not remembered.
    func weight(of feedID: String, _ version: FeedVersion, on day: CivilDate) -> FeedWeight? {
        state.withLock { $0.weights.find(ByteString(feedID)) }.flatMap {
            $0.version == version && $0.day == day ? $0 : nil
        }
    }

    func keep(_ weight: FeedWeight, for feedID: String) {
        state.withLock { $0.weights.keep(weight, for: ByteString(feedID), cost: 2 * Self.overhead) }
    }
}
