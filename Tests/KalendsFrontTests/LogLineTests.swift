// SPDX-License-Identifier: Apache-2.0

import Base
import Testing

@testable import KalendsCore
@testable import KalendsFront

@Suite("Lines of the log")
struct LogLineTests {
    private static let hostile = [
        "", "plain", "two words", "a=b", "quote\"d", "back\\slash", "line\nend", "tab\t", "\u{1B}[2J", "\u{7F}",
        "\u{85}",
        "\u{2028}", "\u{202E}turned", "\u{200B}", "Zoë", "日本", "👩‍👩‍👧", "\u{E000}", "\u{10FFFF}", "\0",
        "\r\n2026 error forged",
    ]

    private static func line(_ form: LogLine.Form, _ message: String, _ value: String) -> [UInt8] {
        var line = LogLine(form, at: 1_795_354_200_125, "info", message)
        line.add("name", value)
        line.add("number", -7)
        line.end()
        return line.bytes
    }

    @Test(
        "A line whose beginning was made before is the same as one that is made at once",
        arguments: LogLine.Form.allCases)
    func prepared(form: LogLine.Form) {
        func add(_ line: inout LogLine) {
            line.add("method", "GET")
            line.add("route", "/feeds/{token}")
            line.add("status", 304)
        }
        var rest = LogLine(withoutTime: form, "info", "request")
        add(&rest)
        for milliseconds in [0, 1_795_354_200_125] {
            var whole = LogLine(form, at: milliseconds, "info", "request")
            add(&whole)
            var continued = LogLine(form, at: milliseconds, rest)
            for number in [7, 123_456] {
                whole.add("microseconds", number)
                continued.add("microseconds", number)
            }
            whole.end()
            continued.end()
            #expect(whole.bytes == continued.bytes)
        }
    }

    @Test("A line for people has the time in UTC, the level, the words and the values")
    func text() throws {
        let line = Self.line(.text, "request", "GET")
        #expect(String(decoding: line, as: UTF8.self) == "2026-11-22T13:30:00.125Z info request name=GET number=-7\n")
    }

    @Test(
        "A line for programs is a JSON object that any reader of JSON takes, with the values as they were",
        arguments: hostile)
    func json(value: String) throws {
        let read = try JSONValue(parsing: Array(Self.line(.json, value, value).dropLast()))
        #expect(read["time"]?.string == "2026-11-22T13:30:00.125Z")
        #expect(read["level"]?.string == "info")
        #expect(read["message"]?.string.map { Array($0.utf8) } == Array(value.utf8))
        #expect(read["name"]?.string.map { Array($0.utf8) } == Array(value.utf8))
        #expect(read["number"]?.integer == -7)
    }

    @Test(
        "Whatever a value holds, it makes one line and nothing that a terminal obeys", arguments: hostile,
        LogLine.Form.allCases)
    func oneLine(value: String, form: LogLine.Form) {
        let text = String(decoding: Self.line(form, value, value), as: UTF8.self)
        #expect(text.unicodeScalars.filter { $0 == "\n" }.count == 1)
        let inside = text.unicodeScalars.dropLast()
        #expect(
            !inside.contains {
                [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            })
    }

    @Test("A value with a space or a quotation mark cannot pass for two values")
    func quoted() {
        let text = String(decoding: Self.line(.text, "x", "a status=200 \"b\""), as: UTF8.self)
        #expect(text.hasSuffix(#" info x name="a status=200 \"b\"" number=-7"# + "\n"))
    }

    @Test(
        "Times before 1970 and at the turn of a second are right",
        arguments: [
            (-1, "1969-12-31T23:59:59.999Z"), (0, "1970-01-01T00:00:00.000Z"), (999, "1970-01-01T00:00:00.999Z"),
            (1000, "1970-01-01T00:00:01.000Z"), (951_782_399_007, "2000-02-28T23:59:59.007Z"),
        ])
    func time(milliseconds: Int, shown: String) {
        var line = LogLine(.text, at: milliseconds, "info", "x")
        line.end()
        #expect(String(decoding: line.bytes, as: UTF8.self) == "\(shown) info x\n")
    }
}
