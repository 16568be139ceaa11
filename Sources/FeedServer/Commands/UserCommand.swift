// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCore
import Server

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Passwords of users who sign in here, and the data of a person.",
        subcommands: [
            SetPassword.self, List.self, RemovePassword.self, RemoveSecondFactor.self, LogName.self, ExportData.self,
            Erase.self,
        ])

    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a user's password from a prompt or standard input; the user's sessions end.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The user's id, as in circles.") var user: String

        func run() async throws {
            let password = try PasswordInput.read()
            _ = try await options.json(
                "PUT", UserCommand.path(user), ["password": .string(password.reveal())],
                naming: ["/password": "The password"])
            Console.line("The password of \(printable(user)) is set.")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the users who have a password.")

        @OptionGroup var options: SettingsOptions
        @Flag(help: "One line of JSON per user.") var json = false

        func run() async throws {
            let users = try await options.all("/v1/users")
            if json { return try Console.lines(users) }
            if users.isEmpty {
                return Console.line("No user has a password. Set one: kalends user set-password USER")
            }
            var table = TextTable(["USER", "PASSWORD SET", "SECOND FACTOR", "SESSIONS", "DEVICES"])
            for user in users {
                table.add([
                    user["id"]?.string ?? "", TextTable.time(user["passwordChangedAt"]?.string ?? ""),
                    user["secondFactorAt"]?.string == nil ? "no" : "yes",
                    "\(user["sessions"]?.integer ?? 0)", "\(user["devices"]?.integer ?? 0)",
                ])
            }
            for line in table.lines { Console.line(line) }
        }
    }

    struct RemovePassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user's password: the sessions end, and nobody can sign in as that user.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The user's id.") var user: String

        func run() async throws {
            _ = try await options.json("DELETE", UserCommand.path(user))
            Console.line("The password of \(printable(user)) is removed.")
        }
    }

    struct RemoveSecondFactor: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the second factor of a user who has lost it; the user's sessions end.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The user's id.") var user: String

        func run() async throws {
            _ = try await options.json("DELETE", "/v1/users/\(pathComponent(user))/second-factor")
            Console.line("The second factor of \(printable(user)) is removed.")
        }
    }

    struct LogName: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the name that a user has in the log, which has no ids of users.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The user's id.") var user: String

        func run() async throws {
            let path = "/local/users/\(pathComponent(user))/log-name"
            let answer = try await LocalClient.with(try await options.settings()) { try await $0.call("GET", path) }
            guard answer.status == 200, let name = answer.json["logName"]?.string else {
                throw LocalClient.refused(answer)
            }
            Console.line(name)
        }
    }

    struct ExportData: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write everything that is stored about a person as one .tar.gz archive to standard output.")

        @OptionGroup var options: SettingsOptions
        @Argument(help: "The user's id.") var user: String

        func run() async throws {
            let path = "/v1/users/\(pathComponent(user))/export"
            let answer = try await LocalClient.with(try await options.settings()) { try await $0.call("GET", path) }
            guard answer.status < 300 else { throw LocalClient.refused(answer) }
            Console.bytes(answer.body)
        }
    }

    private static func path(_ user: String) -> String { "/v1/users/\(pathComponent(user))/password" }
}
