// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
@_exported public import Base  // Text is compared by its bytes in all of this module.
import Foundation

/// The executable `kalends-companion`.
@main
struct CompanionTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kalends-companion",
        abstract: "Keep the calendars of this machine in step with a Kalends server.",
        discussion: """
            The calendars are a folder of .ics files, as vdirsyncer and khal keep it: each folder in it is a calendar.
            Exit status: 0 done, 1 not everything could be synced, 2 wrong use, 3 failed.
            """,
        version: Program.version,
        subcommands: [Login.self, Calendars.self, Sync.self, Run.self, Status.self, Disconnect.self])

    static func main() async {
        do {
            var command = try parseAsRoot()
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

    /// Ends the program with the exit status from the overview and the error's own sentence.
    private static func exit(_ error: any Error) -> Never {
        if let failure = error as? ToolFailure {
            Output.error(failure.sentence)
            exit(withError: ExitCode(failure.status))
        }
        let code = exitCode(for: error)
        if code == .success || code == .validationFailure {
            let message = fullMessage(for: error)
            if code == .success { Output.line(message) } else { Output.error(message) }
            exit(withError: ExitCode(code == .success ? 0 : 2))
        }
        Output.error("It failed: \((error as? any LocalizedError)?.errorDescription ?? error.localizedDescription)")
        exit(withError: ExitCode(3))
    }
}

/// A failure that ends a command, with its reason.
struct ToolFailure: Error {
    /// 1 when not everything was synced, 2 for wrong use, 3 for a failure.
    let status: Int32
    let sentence: String

    static func use(_ sentence: String) -> ToolFailure { ToolFailure(status: 2, sentence: sentence) }
    static func failed(_ sentence: String) -> ToolFailure { ToolFailure(status: 3, sentence: sentence) }

    static let notLoggedIn = use("Nobody is logged in: run `kalends-companion login`.")
}
