// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
@_exported public import Base  // Text is compared by its bytes in all of this module.
import Glibc
import KalendsCore
import Server

/// The program's only executable.
@main
struct Kalends: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kalends",
        abstract: "The calendar backend: a schedule in, feeds out, any .ics file in.",
        discussion: """
            Commands that change data use the database of --database, through the server that runs on it, if any.
            Exit status: 0 done, 1 the input has faults, 2 wrong usage, 3 failed.
            """,
        version: Program.version,
        subcommands: [
            Serve.self, Welcome.self, Check.self, Parse.self, Expand.self, Format.self, ImportCommand.self, Export.self,
            CircleCommand.self, FeedCommand.self, ConnectionCommand.self, SyncCommand.self, ConflictCommand.self,
            StatsCommand.self,
            KeyCommand.self, UserCommand.self, OpenCommand.self, AuditCommand.self, Backup.self, Restore.self,
            Move.self,
            Reseal.self, KeyRotate.self,
            Doctor.self, SettingsCommand.self, ReadWorker.self,
        ])

    static func main() async {
        // Dispatch asks for threads of a higher priority, which only root gets, and writes its own line, outside the
        // log, for each refusal. It reads this when it writes its first line.
        _ = unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        do {
            var command = try command(CommandLine.arguments.dropFirst())
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            exit(withError: code)
        } catch {
            exit(error)
        }
    }

    private static func command(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
        // The process that reads a file is started for each file, and learning of all other commands would take it longer
        // than reading a small one.
        guard arguments.first == ReadWorker.configuration.commandName else { return try parseAsRoot() }
        return try ReadWorker.parseAsRoot(Array(arguments.dropFirst()))
    }

    /// Ends the process with the exit status and the error's own message.
    private static func exit(_ error: any Error) -> Never {
        switch error {
        case let error as CommandRefusal:
            Console.error(error.description)
            exit(withError: ExitCode(error.status >= 500 ? 3 : 1))
        case let error as ServerSettings.Invalid:
            Console.error(error.description)
            exit(withError: ExitCode(2))
        case let error as LocalClient.Failure:
            Console.error(error.description)
            exit(withError: ExitCode(3))
        case let error as LocalClient.EmptyID:
            exit(ValidationError(error.description))
        case let error as InputFailure:
            Console.error(error.description)
            exit(withError: ExitCode(3))
        default:
            let code = exitCode(for: error)
            if code == .success || code == .validationFailure {
                let message = fullMessage(for: error)
                if code == .success { Console.line(message) } else { Console.error(message) }
                exit(withError: ExitCode(code == .success ? 0 : 2))
            }
            Console.error(publicText(error))
            exit(withError: ExitCode(3))
        }
    }
}
