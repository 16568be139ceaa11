// SPDX-License-Identifier: Apache-2.0

/// Combines many notices of change into one run after a quiet period.
public actor ChangeDebouncer {
    private let quiet: Duration
    private let wait: @Sendable (Duration) async throws -> Void
    private let run: @Sendable () async -> Void
    private var pending: Task<Void, Never>?
    private var isRunning = false
    private var isDue = false

    /// - Parameters:
    ///   - quiet: the time without a notice after which the run starts; one to two seconds.
    ///   - wait: sleeps; throws when it is cancelled.
    public init(
        quiet: Duration = .milliseconds(1500),
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        run: @escaping @Sendable () async -> Void
    ) {
        self.quiet = quiet
        self.wait = wait
        self.run = run
    }

    /// Runs after each burst of notices until the stream ends or the task is cancelled.
    public func follow(_ notices: AsyncStream<Void>) async {
        for await _ in notices { notice() }
    }

    /// Reports that something changed. A notice during a run leads to one further run after it.
    public func notice() {
        pending?.cancel()
        pending = Task { [quiet, wait] in
            do { try await wait(quiet) } catch { return }
            if !Task.isCancelled { await self.fire() }
        }
    }

    private func fire() async {
        // From here on, a notice requests another run and does not cancel this one.
        pending = nil
        if isRunning {
            isDue = true
            return
        }
        isRunning = true
        repeat {
            isDue = false
            await run()
        } while isDue
        isRunning = false
    }
}
