// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The page of health over HTTP")
struct HealthPageTests {
    /// Returns the text of the card of a name, or nothing.
    private static func card(_ name: String, _ page: Answer) -> String {
        page.text.components(separatedBy: "<li class=\"card\">").dropFirst().first { $0.contains("<bdi>\(name)</bdi>") }
            ?? ""
    }

    @Test("All of a person's, from all their circles, is on one page, and nothing of anybody else")
    func everything() async throws {
        try await TestServer.withPasswords { server in
            let empty = try await Browser.signedIn("ann", server).open("/app/health").expect(200)
            #expect(empty.text.contains("There is nothing to look after"))
            try await server.call(.put, "/v1/circles/d", ["name": "Choir", "timeZone": "UTC"]).expect(201)
            try await server.call(.put, "/v1/circles/d/members/ann", ["displayName": "Ann", "role": "viewer"])
                .expect(201)
            let feed = try await server.makeFeed(label: "Tablet")
            try await server.call(.post, "/v1/circles/d/feeds", ["userId": "ann", "label": "Songs"]).expect(201)
            _ = try await server.makeFeed(user: "ben", label: "Ben's own")
            let connection = try await server.connect(label: "Work")
            _ = try await server.connect(user: "ben", label: "Ben's work")
            let now = server.clock.now
            try await server.services.store.record { transaction in
                var own = try #require(try transaction.connection(connection))
                own.turn(to: .needsReconnect, now: now)
                try transaction.recordConnection(own)
            }
            try await server.call(.post, "/v1/app-passwords", ["label": "Laptop"], as: "ann").expect(201)
            try await server.call(.post, "/v1/app-passwords", ["label": "Ben's laptop"], as: "ben").expect(201)

            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/health").expect(200)
            #expect(!page.text.contains("Ben"))
            let tablet = Self.card("Tablet", page)
            #expect(tablet.contains("Needs a look") && tablet.contains("/app/circles/c/feeds/\(feed.id)/reveal"))
            #expect(Self.card("Songs", page).contains("<bdi>Choir</bdi>"))
            let work = Self.card("CalDAV: Work", page)
            #expect(work.contains("Does not work"), "\(page.text)")
            #expect(work.contains("/app/circles/c/connections/\(connection)?step=account"))
            #expect(Self.card("Laptop", page).contains("href=\"/app/app-passwords/"))

            // The first read of the feed makes it work.
            try await server.raw(.get, feed.path).expect(200)
            let later = Self.card("Tablet", try await ann.open("/app/health").expect(200))
            #expect(later.contains("Works") && !later.contains("Needs a look"))

            // With another address the reader is shut out, until it reads there.
            server.clock.advance(seconds: 60)
            let renewed = try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate").expect(200)
            let shutOut = Self.card("Tablet", try await ann.open("/app/health").expect(200))
            #expect(shutOut.contains("Does not work") && shutOut.contains("The feed got another address"))
            #expect(shutOut.contains("/app/circles/c/feeds/\(feed.id)/reveal"))
            server.clock.advance(seconds: 60)
            try await server.raw(.get, try TestServer.path(renewed)).expect(200)
            #expect(Self.card("Tablet", try await ann.open("/app/health").expect(200)).contains("Works"))
        }
    }

    @Test("While a former address is answered nobody knows who has the new one, and afterwards who has not is shut out")
    func grace() async throws {
        try await TestServer.withPasswords { server in
            let feed = try await server.makeFeed(label: "Tablet")
            try await server.raw(.get, feed.path).expect(200)
            let grace = 86_400
            server.clock.advance(seconds: 60)
            try await server.call(
                .post, "/v1/feeds/\(feed.id)/regenerate", ["graceSeconds": .integer(grace)]
            ).expect(200)
            // The tablet reads the address that it has.
            server.clock.advance(seconds: 900)
            try await server.raw(.get, feed.path).expect(200)
            let ann = try await Browser.signedIn("ann", server)
            let during = Self.card("Tablet", try await ann.open("/app/health").expect(200))
            #expect(during.contains("Needs a look") && during.contains("The one before ends"))

            // Somebody's look in a browser is no tablet that reads.
            server.clock.advance(seconds: 2 * grace + 60)
            try await server.raw(.get, feed.path).expect(410)
            let fresh = try await server.call(.post, "/v1/feeds/\(feed.id)/reveal").expect(200)
            try await server.raw(
                .get, try TestServer.path(fresh),
                headers: [.accept: "text/html", .userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"]
            ).expect(200)
            let later = try await Browser.signedIn("ann", server)
            let shutOut = Self.card("Tablet", try await later.open("/app/health").expect(200))
            #expect(shutOut.contains("Does not work") && shutOut.contains("The feed got another address"))
            try await server.raw(.get, try TestServer.path(fresh)).expect(200)
            let read = Self.card("Tablet", try await later.open("/app/health").expect(200))
            #expect(!read.contains("another address"))
        }
    }

    @Test("The page is in German for those who read German")
    func german() async throws {
        try await TestServer.withPasswords { server in
            _ = try await server.makeFeed(label: "Tablet")
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open(
                "/app/health", headers: HTTPFields(named: ["Accept-Language": "de"])
            ).expect(200)
            #expect(page.text.contains("Wie es läuft") && page.text.contains("Zu einer Kalender-App hinzufügen"))
        }
    }
}
