// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge
import KalendsCore
import Server

struct Expand: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print every occurrence within a range of days, in order of start.")

    @Argument(help: "The file, - for standard input.") var file: String
    @Option(help: "The first day, YYYY-MM-DD.") var from: String
    @Option(help: "The day after the last one, YYYY-MM-DD.") var to: String
    @Flag(help: "Each line is a JSON object.") var json = false

    func validate() throws {
        guard let first = CivilDate(iso: from), let end = CivilDate(iso: to), first < end else {
            throw ValidationError("--from and --to must be days as YYYY-MM-DD, --to the later one.")
        }
    }

    func run() throws {
        guard let first = CivilDate(iso: from), let end = CivilDate(iso: to) else { return }
        let reading = try CalendarInput(file).read().reading
        if let refusal = reading.refusal {
            Console.error(refusal)
            throw ExitCode(1)
        }
        // Dates are days in UTC: floating times and dates are compared without conversion.
        let utc = FixedOffset.utc
        let (begins, ends) = (
            utc.instant(of: CivilDateTime(startOf: first)), utc.instant(of: CivilDateTime(startOf: end))
        )
        var found: [Found] = []
        var isComplete = true
        var budget = RecurrenceBudget(steps: Self.mostSteps)
        for calendar in reading.calendars {
            for series in Series.group(calendar.events.filter { $0.kind == .event }) {
                let most = min(Self.mostOfSeries, Self.most - found.count)
                let expansion = series.occurrences(
                    from: begins, to: ends, floatingIn: utc, maximum: max(most, 0), budget: &budget)
                found += expansion.occurrences.map(Found.init)
                isComplete = isComplete && expansion.isComplete
            }
        }
        for occurrence in found.sorted(by: { $0.order < $1.order }) {
            Console.line(
                json
                    ? try occurrence.json.text()
                    : "\(occurrence.start.plain)  \(occurrence.end.plain)  \(printable(occurrence.summary ?? ""))"
            )
        }
        if !isComplete {
            Console.error("A rule has more occurrences than can be listed; the list is not complete.")
            throw ExitCode(1)
        }
    }

    /// The maximum number of occurrences that are listed, of one series and of the file: all of them are held in memory
    /// until the end.
    private static let mostOfSeries = 200_000
    private static let most = 1_000_000
    /// The maximum number of steps for expanding all rules of the file: a few seconds.
    private static let mostSteps = 100_000_000
}

/// The stored part of an occurrence until it is written.
private struct Found {
    /// A time as it is written, in a third of the memory.
    struct Time {
        enum Form { case date, floating, instant }

        let form: Form
        /// Seconds on the clock that the form implies.
        let seconds: Int

        init(_ time: EventTime) {
            switch time {
            case .date(let date): (form, seconds) = (.date, CivilDateTime(startOf: date).wallSeconds)
            case .floating(let wall): (form, seconds) = (.floating, wall.wallSeconds)
            case .utc, .zoned: (form, seconds) = (.instant, time.instant(floatingIn: FixedOffset.utc).seconds)
            }
        }

        /// A text such as `2026-01-21T17:00:00Z`, a date, or a floating time without Z.
        var plain: String {
            let wall = CivilDateTime(wallSeconds: seconds)
            return switch form {
            case .date: wall.date.description
            case .floating: wall.description
            case .instant: Instant(seconds: seconds).description
            }
        }
    }

    let uid: String
    let summary: String?
    let start: Time
    let end: Time
    let recurrenceID: Time?

    init(_ occurrence: Occurrence) {
        uid = occurrence.event.uid
        summary = occurrence.event.summary
        start = Time(occurrence.start)
        end = Time(occurrence.end)
        recurrenceID = occurrence.recurrenceID.map(Time.init)
    }

    /// Dates are days in UTC: floating times and dates are compared without conversion.
    var order: (Int, String) { (start.seconds, uid) }

    var json: JSONValue {
        [
            "uid": .string(uid), "start": .string(start.plain), "end": .string(end.plain),
            "allDay": .bool(start.form == .date), "summary": JSONValue(summary),
            "recurrenceId": JSONValue(recurrenceID?.plain),
        ]
    }
}
