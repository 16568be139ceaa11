// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import FeedServer

@Suite("kalends check")
struct CheckCommandTests {
    private func check(_ arguments: [String], input: String? = nil) async throws -> (status: Int32, lines: [String]) {
        let result = try await runProgram(Programs.kalends, ["check"] + arguments, input: input)
        return (result.status, result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }

    private func sample(_ path: String) -> String { packageRoot.appending(path: "Samples/\(path)").path }

    /// A calendar around the lines of one event.
    private func calendar(_ lines: [String]) -> String {
        (["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Kalends//Tests//EN"] + lines + ["END:VCALENDAR", ""])
            .joined(separator: "\r\n")
    }

    private func event(_ lines: [String], uid: String = "a") -> [String] {
        ["BEGIN:VEVENT", "UID:\(uid)", "DTSTAMP:20260101T000000Z"] + lines + ["END:VEVENT"]
    }

    @Test("One screen says what it is, who wrote it, what is in it and what apps make of it")
    func screen() async throws {
        let file = sample("exports/outlook-export.ics")
        let (status, lines) = try await check([file])
        #expect(status == 0)
        #expect(lines[0] == "\(file): a calendar, 4,501 bytes")
        #expect(lines.contains("  written by  -//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN"))
        #expect(lines.contains("  holds       5 VEVENT, 3 of them repeating"))
        #expect(lines.contains("    Thunderbird      takes it"))
        #expect(lines.contains("    Outlook          takes it: ignores the reminders of a subscription"))
        #expect(lines.contains("  no problems"))
        #expect(lines.allSatisfy { $0.count <= 120 })
    }

    @Test("The arrow is below the place of the fault, also after letters of several bytes or two columns")
    func arrows() async throws {
        let (status, lines) = try await check(
            ["-"],
            input: calendar(
                event([
                    "DTSTART;VALUE=DATE;X-NOTE=Küche 漢字👩‍👩‍👧:2026010", "RRULE:FREQ=DAILY;COUNT=3;UNTIL=20260303",
                ])))
        #expect(status == 1)
        let date = try #require(lines.firstIndex { $0.hasSuffix("[date-unreadable]") })
        #expect(lines[date + 1] == "      7 > DTSTART;VALUE=DATE;X-NOTE=Küche 漢字👩‍👩‍👧:2026010")
        // 漢字 and the family take two columns each, and the colon one.
        #expect(lines[date + 2] == String(repeating: " ", count: 10 + 26 + 6 + 6 + 1) + "^~~~~~~")
    }

    @Test("A column in bytes means the character at that place")
    func columns() throws {
        let line = "SUMMARY:Füße müde;X"
        var source = FileLines(Array("BEGIN:VCALENDAR\n\(line)\n".utf8))
        func marked(_ column: Int, _ text: String? = nil) -> String? {
            let problem = Problem(
                line: 2, column: column, severity: .error, code: "x", sentence: Sentence(ofOthers: "m"), text: text)
            guard let found = ProblemPlace(of: problem, in: &source), found.line == 2, let mark = found.mark
            else { return nil }
            return String(String.UnicodeScalarView(Array(found.text.unicodeScalars)[mark]))
        }
        // ü takes the bytes of the columns 10 and 11, ß 12 and 13.
        #expect(marked(9, "Füße") == "Füße")
        #expect(marked(10) == "üße müde")
        #expect(marked(11) == "üße müde")
        #expect(marked(12) == "ße müde")
        #expect(marked(16, "müde") == "müde")
        #expect(marked(1) == "SUMMARY")
        #expect(marked(line.utf8.count) == "X")
        #expect(marked(line.utf8.count + 1) == nil)
        #expect(marked(0) == nil)
    }

    @Test("A long line is cut around the place, and the arrow stays below it")
    func longLines() throws {
        let text = "DESCRIPTION:" + String(repeating: "ä", count: 500) + "HERE" + String(repeating: "ö", count: 500)
        let (line, arrow) = CheckArrow.cut(text, around: 512..<516)
        #expect(line.hasPrefix("…ä") && line.hasSuffix("ö…") && line.count == 98)
        let index = try #require(line.firstIndex(of: "H"))
        #expect(line.distance(from: line.startIndex, to: index) == arrow.count - 4)
        #expect(arrow.hasSuffix(" ^~~~"))
        // What is meant goes on beyond the screen, but the arrow does not.
        #expect(CheckArrow.cut(text, around: 12..<1016).arrow.count == 96)
        #expect(CheckArrow.cut("short", around: nil) == ("short", ""))
    }

    @Test("Nothing of a file moves the cursor, and a control character has its arrow")
    func controls() async throws {
        let (_, lines) = try await check([sample("malformed/control-characters.ics")])
        let fault = try #require(lines.firstIndex { $0.hasSuffix("[control-characters]") })
        #expect(lines[fault + 1] == "      9 > SUMMARY:Bell ? and ?[31mred?")
        #expect(lines[fault + 2] == String(repeating: " ", count: 10 + 13) + "^")
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 32 } })
    }

    @Test("The property that is meant is shown when the fault is known by its component")
    func properties() async throws {
        let (_, lines) = try await check([sample("malformed/end-before-start.ics")])
        let faults = lines.indices.filter { lines[$0].hasSuffix("[end-before-start]") }
        #expect(
            faults.map { lines[$0 + 1] } == [
                "      8 > DTEND:20260116T140000Z", "     15 > DTEND;VALUE=DATE:20260117", "     22 > DURATION:-PT1H",
            ])
        #expect(faults.map { lines[$0 + 2] }.map { $0.prefix { $0 == " " }.count } == [16, 27, 19])
        #expect(lines.contains("  3 warnings"))
    }

    @Test("A folded line is shown whole, numbered as the file has it")
    func folds() async throws {
        let (_, lines) = try await check(
            ["-"],
            input: calendar(
                event([
                    "SUMMARY:folded", " once", "DTSTART;VALUE=DATE:20260105", "RRULE:FREQ=DAILY;CO", " UNT=0",
                ])))
        let fault = try #require(lines.firstIndex { $0.hasSuffix("[rule-refused]") })
        #expect(lines[fault].hasPrefix("  line 10: error: "))
        #expect(lines[fault + 1] == "     10 > RRULE:FREQ=DAILY;COUNT=0")
        #expect(lines[fault + 2] == String(repeating: " ", count: 10 + 17) + "^~~~~~~")
    }

    @Test("Of many problems of a kind three are shown, the others counted; --all shows them")
    func folding() async throws {
        var lines: [String] = []
        for number in 0..<2500 {
            lines += event(["DTSTART:202601\(number % 2 == 0 ? "05" : "06")"], uid: "u\(number)")
        }
        let input = calendar(lines)
        let (status, folded) = try await check(["-"], input: input)
        #expect(status == 1)
        #expect(folded.count { $0.contains("[date-without-value]") && $0.contains("repaired:") } == 3)
        // An event has five lines, its DTSTART on the fourth; the reader lists 2,000 and counts the others.
        let more = folded.filter { $0.contains("more of this kind") }
        #expect(more.count == 1)
        #expect(more.first == "  … and 2,497 more of this kind, from line 22 on [date-without-value]")
        #expect(folded.contains("  2,500 repaired"))
        let few = try await check(["-"], input: calendar(Array(lines.prefix(5 * 5))))
        #expect(few.lines.contains("  … and 2 more of this kind, lines 22 to 27 [date-without-value]"))
        let four = try await check(["-"], input: calendar(Array(lines.prefix(4 * 5))))
        #expect(four.lines.contains("  … and 1 more of this kind, line 22 [date-without-value]"))
        let (_, whole) = try await check(["-", "--all"], input: input)
        #expect(whole.count { $0.contains("[date-without-value]") } == 2500)
        #expect(whole.contains("  2,500 repaired"))
    }

    @Test("Problems are in the order of the lines, folded ones where the next would stand")
    func order() {
        func problem(_ line: Int, _ code: Problem.Code) -> Problem {
            Problem(line: line, severity: .error, code: code, sentence: Sentence(ofOthers: "m"))
        }
        let problems = [9, 1, 5, 3, 7].map { problem($0, "a") } + [problem(8, "b")]
        #expect(
            CheckProblems.entries(problems, showsAll: false) == [
                .problem(problem(1, "a")), .problem(problem(3, "a")), .problem(problem(5, "a")),
                .more(count: 2, code: "a", from: 7, to: 9), .problem(problem(8, "b")),
            ])
        #expect(CheckProblems.entries(problems, showsAll: true).count == 6)
        #expect(CheckProblems.totals(problems) == "6 errors")
    }

    @Test("JSON has a verdict for each app, and the column and text of each problem")
    func json() async throws {
        let (status, lines) = try await check([sample("malformed/unknown-values.ics"), "--json"])
        #expect(status == 1)
        let answer = try JSONValue(parsing: Array(try #require(lines.first).utf8))
        let clients = try #require(answer["clients"]?.array)
        #expect(
            clients.compactMap { $0["client"]?.string }
                == ["apple", "google", "outlook", "thunderbird", "evolution", "home-assistant"])
        #expect(
            clients.compactMap { $0["verdict"]?.string }
                == ["takes", "takes", "takes", "takes", "takes", "refuses"])
        let reason = try #require(clients.last?["reasons"]?.array?.first)
        #expect(reason["rule"] == "bad-value")
        #expect(reason["message"] == "rejects the whole file for one bad value: STATUS in line 10")
        #expect(reason["source"] == "[code] ical 14")
        #expect(answer["problems"]?.array?.first?["text"] == "two")
        #expect(answer["format"] == "calendar")
    }

    @Test("A web page is refused with 1 and called one; a good calendar ends with 0")
    func statuses() async throws {
        let (refused, lines) = try await check(["-"], input: "<!doctype html><p>Sign in")
        #expect(refused == 1)
        #expect(lines.first == "-: a web page, 25 bytes")
        #expect(lines.contains("  1 error"))
        #expect(lines.contains("    Apple Calendar   refuses:  finds no calendar in it"))
        let good = calendar(event(["DTSTART:20260105T090000Z"]))
        #expect(try await check(["-"], input: good).status == 0)
    }
}
