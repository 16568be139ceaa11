// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("A rescheduled series that came without the series itself")
struct OrphanFeedTests {
    private static func sample(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: packageRoot.appending(path: "Samples/inbound/\(name).ics")))
    }

    private static func bring(_ bytes: [UInt8], _ server: TestServer) async throws -> Answer {
        try await server.raw(
            .post, "/v1/circles/c/imports?mode=commit",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(bytes: bytes)
        ).expect(201)
    }

    @Test("A feed shows each of its dates once, as a series that every reader knows")
    func once() async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "Europe/Berlin")
            let bytes = try Self.sample("rescheduled-without-its-series")
            _ = try await Self.bring(bytes, server)
            let feed = try await server.makeFeed().path
            let answer = try await server.raw(.get, feed).expect(200)
            #expect(answer.values("RECURRENCE-ID").isEmpty && !answer.text.contains("VALUE=PERIOD"))
            #expect(answer.values("RDATE").count == 5 && answer.values("UID").count == 1)
            let found = Series.group(CalendarReader().read(answer.body).events).flatMap {
                $0.occurrences(
                    from: Instant(seconds: 1_760_000_000), to: Instant(seconds: 1_800_000_000),
                    floatingIn: FixedOffset.utc
                ).occurrences
            }
            #expect(
                found.map { $0.start.instant(floatingIn: FixedOffset.utc).basic } == [
                    "20260202T150000Z", "20260302T150000Z", "20260406T140000Z", "20260504T140000Z", "20260601T140000Z",
                    "20260706T140000Z",
                ])
            // The same file again is the same event.
            let again = try await Self.bring(bytes, server).json["counts"]
            #expect(again?["created"] == 0 && again?["updated"] == 0)
            // Once its series is there, that takes its place, and the import says so.
            let master = """
                BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y\r\nBEGIN:VEVENT\r\n\
                UID:5A3D0E1B7C4411F9C1258C2E004D71AA-Lotus_Notes_Generated\r\nDTSTAMP:20251201T000000Z\r\n\
                DTSTART:20260105T150000Z\r\nDTEND:20260105T153000Z\r\nRRULE:FREQ=MONTHLY;BYDAY=1MO;COUNT=7\r\n\
                SUMMARY:Team meeting\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
                """
            let brought = try await Self.bring(Array(master.utf8), server)
            #expect(brought.json["counts"]?["updated"] == 1, "\(brought.text)")
            let whole = try await server.raw(.get, feed).expect(200)
            #expect(whole.values("UID").count == 1 && whole.eventValues("RRULE") == ["FREQ=MONTHLY;COUNT=7;BYDAY=1MO"])
        }
    }

    @Test("Two of one UID in one file are two events of two UIDs, the same at every reading")
    func twice() async throws {
        try await TestServer.run { server in
            try await server.makeCircle(zone: "Europe/Berlin")
            _ = try await Self.bring(try Self.sample("rescheduled-twice-without-its-series"), server)
            let feed = try await server.makeFeed()
            let answer = try await server.raw(.get, feed.path).expect(200)
            let uid = "5A3D0E1B7C4411F9C1258C2E004D71BB-Lotus_Notes_Generated"
            #expect(Set(answer.values("UID")) == [uid, uid + "-20260504T140000Z"])
            // Only the moved day replaces an occurrence, in the file's own zone, whose name is followed by a hash of its rules.
            let names = answer.calendarLines.filter { $0.hasPrefix("RECURRENCE-ID") }
            #expect(names.count == 1 && names[0].hasPrefix("RECURRENCE-ID;TZID=Western/Central Europe/"))
            #expect(names[0].hasSuffix(":20260302T160000"))
            #expect(answer.values("SUMMARY").sorted() == ["Choir a day later", "Choir at four", "Choir at six"])
            let other = try await server.raw(
                .get, try await server.makeFeed(label: "again").path)
            #expect(other.values("UID") == answer.values("UID"))
            let preview = try await server.call(.get, "/v1/feeds/\(feed.id)/preview").expect(200).json
            #expect(preview["events"]?.array?.count == 3)
        }
    }

    @Test("`expand` lists every date once, without a server")
    func expanded() async throws {
        let path = packageRoot.appending(path: "Samples/inbound/rescheduled-without-its-series.ics").path
        let result = try await runProgram(
            Programs.kalends, ["expand", path, "--from", "2026-01-01", "--to", "2027-01-01", "--json"])
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 6 && Set(lines).count == 6)
        #expect(lines.first?.contains("2026-02-02T15:00:00Z") == true)
        let parsed = try await runProgram(Programs.kalends, ["parse", path, "--json"])
        #expect(parsed.output.contains("\"recurrenceId\":{"))
    }
}
