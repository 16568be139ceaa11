// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage
import TestSupport
import Testing

@testable import KalendsCore

/// A day of many connections, with the decisions of the server and a clock that is only a number.
struct RequestDaySimulation {
    /// What one kind of connection does in a day.
    struct Use: Sendable {
        var connections: Int
        var isPushed: Bool
        var interval = 15
        /// Times at which somebody changes something here, each with a number of items within a few seconds.
        var timesHere: Int
        var itemsAtOnce = 1
        /// Events that people move there.
        var movesThere: Int
    }

    /// What is done wrong on purpose.
    enum Fault: CaseIterable {
        case pushIgnored, wakesItself, nothingCollected, intervalOfOneMinute
    }

    /// What `OneDayTests` finds the emulator counting, and as how many requests the server counts the PATCH that changes
    /// an event: Google's reference says three of its quota.
    static let (look, write, channel, weight) = (1, 1, 2, 3)

    private static let (minute, hour, day) = (60_000, 3_600_000, 86_400_000)

    private struct Simulated {
        var use: Use
        var here: [Int]
        var there: [Int]
        var next: Int
        var every: Int
        var wish: Int?
        /// Items that wait to be written, and moves that wait to be read.
        var unwritten = 0
        var unread = 0
        var channel: SyncChannelRow?
    }

    private var all: [Simulated] = []
    private var random = SplitMix(seed: 11)
    private let fault: Fault?
    private let limit: Int?
    /// What the server counts, and how many requests these are on the wire.
    private(set) var counts = RequestCounts()
    private(set) var sent = 0
    private(set) var longestGap = 0
    /// What was forecast for the whole day, hour by hour.
    private(set) var forecasts: [RequestForecast] = []

    init(_ uses: [Use], fault: Fault? = nil, limit: Int? = nil) {
        (self.fault, self.limit) = (fault, limit)
        for var use in uses {
            if fault == .intervalOfOneMinute { use.interval = 1 }
            for _ in 0..<use.connections {
                let here = (0..<use.timesHere).flatMap { _ in
                    let time = Int.random(in: 0..<Self.day, using: &random)
                    return (0..<use.itemsAtOnce).map { time + $0 * 500 }
                }
                let there = (0..<use.movesThere).map { _ in Int.random(in: 0..<Self.day, using: &random) }
                var own = Simulated(use: use, here: here.sorted(), there: there.sorted(), next: 0, every: 0)
                if use.isPushed {
                    let end = Int.random(in: 7 * Self.day / 2..<7 * Self.day, using: &random)
                    own.channel = SyncChannelRow(
                        id: "", connectionID: "", secretHash: "", expiresAt: end, renewAt: end - 7 * Self.day / 2,
                        content: "")
                    own.channel?.lastHeardAt = 0
                }
                own.every = every(own, 0)
                own.next = Int.random(in: 0..<own.every, using: &random)
                all.append(own)
            }
        }
        for start in stride(from: 0, to: Self.day, by: Self.hour / 4) {
            let forecast = RequestForecast(.google, day(at: start), limit: limit, now: start)
            if start % Self.hour == 0 { forecasts.append(forecast) }
            for index in all.indices {
                var own = all[index]
                go(&own, until: start + Self.hour / 4, forecast.stretch)
                all[index] = own
            }
        }
    }

    private func every(_ own: Simulated, _ now: Int) -> Int {
        let channel = fault == .pushIgnored ? nil : own.channel
        return PollSchedule.every(own.use.interval * Self.minute, channel, isCalm: true, now: now)
    }

    private func day(at now: Int) -> RequestDay {
        var day = RequestDay()
        (day.today, day.connections) = (counts, all.count)
        for own in all {
            let looks = (Self.day - now) * 1000 / own.every
            if own.every < PollSchedule.longest { day.polls += looks } else { day.rareLooks += looks }
        }
        return day
    }

