// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// A page that reads in several transactions may show two states of the database at once.
@Suite("Pages read once")
struct PageReadTests {
    private static func run(
        _ body: @escaping @Sendable (TestServer, Browser, CountingStore.Count) async throws -> Void
    ) async throws {
        let count = CountingStore.Count()
        let open: StoreOpening = { path, mustBeKalends in CountingStore(try Engine.open(path, mustBeKalends), count) }
        try await TestServer.withPasswords(open: open) { server in
            // With a second circle, the list of circles is a page.
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            try await server.call(.put, "/v1/circles/d/members/ann", ["displayName": "A", "role": "owner"]).expect(201)
            _ = try await RoutePaths(server)
            try await body(server, try await Browser.signedIn("ann", server), count)
        }
    }

    /// Opens every page of a circle and of a person; returns its transactions by its route, and the routes that no id
    /// is known for or that answer with no page.
    private static func looks(
        _ server: TestServer, _ browser: Browser, _ count: CountingStore.Count, _ ids: [String: String]
    ) async throws -> (looks: [String: (reads: Int, writes: Int)], unseen: Set<String>) {
        var looks: [String: (Int, Int)] = [:]
        var unseen: Set<String> = []
        for route in try Routes.table(server.front, isLocal: false).pages
        where route.method == .get && route.access.needsCredential && route.access != .operatorPages {
            guard let path = PageIds.path(route.path, ids) else {
                unseen.insert(route.path)
                continue
            }
            let (reads, writes) = (count.reads, count.writes)
            try await browser.open(path, follows: false).expect(200)
            looks[route.path] = (count.reads - reads, count.writes - writes)
        }
        return (looks, unseen)
    }

    @Test("Each page of a circle and of a person reads once, after the session's look-up, and writes nothing")
    func all() async throws {
        try await Self.run { server, browser, count in
            let (looks, unseen) = try await Self.looks(server, browser, count, try await PageIds.all(server))
            #expect(unseen == ["/app/login/{ticket}"])
            for (path, number) in looks.sorted(by: { $0.key < $1.key }) {
                #expect(number.reads <= 2 && number.writes == 0, "\(path): \(number)")
            }
        }
    }

    @Test("A thousand items and fifty feeds take no page another transaction")
    func large() async throws {
        try await Self.run { server, browser, count in
            let lines = (0..<1000).map {
                #"{"op":"put","collection":"tasks","id":"t\#($0)","value":{"title":"Task \#($0)","#
                    + #""dueAt":"2026-03-0\#($0 % 9 + 1)T09:00:00Z"}}"#
            }
            try await server.raw(
                .post, "/v1/circles/c/batch",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/x-ndjson"],
                body: ByteBuffer(string: lines.joined(separator: "\n") + "\n")
            ).expect(200)
            for number in 1...48 { _ = try await server.makeFeed(label: "Feed \(number)") }
            var ids = try await PageIds.all(server)
            ids["id"] = "t7"
            let looks = try await Self.looks(server, browser, count, ids.filter { $0.key != "id" }).looks
            for (path, number) in looks.sorted(by: { $0.key < $1.key }) {
                #expect(number.reads <= 2 && number.writes == 0, "\(path): \(number)")
            }
            let before = count.reads
            try await browser.open("/app/circles/c/tasks/t7").expect(200)
            #expect(count.reads - before <= 2)
        }
    }

    @Test("The address of a feed takes two transactions in a browser, too", arguments: ["", "?view=month"])
    func address(query: String) async throws {
        try await Self.run { server, _, count in
            let feed = try await server.makeFeed(label: "Kitchen")
            let browser: HTTPFields = [.accept: "text/html,*/*;q=0.8", .userAgent: "Mozilla/5.0 (X11; Linux x86_64)"]
            for title in ["Tea", "Coffee", "Coffee"] {
                // What is remembered of the address ends with a change.
                try await server.put("tasks", "t", ["title": .string(title), "dueAt": "2026-03-03T09:00:00Z"])
                let before = count.reads
                let page = try await server.raw(.get, feed.path + query, headers: browser).expect(200)
                #expect(count.reads - before <= 2)
                #expect(page.text.contains("<html") && page.text.contains(title))
            }
        }
    }

    @Test(
        "What a query adds to a page is of the same read",
        arguments: ["?view=week", "?view=agenda&kind=task", "?person=ann&patient=mom", "?feed="])
    func queries(query: String) async throws {
        try await Self.run { server, browser, count in
            let feed = query.hasSuffix("feed=") ? try #require(try await PageIds.all(server)["feed"]) : ""
            let before = count.reads
            try await browser.open("/app/circles/c\(query)\(feed)").expect(200)
            #expect(count.reads - before <= 2)
        }
    }

    @Test("The operator's page reads once too, whatever the number of webhooks")
    func operatorsPage() async throws {
        try await Self.run { server, _, count in
            let hook: JSONValue = ["url": "https://app.example/other"]
            try await server.call(.post, "/v1/webhooks", hook).expect(201)
            let (browser, _) = try await AdminPageTests.open(server)
            let before = count.reads
            try await browser.open("/app/admin").expect(200)
            #expect(count.reads - before <= 2)
        }
    }

    @Test("A feed's page reads once too when its size is not known yet, and shows it")
    func unknownWeight() async throws {
        try await Self.run { server, browser, count in
            let feed = try #require(try await PageIds.all(server)["feed"])
            for title in ["Tea", "Coffee"] {
                // Each change makes another version, the size of which nobody has asked for.
                try await server.put("tasks", "t", ["title": .string(title), "dueAt": "2026-03-03T09:00:00Z"])
                let before = count.reads
                let page = try await browser.open("/app/circles/c/feeds/\(feed)").expect(200)
                #expect(count.reads - before <= 2)
                #expect(page.text.contains(title))
            }
        }
    }
}
