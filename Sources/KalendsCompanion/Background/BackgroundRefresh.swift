// SPDX-License-Identifier: Apache-2.0

/// A piece of background time that the system grants: `BGAppRefreshTask`.
public protocol BackgroundTime: Sendable {
    /// What the system calls when the time is over; to be set before anything else.
    func whenItExpires(_ body: @escaping @Sendable () -> Void)
    /// It must be called exactly once.
    func complete(success: Bool)
}

/// Where background time is asked for: `BGTaskScheduler`. A request replaces the one before with the same identifier.
public protocol BackgroundScheduler: Sendable {
    /// - Parameter after: seconds from now before which the system does not come; it may come much later, or never.
    /// - Throws: when background refresh is switched off, or the app may not.
    func request(_ identifier: String, after: Int) throws
}

/// Syncs in background time, within its budget.
public struct BackgroundRefresh: Sendable {
    public let identifier: String
    private let scheduler: any BackgroundScheduler
    private let status: StatusStore
    private let after: Int
    private let budget: Duration
    private let wait: @Sendable (Duration) async throws -> Void
    private let sync: @Sendable () async throws -> SyncStatus

    /// - Parameters:
    ///   - after: seconds until the next time, about 30 minutes.
    ///   - budget: how much of the system's 30 seconds the work may take.
    ///   - sync: one sync; it ends soon when its task is cancelled, and keeps what it has done.
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

    /// Asks for the next background time. Where it is switched off, syncs by hand are left.
    public func schedule() async {
        let isGranted = (try? scheduler.request(identifier, after: after)) != nil
        try? await status.canRunInBackground(isGranted)
    }

    /// Uses one piece of background time, and returns when it was given back.
    public func handle(_ time: any BackgroundTime) async {
        let ending = Ending(time)
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let work = Task { [sync] in
            // The work begins when the system can end it.
            for await _ in gate {}
            try Task.checkCancellation()
            return try await sync()
        }
        time.whenItExpires {
            work.cancel()
            // The system waits for no more than a moment: the work's own end may be later.
            Task { await ending.complete(success: false) }
        }
        // First the next request, so that there is one whatever becomes of this work.
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

/// Gives background time back once, whoever comes first.
private actor Ending {
    private var time: (any BackgroundTime)?

    init(_ time: any BackgroundTime) { self.time = time }

    func complete(success: Bool) {
        time?.complete(success: success)
        time = nil
    }
}
