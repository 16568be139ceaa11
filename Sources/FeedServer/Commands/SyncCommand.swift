// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

/// Starts a run of a connection, or shows what a run would do.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Run a connection now, or show what a run would do.",
        discussion: "With --preview, nothing is written anywhere.")

    @OptionGroup var options: SettingsOptions
    @Flag(help: "Show what a run would do, without doing it.") var preview = false
    @Flag(help: "Print JSON.") var json = false
    @Argument(help: "The connection's id.") var id: String

    func run() async throws {
        let path = "/v1/connections/\(pathComponent(id))/sync\(preview ? "?mode=preview" : "")"
        let answer = try await options.json("POST", path)
        if json { return Console.line(try answer.text()) }
        guard preview else {
            let run = answer["runId"]?.string ?? ""
            return Console.line("Run \(run) begins at once or soon; `kalends connection list` shows how it ended.")
        }
        let items = answer["items"]?.array ?? []
        if !items.isEmpty {
            var table = TextTable(["CHANGE", "WHERE", "ITEM", "FIELDS"])
            for item in items {
                let text = { (name: String) in item[name]?.string ?? "" }
                table.add([
                    text("change"), text("direction") == "in" ? "here" : "in the calendar",
                    "\(text("collection"))/\(text("itemId"))",
                    (item["fields"]?.array ?? []).compactMap(\.string).filter { $0 != "existence" }
                        .joined(separator: ", "),
                ])
            }
            for line in table.lines { Console.line(line) }
        }
        let counts = answer["counts"]
        func count(_ name: String, _ word: String) -> String { "\(counts?[name]?.integer ?? 0) \(word)" }
        let outcomes = [
            count("created", "created"), count("updated", "updated"), count("deleted", "deleted"),
            count("pulled", "taken over here"), count("conflicts", "conflicts"), count("failed", "failed"),
            count("unchanged", "unchanged"),
        ]
        Console.line("A run now would end with: \(outcomes.joined(separator: ", "))")
        if answer["held"] != .null {
            Console.line("The run would be held until somebody approves it, because so many events would be lost.")
        }
    }
}
