// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage
import Testing

@testable import KalendsCore

@Suite("Which runs begin")
struct SyncPaceTests {
    private static func due(
        _ id: String, _ user: String? = nil, _ provider: Connection.Provider = .google, account: String? = nil,
        at time: Int = 0, isWanted: Bool = false
    ) -> DueSync {
        DueSync(
            id: id, provider: provider, userID: user ?? "user of \(id)", accountID: account, dueAt: time,
            isWanted: isWanted)
    }

    @Test("What persons asked for is first, then each user's first one, then the longest due")
    func order() {
        let due = [
            Self.due("a1", "ann", at: 1), Self.due("a2", "ann", at: 2), Self.due("a3", "ann", at: 3),
            Self.due("b1", "ben", at: 9), Self.due("c1", "cleo", at: 50, isWanted: true),
        ]
        for _ in 0..<20 { #expect(SyncQueue.ordered(due.shuffled()).map(\.id) == ["c1", "a1", "b1", "a2", "a3"]) }
    }

    @Test("A host with hundreds of slow ones leaves room for every other host, and takes eight itself")
    func slowHost() {
        let scheduler = SyncScheduler()
        let slow = (0..<500).map { Self.due("s\($0)", nil, .caldav, account: "https://slow.example/u/\($0)", at: $0) }
        let others = (0..<10).map { Self.due("o\($0)", nil, .caldav, account: "https://h\($0).example/u", at: 900) }
        var queue = SyncQueue(slow + others)
        let taken = queue.take { scheduler.enter($0, now: 1000) }
        #expect(taken.count { $0.id.hasPrefix("s") } == SyncScheduler.perHost)
        #expect(taken.count { $0.id.hasPrefix("o") } == 10)
        // Nothing more, until one of them ends.
        #expect(queue.take { scheduler.enter($0, now: 1000) }.isEmpty)
        scheduler.leave("s3")
        #expect(queue.take { scheduler.enter($0, now: 1000) }.map(\.id) == ["s8"])
        scheduler.leave("nobody")
        #expect(scheduler.running[.caldav] == 18 && scheduler.enter(slow[0], now: 1000) == .full)
    }

    @Test("Several servers share what one host takes, by the shards of each; a provider's places are each one's own")
    func hostOfSeveral() {
        let scheduler = SyncScheduler()
        scheduler.note(Shards(0..<22))
        let due = (0..<50).map { Self.due("c\($0)", nil, .caldav, account: "https://h.example/u/\($0)", at: $0) }
        var queue = SyncQueue(due + (0..<50).map { Self.due("g\($0)", nil, at: $0) })
        let taken = queue.take { scheduler.enter($0, now: 1000) }
        #expect(taken.count { $0.id.hasPrefix("c") } == SyncScheduler.perHost * 22 / 64)
        #expect(taken.count { $0.id.hasPrefix("g") } == SyncScheduler.perProvider)
    }

    @Test("One user has two under way, and those that wait keep their order")
    func users() {
        let scheduler = SyncScheduler()
        var queue = SyncQueue((0..<5).map { Self.due("a\($0)", "ann", at: $0) } + [Self.due("b", "ben", at: 99)])
        #expect(Set(queue.take { scheduler.enter($0, now: 0) }.map(\.id)) == ["a0", "b", "a1"])
        scheduler.leave("a1")
        #expect(queue.take { scheduler.enter($0, now: 0) }.map(\.id) == ["a2"])
        scheduler.leave("a0")
        scheduler.leave("a2")
        #expect(queue.take { scheduler.enter($0, now: 0) }.map(\.id) == ["a3", "a4"])
        #expect(queue.isEmpty)
    }

    @Test("A provider takes no more than its places, and when it asks the application to wait, all connections do")
    func project() {
        let scheduler = SyncScheduler()
        let gate = SyncScheduler.Gate(.google, account: nil)
        let all = (0..<100).map { Self.due("g\($0)", at: $0) }
        var queue = SyncQueue(all)
        let first = queue.take { scheduler.enter($0, now: 0) }
        #expect(first.count == SyncScheduler.perProvider)
        for own in first { scheduler.leave(own.id) }
        let quota = ProviderFailure(.throttled(retryAfter: 20), "Google asks us to wait.", code: "rateLimitExceeded")
        // One account's limit says nothing about the others; three users' within a minute do.
        for user in ["u0", "u0", "u0", "u1"] { scheduler.note(quota, at: gate, user: user, now: 1000) }
        #expect(scheduler.enter(all[50], now: 1001) == .entered)
        scheduler.leave(all[50].id)
        scheduler.note(quota, at: gate, user: "u2", now: 1000)
        #expect(queue.take { scheduler.enter($0, now: 5_999) }.isEmpty)
        // Other providers go on.
        #expect(scheduler.enter(Self.due("o", nil, .outlook), now: 1000) == .entered)
        let next = queue.take { scheduler.enter($0, now: 6_000) }
        #expect(next.count == SyncScheduler.perProvider / 2)
        // What is taken makes room, by and by.
        for own in next {
            scheduler.leave(own.id)
            scheduler.note(nil, at: gate, user: own.userID, now: 7_000)
        }
        #expect(queue.take { scheduler.enter($0, now: 7_000) }.count == SyncScheduler.perProvider * 3 / 4)
    }

    @Test("An account that its provider asks to wait waits, with all of its connections, and no other one does")
    func account() throws {
        let scheduler = SyncScheduler()
        var own = Connection(
            id: "a", circleID: "c", userID: "ann", provider: .google, label: nil, config: "{}", now: 0)
        own.accountID = "ann@example.com"
        let quota = ProviderFailure(.throttled(retryAfter: 600), "Wait.", code: "rateLimitExceeded")
        scheduler.note(quota, of: own, now: 1000)
        #expect(
            scheduler.enter(Self.due("a2", "ann", account: "ann@example.com", isWanted: true), now: 2000) == .userWaits)
        #expect(scheduler.enter(Self.due("b", "ben", account: "ben@example.com"), now: 2000) == .entered)
        #expect(scheduler.enter(Self.due("o", "ann", .outlook, account: "ann@example.com"), now: 2000) == .entered)
        #expect(scheduler.wait(of: own, now: 2000) == 599 && scheduler.wait(of: own, now: 601_000) == nil)
        #expect(scheduler.enter(Self.due("a2", "ann", account: "ann@example.com"), now: 601_000) == .entered)
    }