    private mutating func go(_ own: inout Simulated, until end: Int, _ stretch: Double) {
        while true {
            let (here, there) = (own.here.first ?? .max, own.there.first ?? .max)
            let due = min(own.next, own.wish ?? .max)
            let now = min(here, there, due)
            guard now < end else { return }
            if now == here {
                own.here.removeFirst()
                own.unwritten += 1
                own.wish = min(own.wish ?? .max, now + (fault == .nothingCollected ? 0 : PendingSync.collecting))
            } else if now == there {
                own.there.removeFirst()
                own.unread += 1
                if own.use.isPushed { own.wish = min(own.wish ?? .max, now + ChangeReports.collecting) }
            } else {
                run(&own, now, stretch)
            }
        }
    }

    private mutating func run(_ own: inout Simulated, _ now: Int, _ stretch: Double) {
        let written = own.unwritten * Self.write
        var calls = Self.look
        if let channel = own.channel, channel.renewAt <= now {
            calls += Self.channel
            own.channel?.expiresAt = now + 7 * Self.day
            own.channel?.renewAt = now + 7 * Self.day / 2
        }
        let isLook = own.wish.map { $0 > now } ?? true
        own.wish = nil
        // The provider announces what we wrote, too.
        if own.unwritten > 0, own.use.isPushed { own.wish = now + ChangeReports.collecting }
        if fault == .wakesItself { own.wish = now + Self.minute }
        (own.unwritten, own.unread) = (0, 0)
        sent += calls + written
        let counted = calls + written * Self.weight
        counts =
            counts
            + RequestCounts(
                requests: counted, successes: counted, looks: isLook ? 1 : 0, lookRequests: isLook ? counted : 0)
        own.every = every(own, now)
        let channel = fault == .pushIgnored ? nil : own.channel
        let gap = PollSchedule.gap(own.every, own.use.interval * Self.minute, channel, stretch: stretch, now: now)
        longestGap = max(longestGap, gap)
        own.next = now + gap / 1000 * Int.random(in: 950...1050, using: &random)
    }
}

@Suite("The requests of a day")
struct RequestBudgetTests {
    /// Ordinary use: nine of ten connections get their provider's messages; people change something here a few times a
    /// day, sometimes several items in a row, and move an event in their calendar now and then.
    static let ordinary: [RequestDaySimulation.Use] = [
        .init(connections: 6_000, isPushed: true, timesHere: 2, movesThere: 1),
        .init(connections: 2_500, isPushed: true, timesHere: 6, itemsAtOnce: 3, movesThere: 2),
        .init(connections: 500, isPushed: true, timesHere: 20, itemsAtOnce: 5, movesThere: 6),
        .init(connections: 900, isPushed: false, timesHere: 3, movesThere: 1),
        .init(connections: 100, isPushed: false, interval: 5, timesHere: 3, movesThere: 1),
    ]
    /// The maximum number of requests that are sent, and that are counted where every change is a PATCH.
    static let (most, mostCounted) = (400_000, 600_000)

    @Test("A day of ordinary use of 10,000 connections stays below 400,000 requests, and the forecast says so early")
    func ordinaryDay() {
        let day = RequestDaySimulation(Self.ordinary)
        #expect(Self.ordinary.reduce(0) { $0 + $1.connections } == 10_000)
        #expect(day.sent < Self.most && day.counts.requests < Self.mostCounted, "\(day.sent) \(day.counts)")
        // Everything is looked at four times or more.
        #expect(day.counts.looks > 4 * 8_000 && day.counts.requests > 100_000)
        let said = day.forecasts.dropFirst(3).map(\.total)
        #expect(said.allSatisfy { abs($0 - day.counts.requests) < day.counts.requests / 8 }, "\(said) \(day.counts)")
    }

    /// A fiftieth of them.
    private static let some = ordinary.map { use in
        var use = use
        use.connections /= 50
        return use
    }

    @Test("What is set wrong shows", arguments: RequestDaySimulation.Fault.allCases)
    func wrong(fault: RequestDaySimulation.Fault) {
        let day = RequestDaySimulation(Self.some, fault: fault).sent
        let good = RequestDaySimulation(Self.some).sent
        #expect(good < Self.most / 50)
        // Without collecting, each item of several is a run of its own.
        let least = fault == .nothingCollected ? good * 9 / 8 : Self.most / 50
        #expect(day > least, "\(fault): \(day) \(good)")
    }

