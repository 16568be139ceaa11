// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge
import KalendsCore
import Server

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import an .ics file into a circle, and undo an import.",
        usage: """
            kalends import <file> --circle <circle> [--user <user>] [--keep <keep>] [--todos <todos>]
                [--preview] [--json]
            kalends import undo <id>
            """,
        discussion: """
            With --preview, nothing is changed, and the report shows what an import would do. kalends import file --help \
            says what the flags mean.
            """,
        subcommands: [Import.self, UndoImport.self], defaultSubcommand: Import.self)
}

struct UndoImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo an import; events that were edited since stay as they are.")

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The import's id, which the import printed.") var id: String
    @Flag(help: "The whole report as JSON.") var json = false

    func run() async throws {
        let answer = try await options.json("POST", "/v1/imports/\(pathComponent(id))/undo?limit=1000")
        if json { return Console.line(try answer.text()) }
        let kept = answer["kept"]?.array ?? []
        Console.line("Import \(printable(id)) is undone.")
        guard !kept.isEmpty else { return }
        Console.line("What was edited since has stayed:")
        for item in kept { Console.line("  \(printable(item["summary"]?.string ?? item["uid"]?.string ?? ""))") }
    }
}

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Import an .ics file into a circle; this is what kalends import does by itself.",
        discussion: "With --preview, nothing is changed, and the report shows what an import would do.")

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The file, - for standard input.") var file: String
    @Option(help: "The circle's id.") var circle: String
    @Option(help: "The user to import as; private events appear only in this user's feeds.") var user: String?
    @Option(help: "What to keep of people and files: attendees, attachments, or both with a comma.") var keep: String?
    @Option(help: "What becomes of to-dos: keep, or tasks for tasks of the circle.") var todos: String?
    @Flag(help: "Only report what it would change.") var preview = false
    @Flag(help: "The whole report as JSON.") var json = false

    func run() async throws {
        let mode = preview ? "preview" : "commit"
        let kept = keep.map { "&keep=\(pathComponent($0))" } ?? ""
        let made = todos.map { "&todos=\(pathComponent($0))" } ?? ""
        let path = "/v1/circles/\(pathComponent(circle))/imports?mode=\(mode)&limit=1000\(kept)\(made)"
        let (user, file) = (user, file)
        let answer = try await LocalClient.with(try await options.settings()) { client in
            // The server's own limit, which may differ from this command's settings.
            let limit = try await client.json("GET", "/local/status")["maxImportBytes"]?.integer
            let bytes = try InputFile(
                file, limit: limit ?? InputFile.wholeLimit, hint: "The server's maxImportBytes sets this limit."
            ).whole()
            return try await client.call("POST", path, body: bytes, contentType: "text/calendar", as: user)
        }
        guard answer.status < 300 else {
            throw LocalClient.refused(answer).naming([
                "/query/keep": "--keep", "/keep": "--keep", "/query/todos": "--todos",
            ])
        }
        guard let report = Imports.Report(json: answer.json) else {
            throw LocalClient.Failure(description: "The server's report is not one that this version understands.")
        }
        if json {
            Console.line(try answer.json.text())
        } else {
            for line in Self.summary(report, preview: preview) { Console.line(line) }
        }
        if report.problems.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }

    /// A summary: the contents of the file, the changes, and the problems.
    private static func summary(_ report: Imports.Report, preview: Bool) -> [String] {
        func plural(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let counts = report.listed.counts ?? Imports.Counts()
        var lines: [String] = []
        let events = counts.events - counts.todos - counts.tasks - counts.journals
        var kinds = [plural(events, "event")]
        if counts.todos > 0 { kinds.append(plural(counts.todos, "to-do")) }
        if counts.tasks > 0 {
            kinds.append(plural(counts.tasks, "to-do") + " as \(counts.tasks == 1 ? "a task" : "tasks")")
        }
        if counts.journals > 0 {
            kinds.append(counts.journals == 1 ? "1 journal entry" : "\(counts.journals) journal entries")
        }
        var head = kinds.joined(separator: ", ")
        if let from = report.listed.span?.from, let to = report.listed.span?.to {
            head += from == to ? " on \(from)" : " from \(from) to \(to)"
        }
        lines.append(head + ":")
        // What would happen, and what has happened to one event and to several.
        let changes = [
            (counts.created, "would be new", "is new", "are new"),
            (counts.updated, "would change", "has changed", "have changed"),
            (counts.unchanged, "would stay the same", "has stayed the same", "have stayed the same"),
            (counts.skipped, "would be left out", "was left out", "were left out"),
        ]
        for (count, planned, one, several) in changes where count > 0 {
            lines.append("  \(count) \(preview ? planned : count == 1 ? one : several)")
        }
        for zone in report.timeZones where zone.how != .exact {
            let target = zone.resolvedTo ?? "its own rules"
            lines.append("  zone \(printable(zone.tzid)) read as \(target) (\(zone.how.rawValue))")
        }
        let dropped = report.dropped.map { one in
            "\(one.count) \(printable(one.property))" + (one.lines.first.map { " (from line \($0) on)" } ?? "")
        }
        if !dropped.isEmpty { lines.append("  not stored: \(dropped.joined(separator: ", "))") }
        let problems = report.problems
        if !problems.isEmpty {
            lines.append(plural(problems.count, "problem") + ":")
            for problem in problems.prefix(20) {
                lines.append(
                    "  line \(problem.line): \(problem.severity.rawValue): \(printable(problem.message))")
            }
            if problems.count > 20 { lines.append("  … and \(problems.count - 20) more; --json shows them all") }
        }
        let id = report.listed.id
        if preview {
            lines.append("Nothing was changed. To commit, run the same command without --preview.")
        } else if counts.created + counts.updated > 0 {
            lines.append("Import \(id) can be undone on the circle's page of imports (kalends open), or with")
            lines.append("  kalends import undo \(id)")
        } else {
            lines.append("Import \(id) has changed nothing.")
        }
        return lines
    }
}

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write a circle as one .ics file to standard output.")

    @OptionGroup var options: SettingsOptions
    @Option(help: "The circle's id.") var circle: String

    func run() async throws {
        let path = "/v1/circles/\(pathComponent(circle))/export.ics"
        let answer = try await LocalClient.with(try await options.settings()) { try await $0.call("GET", path) }
        guard answer.status < 300 else { throw LocalClient.refused(answer) }
        Console.bytes(answer.body)
    }
}
