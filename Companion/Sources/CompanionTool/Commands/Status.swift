// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KalendsCompanion

/// Shows the status without syncing.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the last sync and what is connected.")

    @Flag(help: "Ask the server too.")
    var server = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        let context = try CompanionContext.open()
        let connector = await context.connector.status()
        let status = await context.status.current
        var answer: ServiceStatus?
        if server {
            guard let token = try context.paths.token.read() else { throw ToolFailure.notLoggedIn }
            let service = HTTPCompanionService(
                context.choices.server, credential: token.credential, transport: CompanionContext.transport)
            answer = try await Login.answer(of: context.choices.server) { () async throws(CompanionFailure) in
                try await service.status()
            }
        }
        let choices = context.choices
        if json {
            var members: [ByteString: JSONValue] = [
                "server": .string(choices.server.url.absoluteString), "folder": .string(choices.folder),
                "connected": .bool(connector.isConnected), "status": try status.json,
            ]
            if let answer {
                members["answer"] = ["user": .string(answer.user), "serverTime": .integer(answer.serverTime)]
            }
            return try Output.json(.object(members))
        }
        Output.line("Server: \(choices.server.url.absoluteString)")
        Output.line("Folder: \(choices.folder)\(connector.isConnected ? "" : ", not connected")")
        Output.line("Calendars: \(choices.summary ?? "none is chosen; see `kalends-companion calendars`")")
        for line in status.lines(plans: !choices.planned.isEmpty) { Output.line(line) }
        if let answer { Output.line("The server answers for \(answer.user).") }
    }
}
