// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import TestSupport
import Testing

@testable import Calendar
@testable import ICalBridge

@Suite(
    "Zones that files define, against other readers",
    .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
struct ForeignZoneTests {
    private static let years = 1970..<2041

    /// Zones that icalendar 7.3 reads otherwise, and why ours are right.
    private static let ofICalendar: [ByteString: String] = [
        "collective+icalendar/src/icalendar/tests/calendars/issue_1050_forward_timezone_reference.ics": before,
        "collective+icalendar/src/icalendar/tests/calendars/issue_1050_timezone_only_calendar.ics": before,
        "collective+icalendar/src/icalendar/tests/calendars/issue_321_assert_dst_offset_is_not_false.ics": before,
        "collective+icalendar/src/icalendar/tests/calendars/issue_722_timezone_transition_ambiguity.ics": before,
        "collective+icalendar/src/icalendar/tests/calendars/period_with_timezone.ics": before,
        "ical4j/valid/New Years Day.ics": before,
        "ical4j/valid/Standup.ics": before,
        "ical4j/valid/dst-only-vtimezone.ics": before,
        "ical4j/valid/rfc5545-sec4.2.ics": before,
        "kewisch+ical.js/samples/multiple_rrules.ics": before,
        "kewisch+ical.js/samples/parserv2.ics": before,
        "kewisch+ical.js/samples/recur_instances.ics": before,
        "kewisch+ical.js/samples/recur_instances_finite.ics": before,
        "kewisch+ical.js/samples/timezones/Makebelieve/RRULE_UNTIL_test.ics":
            "of two changes on one day the one that is later in UTC counts; it orders them on the wall clock",
        "mangstadt+biweekly/src/test/resources/biweekly/io/text/rfc5545-example2.ics": before,
        "mangstadt+biweekly/src/test/resources/biweekly/issues/issue101.ics": before,
        "py-vobject+vobject/test_files/timezones.ics": before,
    ]
    private static let before =
        "before the first onset TZOFFSETFROM counts; it takes the TZOFFSETTO of the first STANDARD part"

    /// Zones of the samples that each reads otherwise.
    private static let ofSamples: [ByteString: [ByteString: String]] = [
        "icalendar": ["Samples/inbound/tzid-that-swallows-a-parameter.ics": before],
        "libical": ["Samples/inbound/zone-by-periods.ics": "a period's start is an onset; it leaves the period out"],
    ]

    /// Zones that libical 3 reads otherwise: Apple's iCal cut them off and wrote +0000 as what had been before.
    private static let ofLibical: Set<ByteString> = [
        "ical4j/invalid/OZMovies.ics", "ical4j/valid/Australian_TV_Melbourne.ics", "ical4j/valid/Dryway.ics",
        "ical4j/valid/Earth32Seasons.ics", "ical4j/valid/Packers.ics", "ical4j/valid/bears.ics",
        "py-vobject+vobject/test_files/timezones.ics",
    ]

    @Test("At every half year from 1970 to 2040 those of the samples have the offsets that icalendar and libical find")
    func samples() async throws {
        let files = CalendarFile.samples.filter { !$0.path.hasPrefix("Samples/malformed/") }
        let compared = try await compare(files)
        #expect(compared.differing == Self.ofSamples.mapValues { Set($0.keys) })
        #expect(compared.count > 12)
    }

    @Test("So have those of files that others wrote", .needsCorpora("ical4j"))
    func foreign() async throws {
        let compared = try await compare(CalendarFile.foreign)
        #expect(compared.differing["libical"] == Self.ofLibical)
        #expect(compared.differing["icalendar"] == Set(Self.ofICalendar.keys))
        #expect(compared.count > 280 && compared.refused < 10)
    }

    /// Compares the offsets of all zones of files in both directions: from the zone's clock to UTC, and back.
    ///
    /// - Returns: how many were compared and refused, and the files that differ, by reader.
    private func compare(
        _ files: [CalendarFile]
    ) async throws -> (count: Int, refused: Int, differing: [ByteString: Set<ByteString>]) {
        var ours: [ByteString: [Int]] = [:]
        for file in files {
            for definition in Self.definitions(in: try file.bytes) {
                let key = ByteString("\(file.path)\t\(definition.identifier)")
                if ours[key] == nil { ours[key] = Self.offsets(of: TimeZoneReference(definition).rules) }
            }
        }
        var (compared, refused, seen) = (0, 0, Set<ByteString>())
        var differing: [ByteString: Set<ByteString>] = [:]
        for row in try await Self.readElsewhere(files) {
            guard let path = row[0].string, let tzid = row[1].string, let reader = row[2].string,
                let own = ours[ByteString("\(path)\t\(tzid)")], seen.insert("\(path)\t\(tzid)\t\(reader)").inserted
            else { continue }
            guard let theirs = row[3].array?.compactMap(\.integer) else {
                refused += 1
                continue
            }
            compared += 1
            guard own != theirs else { continue }
            differing[ByteString(reader), default: []].insert(ByteString(path))
            let isNamed =
                Self.ofSamples[ByteString(reader)]?[ByteString(path)] != nil
                || (reader == "libical"
                    ? Self.ofLibical.contains(ByteString(path)) : Self.ofICalendar[ByteString(path)] != nil)
            let index = zip(own, theirs).enumerated().first { $1.0 != $1.1 }
            #expect(isNamed, "\(path) \(tzid) \(reader): \(String(describing: index))")
        }
        return (compared, refused, differing)
    }

    /// Returns the offsets at noon on 1 January and 1 July of each year, on the zone's own clock and then in UTC.
    private static func offsets(of rules: any TimeZoneRules) -> [Int] {
        let noons = years.flatMap { year in
            [1, 7].compactMap { month in
                CivilDate(year: year, month: month, day: 1).flatMap {
                    CivilDateTime(date: $0, hour: 12, minute: 0, second: 0)
                }
            }
        }
        return noons.map { $0.wallSeconds - rules.instant(of: $0).seconds }
            + noons.map { rules.offset(at: Instant(utc: $0)) }
    }

    private static func definitions(in bytes: [UInt8]) -> [TimeZoneDefinition] {
        var log = ProblemLog(limit: 100)
        let text = SourceText(bytes, log: &log)
        let tree = ComponentTree(text, limits: CalendarReader.Limits(), log: &log)
        return tree.calendars.flatMap(\.zones).compactMap {
            TimeZoneDefinition.read($0, in: text.bytes, log: &log)?.definition
        }
    }

    private static func readElsewhere(_ files: [CalendarFile]) async throws -> [[JSONValue]] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/zone_offsets.py")
        let lines = try files.map { "\($0.path)\t\(Data(try $0.bytes).base64EncodedString())\n" }
        let text = try await runProgram(
            try #require(Programs.python),
            ["-W", "ignore", script.path, "\(years.lowerBound)", "\(years.upperBound)"], input: lines.joined(),
            in: packageRoot
        ).output
        return try text.split(separator: "\n").compactMap { line in
            let row = try JSONValue(parsing: line.utf8).array ?? []
            return row.count == 4 ? row : nil
        }
    }
}
