// SPDX-License-Identifier: Apache-2.0

package import FeedTokens
import KalendsCore
package import Logging
import ServiceLifecycle

/// Folds recorded accesses into the database while the server runs, and informs the operator when that fails.
package struct AccessFolding: Service {
    let counter: AccessCounter
    let logger: Logger
    /// Whether other servers also write to the database.
    let isShared: Bool

    package init(counter: AccessCounter, logger: Logger, isShared: Bool = false) {
        (self.counter, self.logger, self.isShared) = (counter, logger, isShared)
    }

    /// The shortest pause between folds; it is at least ten times as long as a fold takes, so that folds use at most a
    /// tenth of a core.
    private static let pause = Duration.seconds(1)
    /// The longest pause when other servers write too, since most of a fold's time is then spent waiting for them.
    private static let longestPause = Duration.seconds(5)
    private static let reminder = Duration.seconds(600)

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await foldRegularly() }
                group.addTask { await foldUnderPressure() }
            }
        }
    }

    private func foldRegularly() async {
        var reported: (text: String, at: ContinuousClock.Instant)?
        while !Task.isCancelled {
            let start = ContinuousClock.now
            var pause = Self.pause
            do {
                try await counter.fold()
                report(counter.journal.failure, &reported)
                pause = max(pause, (ContinuousClock.now - start) * 10)
                if isShared { pause = min(pause, Self.longestPause) }
            } catch {
                // The next try is soon, however long this one took: there may be room again.
                report(error, &reported)
            }
            try? await Task.sleep(for: pause)
        }
    }

    private func foldUnderPressure() async {
        for await _ in counter.pressure {
            try? await counter.fold()
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Logs a line when the state changes, and every ten minutes while the trouble lasts.
    private func report(_ trouble: (any Error)?, _ reported: inout (text: String, at: ContinuousClock.Instant)?) {
        guard let trouble else {
            if reported != nil { logger.notice("accesses are counted again") }
            reported = nil
            return
        }
        let text = publicText(trouble)
        let now = ContinuousClock.now
        if let reported, reported.text == text, now - reported.at < Self.reminder { return }
        reported = (text, now)
        let journal = counter.journal
        logger.error(
            journal.failure == nil
                ? "accesses cannot be counted; they are kept in the journal"
                : "accesses cannot be recorded: no feed is served",
            metadata: [
                "error": "\(text)", "pending": "\(journal.pending)", "capacity": "\(journal.capacity)",
            ])
    }
}
