// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Import an .ics file into a circle.",
        discussion: "With --preview, nothing is changed, and the report shows what an import would do.")

    @OptionGroup var options: SettingsOptions
    @Argument(help: "The file, - for standard input.") var file: String
    @Option(help: "The circle's id.") var circle: String
    @Option(help: "The user who imports; other users' feeds do not show private events.") var user: String?
    @Option(help: "What to keep of people and files: attendees, attachments, or both with a comma.") var keep: String?
    @Flag(help: "Only report what it would change.") var preview = false
    @Flag(help: "The whole report as JSON.") var json = false

    func run() async throws {
        let mode = preview ? "preview" : "commit"
        let kept = keep.map { "&keep=\(pathComponent($0))" } ?? ""
        let path = "/v1/circles/\(pathComponent(circle))/imports?mode=\(mode)&limit=1000\(kept)"
        let (user, file) = (user, file)
        let answer = try await LocalClient.with(try await options.settings()) { client in
            // The server's own limit, which may differ from this command's settings.
            let limit = try await client.json("GET", "/local/status")["maxImportBytes"]?.integer
            let bytes = try InputFile(
                file, limit: limit ?? InputFile.wholeLimit, hint: "The server's maxImportBytes sets this limit."
            ).whole()
            return try await client.call("POST", path, body: bytes, contentType: "text/calendar", as: user)
        }
        guard answer.status < 300 else { throw LocalClient.refused(answer) }
        let report = answer.json
        if json {
            Console.line(try report.text())
        } else {
            for line in Self.summary(report, preview: preview) { Console.line(line) }
        }
        let hasErrors = report["problems"]?.array?.contains { $0["severity"]?.string == "error" } ?? false
        if hasErrors { throw ExitCode(1) }
    }

    /// A summary: the contents of the file, the changes, and the problems.
    static func summary(_ report: JSONValue, preview: Bool) -> [String] {
        func count(_ name: String) -> Int { report["counts"]?[name]?.integer ?? 0 }
        func plural(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        var lines: [String] = []
        var head = plural(count("events"), "event")
        if let from = report["span"]?["from"]?.string, let to = report["span"]?["to"]?.string {
            head += from == to ? " on \(from)" : " from \(from) to \(to)"
        }
        lines.append(head + ":")
        let verbs =
            preview
            ? [
                ("created", "would be new"), ("updated", "would change"), ("unchanged", "are there already"),
                ("skipped", "would be left out"),
            ]
            : [
                ("created", "are new"), ("updated", "have changed"), ("unchanged", "were there already"),
                ("skipped", "were left out"),
            ]
        for (name, text) in verbs where count(name) > 0 { lines.append("  \(count(name)) \(text)") }
        let zones = (report["timeZones"]?.array ?? []).filter { $0["how"]?.string != "exact" }
        for zone in zones {
            lines.append(
                "  zone \(printable(zone["tzid"]?.string ?? "")) read as \(zone["resolvedTo"]?.string ?? "its own rules") (\(zone["how"]?.string ?? ""))"
            )
        }
        let dropped = (report["dropped"]?.array ?? []).map { one in
            "\(one["count"]?.integer ?? 0) \(printable(one["property"]?.string ?? ""))"
        }
        if !dropped.isEmpty { lines.append("  not stored: \(dropped.joined(separator: ", "))") }
        let problems = report["problems"]?.array ?? []
        if !problems.isEmpty {
            lines.append(plural(problems.count, "problem") + ":")
            for problem in problems.prefix(20) {
                lines.append(
                    "  line \(problem["line"]?.integer ?? 0): \(problem["severity"]?.string ?? ""): \(printable(problem["message"]?.string ?? ""))"
                )
            }
            if problems.count > 20 { lines.append("  … and \(problems.count - 20) more; --json shows them all") }
        }
        let id = report["id"]?.string ?? ""
        lines.append(
            preview
                ? "Nothing was changed. To commit, run the same command without --preview."
                : "Import \(id). To undo it: POST /v1/imports/\(id)/undo")
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