    @Test("A limit of one account slows that one down only, unless several meet it within a minute")
    func accounts() {
        var pace = ProviderPace(full: 32)
        for provider in [Connection.Provider.google, .outlook, .caldav] {
            let wait = ProviderFailure(.throttled(retryAfter: 9), "Wait.", code: "x").wait(at: provider)
            #expect(wait?.seconds == 9 && wait?.isForAll == false)
        }
        #expect(ProviderFailure(.unavailable(retryAfter: 9), "No.").wait(at: .caldav)?.isForAll == true)
        for _ in 0..<5 { pace.noteWait(9, of: "one", isForAll: false, now: 0) }
        #expect(pace.limit(now: 1) == 32)
        pace.noteWait(9, of: "two", isForAll: false, now: 30_000)
        pace.noteWait(9, of: "three", isForAll: false, now: 61_000)
        #expect(pace.limit(now: 61_001) == 32)
        pace.noteWait(9, of: "four", isForAll: false, now: 61_002)
        #expect(pace.limit(now: 61_003) == 0 && pace.limit(now: 66_002) == 16)
        #expect(ProviderFailure(.quotaExceeded, "Full.", code: "quotaExceeded").wait(at: .google) == nil)
        #expect(
            ProviderFailure(.quotaExceeded, "Full.", code: "dailyLimitExceeded").wait(at: .google)?.isForAll == true)
        #expect(ProviderFailure(.unavailable(retryAfter: nil), "No.").wait(at: .caldav) == nil)
    }

    @Test("Waits grow while they are of no use, have a bound, and end; all that ends meanwhile counts once")
    func growing() {
        var pace = ProviderPace(full: 8)
        var (now, waits) = (0, [Int]())
        for _ in 0..<12 {
            for one in 0..<8 { pace.noteWait(nil, of: "\(one)", isForAll: true, now: now) }
            waits.append(pace.waitsUntil - now)
            now = pace.waitsUntil
        }
        #expect(waits == waits.sorted() && waits[0] == 5_000 && waits[1] == 10_000 && waits[11] == 900_000)
        #expect(pace.limit(now: now) == 1)
        for _ in 0..<20 { pace.noteTaken(now: now) }
        #expect(pace.limit(now: now) == 8 && pace.isUsual(now: now + 60_001))
        pace.noteWait(86_400, of: "a", isForAll: true, now: now)
        #expect(pace.waitsUntil - now == 900_000)
    }
}
