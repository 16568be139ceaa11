// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
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

    /// Returns the first id of each list of circle c that belongs to Ann, by the name in the paths of pages.
    private static func ids(_ server: TestServer) async throws -> [String: String] {
        var found = ["circle": "c", "id": "x"]
        for name in ["feed", "connection", "import", "subscription"] {
            let list = try await server.call(.get, "/v1/circles/c/\(name)s", as: "ann").expect(200)
            found[name] = try #require(list.json["items"]?.array?.first?["id"]?.string)
        }
        return found
    }

    @Test("Each page of a circle and of a person reads once, after the session's look-up")
    func all() async throws {
        try await Self.run { server, browser, count in
            let ids = try await Self.ids(server)
            var looks: [String: Int] = [:]
            for route in try Routes.table(server.front, isLocal: false).pages where route.method == .get {
                guard route.access != .operatorPages else { continue }
                let names = route.path.matches(of: /\{([a-z]+)\}/).map { String($0.1) }
                guard names.allSatisfy({ ids[$0] != nil }), !route.path.hasSuffix("**") else { continue }
                let path = names.reduce(route.path) { $0.replacing("{\($1)}", with: ids[$1] ?? "") }
                let before = count.reads
                let answer = try await browser.open(path, follows: false)
                // An address that takes a form leads back to its page.
                guard answer.status == 200 else { continue }
                looks[route.path] = count.reads - before
            }
            #expect(looks.count >= 20, "\(looks.keys.sorted())")
            for (path, number) in looks { #expect(number <= 2, "\(path) reads \(number) times") }
        }
    }

    @Test(
        "What a query adds to a page is of the same read",
        arguments: ["?view=week", "?view=agenda&kind=task", "?person=ann&patient=mom", "?feed="])
    func queries(query: String) async throws {
        try await Self.run { server, browser, count in
            let feed = query.hasSuffix("feed=") ? try #require(try await Self.ids(server)["feed"]) : ""
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
            let feed = try #require(try await Self.ids(server)["feed"])
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
