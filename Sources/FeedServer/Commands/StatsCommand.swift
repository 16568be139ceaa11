// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Server

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count people's connections and their runs.")

    @OptionGroup var options: SettingsOptions
    @Flag(help: "One line of JSON.") var json = false

    func run() async throws {
        let found = try await options.json("GET", "/v1/stats")
        if json { return Console.line(try found.text()) }
        func count(_ name: String) -> String { String(found[name]?.integer ?? 0) }
        var people = TextTable(["USERS", "WITH A CONNECTION", "BOTH WAYS", "WITH A FEED"])
        people.add([count("users"), count("usersWithConnection"), count("usersWithTwoWay"), count("usersWithFeed")])
        for line in people.lines { Console.line(line) }
        var runs = TextTable(["PROVIDER", "DAYS", "RUNS", "SUCCESSFUL", "WRITES", "ERRORS"])
        for own in found["runs"]?.array ?? [] where own["runs"]?.integer ?? 0 > 0 {
            runs.add(
                [own["provider"]?.string ?? ""]
                    + ["days", "runs", "successes", "writes", "errors"].map { String(own[$0]?.integer ?? 0) })
        }
        if runs.isEmpty { return Console.line("No connection has run in the last 30 days.") }
        for line in runs.lines { Console.line(line) }
    }
}
