// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge
import KalendsCore
import Server

struct Parse: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read a calendar file and print one line for each component.")

    @Argument(help: "The file, - for standard input.") var file: String
    @Flag(help: "Each line is a JSON object.") var json = false

    func run() throws {
        // Events that could not be read have no line of their own; if nothing else could be read, none of them is
        // reported.
        var errors: [Problem] = []
        let refusal = try CalendarInput(file).eachSlice { slice in
            for (event, lines) in zip(slice.events, slice.lines) {
                let codes = slice.problems.filter { lines.contains($0.line) }.map(\.code.rawValue)
                Console.line(json ? try event.parseJSON(problems: codes).text() : event.parseLine)
            }
            errors += slice.problems.filter { $0.severity == .error && !errors.contains($0) }
        }
        if let refusal {
            Console.error(refusal)
            throw ExitCode(1)
        }
        for problem in errors { Console.error("line \(problem.line): \(problem.message)") }
        if !errors.isEmpty { throw ExitCode(1) }
    }
}

extension Event {
    /// The event as an object of JSON.
    func parseJSON(problems: [String]) -> JSONValue {
        [
            "component": .string(kind.rawValue), "uid": .string(uid), "recurrenceId": recurrenceID?.json ?? .null,
            "start": start?.json ?? .null, "end": effectiveEnd?.json ?? .null, "allDay": .bool(isAllDay),
            "summary": JSONValue(summary), "description": JSONValue(description), "location": JSONValue(location),
            "status": JSONValue(status),
            "transparency": JSONValue(isTransparent.map { $0 ? "TRANSPARENT" : "OPAQUE" }),
            "sequence": .integer(sequence),
            "rrule": JSONValue(recurrence.rules.first?.description),
            "exdates": .array(recurrence.exclusions.map(\.json)),
            "rdates": .array(recurrence.additions.map(\.start.json)),
            "alarms": .array(
                alarms.map {
                    [
                        "trigger": .string($0.trigger.text), "action": .string($0.action),
                        "description": JSONValue($0.description),
                    ]
                }),
            "problems": .array(problems.map(JSONValue.string)),
        ]
    }

    fileprivate var parseLine: String {
        func text(_ time: EventTime?) -> String {
            switch time {
            case nil: "-"
            case .date(let date): date.description
            case .floating(let wall): wall.description
            case .utc(let instant): instant.description
            case .zoned(let wall, let zone): "\(wall)[\(zone.identifier)]"
            }
        }
        let rule = recurrence.rules.first.map { "  (\($0))" } ?? ""
        return "\(kind.rawValue)  \(text(start)) – \(text(effectiveEnd))  \(printable(summary ?? "(no title)"))\(rule)"
    }
}

extension Alarm.Trigger {
    /// The value of the property: a duration, with `END` before one that counts from the end, or an instant.
    fileprivate var text: String {
        switch self {
        case .relativeToStart(let duration): duration.description
        case .relativeToEnd(let duration): "END\(duration.isNegative ? "" : "+")\(duration)"
        case .absolute(let instant): instant.description
        }
    }
}
