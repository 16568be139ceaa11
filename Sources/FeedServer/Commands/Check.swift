// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge
import KalendsCore
import Server

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the problems of calendar files by line, and how calendar apps handle the files.",
        discussion: """
            Shows the format of each file, the program that wrote it and its contents, how each calendar app handles \
            such a file, and then the problems by line. The exit status is 1 when there is any problem.
            """)

    @Argument(help: "The files, - for standard input.") var files: [String]
    @Flag(help: "One line of JSON per file.") var json = false
    @Flag(help: "Show every problem of a kind, not only the first three.") var all = false

    func run() throws {
        var options = CalendarReader.Options.commandLine
        if all { options.limits.problemsOfAKind = 1_000_000 }
        var hasFaults = false
        for (index, file) in files.enumerated() {
            let (bytes, reading) = try CalendarInput(file).read(options)
            let result = CheckResult(file: file, bytes: bytes, reading: reading)
            hasFaults = hasFaults || result.found.hasFaults
            if json {
                Console.line(try result.found.json.text())
            } else {
                if index > 0 { Console.line("") }
                for line in result.screen(showsAll: all) { Console.line(line) }
            }
        }
        if hasFaults { throw ExitCode(1) }
    }
}

/// The result of checking one file.
struct CheckResult {
    let file: String
    let bytes: [UInt8]
    let reading: CalendarReading
    let found: FileCheck.Result

    init(file: String, bytes: [UInt8], reading: CalendarReading) {
        self.file = file
        self.bytes = bytes
        var reading = reading
        reading.settleKinds()
        var budget = RecurrenceBudget(steps: SeriesWork.ofFile)
        reading.problems += reading.excessiveWork(budget: &budget)
        if reading.format.isOwnText { reading.locateProblems(in: bytes) }
        self.reading = reading
        found = FileCheck.Result(file: file, reading, reading.verdicts(of: bytes))
    }
}

extension CalendarReader.Options {
    /// The options for files that their owner reads, which may be large and have attachments.
    static var commandLine: CalendarReader.Options {
        CalendarReader.Options(limits: .large, keepsAttachments: true)
    }
}
