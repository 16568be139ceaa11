// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCompanion

/// Ends the connection and forgets its token.
struct Disconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop reading and writing the calendars, and forget the token.",
        discussion: """
            Events stay where they are, here and at the server. The server still lists this device; remove it under \
            Devices on the server's pages.
            """)

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        let workshop = try Workshop.open()
        // A sync in progress ends first.
        try await RunLock.hold(workshop.places.lock) {
            try workshop.places.token.remove()
            try await workshop.connector.disconnect()
        }
        if json {
            try Output.json(["connected": false])
        } else {
            Output.line("Disconnected: nothing reads or writes \(workshop.choices.folder) any more. Its events stay.")
        }
    }
}
