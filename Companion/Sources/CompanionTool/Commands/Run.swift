// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import KalendsCompanion
import PhoneTexts

/// Syncs when a sync is due, and soon after a change in the folder, until the program is ended.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sync every 30 to 60 minutes, and when something changes here.",
        discussion: "SIGTERM and SIGINT end it at a safe point; SIGUSR1 starts a sync now.")

    @Flag(help: "Write a line of JSON for each sync.")
    var json = false

    func run() async throws {
        let context = try CompanionContext.open()
        let companion = try context.companion()
        let lock = context.paths.lock
        let runner = SyncRunner(status: companion.status) { [json] in
            guard let outcome = await Self.inTurn(lock, companion) else {
                return SyncOutcome(endedAt: CompanionContext.clock(), isFinished: false)
            }
            Self.show(outcome, json)
            return outcome
        }
        // SIGUSR1 would end the program if it came before its source.
        let waking = Self.listen(SIGUSR1) { Task { await runner.wake() } }
        let debouncer = ChangeDebouncer { await runner.wake() }
        // The first sync must not read the folder before changes are looked for.
        let notices = await companion.connector.calendars.changeNotices()
        let working = Task { try await runner.run() }
        let signals = [
            waking, Self.listen(SIGTERM) { working.cancel() }, Self.listen(SIGINT) { working.cancel() },
        ]
        let following = Task { await debouncer.follow(notices) }
        defer {
            following.cancel()
            for signal in signals { signal.cancel() }
        }
        try await working.value
    }

    /// Syncs once no other sync is under way; returns nil when the task was cancelled before.
    private static func inTurn(_ lock: URL, _ companion: Companion) async -> SyncOutcome? {
        while !Task.isCancelled {
            do { return try await RunLock.hold(lock) { await companion.sync() } } catch is CancellationError {
                return nil
            } catch {
                let sentence = (error as? ToolFailure)?.sentence ?? "\(lock.path) cannot be written."
                Output.error("\(sentence) The sync is tried again in a minute.")
                try? await Task.sleep(for: .seconds(60))
            }
        }
        return nil
    }

    private static func show(_ outcome: SyncOutcome, _ json: Bool) {
        var status = SyncStatus()
        status.take(outcome)
        if json {
            if let value = try? status.json { try? Output.json(value) }
        } else {
            Output.line(
                "\(Output.time(outcome.endedAt)) \(status.lastSyncStatus?.rawValue ?? "cancelled")"
                    + ": \(outcome.counts.sent) sent, \(outcome.counts.written) written here"
                    + (outcome.counts.upserted > 0 ? ", \(outcome.counts.upserted) planned" : "")
                    + (status.lastError.map { ". \($0.text)" } ?? "") + (outcome.pause.map { " \($0.sentence)" } ?? ""))
        }
    }

    private static func listen(
        _ number: Int32, _ body: @escaping @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        // The source receives the signal only if the signal does not end the program.
        _ = signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: body)
        source.resume()
        return source
    }
}
