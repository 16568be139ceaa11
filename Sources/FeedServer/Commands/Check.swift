// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell what is wrong with calendar files, by line, and what a reader makes of them.")

    @Argument(help: "The files, - for standard input.") var files: [String]
    @Flag(help: "One line of JSON a file.") var json = false

    func run() throws {
        var hasFaults = false
        for (index, file) in files.enumerated() {
            let bytes = try readInput(file)
            let reading = CalendarReader(options: .commandLine).read(anyForm: bytes)
            hasFaults = hasFaults || reading.refusal != nil || !reading.problems.isEmpty
            if json {
                Console.line(try Self.json(file, reading).text())
            } else {
                if index > 0 { Console.line("") }
                for line in Self.screen(file, bytes.count, reading) { Console.line(line) }
            }
        }
        if hasFaults { throw ExitCode(1) }
    }

    private static func json(_ file: String, _ reading: CalendarReading) -> JSONValue {
        [
            "file": .string(file), "format": .string(reading.format.rawValue),
            "calendars": .array(
                reading.calendars.map {
                    [
                        "name": JSONValue($0.name), "productId": JSONValue($0.productID),
                        "method": JSONValue($0.method),
                        "components": .integer($0.events.count),
                    ]
                }),
            "skipped": .integer(reading.skipped), "refusal": JSONValue(reading.refusal),
            "timeZones": .array(
                reading.timeZones.map {
                    [
                        "tzid": .string($0.tzid), "resolvedTo": JSONValue($0.resolvedTo),
                        "how": .string($0.how.rawValue),
                    ]
                }),
            "problems": .array(reading.problems.map(\.json)),
        ]
    }

    /// One screen: what it is, who wrote it, what is in it, then the problems.
    private static func screen(_ file: String, _ size: Int, _ reading: CalendarReading) -> [String] {
        var lines = ["\(file): \(reading.format.title), \(size) bytes"]
        if let refusal = reading.refusal { lines.append("  cannot be read: \(printable(refusal))") }
        for calendar in reading.calendars {
            if let name = calendar.name { lines.append("  name        \(printable(name))") }
            if let product = calendar.productID { lines.append("  written by  \(printable(product))") }
            let kinds = Dictionary(grouping: calendar.events, by: \.kind).mapValues(\.count)
            let counts = kinds.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
            let series = calendar.events.count { !$0.recurrence.rules.isEmpty }
            lines.append(
                "  holds       " + (counts.isEmpty ? "nothing" : counts.joined(separator: ", "))
                    + (series > 0 ? ", \(series) of them repeating" : ""))
            let days = calendar.events.compactMap { $0.start?.civilDate }
            if let first = days.min(), let last = days.max() { lines.append("  starts      \(first) to \(last)") }
        }
        for zone in reading.timeZones {
            let target =
                zone.resolvedTo.map { $0 == zone.tzid ? "known" : "read as \($0)" } ?? "by the file's own rules"
            lines.append("  time zone   \(printable(zone.tzid)): \(target) (\(zone.how.rawValue))")
        }
        if reading.skipped > 0 { lines.append("  lost        \(reading.skipped) that could not be read") }
        if reading.problems.isEmpty {
            if reading.refusal == nil { lines.append("  no problems") }
            return lines
        }
        lines.append("  problems    \(reading.problems.count)")
        for problem in reading.problems {
            let place = problem.line == 0 ? "file" : "line \(problem.line)"
            lines.append(
                "  \(place): \(problem.severity.rawValue): \(printable(problem.message)) [\(problem.code.rawValue)]")
            if let text = problem.text { lines.append("      > \(printable(text))") }
        }
        return lines
    }
}

extension CalendarReader.Options {
    /// For files that their owner reads: large ones too, with what they attach.
    static var commandLine: CalendarReader.Options {
        CalendarReader.Options(limits: .large, keepsAttachments: true)
    }
}

extension SourceFormat {
    /// What it is, to a person.
    fileprivate var title: String {
        switch self {
        case .calendar: "a calendar"
        case .calendars: "several calendars"
        case .components: "calendar components without a calendar around them"
        case .vCalendar1: "a vCalendar 1.0 of 1996"
        case .jCal: "a calendar as JSON (jCal); lines are those of it as iCalendar"
        case .xml: "XML"
        case .csv: "a table (CSV); lines are those of it as iCalendar"
        case .json: "JSON"
        case .html: "a web page"
        case .contacts: "an address book"
        case .empty: "empty"
        case .binary: "no text"
        case .text: "a text"
        }
    }
}
