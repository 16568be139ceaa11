// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Logging
import NIOCore
import Outbound
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Refreshing what is followed")
struct RefreshTests {
    private static let path = "/v1/circles/c/subscriptions"

    private static func follow(_ host: CalendarHost, _ server: TestServer, _ more: String = "") async throws -> String {
        let answer = try await server.call(.post, path, ["url": .string(host.url + more)], as: "ann").expect(201)
        return try #require(answer.json["id"]?.string)
    }

    @Test("Callers who ask while a calendar is being fetched get that result, and the host is asked once")
    func once() async throws {
        try await CalendarHost.run { host, server in
            host.serve(["u": "Gym"])
            let id = try await Self.follow(host, server)
            host.hold(true)
            try await withThrowingTaskGroup(of: JSONValue.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await server.call(.post, "\(Self.path)/\(id)/refresh").expect(200).json }
                }
                try await eventually("The host is asked.") { !host.requests.isEmpty }
                // Time for the others to come.
                try await Task.sleep(for: .milliseconds(500))
                #expect(server.services.intake.files.slots == 1)
                host.hold(false)
                for try await json in group { #expect(json["counts"]?["events"] == 1) }
            }
            #expect(host.requests.count == 1)
            #expect(server.services.intake.files.slots == 0 && server.services.intake.files.bytes == 0)
        }
    }

    @Test("Whoever waits for a fetch that ends with the server's background work gets 503, and may ask again")
    func ended() async throws {
        try await CalendarHost.run { host, server in
            host.serve(["u": "Gym"])
            let id = try await Self.follow(host, server)
            host.hold(true)
            async let asked = server.call(.post, "\(Self.path)/\(id)/refresh", as: "ann")
            try await eventually("The host is asked.") { !host.requests.isEmpty }
            server.services.refreshes.cancel()
            let answer = try await asked.expect(503)
            #expect(answer.headers[.retryAfter] == "2")
            #expect(answer.json["code"]?.string == "unavailable")
            host.hold(false)
            let again = try await server.call(.post, "\(Self.path)/\(id)/refresh", as: "ann").expect(200)
            #expect(again.json["counts"]?["events"] == 1)
            #expect(again.json["lastProblem"] == .null)
        }
    }

    @Test("What only an erased person saw of a calendar does not come back with its next change")
    func erased() async throws {
        try await CalendarHost.run { host, server in
            func serve(_ title: String) {
                let file = CalendarHost.calendar(["secret": "Therapy", "gym": title])
                host.serve(.init(body: file.replacing("UID:secret", with: "CLASS:PRIVATE\r\nUID:secret")))
            }
            try await server.call(
                .put, "/v1/circles/c/members/dan", ["displayName": "Dan", "role": "owner"]
            ).expect(201)
            serve("Gym")
            let made = try await server.call(.post, Self.path, ["url": .string(host.url)], as: "dan").expect(201)
            let refresh = "\(Self.path)/\(try #require(made.json["id"]?.string))/refresh"
            func isThere() async throws -> Bool {
                try await server.services.store.read {
                    try $0.rows("SELECT content FROM event_versions", []).contains {
                        $0.text("content")?.contains("Therapy") == true
                    }
                }
            }
            #expect(try await server.call(.post, refresh).expect(200).json["counts"]?["events"] == 2)
            #expect(try await isThere())
            try await server.call(.delete, "/v1/users/dan?erase=true").expect(200)
            #expect(try await !isThere())
            #expect(try await server.services.store.read { try $0.importedUsage(in: "c").count } == 1)
            serve("Swimming")
            server.clock.advance(seconds: 3_600)
            #expect(try await server.call(.post, refresh).expect(200).json["counts"]?["events"] == 1)
            #expect(try await !isThere())
            let export = try await server.call(.get, "/v1/circles/c/export.ics").expect(200).text
            #expect(export.contains("SUMMARY:Swimming"))
        }
    }

    @Test("One user, and all users for one host, are told to wait when they ask again and again")
    func rates() async throws {
        try await CalendarHost.run { host, server in
            host.serve(["u": "Gym"])
            let id = try await Self.follow(host, server)
            func refresh(_ user: String?) async throws -> Answer {
                try await server.call(.post, "\(Self.path)/\(id)/refresh", as: user)
            }
            for _ in 0..<10 { try await refresh("ann").expect(200) }
            let reply = try await refresh("ann").expect(429)
            #expect(reply.headers[.retryAfter] == "10")
            #expect(host.requests.count == 10)
            try await refresh("ben").expect(200)
            server.clock.advance(seconds: 10)
            try await refresh("ann").expect(200)
            try await refresh("ann").expect(429)
            server.clock.advance(seconds: 300)
            for _ in 0..<30 { try await refresh(nil).expect(200) }
            let all = try await refresh(nil).expect(429)
            #expect(all.headers[.retryAfter] == "2")
        }
    }

    @Test("A refresh takes a place as an import does, and gives way when there is none")
    func door() async throws {
        try await CalendarHost.run { host, server in
            host.serve(["u": "Gym"])
            let id = try await Self.follow(host, server)
            var held: [FairPool.Holding] = []
            for number in 0..<100 {
                let network = Sender(.user("x\(number)"), narrowed: .user("x\(number)"), network: "\(number)")
                if let slot = try? server.services.intake.files.enter(network) { held.append(slot) }
            }
            #expect(held.count == 48)
            try await server.call(.post, "\(Self.path)/\(id)/refresh", as: "ann").expect(503)
            #expect(host.requests.isEmpty)
            // By itself it comes again when there may be room, and nothing is said to be wrong with the calendar.
            let refreshing = server.services.subscriptionRefresh(Logger(label: "t") { _ in server.log })
            try await refreshing.once()
            let own = try await server.call(.get, "\(Self.path)/\(id)").expect(200).json
            #expect(own["lastProblem"] == .null && own["lastFetchedAt"] == .null)
            held = []
            server.clock.advance(seconds: 120)
            try await refreshing.once()
            #expect(try await server.call(.get, "\(Self.path)/\(id)").json["counts"]?["events"] == 1)
        }
    }

    /// Hosts, some of which do not answer until the test releases them.
    private final class Hosts: RequestTransport {
        private let asked = Mutex<[String]>([])
        private let isLetGo = Atomic(false)

        var urls: [String] { asked.withLock { $0 } }

        func letGo() { isLetGo.store(true, ordering: .releasing) }

        func send<Sink: AnswerSink>(
            _ request: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?
        ) async throws -> (OutboundAnswer, Sink?) {
            let url = request.url.reveal()
            asked.withLock { $0.append(url) }
            while url.contains("slow"), !isLetGo.load(ordering: .acquiring) {
                try await Task.sleep(for: .milliseconds(10))
            }
            guard let target = try sink(.calendar) else { return (.calendar, nil) }
            try await target.take(Array(CalendarHost.calendar(["u": "Gym"]).utf8))
            return (.calendar, target)
        }
    }

    @Test("Slow calendars of one user take two places, and whoever comes due meanwhile is served at once")
    func places() async throws {
        let hosts = Hosts()
        var settings = ServerSettings()
        settings.fetching.resolver = NamedHosts([:], otherwise: ["93.184.215.14"])
        (settings.fetching.transport, settings.fetching.deadline) = (hosts, .seconds(600))
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            func follow(_ user: String, _ url: String) async throws -> String {
                let answer = try await server.call(.post, Self.path, ["url": .string(url)], as: user).expect(201)
                return try #require(answer.json["id"]?.string)
            }
            for number in 0..<6 { _ = try await follow("ann", "https://host\(number).example/slow") }
            server.clock.advance(seconds: 1)
            let early = try await follow("ben", "https://cal.example/early")
            let refreshing = server.services.subscriptionRefresh(Logger(label: "t") { _ in server.log })
            let run = Task { try await refreshing.once() }
            func awaitFetch(_ id: String) async throws {
                for _ in 0..<3_000 {
                    let own = try await server.call(.get, "\(Self.path)/\(id)").expect(200).json
                    if own["lastFetchedAt"] != .null { return }
                    try await Task.sleep(for: .milliseconds(10))
                }
                Issue.record("\(id) was not fetched.")
            }
            try await awaitFetch(early)
            try await awaitFetch(try await follow("ben", "https://cal.example/late"))
            #expect(hosts.urls.count { $0.hasSuffix("slow") } == 2)
            hosts.letGo()
            try await run.value
            #expect(hosts.urls.count == 8 && server.services.intake.files.slots == 0)
        }
    }

    @Test("A packed calendar goes into its spool piece by piece, and one byte beyond the limit is not made")
    func packed() throws {
        let answer = OutboundAnswer(
            status: 200, headers: [("Content-Encoding", "gzip"), ("Content-Type", "text/calendar")])
        let plain = ByteBuffer(bytes: [UInt8](repeating: 120, count: 10_000_000))
        let packed = Array(try #require(Gzip.pack(plain)).readableBytesView)
        for (limit, fits) in [(10_000_000, true), (9_999_999, false)] {
            let pool = FairPool(FairPool.Size(bytes: 40_000_000), busy: "Full.")
            let sink = try CalendarSink(answer, limit: limit, for: try pool.enter(.subscriptions))
            do {
                for start in stride(from: 0, to: packed.count, by: 1000) {
                    try sink.take(Array(packed[start..<min(start + 1000, packed.count)]))
                }
                let upload = try sink.finish()
                #expect(fits && upload.spool.count == 10_000_000 && pool.bytes == 10_000_000)
            } catch let failure as OutboundFailure {
                #expect(!fits && failure == .tooLarge(limit: limit) && pool.bytes <= limit)
            }
        }
        let small = FairPool(FairPool.Size(bytes: 1_000_000), busy: "Full.")
        let sink = try CalendarSink(answer, limit: 20_000_000, for: try small.enter(.subscriptions))
        #expect(throws: Refusal.self) { try sink.take(Array(packed)) }
    }
}
