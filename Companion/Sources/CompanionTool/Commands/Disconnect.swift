// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCompanion

/// Ends the connection and forgets its token.
struct Disconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop reading and writing the calendars, and forget the token.",
        discussion: """
            Events stay where they are, here and at the server, whose pages then say that this machine disconnected. \
            The server still lists this device; remove it under Devices on the server's pages.
            """)

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        let context = try CompanionContext.open()
        // A sync in progress ends first.
        try await RunLock.hold(context.paths.lock) {
            // Without a token or a calendar there is no server to inform, and nothing to inform it about.
            let companion = try? context.companion()
            do {
                if let companion { try await companion.disconnect() } else { try await context.connector.disconnect() }
            } catch {
                try context.paths.token.remove()
                throw error
            }
            try context.paths.token.remove()
            // Without the token nobody can be told any more.
            try await FileStateStore(context.paths.engine).clear()
        }
        if json {
            try Output.json(["connected": false])
        } else {
            Output.line("Disconnected: nothing reads or writes \(context.choices.folder) any more. Its events stay.")
        }
    }
}
