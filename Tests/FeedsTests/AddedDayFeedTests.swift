// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import ServerTestSupport

@Suite("Days that a series lists, in a feed")
struct AddedDayFeedTests {
    /// The lines of a feed after an import of components of one event.
    private static func shown(_ components: [[String]], _ server: TestServer) async throws -> [String] {
        let events = components.flatMap {
            ["BEGIN:VEVENT", "UID:a@example.org", "DTSTAMP:20260101T000000Z"] + $0 + ["SUMMARY:Visit", "END:VEVENT"]
        }
        let lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y"] + events + ["END:VCALENDAR", ""]
        try await server.makeCircle(zone: "Europe/Berlin")
        try await server.raw(
            .post, "/v1/circles/c/imports?mode=commit",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: lines.joined(separator: "\r\n"))
        ).expect(201)
        return try await server.raw(.get, try await server.makeFeed().path).expect(200).calendarLines
    }

    /// The lines of an export, which keeps what the file said, so that an import of it changes nothing.
    private static func exported(_ server: TestServer) async throws -> [String] {
        try await server.call(.get, "/v1/circles/c/export.ics").expect(200).calendarLines
    }

    @Test("An added day with an end of its own is a change of the series, because few readers support one")
    func periods() async throws {
        try await TestServer.run { server in
            let lines = try await Self.shown(
                [
                    [
                        "DTSTART;TZID=Europe/Berlin:20260310T100000", "DTEND;TZID=Europe/Berlin:20260310T110000",
                        "RDATE;TZID=Europe/Berlin:20260311T100000",
                        "RDATE;VALUE=PERIOD:20260312T090000Z/PT3H,20260313T090000Z/20260313T093000Z",
                    ],
                    [
                        "RECURRENCE-ID;TZID=Europe/Berlin:20260313T100000",
                        "DTSTART;TZID=Europe/Berlin:20260313T150000", "DURATION:PT2H",
                    ],
                ], server)
            #expect(!lines.contains { $0.contains("VALUE=PERIOD") })
            for line in [
                "RDATE;TZID=Europe/Berlin:20260312T100000", "RECURRENCE-ID;TZID=Europe/Berlin:20260312T100000",
                "DTSTART;TZID=Europe/Berlin:20260312T100000", "DURATION:PT3H",
            ] {
                #expect(lines.contains(line), "\(line)")
            }
            // The change that the file brings stays, and no other.
            #expect(lines.count { $0 == "RECURRENCE-ID;TZID=Europe/Berlin:20260313T100000" } == 1)
            #expect(lines.contains("DTSTART;TZID=Europe/Berlin:20260313T150000"))
            #expect(try await Self.exported(server).count { $0.contains("VALUE=PERIOD") } == 2)
        }
    }

    @Test("A day with an event of its own is not left out of its series, as Apple writes it")
    func replacedAndLeftOut() async throws {
        try await TestServer.run { server in
            let series = [
                "DTSTART;VALUE=DATE:20260310", "RRULE:FREQ=DAILY;COUNT=4", "EXDATE;VALUE=DATE:20260311",
                "EXDATE;VALUE=DATE:20260312", "EXDATE;VALUE=DATE:20260313",
            ]
            func change(_ day: String, _ more: String...) -> [String] {
                ["RECURRENCE-ID;VALUE=DATE:\(day)", "DTSTART;VALUE=DATE:\(day)"] + more
            }
            let lines = try await Self.shown(
                [series, change("20260311"), change("20260312", "STATUS:CANCELLED")], server)
            #expect(
                lines.filter { $0.hasPrefix("EXDATE") } == [
                    "EXDATE;VALUE=DATE:20260312", "EXDATE;VALUE=DATE:20260313",
                ])
            #expect(lines.contains("RECURRENCE-ID;VALUE=DATE:20260311"))
            #expect(try await Self.exported(server).count { $0.hasPrefix("EXDATE") } == 3)
        }
    }
}
