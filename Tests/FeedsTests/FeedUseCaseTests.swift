// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("What is done without a request")
struct FeedUseCaseTests {
    private static let vic = Caller(.user("vic"), actor: AuditActor(user: "vic"))

    private static func refusal(_ work: () async throws -> Void) async throws -> Refusal? {
        do { try await work() } catch let refusal as Refusal { return refusal }
        return nil
    }

    @Test("A feed is made, changed and ended by values, and each act is noted with who did it")
    func feeds() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feeds = server.services.feeds
            let made = try await feeds.create(Feeds.Draft(label: "Phone"), in: "c", for: Self.vic)
            #expect(made.feed.feed.userID == "vic" && made.address.circleName == "Our family")
            let id = made.feed.feed.id
            let path = "/feeds/\(made.address.token.reveal())"
            #expect(try await server.raw(.get, path).status == 200)
            var change = Feeds.Change(label: .clear)
            change.configure = { $0.pastDays = 7 }
            let changed = try await feeds.change(id, change, if: .none, for: Self.vic)
            #expect(changed.feed.label == nil)
            #expect(try FeedConfiguration(stored: changed.feed.config, .all).pastDays == 7)
            #expect(try await feeds.reveal(id, for: Self.vic).token.reveal() == made.address.token.reveal())
            _ = try await feeds.revoke(id, for: Self.vic)
            // It has ended: nothing more is noted.
            _ = try await feeds.revoke(id, for: Self.vic)
            #expect(try await server.raw(.get, path).status == 410)
            let entries = try await server.services.store.read { try $0.auditEntries(before: .max, in: "c", limit: 4) }
            #expect(entries.map(\.action) == ["feed.revoked", "feed.revealed", "feed.changed", "feed.created"])
            #expect(entries.allSatisfy { $0.actor == "user:vic" && $0.subject == id })
            #expect(entries[2].detail == #"{"fields":["config","label"]}"#)
        }
    }

    @Test("What a front did not look for is refused by the use case itself")
    func rules() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feeds = server.services.feeds
            let past = server.clock.now
            let late = try await Self.refusal {
                _ = try await feeds.create(Feeds.Draft(expiresAt: past), in: "c", for: Self.vic)
            }
            #expect(late?.kind == .invalid && late?.faults.map(\.pointer) == ["/expiresAt"])
            let others = try await Self.refusal {
                _ = try await feeds.create(Feeds.Draft(userID: "ann"), in: "c", for: Self.vic)
            }
            #expect(others?.faults.map(\.code) == [.contradiction])
            let nobodys = try await Self.refusal {
                _ = try await feeds.create(Feeds.Draft(), in: "c", for: .operatorAtHand)
            }
            #expect(nobodys?.faults.map(\.code) == [.required])
            let id = try await server.makeFeed(user: "vic").id
            let ended = try await Self.refusal {
                _ = try await feeds.change(id, Feeds.Change(expiresAt: .set(past)), if: .none, for: Self.vic)
            }
            #expect(ended?.faults.map(\.pointer) == ["/expiresAt"])
            let hidden = try await Self.refusal {
                _ = try await feeds.get(id, for: Caller(.user("ann"), actor: AuditActor(user: "ann")))
            }
            #expect(hidden?.code == .feedNotFound)
        }
    }

    @Test("Webhooks are for the installation only, whoever calls for them")
    func webhooks() async throws {
        try await TestServer.run { server in
            let webhooks = server.services.webhooks
            #expect(WebhookAddress("ftp://hooks.example/") == nil)
            let address = try #require(WebhookAddress("https://hooks.example/"))
            let draft = Webhooks.Draft(address: address, circles: nil, subjects: nil)
            let made = try await webhooks.create(draft, for: .operatorAtHand)
            let id = made.shown.hook.id
            #expect(made.shown.url == address.text)
            var refused: [Refusal.Kind?] = []
            refused.append(try await Self.refusal { _ = try await webhooks.create(draft, for: Self.vic) }?.kind)
            refused.append(
                try await Self.refusal { _ = try await webhooks.list(PageRequest(limit: 1), for: Self.vic) }?.kind)
            refused.append(try await Self.refusal { _ = try await webhooks.get(id, for: Self.vic) }?.kind)
            refused.append(
                try await Self.refusal { try await webhooks.delete(id, if: .none, for: Self.vic) }?.kind)
            refused.append(
                try await Self.refusal {
                    _ = try await webhooks.rotate(id, graceSeconds: 0, for: Self.vic)
                }?.kind)
            #expect(refused.allSatisfy { $0 == .forbidden })
            #expect(try await webhooks.get(id, for: .operatorAtHand).shown.hook.id == id)
        }
    }

    @Test("A subscription's address, and who may follow it, are judged by the use case", arguments: ["vic", "ben"])
    func subscriptions(_ user: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let caller = Caller(.user(user), actor: AuditActor(user: user))
            let subscriptions = server.services.subscriptions
            let refusal = try await Self.refusal {
                _ = try await subscriptions.create(
                    Subscriptions.Draft(address: "https://127.0.0.1/a.ics"), in: "c", for: caller)
            }
            // What is wrong with it is reported only to who may follow calendars there.
            #expect(refusal?.kind == (user == "vic" ? .forbidden : .invalid))
            #expect(refusal?.faults.map(\.code) == (user == "vic" ? [] : [.addressNotAllowed]))
        }
    }

    @Test("Joined text is the whole calendar, however long its head is", arguments: [1, 100, 200_000])
    func joined(_ length: Int) throws {
        let zone = try #require(TimeZoneReference("America/Los_Angeles"))
        let start = try #require(Instant(rfc3339: "2026-01-21T09:00:00Z"))
        let coverage = start...start.adding(seconds: 86_400)
        let event = Event(uid: "a", start: .zoned(zone.rules.civil(at: start), zone))
        var (whole, empty) = (ICalendar(name: "N", events: [event]), ICalendar(name: "N", events: []))
        whole.description = String(repeating: "d", count: length)
        empty.description = whole.description
        var text = JoinedText(coverage: coverage)
        text.add(CalendarPiece([event], hash: RenderedSchedule.digest))
        let rendered = text.finish(empty)
        #expect(try rendered.text.bytes == whole.serialized(coverage: coverage))
        #expect(try rendered.text.bytes.count == rendered.size)
    }
}

extension Feeds.Draft {
    fileprivate init(userID: String? = nil, label: String? = nil, expiresAt: Int? = nil) {
        self.init()
        (self.userID, self.label, self.expiresAt) = (userID, label, expiresAt)
    }
}

extension Feeds.Change {
    fileprivate init(label: Edit<String> = .keep, expiresAt: Edit<Int> = .keep) {
        self.init()
        (self.label, self.expiresAt) = (label, expiresAt)
    }
}

extension Subscriptions.Draft {
    fileprivate init(address: String) {
        self.init()
        self.address = address
    }
}
