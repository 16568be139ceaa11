// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

extension UserCommand {
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Permanently remove the data of a person, and list what stays and why.",
            discussion: """
                It asks for the id once more, unless --yes is given. Circles without another member are deleted; \
                a circle with other members may be left without an owner.
                """)

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The user's id.") var user: String
        @Flag(help: "Erase without asking.") var yes = false
        @Flag(help: "One line of JSON: what was removed, and what stays.") var json = false

        func run() async throws {
            if !yes {
                Console.status(
                    "This removes all data of \(printable(user)), and cannot be undone. Type the id to go on: ")
                guard let typed = readLine(), typed.isSameText(as: user) else {
                    throw ValidationError("That is not the id: nothing was removed.")
                }
            }
            let report = try await options.json("DELETE", "/v1/users/\(pathComponent(user))?erase=true")
            if json { return Console.line(try report.text()) }
            let isDone = report["state"] == "done"
            Console.line(
                isDone
                    ? "\(printable(user)) is erased. What stays:"
                    : "Nothing of \(printable(user)) opens anything any more; the rest is being removed. What stays:")
            for rest in report["stays"]?.array ?? [] {
                let rows = (rest["rows"]?.integer).map { " (\($0))" } ?? ""
                Console.line("- \(rest["what"]?.string ?? "")\(rows): \(rest["why"]?.string ?? "")")
            }
        }
    }
}
