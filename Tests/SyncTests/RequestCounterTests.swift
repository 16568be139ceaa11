// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// Answers each request with the next of some statuses; nil for no answer.
private struct Answering: ProviderLine {
    let status: Int?

    func send(
        _ request: ProviderRequest, admit: @escaping @Sendable (Int) async -> Bool
    ) async throws(TransportFailure) -> ProviderAnswer {
        guard let status else { throw .unanswered("No.") }
        return ProviderAnswer(status: status)
    }
}

@Suite("Requests to providers are counted")
struct RequestCounterTests {
    private static func own(_ id: String, account: String = "ann@example.com") -> Connection {
        var own = Connection(
            id: id, circleID: "c", userID: "ann", provider: .google, label: nil, config: "{}", now: 0)
        own.accountID = account
        return own
    }

    @Test("Each request counts by provider, kind and outcome, each one of a batch, and successful ones by themselves")
    func outcomes() async {
        let (counter, own) = (RequestCounter(), Self.own("a"))
        func send(_ method: String, _ path: String, _ status: Int?, calls: Int = 1) async {
            var request = ProviderRequest(method, "https://api.example/\(path)")
            request.calls = calls
            let line = CountedLine(line: Answering(status: status), counter: counter, source: RequestSource(own))
            _ = try? await line.send(request)
        }
        await send("GET", "events", 200)
        await send("PATCH", "events/1", 412)
        await send("POST", "batch", 200, calls: 50)
        await send("POST", "events/watch", 200)
        await send("POST", "subscriptions", 503)
        await send("GET", "events", 429)
        await send("GET", "events", nil)
        let token = CountedLine(
            line: Answering(status: 200), counter: counter, source: RequestSource(.google), kind: .token)
        _ = try? await token.send(ProviderRequest("POST", "https://api.example/token"))
        let samples = Dictionary(uniqueKeysWithValues: counter.samples.map { ($0.labels, $0.value) })
        func label(_ kind: String, _ outcome: String) -> String {
            "{provider=\"google\",kind=\"\(kind)\",outcome=\"\(outcome)\"}"
        }
        #expect(
            samples == [
                label("read", "success"): 1, label("write", "refused"): 1, label("write", "success"): 50,
                label("push", "success"): 1, label("push", "failed"): 1, label("read", "limited"): 1,
                label("read", "unanswered"): 1, label("token", "success"): 1,
            ])
        // What a provider counts of its calendars is without tokens.
        #expect(counter.take(own) == RequestCounts(requests: 56, successes: 52))
        #expect(counter.take(own) == RequestCounts())
        counter.giveBack([RequestSource(own): RequestCounts(requests: 2)])
        #expect(counter.takeAll() == [RequestSource(own): RequestCounts(requests: 2)])
    }

    @Test("An account near its provider's limit waits with all of its connections, and no other account does")
    func accounts() throws {
        let counter = RequestCounter()
        let (first, second) = (RequestSource(Self.own("a")), RequestSource(Self.own("b")))
        let other = RequestSource(Self.own("c", account: "ben@example.com"))
        let limit = try #require(RequestCounter.limit(.google))
        #expect(limit.calls < 600 && limit.seconds == 60)
        let now = ContinuousClock.now
        func wait(_ source: RequestSource, _ calls: Int, at seconds: Int) -> Duration? {
            counter.wait(source, calls, limit, now: now + .seconds(seconds))
        }
        #expect(wait(first, 500, at: 0) == nil && wait(second, 40, at: 10) == nil)
        #expect(wait(second, 1, at: 20) == .seconds(40) && wait(first, 501, at: 20) == .seconds(50))
        #expect(wait(other, 540, at: 20) == nil)
        // The first ones are a minute ago.
        #expect(wait(second, 500, at: 60) == nil && wait(second, 1, at: 61) == .seconds(9))
        // One batch that is larger than the limit goes when nothing else did.
        #expect(wait(RequestSource(Self.own("d", account: "d")), 1_000, at: 0) == nil)
        #expect(RequestCounter.limit(.caldav) == nil)
    }

    @Test("Several servers together send no more for an account than its provider allows", arguments: [1, 2, 3, 64])
    func servers(count: Int) throws {
        let (now, source) = (ContinuousClock.now, RequestSource(Self.own("a")))
        let servers = (0..<count).map { number in
            let counter = RequestCounter()
            counter.note(Shards((0..<Shards.count).filter { $0 % count == number }))
            return counter
        }
        let sent = try servers.map { counter in
            let limit = try #require(counter.limit(source))
            var sent = 0
            while sent < 1_000, counter.wait(source, 1, limit, now: now) == nil { sent += 1 }
            return sent
        }
        // What Google allows a person in a minute.
        #expect(sent.reduce(0, +) <= 600 && sent.allSatisfy { $0 > 0 }, "\(sent)")
        // The server of the connection's runs has nearly all of it.
        #expect(sent.max() == (count == 1 ? 540 : 480))
    }

    @Test("An account's ten minutes at Outlook are not forgotten because very many others ask Google")
    func manyAccounts() throws {
        let (counter, now) = (RequestCounter(), ContinuousClock.now)
        let (google, outlook) = (
            try #require(RequestCounter.limit(.google)), try #require(RequestCounter.limit(.outlook))
        )
        var own = Connection(
            id: "a", circleID: "c", userID: "ann", provider: .outlook, label: nil, config: "{}", now: 0)
        own.accountID = "ann"
        let source = RequestSource(own)
        #expect(counter.wait(source, outlook.calls, outlook, now: now) == nil)
        for number in 0..<10_000 {
            let other = RequestSource(Self.own("c", account: "a\(number)"))
            #expect(counter.wait(other, 1, google, now: now + .seconds(100)) == nil)
        }
        #expect(counter.wait(source, 1, outlook, now: now + .seconds(120)) == .seconds(480))
    }

    @Test("Who would wait for more than a minute ends instead, and others of that account run again soon")
    func patience() async throws {
        let counter = RequestCounter()
        var own = Self.own("a")
        own = Connection(id: "a", circleID: "c", userID: "ann", provider: .outlook, label: nil, config: "{}", now: 0)
        own.accountID = "ann"
        try await counter.enter(RequestSource(own), calls: 9_000)
        do {
            try await counter.enter(RequestSource(own), calls: 1)
            Issue.record("There was room.")
        } catch let failure {
            guard case .ended(let reason) = failure, case .busy(let seconds) = reason.kind else {
                Issue.record("\(failure)")
                return
            }
            #expect((500...601).contains(seconds))
        }
    }

    @Test("Counts of several servers are one sum, by account too, and go after two days")
    func stored() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            let (one, two) = (try await server.connect(), try await server.connect(label: "second"))
            let now = server.clock.now
            let found = try await server.services.store.record { transaction in
                for id in [one, two, two] {
                    try transaction.addRequests(
                        RequestCounts(requests: 10, successes: 8, looks: 1, lookRequests: 4), of: id, by: .caldav,
                        now: now)
                }
                try transaction.addRequests(RequestCounts(requests: 5), of: "", by: .caldav, now: now - 86_400_000)
                return try transaction.requestDay(
                    by: .caldav, usual: PollSchedule.usual, longest: PollSchedule.longest, now: now)
            }
            #expect(found.today == RequestCounts(requests: 30, successes: 24, looks: 3, lookRequests: 12))
            #expect(found.yesterday == RequestCounts(requests: 5) && found.connections == 2)
            // Twelve hours are left, four looks an hour.
            #expect(found.polls == 2 * 48_000 && found.rareLooks == 0)
            let accounts = try await server.services.store.read { try $0.busiestAccounts(limit: 5, now: now) }
            #expect(accounts.count == 1 && accounts[0].requests == 30 && accounts[0].connections == 2)
            // What was sent for a connection that is deleted stays in the sum, also what is stored later, without its id.
            let sum = try await server.services.store.record { transaction in
                try transaction.deleteConnection(two, now: now)
                try transaction.addRequests(RequestCounts(requests: 7), of: two, by: .caldav, now: now)
                #expect(
                    try transaction.rows(
                        "SELECT 1 AS found FROM sync_requests WHERE connection_id = $1", [.text(two)]
                    ).isEmpty)
                return try transaction.requestDay(
                    by: .caldav, usual: PollSchedule.usual, longest: PollSchedule.longest, now: now)
            }
            #expect(sum.today == RequestCounts(requests: 37, successes: 24, looks: 3, lookRequests: 12))
            server.clock.advance(seconds: 86_400)
            let later = server.clock.now
            _ = try await server.services.store.record { try $0.pruneRequests(now: later, limit: 100) }
            let left = try await server.services.store.read {
                try $0.requestDay(by: .caldav, usual: PollSchedule.usual, longest: PollSchedule.longest, now: later)
            }
            #expect(left.yesterday.requests == 37 && left.today == RequestCounts())
        }
    }
}
