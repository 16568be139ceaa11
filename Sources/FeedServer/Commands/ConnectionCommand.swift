// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct ConnectionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connection", abstract: "List, run, pause, resume and remove connections to people's calendars.",
        subcommands: [List.self, SyncCommand.self, Pause.self, Resume.self, Remove.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List connections with their state, and what a person has to do.")

        @OptionGroup var options: SettingsOptions
        @Option(help: "The circle's id; without it, all circles.") var circle: String?
        @Flag(help: "One line of JSON per connection.") var json = false

        func run() async throws {
            let found = try await options.all("connections", ofCircle: circle)
            if json { return try Console.lines(found) }
            if found.isEmpty {
                return Console.line(
                    "There are no connections. Users make their own on the pages: kalends open --user USER")
            }
            for line in Self.lines(found) { Console.line(line) }
        }

        /// - Parameter connections: the connections as the API lists them.
        static func lines(_ connections: [JSONValue]) -> [String] {
            var table = TextTable([
                "ID", "CIRCLE", "USER", "PROVIDER", "LABEL", "CALENDAR", "STATE", "LAST RUN", "NEXT RUN",
            ])
            func text(_ value: JSONValue?) -> String { value?.string ?? "" }
            for one in connections {
                let last = one["lastSyncAt"]?.string.map { "\(text(one["lastSyncStatus"])) \(TextTable.time($0))" }
                table.add([
                    text(one["id"]), text(one["circleId"]), text(one["userId"]), text(one["provider"]),
                    text(one["label"]), text(one["calendarName"]), text(one["state"]), last ?? "never",
                    TextTable.time(text(one["nextSyncAt"])),
                ])
                if let error = one["lastSyncError"]?.string { table.note("The last run says: \(error)") }
                for entry in one["attention"]?.array ?? [] {
                    table.note("ATTENTION, \(TextTable.time(text(entry["at"]))): \(text(entry["message"]))")
                }
            }
            return table.lines
        }
    }

    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Pause a connection until it is resumed.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The connection's id, from `kalends connection list`.") var id: String

        func run() async throws {
            _ = try await ConnectionCommand.change(id, ["paused": true], options)
            Console.line("Connection \(id) is paused.")
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume a paused connection.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The connection's id, from `kalends connection list`.") var id: String

        func run() async throws {
            let state = try await ConnectionCommand.change(id, ["paused": false], options)["state"]?.string ?? ""
            Console.line(
                state == "active"
                    ? "Connection \(id) runs again."
                    : "Connection \(id) was not paused: it is \(state), and its user has to set it up on the pages.")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a connection and revoke its access to the account.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The connection's id, from `kalends connection list`.") var id: String
        @Flag(help: "Also remove the events that it created in the calendar.") var events = false

        func run() async throws {
            let path = "/v1/connections/\(pathComponent(id))?events=\(events ? "remove" : "keep")"
            _ = try await options.json("DELETE", path)
            Console.line(
                "Connection \(id) is removed."
                    + (events
                        ? " A last run of the server removes the events that it created."
                        : " Its events stay in the calendar."))
        }
    }

    /// - Returns: the connection as it is afterwards.
    private static func change(
        _ id: String, _ body: JSONValue, _ options: SettingsOptions
    ) async throws -> JSONValue {
        try await options.json("PATCH", "/v1/connections/\(pathComponent(id))", body)
    }
}
