// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import HTTPTypes
import Logging
import Outbound
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A CalDAV host on the public Internet, as a viewer names it, whose listing of a calendar is hostile.
private final class HostileHost: RequestTransport {
    private let page: @Sendable (Int) -> String
    private let pages = Atomic(0)
    private let hangs: Bool

    /// - Parameters:
    ///   - hangs: whether it sends no listing at all.
    ///   - page: makes the listing's answers by their number.
    init(hangs: Bool = false, _ page: @escaping @Sendable (Int) -> String) { (self.hangs, self.page) = (hangs, page) }

    var listed: Int { pages.load(ordering: .relaxed) }

    func send<Sink: AnswerSink>(
        _ request: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?
    ) async throws -> (OutboundAnswer, Sink?) {
        let answer = OutboundAnswer(status: 207, headers: [("Content-Type", "application/xml")])
        guard let target = try sink(answer) else { return (answer, nil) }
        let bytes = Array(body(request).utf8)
        if hangs, listed > 0 { try await Task.sleep(for: .seconds(600)) }
        for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
            try await target.take(Array(bytes[start..<min(start + (64 << 10), bytes.count)]))
        }
        return (answer, target)
    }

    private func body(_ request: OutboundRequest) -> String {
        let asked = String(decoding: request.body ?? [], as: UTF8.self)
        if asked.contains("current-user-principal") {
            return Self.answer("/", "<D:current-user-principal><D:href>/p/</D:href></D:current-user-principal>")
        }
        if asked.contains("calendar-home-set") {
            return Self.answer("/p/", "<C:calendar-home-set><D:href>/p/</D:href></C:calendar-home-set>")
        }
        if asked.contains("sync-collection") { return page(pages.add(1, ordering: .relaxed).newValue) }
        return Self.answer("/p/cal/", "<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>")
    }

    static func answer(_ path: String, _ properties: String) -> String {
        multistatus(
            "<D:response><D:href>\(path)</D:href><D:propstat><D:prop>\(properties)</D:prop>"
                + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>")
    }

    static func multistatus(_ inner: String) -> String {
        "<D:multistatus xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\">\(inner)</D:multistatus>"
    }
}

@Suite("Calendar servers that do harm")
struct HostileCalendarTests {
    private static func play(
        _ host: HostileHost, _ body: @escaping @Sendable (TestServer, String) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        settings.limits.providerMemory = 12 << 20
        settings.fetching.transport = host
        settings.fetching.resolver = NamedHosts(["dav.example": [["198.51.101.7"]]])
        settings.fetching.services = NamedServices()
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            try await server.put(
                "appointments", "a", ["patientId": "mom", "provider": "Dr. A", "startAt": "2026-04-01T09:00:00-07:00"])
            let made = try await server.call(.post, "/v1/circles/c/connections", ["provider": "caldav"], as: "ann")
                .expect(201)
            let id = try #require(made.json["id"]?.string)
            let account: JSONValue = ["url": "https://dav.example/", "username": "ann", "password": "secret"]
            try await server.call(.put, "/v1/connections/\(id)/account", account, as: "ann").expect(200)
            let calendar: JSONValue = ["calendarId": "https://dav.example/p/cal/"]
            try await server.call(.put, "/v1/connections/\(id)/calendar", calendar, as: "ann").expect(200)
            try await body(server, id)
            // The last value that is made from an answer may outlive the response to the person for a moment.
            let memory = server.services.sync.answers.memory
            for _ in 0..<600 where memory.bytes > 0 { try await Task.sleep(for: .milliseconds(50)) }
            #expect(memory.bytes == 0)
        }
    }

    @Test("A listing with no end and long names ends a run and a preview, and its memory is given back")
    func endless() async throws {
        let name = String(repeating: "n", count: 4000)
        let host = HostileHost { number in
            HostileHost.multistatus(
                (0..<20).map {
                    "<D:response><D:href>/p/cal/\(number)-\($0)-\(name)</D:href><D:propstat><D:prop>"
                        + "<D:getetag>\"1\"</D:getetag></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
                        + "</D:response>"
                }.joined()
                    + "<D:response><D:href>/p/cal/</D:href><D:status>HTTP/1.1 507 X</D:status></D:response>"
                    + "<D:sync-token>http://x/\(number)</D:sync-token>")
        }
        try await Self.play(host) { server, id in
            let refused = try await server.call(.post, "/v1/connections/\(id)/sync?mode=preview", as: "ann").expect(503)
            #expect(refused.text.contains("too large to be kept in step"), "\(refused.text)")
            // Four MiB of names, each of which counts twice.
            #expect(host.listed < 40)
            let sync = server.services.connectionSync(Logger(label: "t") { _ in server.log })
            #expect(try await sync.once() == 1)
            let own = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200)
            #expect(own.json["state"] == "active" && own.json["lastSyncStatus"] == "failed")
            #expect(own.json["lastSyncError"]?.string?.contains("too large") == true, "\(own.text)")
        }
    }

    @Test("While others hold the room, a preview is answered 503 and busy, and with room it goes on")
    func busy() async throws {
        let fill = "<!--" + String(repeating: "n", count: 600_000) + "-->"
        let host = HostileHost { _ in HostileHost.multistatus(fill + "<D:sync-token>http://x/1</D:sync-token>") }
        try await Self.play(host) { server, id in
            let preview = "/v1/connections/\(id)/sync?mode=preview"
            do {
                let others = server.services.sync.answers.memory.enterAlways(Sender(user: "ben", host: "other.example"))
                others.growAlways(by: 11 << 20)
                let refused = try await server.call(.post, preview, as: "ann").expect(503)
                #expect(refused.json["code"] == "busy" && refused.headers[.retryAfter] != nil, "\(refused.text)")
            }
            try await server.call(.post, preview, as: "ann").expect(200)
        }
    }

    @Test("A preview of a calendar whose server is silent gives way to runs that wait for its room")
    func silent() async throws {
        let host = HostileHost(hangs: true) { _ in "" }
        try await Self.play(host) { server, id in
            let refused = Task { try await server.call(.post, "/v1/connections/\(id)/sync?mode=preview", as: "ann") }
            while host.listed == 0 { try await Task.sleep(for: .milliseconds(20)) }
            let began = ContinuousClock.now
            let answer = try await server.services.sync.waitingForRoom { try await refused.value }
            #expect(answer.status == 503 && answer.text.contains("other calendars were waiting"), "\(answer.text)")
            // It would have had a minute and a half.
            #expect(ContinuousClock.now - began < .seconds(60))
        }
    }

    @Test("A person hears that the provider has asked the account to wait, and a run begins when it may")
    func waiting() async throws {
        try await SyncBench.run { bench in
            try await bench.fill(1)
            let id = try await bench.server.connect()
            bench.calendars[id].fail(ProviderFailure(.throttled(retryAfter: 600), "Wait."))
            try await bench.sync.once()
            let refused = try await bench.server.call(.post, "/v1/connections/\(id)/sync", as: "ann").expect(503)
            #expect(refused.headers[.retryAfter] == "600" && refused.json["code"] == "provider-unreachable")
            bench.server.clock.advance(seconds: 601)
            #expect(try await bench.run(id).status == .success)
        }
    }
}
