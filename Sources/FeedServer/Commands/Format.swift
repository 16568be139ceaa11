// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import ICalBridge
import KalendsCore
import Server

struct Format: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the calendar in strict form: repaired, as all apps read it, in UTF-8.")

    @Argument(help: "The file, - for standard input.") var file: String
    @Option(name: .customLong("to"), help: "The output format: ics, jcal, xcal or csv.")
    var form = CalendarForm.iCalendar

    func run() throws {
        let reading = try CalendarInput(file).read().reading
        if let refusal = reading.refusal {
            Console.error(refusal)
            throw ExitCode(1)
        }
        for calendar in reading.calendars { Console.bytes(calendar.agreed.bytes(as: form)) }
        if reading.problems.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }
}

extension CalendarForm: ExpressibleByArgument {}
