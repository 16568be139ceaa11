// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct CircleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "circle", abstract: "Create and list circles.", subcommands: [Create.self, List.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create a circle, with an owner if one is given.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The circle's id, which is part of its addresses.") var id: String
        @Option(help: "What people call it.") var name: String
        @Option(help: "The time zone of its days, such as Europe/Rome.") var timeZone: String
        @Option(help: "The id of the user who owns it.") var owner: String?
        @Option(help: "What people call the owner; the id if it is left out.") var ownerName: String?

        func validate() throws {
            if owner == nil, ownerName != nil { throw ValidationError("--owner-name needs --owner.") }
        }

        func run() async throws {
            let (path, owner) = ("/v1/circles/\(pathComponent(id))", owner)
            let circle: JSONValue = ["name": .string(name), "timeZone": .string(timeZone)]
            let member: JSONValue = ["displayName": .string(ownerName ?? owner ?? ""), "role": "owner"]
            let isNew: Bool
            do {
                isNew = try await LocalClient.with(try await options.settings()) { client in
                    // The request that makes a circle would change one that exists.
                    guard try await client.call("GET", path).status != 200 else { return false }
                    _ = try await client.json("PUT", path, circle)
                    if let owner { _ = try await client.json("PUT", "\(path)/members/\(pathComponent(owner))", member) }
                    return true
                }
            } catch let refusal as CommandRefusal {
                throw refusal.naming([
                    "/name": "--name", "/timeZone": "--time-zone", "/displayName": "--owner-name",
                ])
            }
            guard isNew else {
                Console.error("There is a circle \(printable(id)) already; nothing was changed.")
                throw ExitCode(1)
            }
            Console.line("Circle \(printable(id)) is made.")
            if owner == nil {
                Console.line("It has no members yet: PUT \(path)/members/USER, with a key of kalends key create.")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the circles.")

        @OptionGroup var options: SettingsOptions
        @Flag(help: "One line of JSON per circle.") var json = false

        func run() async throws {
            let circles = try await options.all("/v1/circles")
            if json { return try Console.lines(circles) }
            if circles.isEmpty {
                return Console.line(
                    "There are no circles. Make one: kalends circle create ID --name NAME --time-zone ZONE --owner USER"
                )
            }
            var table = TextTable(["ID", "NAME", "TIME ZONE", "CREATED"])
            for circle in circles {
                table.add([
                    circle["id"]?.string ?? "", circle["name"]?.string ?? "", circle["timeZone"]?.string ?? "",
                    TextTable.time(circle["createdAt"]?.string ?? ""),
                ])
            }
            for line in table.lines { Console.line(line) }
        }
    }
}
