// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import ServerTestSupport

/// What real calendar apps need, looked at in what leaves the server; other suites test the same things in depth.
@Suite("What calendar apps need of a feed")
struct ClientRulesTests {
    @Test("The delays that people will see are stated as they are")
    func delays() throws {
        let text = try Self.document("README.md")
        #expect(text.contains("Google every 4 to 24 hours"))
        #expect(text.contains("Outlook on the web every 3 to 24"))
        #expect(text.contains("Apple as set"))
        // Plain http and the way from it to https are the proxy's.
        #expect(text.contains("Use https: a feed's address is its only secret."))
    }

    /// The other parsers are in `OtherReadersTests`.
    @Test("A feed of everything reads back without a problem, and a small one is this text")
    func feedOfEverything() async throws {
        try await TestServer.run { server in
            try await server.fillCircle()
            try await server.importFile(
                "UID:a", "DTSTART;TZID=Asia/Tokyo:20260310T090000", "RRULE:FREQ=DAILY;COUNT=9", "SUMMARY:Series")
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let reading = CalendarReader().read(feed.body)
            #expect(reading.problems.map(\.message) == [])
            #expect(reading.events.count == feed.events.count)
            #expect(Set(feed.events.map(\.key)).count == feed.events.count)
        }
        try await TestServer.run { server in
            try await server.makeCircle(zone: "Asia/Kolkata")
            try await server.put(
                "tasks", "t",
                ["title": "Refill, now", "dueAt": "2026-03-03T09:00:00+05:30", "reminders": [15], "notes": "1\n2"])
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let text = feed.text.replacing(/UID:[0-9a-f-]{36}/, with: "UID:-").replacing("\r\n", with: "\n")
            #expect(text == Self.golden)
        }
    }

    private static let golden = """
        BEGIN:VCALENDAR
        VERSION:2.0
        PRODID:-//Kalends//Kalends//EN
        CALSCALE:GREGORIAN
        METHOD:PUBLISH
        NAME:Our family
        X-WR-CALNAME:Our family
        DESCRIPTION:The schedule of Our family\\, kept by Kalends.
        X-WR-CALDESC:The schedule of Our family\\, kept by Kalends.
        REFRESH-INTERVAL;VALUE=DURATION:PT1H
        X-PUBLISHED-TTL:PT1H
        BEGIN:VTIMEZONE
        TZID:Asia/Kolkata
        BEGIN:STANDARD
        DTSTART:19700101T000000
        TZOFFSETFROM:+0530
        TZOFFSETTO:+0530
        TZNAME:IST
        END:STANDARD
        END:VTIMEZONE
        BEGIN:VEVENT
        UID:-
        DTSTAMP:20260302T120000Z
        DTSTART;TZID=Asia/Kolkata:20260303T090000
        DTEND;TZID=Asia/Kolkata:20260303T093000
        SUMMARY:CK: Refill\\, now
        DESCRIPTION:1\\n2
        STATUS:CONFIRMED
        TRANSP:TRANSPARENT
        CATEGORIES:Task
        SEQUENCE:0
        CREATED:20260302T120000Z
        LAST-MODIFIED:20260302T120000Z
        X-MICROSOFT-CDO-BUSYSTATUS:FREE
        BEGIN:VALARM
        ACTION:DISPLAY
        TRIGGER:-PT15M
        DESCRIPTION:CK: Refill\\, now
        END:VALARM
        END:VEVENT
        END:VCALENDAR

        """

    /// A document of the repository, with its lines joined.
    static func document(_ name: String) throws -> String {
        try String(contentsOf: packageRoot.appending(path: name), encoding: .utf8)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