    @Test("Without push, intervals become longer before the limit is reached, up to six hours, and the day keeps to it")
    func stretched() throws {
        let polled = [RequestDaySimulation.Use(connections: 200, isPushed: false, timesHere: 2, movesThere: 1)]
        let free = RequestDaySimulation(polled)
        #expect(free.counts.requests > 19_000)
        let first = try #require(free.forecasts.first)
        #expect(first.total > 19_000 && first.stretch == 1)
        let day = RequestDaySimulation(polled, limit: 16_000)
        #expect((14_000..<16_200).contains(day.counts.requests), "\(day.counts)")
        #expect(day.longestGap < 2 * 3_600_000)
        // More than six hours are never between two looks, however few requests there are.
        let poor = RequestDaySimulation(polled, limit: 400)
        #expect(poor.longestGap == PollSchedule.longest && poor.sent < 2_000, "\(poor.counts)")
    }

    @Test("The forecast is what was sent, the looks to come and what else comes as on the days before")
    func forecast() {
        var day = RequestDay()
        #expect(RequestForecast(.google, day, limit: nil, now: 0).total == 0)
        let noon = 20_000 * 86_400_000 + 43_200_000
        day.today = RequestCounts(requests: 500, successes: 450, looks: 100, lookRequests: 200)
        (day.polls, day.rareLooks) = (90_000, 10_000)
        // 500 were sent; 100 looks of 2 come, and 300 others as in the first half of the day.
        var forecast = RequestForecast(.google, day, limit: 910, now: noon)
        #expect(forecast.total == 1_000 && forecast.saved == 910)
        #expect(forecast.stretch == 2)
        day.yesterday = RequestCounts(requests: 1_000, successes: 1_000, looks: 100, lookRequests: 400)
        // 3 a look, and 900 others in a day and a half.
        forecast = RequestForecast(.google, day, limit: nil, now: noon)
        #expect(forecast.total == 500 + 300 + 300 && forecast.stretch == 1)
        // Where even the rare looks are too many, polls are as rare as they can be.
        #expect(RequestForecast(.google, day, limit: 400, now: noon).stretch == 72)
        #expect(PollSchedule.gap(300_000, 300_000, nil, stretch: 72, now: 0) == PollSchedule.longest)
    }

    @Test("A connection whose provider announces changes is looked at every six hours, and by its interval otherwise")
    func intervals() {
        let interval = 900_000
        var channel = SyncChannelRow(
            id: "c", connectionID: "o", secretHash: "", expiresAt: 100_000_000, renewAt: 50_000_000, content: "")
        func gap(_ channel: SyncChannelRow?, isCalm: Bool = true, stretch: Double = 1, now: Int = 0) -> Int {
            let every = PollSchedule.every(interval, channel, isCalm: isCalm, now: now)
            return PollSchedule.gap(every, interval, channel, stretch: stretch, now: now)
        }
        // Nothing came through it yet.
        #expect(gap(channel) == interval && gap(nil) == interval)
        channel.lastHeardAt = 1
        #expect(gap(channel) == 6 * 3_600_000 && gap(channel, stretch: 3) == 6 * 3_600_000)
        // Something is left to be done.
        #expect(gap(channel, isCalm: false) == interval)
        // It ends before that.
        #expect(gap(channel, now: 90_000_000) == 10_000_000 && gap(channel, now: 99_999_000) == interval)
        #expect(gap(channel, now: 100_000_001) == interval)
        #expect(gap(nil, stretch: 1.5) == 1_350_000 && gap(nil, stretch: 1000) == 6 * 3_600_000)
        #expect(PollSchedule.every(86_400_000, channel, isCalm: true, now: 0) == 86_400_000)

        var counts = RunRecord.Counts()
        channel.lastHeardAt = 10_000_000
        #expect(!PollSchedule.wasMissed(counts, channel, lastLook: 20_000_000))
        counts.pulled = 1
        #expect(PollSchedule.wasMissed(counts, channel, lastLook: 20_000_000))
        // A message shortly before the end of the last run may be about this change.
        #expect(!PollSchedule.wasMissed(counts, channel, lastLook: 10_800_000))
        #expect(!PollSchedule.wasMissed(counts, channel, lastLook: nil))
    }
}
