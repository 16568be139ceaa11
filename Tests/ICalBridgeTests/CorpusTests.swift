// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

/// Calendar files that others wrote; they are beside the project and not part of it.
enum Corpus {
    static let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "shared/corpora")

    static var exists: Bool { FileManager.default.fileExists(atPath: folder.path) }

    /// A Python with the package `icalendar`.
    static var python: String? { ProcessInfo.processInfo.environment["KALENDS_PYTHON"] }

    /// The files' paths within the folder.
    static let files: [String] = ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".ics") || $0.hasSuffix(".vcs") }.sorted()

    static func read(_ path: String) throws -> CalendarReading {
        CalendarReader().read([UInt8](try Data(contentsOf: folder.appending(path: path))))
    }
}

@Suite("Files that others wrote", .ownThread, .enabled(if: Corpus.exists))
struct CorpusTests {
    @Test("Every file is answered soon, with values or with a reason")
    func everyFile() throws {
        #expect(!Corpus.files.isEmpty)
        for path in Corpus.files {
            var reading: CalendarReading?
            let time = try effort { reading = try Corpus.read(path) }
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

    @Test("What ical4j calls valid loses nothing but events without a start")
    func validFiles() throws {
        for path in Corpus.files where path.hasPrefix("ical4j/valid/") {
            let reading = try Corpus.read(path)
            let errors = Set(reading.problems.filter { $0.severity == .error }.map(\.code.rawValue))
            #expect(
                errors.subtracting(["missing-start"]).isSubset(of: Self.knownErrors[path] ?? []), "\(path): \(errors)")
        }
    }

    private static let knownErrors: [String: Set<String>] = [:]

    @Test("An independent reader counts as many events", .enabled(if: Corpus.python != nil))
    func sameCount() async throws {
        let counts = try await Self.countedElsewhere()
        #expect(counts.count == Corpus.files.count)
        for path in Corpus.files {
            let reading = try Corpus.read(path)
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

    private static func countedElsewhere() async throws -> [String: Int?] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/count_events.py")
        let text = try await runProgram(
            Corpus.python ?? "", ["-W", "ignore", script.path],
            input: Corpus.files.joined(separator: "\n") + "\n", in: Corpus.folder
        ).output
        var counts: [String: Int?] = [:]
        for line in text.split(separator: "\n") {
            let sides = line.split(separator: "\t")
            if sides.count == 2 { counts[String(sides[0])] = .some(Int(sides[1])) }
        }
        return counts
    }
}
