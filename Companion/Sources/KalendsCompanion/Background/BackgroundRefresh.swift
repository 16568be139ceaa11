// SPDX-License-Identifier: Apache-2.0

/// A period of background time that the system grants, such as a `BGAppRefreshTask`.
public protocol BackgroundTime: Sendable {
    /// Sets the function that the system calls when the time is over; it must be called before anything else.
    func whenItExpires(_ body: @escaping @Sendable () -> Void)
    /// Gives the time back; must be called exactly once.
    func complete(success: Bool)
}

/// Requests background time, as `BGTaskScheduler` does. A request replaces the previous one with the same identifier.
public protocol BackgroundScheduler: Sendable {
    /// - Parameter after: the earliest start, in seconds from now; the system may start much later, or never.
    /// - Throws: when background refresh is turned off or not allowed for the app.
    func request(_ identifier: String, after: Int) throws
}

/// Syncs in background time, within the system's limit.
public struct BackgroundRefresh: Sendable {
    public let identifier: String
    private let scheduler: any BackgroundScheduler
    private let status: StatusStore
    private let after: Int
    private let budget: Duration
    private let wait: @Sendable (Duration) async throws -> Void
    private let sync: @Sendable () async throws -> SyncStatus

    /// - Parameters:
    ///   - after: seconds until the next background time, about 30 minutes.
    ///   - budget: the part of the system's 30 seconds that the work may take.
    ///   - sync: runs one sync; it must end soon when its task is cancelled, and keep what it has done.
    public init(
        identifier: String, scheduler: any BackgroundScheduler, status: StatusStore, after: Int = 30 * 60,
        budget: Duration = .seconds(25),
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        sync: @escaping @Sendable () async throws -> SyncStatus
    ) {
        self.identifier = identifier
        self.scheduler = scheduler
        self.status = status
        self.after = after
        self.budget = budget
        self.wait = wait
        self.sync = sync
    }

    /// Makes a refresh that uses the app's runner, so that a screen and background time never sync at once.
    ///
    /// - Parameter besides: other work for the background time, such as office days, which comes first.
    public init(
        identifier: String, scheduler: any BackgroundScheduler, status: StatusStore, after: Int = 30 * 60,
        runner: SyncRunner, besides: @escaping @Sendable () async -> Void = {}
    ) {
        self.init(identifier: identifier, scheduler: scheduler, status: status, after: after) {
            await besides()
            try Task.checkCancellation()
            return try await runner.now()
        }
    }

    /// Requests the next background time. If background refresh is turned off, only manual syncs remain.
    public func schedule() async {
        let isGranted = (try? scheduler.request(identifier, after: after)) != nil
        try? await status.canRunInBackground(isGranted)
    }

    /// Uses one period of background time, and returns after giving it back.
    public func handle(_ time: any BackgroundTime) async {
        let ending = Ending(time)
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let work = Task { [sync] in
            // The work begins only after the expiration handler is set.
            for await _ in gate {}
            try Task.checkCancellation()
            return try await sync()
        }
        time.whenItExpires {
            work.cancel()
            // The time is given back at once, since the system waits only a moment and the work may take longer to end.
            Task { await ending.complete(success: false) }
        }
        // The next request comes first, so that it is made however this work ends.
        await schedule()
        let limit = Task { [wait, budget] in
            try await wait(budget)
            work.cancel()
        }
        opener.finish()
        let reached = try? await work.value
        limit.cancel()
        await ending.complete(success: !work.isCancelled && reached?.lastSyncStatus ?? .failed != .failed)
    }
}

/// Gives background time back once, no matter how often `complete` is called.
private actor Ending {
    private var time: (any BackgroundTime)?

    init(_ time: any BackgroundTime) { self.time = time }

    func complete(success: Bool) {
        time?.complete(success: success)
        time = nil
    }
}
