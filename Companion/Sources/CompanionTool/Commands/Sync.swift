// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KalendsCompanion

/// Syncs once.
struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sync now.")

    @Flag(help: "Make the deletions for which the last sync was held.")
    var approve = false

    @Flag(help: "Write JSON.")
    var json = false

    func run() async throws {
        let context = try CompanionContext.open()
        let companion = try context.companion()
        let status = try await RunLock.hold(context.paths.lock) { [approve] in
            if approve { try await companion.approve() }
            return try await companion.status.take(await companion.sync())
        }
        if json {
            try Output.json(try status.json)
        } else {
            for line in status.lines(plans: !context.choices.planned.isEmpty) { Output.line(line) }
        }
        // Nothing failed, and not everything could be synced.
        if status.lastError == nil, status.pause != nil { throw ExitCode(1) }
        switch status.lastSyncStatus {
        case .success: return
        case .partial: throw ExitCode(1)
        case .failed, nil: throw ExitCode(3)
        }
    }
}
