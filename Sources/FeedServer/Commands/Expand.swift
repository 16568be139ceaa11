// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge

struct Expand: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write every occurrence within some days, in order of start.")

    @Argument(help: "The file, - for standard input.") var file: String
    @Option(help: "The first day, YYYY-MM-DD.") var from: String
    @Option(help: "The day after the last one, YYYY-MM-DD.") var to: String
    @Flag(help: "Each line is a JSON object.") var json = false

    func run() throws {
        guard let first = CivilDate(iso: from), let end = CivilDate(iso: to), first < end else {
            throw ValidationError("--from and --to must be days as YYYY-MM-DD, --to the later one.")
        }
        let reading = try CalendarInput(file).read().reading
        if let refusal = reading.refusal {
            Console.error(printable(refusal))
            throw ExitCode(1)
        }
        // Days are UTC's: a floating time and a day are compared as they stand.
        let utc = FixedOffset.utc
        let (begins, ends) = (
            utc.instant(of: CivilDateTime(startOf: first)), utc.instant(of: CivilDateTime(startOf: end))
        )
        var found: [Occurrence] = []
        var isComplete = true
        for calendar in reading.calendars {
            for series in Series.group(calendar.events.filter { $0.kind == .event }) {
                let expansion = series.occurrences(
                    from: begins, to: ends, floatingIn: utc, limits: ExpansionLimits(maximumOccurrences: 1_000_000))
                found += expansion.occurrences
                isComplete = isComplete && expansion.isComplete
            }
        }
        for occurrence in found.sorted(by: { Self.order($0) < Self.order($1) }) {
            Console.line(
                json
                    ? try occurrence.json.text()
                    : "\(occurrence.start.plain)  \(occurrence.end.plain)  \(printable(occurrence.event.summary ?? ""))"
            )
        }
        if !isComplete {
            Console.error("A rule has more occurrences than can be listed; the list is not complete.")
            throw ExitCode(1)
        }
    }

    private static func order(_ occurrence: Occurrence) -> (Int, String) {
        (occurrence.start.instant(floatingIn: FixedOffset.utc).seconds, occurrence.event.uid)
    }
}

extension Occurrence {
    fileprivate var json: JSONValue {
        [
            "uid": .string(event.uid), "start": .string(start.plain), "end": .string(end.plain),
            "allDay": .bool(start.isDate), "summary": JSONValue(event.summary),
            "recurrenceId": JSONValue(recurrenceID?.plain),
        ]
    }
}

extension EventTime {
    /// `2026-01-21T17:00:00Z`, a date, or a floating time without Z (contract, section 6).
    fileprivate var plain: String {
        switch self {
        case .date(let date): date.description
        case .floating(let wall): wall.description
        case .utc, .zoned: instant(floatingIn: FixedOffset.utc).description
        }
    }
}
