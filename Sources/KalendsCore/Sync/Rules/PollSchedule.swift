// SPDX-License-Identifier: Apache-2.0

import CalendarSync
package import Storage

/// When a connection is polled without a reason: often where only polling finds changes, rarely where the provider
/// announces them. Times are in milliseconds.
enum PollSchedule {
    /// The interval of connections whose changes are announced, and the longest to which others are stretched.
    static let longest = 6 * 3_600_000
    /// The interval of connections that never ran.
    static let usual = 900_000
    /// For how long after a message a look may still find the change that it announced.
    private static let slack = 900_000

    /// Returns the time between two looks, before requests are saved.
    ///
    /// - Parameters:
    ///   - interval: what the person has chosen.
    ///   - isCalm: whether the last run left nothing to be done.
    static func every(_ interval: Int, _ channel: SyncChannelRow?, isCalm: Bool, now: Int) -> Int {
        isCalm && channel?.isAlive(now: now) ?? false ? max(interval, longest) : interval
    }

    /// Returns the time until the next look: `every` stretched, at most up to `longest`, and not long past the end of the
    /// channel.
    static func gap(_ every: Int, _ interval: Int, _ channel: SyncChannelRow?, stretch: Double, now: Int) -> Int {
        let gap = every < longest ? min(longest, Int(Double(every) * max(1, stretch))) : every
        guard every > interval, let channel else { return gap }
        return min(gap, max(interval, channel.expiresAt - now))
    }

    /// Whether a run found a change that the channel should have announced, but did not.
    static func wasMissed(_ counts: RunRecord.Counts, _ channel: SyncChannelRow, lastLook: Int?) -> Bool {
        guard counts.pulled + counts.conflicts > 0, let heard = channel.lastHeardAt, let lastLook else { return false }
        return heard < lastLook - slack
    }
}

/// A provider's requests of a day in UTC: those that were sent, and those that are still to come.
package struct RequestForecast: Hashable, Sendable {
    package let provider: Connection.Provider
    package let day: RequestDay
    /// The number that should not be exceeded; nil without such a limit.
    package let limit: Int?
    /// The requests of a look, on average of today and yesterday.
    let perLook: Double
    /// The expected requests other than looks: for changes, channels, and questions of people.
    let others: Double

    private static let dayLength = 86_400_000.0
    /// Less of a day says nothing about the rest of it.
    private static let shortest = 3_600_000.0

    init(_ provider: Connection.Provider, _ day: RequestDay, limit: Int?, now: Int) {
        (self.provider, self.day, self.limit) = (provider, day, limit)
        let known = day.today + day.yesterday
        perLook = known.looks > 0 ? Double(known.lookRequests) / Double(known.looks) : 1
        let begun = Double(now % 86_400_000)
        let time = begun + (day.yesterday.requests > 0 ? Self.dayLength : 0)
        others =
            Double(max(0, known.requests - known.lookRequests)) / max(time, Self.shortest) * (Self.dayLength - begun)
    }

    private var polls: Double { Double(day.polls) / 1000 * perLook }
    private var rest: Double { Double(day.today.requests) + Double(day.rareLooks) / 1000 * perLook + others }

    /// The requests of the whole day if every connection is looked at when its person wants it.
    package var total: Int { Int(polls + rest) }

    /// The factor by which the intervals have to grow for that to be at most the limit; 1 where it is anyway.
    package var stretch: Double {
        guard let limit, total > limit else { return 1 }
        let room = Double(limit) - rest
        let most = Double(PollSchedule.longest) / 300_000
        return room > 0 ? min(most, max(1, polls / room)) : most
    }

    /// The requests of the whole day with intervals that are so much longer.
    package var saved: Int { Int(polls / stretch + rest) }
}

extension SyncContext {
    /// Returns what each provider's day holds, at most a minute old; nothing for a provider without requests and connections.
    package func requestForecasts() async throws -> [RequestForecast] {
        let now = now()
        if let known = sync.forecasts(now: now) { return known }
        let settings = settings.connections
        let found = try await store.read { transaction in
            try [Connection.Provider.google, .outlook, .caldav].compactMap { provider -> RequestForecast? in
                let day = try transaction.requestDay(
                    by: provider, usual: PollSchedule.usual, longest: PollSchedule.longest, now: now)
                guard day.connections > 0 || day.today.requests > 0 else { return nil }
                let limit = provider == .google ? settings.googleRequestsPerDay : nil
                return RequestForecast(provider, day, limit: limit, now: now)
            }
        }
        sync.keep(found, now: now)
        return found
    }
}
