// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

/// Lists and resolves the conflicts of a connection.
struct ConflictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflict", abstract: "List and resolve events that were changed both here and in a calendar.",
        subcommands: [List.self, Resolve.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a connection's conflicts, the latest first.")

        @OptionGroup var options: SettingsOptions
        @Flag(help: "Include resolved conflicts.") var all = false
        @Flag(help: "One line of JSON per conflict.") var json = false
        @Argument(help: "The connection's id.") var connection: String

        func run() async throws {
            let path = "/v1/connections/\(pathComponent(connection))/conflicts"
            var conflicts = try await options.all(path)
            if !all { conflicts.removeAll { $0["state"] != "open" } }
            if json { return try Console.lines(conflicts) }
            if conflicts.isEmpty { return Console.line("Nothing waits for a decision.") }
            var table = TextTable(["ID", "AT", "KIND", "ITEM", "STATE", "HERE", "IN THE CALENDAR"])
            for conflict in conflicts {
                let text = { (name: String) in conflict[name]?.string ?? "" }
                let field = conflict["fields"]?.array?.first
                table.add([
                    text("id"), TextTable.time(text("at")), text("kind"), "\(text("collection"))/\(text("itemId"))",
                    text("outcome").isEmpty ? text("state") : text("outcome"), field?["kalends"]?.string ?? "",
                    field?["calendar"]?.string ?? "",
                ])
            }
            for line in table.lines { Console.line(line) }
        }
    }

    struct Resolve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Resolve a conflict, or dismiss it and leave everything as it is.")

        @OptionGroup var options: SettingsOptions
        @Option(help: "The side whose value is kept: kalends, calendar or both.") var keep: String?
        @Flag(help: "Leave everything as it is.") var dismiss = false
        @Argument(help: "The conflict's id, from conflict list.") var id: String

        func validate() throws {
            if dismiss == (keep != nil) { throw ValidationError("Give --keep or --dismiss.") }
        }

        func run() async throws {
            let path = "/v1/conflicts/\(pathComponent(id))"
            let decided =
                if let keep {
                    try await options.json(
                        "POST", "\(path)/resolve", ["keep": .string(keep)], naming: ["/keep": "--keep"])
                } else {
                    try await options.json("POST", "\(path)/dismiss")
                }
            Console.line("Conflict \(id) is \(decided["state"]?.string ?? ""): \(decided["outcome"]?.string ?? "").")
        }
    }
}
