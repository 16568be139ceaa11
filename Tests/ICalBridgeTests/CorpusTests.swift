// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

extension CalendarFile {
    /// Returns a number that a given number of events, calendars or series of all files exceed: less where only samples
    /// are read.
    static func least(samples: Int, foreign: Int) -> Int { Self.foreign.isEmpty ? samples : foreign }

    func read() throws -> CalendarReading { CalendarReader().read(try bytes) }
}

@Suite("Files that others wrote, and the samples", .ownThread)
struct CorpusTests {
    @Test("Every file is answered soon, with values or with a reason")
    func everyFile() throws {
        #expect(CalendarFile.samples.count > 50)
        for file in CalendarFile.all {
            let path = file.path
            var reading: CalendarReading?
            let time = try effort { reading = try file.read() }
            // Two seconds in a release build; a debug build takes ten times as long.
            #expect(time < .seconds(20), "\(path)")
            let read = try #require(reading)
            #expect(read.skipped == 0 || read.problems.contains { $0.severity == .error }, "\(path)")
            #expect(read.lines.map(\.count) == read.calendars.map(\.events.count), "\(path)")
            #expect(!read.events.isEmpty || read.refusal != nil || !read.calendars.isEmpty, "\(path)")
            for zone in read.timeZones where zone.resolvedTo == nil {
                #expect(read.problems.contains { $0.code == "zone-unknown" }, "\(path)")
            }
        }
    }

    @Test("What ical4j calls valid loses nothing but events without a start", .needsCorpora("ical4j/valid"))
    func validFiles() throws {
        for file in CalendarFile.foreign where file.path.hasPrefix("ical4j/valid/") {
            let (path, reading) = (file.path, try file.read())
            let errors = Set(reading.problems.filter { $0.severity == .error }.map(\.code.rawValue))
            #expect(
                errors.subtracting(["missing-start"]).isSubset(of: Self.knownErrors[path] ?? []), "\(path): \(errors)")
        }
    }

    private static let knownErrors: [String: Set<String>] = [:]

    @Test(
        "An independent reader counts as many events",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func sameCount() async throws {
        let files = CalendarFile.foreign + CalendarFile.samples.filter { !$0.path.hasPrefix("Samples/malformed/") }
        let counts = try await Self.countedElsewhere(files)
        #expect(counts.count == files.count)
        for file in files {
            let (path, reading) = (file.path, try file.read())
            // The other reader also counts events without a start, which have no place in a calendar.
            let lost = reading.problems.count { $0.code == "missing-start" }
            let ours = reading.events.count { $0.kind == .event } + lost
            if let known = Self.differences[path] {
                #expect(ours == known.ours, "\(path): \(known.reason)")
            } else {
                #expect(
                    counts[path] == .some(ours),
                    "\(path): \(counts[path].map { "\($0.map(String.init) ?? "refused")" } ?? "-")")
            }
        }
    }

    /// Files for which the other reader (icalendar 7.3) counts differently, and why our count is right.
    private static let differences: [String: (ours: Int, reason: String)] = [
        "Samples/inbound/bare-cr.ics": (
            1, "a CR by itself ends no line for it"
        ),
        "Samples/inbound/indented-lines.ics": (
            1, "an indented line continues the one before it"
        ),
        "Samples/inbound/zone-by-periods.ics": (
            1, "an onset that is a period makes it refuse the file"
        ),
        "Samples/inbound/utf-16.ics": (
            1, "it reads UTF-8 only"
        ),
        "collective+icalendar/src/icalendar/fuzzing/corpus/Index_Error.ics": (
            0, "refused by both"
        ),
        "collective+icalendar/src/icalendar/fuzzing/corpus/Type_Error.ics": (
            0, "no component in it; it refuses"
        ),
        "collective+icalendar/src/icalendar/fuzzing/corpus/issue_100_transformed_doctests_into_unittests.ics": (
            1, "an event without a calendar and END:VCALENDAR; it finds none"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/big_bad_calendar.ics": (
            20, "END:VCALENDAR is missing; it gives up, we count each event as lost"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/fuzz_testcase_invalid_month.ics": (
            0, "no event in it; it refuses"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/fuzz_testcase_vtimezone_lone_cr.ics": (
            0, "no event in it; it refuses"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/issue_104_broken_calendar.ics": (
            1, "a line that is no property makes it refuse the file"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/parsing_error_in_UTC_offset.ics": (
            0, "a wrong offset in the VTIMEZONE makes it refuse the file"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/pr_480_summary_with_colon.ics": (
            2, "END:VCALENDAR is missing; it gives up"
        ),
        "collective+icalendar/src/icalendar/tests/calendars/small_bad_calendar.ics": (
            1, "END:VCALENDAR is missing; it gives up"
        ),
        "ical4j/invalid/13-MoonPhase.ics": (
            42, "END:VCALENDAR is missing; it gives up"
        ),
        "ical4j/invalid/boeing.ics": (
            0, "only a to-do, with days that cannot be read; it refuses"
        ),
        "ical4j/invalid/twinkle.ics": (
            7, "one bad value makes it refuse the file"
        ),
        "ical4j/invalid/twinkle_orig.ics": (
            7, "one bad value makes it refuse the file"
        ),
        "ical4j/valid/blankTzid.ics": (
            1, "an empty TZID makes it refuse the file"
        ),
        "jens-maus+node-ical/test/fixtures/test_with_multiple_tzids_in_vtimezone.ics": (
            1, "two TZIDs in a VTIMEZONE make it refuse the file"
        ),
        "kewisch+ical.js/samples/timezones/Makebelieve/RDATE_test.ics": (
            0, "only a zone; it refuses"
        ),
        "kewisch+ical.js/samples/timezones/Makebelieve/RDATE_utc_test.ics": (
            0, "only a zone; it refuses"
        ),
        "kewisch+ical.js/test/parser/base64.ics": (
            0, "no event in it; it refuses"
        ),
        "u01jmg3+ics-parser/examples/ICal.ics": (
            21, "31 October plus one makes it refuse the file; we lose that event alone"
        ),
    ]

    private static func countedElsewhere(_ files: [CalendarFile]) async throws -> [String: Int?] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/count_events.py")
        let text = try await runProgram(
            try #require(Programs.python), ["-W", "ignore", script.path],
            input: files.map { $0.url.path + "\n" }.joined(), in: packageRoot
        ).output
        let paths = Dictionary(uniqueKeysWithValues: files.map { ($0.url.path, $0.path) })
        var counts: [String: Int?] = [:]
        for line in text.split(separator: "\n") {
            let sides = line.split(separator: "\t").map(String.init)
            if sides.count == 2, let path = paths[sides[0]] { counts[path] = .some(Int(sides[1])) }
        }
        return counts
    }
}
