// SPDX-License-Identifier: Apache-2.0

/// Runs syncs one after another: when they are due, and at once on request.
public actor SyncRunner {
    private let schedule: SyncSchedule
    private let status: StatusStore
    private let chance: @Sendable () -> Double
    private let wait: @Sendable (Duration) async throws -> Void
    private let sync: @Sendable () async -> SyncOutcome
    private var underWay: Task<SyncStatus, any Error>?
    private var waiting: Task<Void, any Error>?
    private var isDue = false

    /// - Parameters:
    ///   - wait: sleeps; throws when the task is cancelled.
    ///   - sync: runs one sync; it must end soon when its task is cancelled.
    public init(
        schedule: SyncSchedule = SyncSchedule(), status: StatusStore,
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        sync: @escaping @Sendable () async -> SyncOutcome
    ) {
        self.schedule = schedule
        self.status = status
        self.chance = chance
        self.wait = wait
        self.sync = sync
    }

    /// Makes a runner that syncs what the device has stored, whether or not the app has shown anything.
    ///
    /// The system may launch an app in the background without a scene. So the companion is made here, for each sync, and
    /// not by a screen.
    ///
    /// - Parameter companion: makes the companion from what is stored; nil while the person has not set it up.
    public init(
        schedule: SyncSchedule = SyncSchedule(), status: StatusStore,
        companion: @escaping @Sendable () async -> Companion?
    ) {
        self.init(schedule: schedule, status: status) {
            // An interrupted sync changes no status, and neither does one that nobody has set up.
            await companion()?.sync() ?? SyncOutcome(endedAt: 0, isFinished: false)
        }
    }

    /// Syncs now, and returns the status afterwards. A call during a sync waits for that sync and returns its result.
    ///
    /// - Throws: when the status could not be stored.
    @discardableResult
    public func now() async throws -> SyncStatus {
        if let underWay {
            defer { end(underWay) }
            return try await underWay.value
        }
        isDue = false
        let task = Task { [sync, status] in try await status.take(await sync()) }
        underWay = task
        defer { end(task) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Whoever hears first that a sync has ended clears it, since the next call must not join it.
    private func end(_ task: Task<SyncStatus, any Error>) {
        if underWay == task { underWay = nil }
    }

    /// Ends the wait in `run()`, so that it syncs now. A call during a sync leads to one further sync after it, since
    /// the sync may have read what changed before the change.
    public func wake() {
        isDue = true
        waiting?.cancel()
    }

    /// Syncs now and then each time a sync is due, until the task is cancelled.
    public func run() async throws {
        while !Task.isCancelled {
            let reached = try await now()
            if isDue { continue }
            let pause = schedule.wait(after: reached, chance: chance())
            let task = Task { [wait] in try await wait(.milliseconds(pause)) }
            waiting = task
            await withTaskCancellationHandler {
                // `wake()` ends the wait early; the loop checks whether the whole task was cancelled.
                _ = try? await task.value
            } onCancel: {
                task.cancel()
            }
            waiting = nil
        }
    }
}
