// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import ICalBridge
import NIOCore
import Server
import Storage
import Synchronization
import TestSupport
import Testing

@testable import CalDAVServer
@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// What one report may take, and what all reports of one person.
@Suite struct ReportBudgetTests {
    private static let data = "<D:prop><C:calendar-data/></D:prop>"

    private static func run(
        _ limits: ConnectionLimits = ConnectionLimits(), live: Bool = false, count: CountingStore.Count? = nil,
        events: Int, _ body: @escaping @Sendable (_ app: DAVClient, _ calendar: String) async throws -> Void
    ) async throws {
        var settings = ServerSettings()
        settings.limits = limits
        let open: StoreOpening = { path, mustBeKalends in
            let store = try Engine.open(path, mustBeKalends)
            return if let count { CountingStore(store, count) } else { store }
        }
        try await TestServer.run(live: live, settings: settings, folds: false, open: open) { server in
            try await server.makeCircle()
            let app = try await DAVClient(server, "ann")
            let calendar = try await app.makeCalendar("own~x")
            for number in 0..<events {
                try await app.put("\(calendar)\(1000 + number).ics", XML.event("\(number)")).expect(201)
            }
            try await body(app, calendar)
        }
    }

    /// The usual limits with one that is another.
    private static func limits<Value>(
        _ path: WritableKeyPath<ConnectionLimits, Value>, _ value: Value
    ) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits[keyPath: path] = value
        return limits
    }

    private static func isCut(_ response: Multistatus.Response) -> Bool {
        response.status == "HTTP/1.1 507 Insufficient Storage"
    }

    @Test("A synchronization that took its time ends with a token that leads on (RFC 6578 section 3.6)")
    func synchronization() async throws {
        try await Self.run(Self.limits(\.reportTime, .zero), events: 60) { app, calendar in
            var (token, found, cuts): (String?, [String], Int) = (nil, [], 0)
            repeat {
                let part = try await app.report(
                    calendar, "D:sync-collection",
                    "<D:sync-token>\(token ?? "")</D:sync-token><D:sync-level>1</D:sync-level>\(Self.data)", depth: "0")
                let (cut, others) = (part.responses.filter(Self.isCut), part.responses.filter { !Self.isCut($0) })
                found += others.map(\.href)
                token = part.token
                try #require(token != nil)
                guard !cut.isEmpty else { break }
                #expect(cut.map(\.href) == [calendar])
                cuts += 1
            } while cuts < 10
            #expect(found == (0..<60).map { "\(calendar)\(1000 + $0).ics" })
            #expect((1..<10).contains(cuts))
            #expect(try await app.sync(calendar, token).responses.isEmpty)
        }
    }

    @Test("A query that has taken its time says that it ends early, and a multiget which resources it leaves out")
    func cut() async throws {
        try await Self.run(Self.limits(\.reportTime, .zero), events: 60) { app, calendar in
            let filter = DAVClient.filter(
                "<C:prop-filter name=\"SUMMARY\"><C:text-match>e</C:text-match></C:prop-filter>")
            for path in [calendar, app.home] {
                let found = try await app.report(path, "C:calendar-query", Self.data + filter, depth: "1")
                #expect(found.responses.count(where: Self.isCut) == 1 && found.responses.last?.href == path)
                #expect(found.responses.count == 51)
            }
            let all = (0..<60).map { "\(calendar)\(1000 + $0).ics" }
            let hrefs = all.map { "<D:href>\($0)</D:href>" }.joined()
            for path in [calendar, app.home] {
                let got = try await app.report(path, "C:calendar-multiget", Self.data + hrefs)
                #expect(got.hrefs == all)
                #expect(got.responses.filter(Self.isCut).map(\.href) == Array(all[50...]))
            }
            let busy = try await app.send(
                "REPORT", calendar,
                XML.root(
                    "C:free-busy-query", "<C:time-range start=\"20260301T000000Z\" end=\"20260401T000000Z\"/>")
            ).expect(507)
            #expect(busy.condition == "number-of-matches-within-limits" && busy.text.contains("shorter"))
            let listed = try await app.properties(calendar, ["D:getetag"], depth: "1")
            #expect(listed.hrefs == [calendar, calendar] && listed.responses.last.map(Self.isCut) == true)
            // What is short is no report.
            #expect(try await app.properties(calendar, ["D:displayname"]).responses.count == 1)
        }
    }

    @Test("An answer of as many bytes as one may have ends early, too")
    func bytes() async throws {
        try await Self.run(Self.limits(\.reportBytes, 1000), events: 60) { app, calendar in
            let found = try await app.report(calendar, "C:calendar-query", Self.data + DAVClient.filter(""), depth: "1")
            #expect(found.responses.count == 51 && found.responses.last.map(Self.isCut) == true)
        }
    }

    @Test("While a person's reports are under way, one more is 503 with a time, and everybody else is answered")
    func places() async throws {
        var limits = Self.limits(\.reportsOfAPerson, 1)
        limits.reportPatience = .zero
        try await Self.run(limits, events: 1) { app, calendar in
            let ben = try await DAVClient(app.server, "ben")
            let query = XML.root("C:calendar-query", Self.data + DAVClient.filter(""))
            let names = XML.root("D:propfind", "<D:prop><D:getetag/></D:prop>")
            let reports = app.server.services.reports
            let place = try await reports.enter(Sender(.user("ann"), narrowed: .user("ann"), network: nil))
            for (method, body) in [("REPORT", query), ("PROPFIND", names)] {
                let refused = try await app.send(method, calendar, body, depth: "1").expect(503)
                #expect(refused.headers[.retryAfter] == "5" && refused.text.contains("reports under way"))
                try await ben.send(method, ben.home, body, depth: "1").expect(207)
            }
            // To know a resource's tag its text has to be made, whatever the method.
            for method in ["PROPFIND", "PROPPATCH", "MOVE", "COPY"] {
                let headers: HTTPFields = [.destination: "\(calendar)b.ics"]
                let body = method == "PROPPATCH" ? XML.set("<D:displayname/>") : method == "PROPFIND" ? names : nil
                let path = "\(calendar)1000.ics"
                let refused = try await app.send(method, path, body, depth: "0", headers: headers).expect(503)
                #expect(refused.headers[.retryAfter] == "5", "\(method)")
            }
            try await app.send("PROPFIND", calendar, names, depth: "0").expect(207)
            try await app.send("GET", "\(calendar)1000.ics").expect(200)
            withExtendedLifetime(place) { #expect(reports.taken == 1) }
        }
        try await Self.run(Self.limits(\.reportsOfAPerson, 1), events: 1) { app, calendar in
            // Each gives its place back.
            for _ in 0..<3 { _ = try await app.properties(calendar, ["D:getetag"], depth: "1") }
            let reports = app.server.services.reports
            while reports.taken > 0 { try await Task.sleep(for: .milliseconds(10)) }
            // As much of a processor as a sender gets at once, and more.
            reports.charge(Sender(.user("ann"), narrowed: .user("ann"), network: nil), .seconds(100))
            let refused = try await app.send("REPORT", calendar, "<x/>", depth: "1").expect(503)
            #expect(refused.headers[.retryAfter] != nil)
        }
    }

    @Test("A report ends when its client has gone, also while it finds nothing that it could send")
    func gone() async throws {
        let count = CountingStore.Count()
        try await Self.run(live: true, count: count, events: 300) { app, calendar in
            let server = app.server
            func query(_ component: String) -> String {
                XML.root(
                    "C:calendar-query",
                    "<D:prop><D:getetag/></D:prop><C:filter><C:comp-filter name=\"VCALENDAR\"><C:comp-filter"
                        + " name=\"\(component)\"><C:prop-filter name=\"SUMMARY\"><C:text-match>none</C:text-match>"
                        + "</C:prop-filter></C:comp-filter></C:comp-filter></C:filter>")
            }
            func reads(_ component: String) async throws -> Int {
                let before = count.reads
                let found = try Multistatus(
                    try await app.send("REPORT", calendar, query(component), depth: "1").expect(207))
                #expect(found.responses.isEmpty)
                return count.reads - before
            }
            // Of a kind that is not kept there is nothing to read. The first request may have to read more than others.
            _ = try await reads("VTODO")
            let (others, all) = (try await reads("VTODO"), try await reads("VEVENT"))
            let pages = all - others
            try #require(pages >= 6)

            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let (released, release) = AsyncStream.makeStream(of: Void.self)
            let page = count.reads + others + 1
            count.beforeEachRead { reads in
                guard reads == page else { return }
                start.finish()
                for await _ in released {}
            }
            let body = query("VEVENT")
            let credentials = Data("ann:\(app.password)".utf8).base64EncodedString()
            let port = try #require(server.client.port)
            try await RawConnection(port: port).converse { conversation in
                try await conversation.outbound.write(
                    ByteBuffer(
                        string: "REPORT \(calendar) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic \(credentials)"
                            + "\r\nDepth: 1\r\nContent-Type: application/xml\r\nContent-Length: \(body.utf8.count)"
                            + "\r\n\r\n\(body)"))
                for await _ in started {}
            }
            // Until the server has seen that.
            try await Task.sleep(for: .seconds(3))
            release.finish()
            while server.services.reports.taken > 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(count.reads <= page + 1)
        }
    }

    @Test("A body's memory is given back once it is read, before its answer is made")
    func bodies() async throws {
        let count = CountingStore.Count()
        try await Self.run(count: count, events: 1) { app, calendar in
            let documents = app.server.services.memory.documents
            let hrefs = (0..<3000).map { "<D:href>\(calendar)\($0)-\(String(repeating: "x", count: 60)).ics</D:href>" }
            let used = Mutex<[Int]>([])
            count.beforeEachRead { _ in used.withLock { $0.append(documents.used) } }
            let found = try await app.report(calendar, "C:calendar-multiget", Self.data + hrefs.joined())
            #expect(found.responses.count == 3000)
            // Sixty pages are read after it.
            #expect(used.withLock { $0.count > 60 && $0.suffix(55).allSatisfy { $0 == 0 } })
            let names = (0..<200).map { "<D:a\($0)>\(String(repeating: "<D:x/>", count: 100))</D:a\($0)>" }.joined()
            used.withLock { $0 = [] }
            try await app.send(
                "PROPFIND", calendar, XML.root("D:propfind", "<D:prop>\(names)</D:prop>"), depth: "1"
            ).expect(207)
            #expect(used.withLock { $0.last == 0 })
        }
    }
}
