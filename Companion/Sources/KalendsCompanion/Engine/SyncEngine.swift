// SPDX-License-Identifier: Apache-2.0

/// Keeps a device's calendars in step with a server, in both directions, one run at a time.
///
/// The calendars themselves are the queue: an event that was not sent yet differs from the last agreed state, so every
/// run finds it again, however long the network was unavailable and however the program ended.
public actor SyncEngine {
    let store: any CalendarStore
    let service: any CompanionService
    let states: any StateStore
    let zones: Zones
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int
    public private(set) var settings: CompanionSettings
    private var running: Task<SyncReport, Never>?

    /// Why a run ended early.
    enum Stop: Error {
        case pause(SyncPause)
        case store(StoreFailure)
        case service(CompanionFailure)
        case memory
        case cancelled
    }

    public init(
        store: any CalendarStore, service: any CompanionService, states: any StateStore, settings: CompanionSettings,
        zones: Zones, clock: @escaping @Sendable () -> Int
    ) {
        self.store = store
        self.service = service
        self.states = states
        self.settings = settings
        self.zones = zones
        self.clock = clock
    }

    /// Changes the settings; they apply from the next run on.
    public func change(_ settings: CompanionSettings) { self.settings = settings }

    /// Replaces a calendar of the settings that was not found again with the one that the person names.
    public func find(calendar: String, at other: String) async throws {
        var state = try await states.load() ?? EngineState()
        state.call(calendar: calendar, other)
        try await states.save(state)
    }

    /// Approves the deletions for which the last run was held; the next run makes them.
    public func approve() async throws {
        guard var state = try await states.load() else { return }
        state.isApproved = true
        try await states.save(state)
    }

    /// Runs once; a call during a run returns that run's report.
    ///
    /// The run ends early, at a safe point, when the calling task is cancelled.
    public func sync() async -> SyncReport {
        if let running { return await running.value }
        let task = Task { await self.run() }
        running = task
        let report = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        running = nil
        return report
    }

    private func run() async -> SyncReport {
        let start = clock()
        var report = SyncReport(status: .success, startedAt: start, endedAt: start)
        let state: EngineState
        do { state = try await states.load() ?? EngineState() } catch {
            // State that cannot be read must not be dropped, since that would make duplicates.
            (report.status, report.error, report.endedAt) = (.failed, "memory", clock())
            return report
        }
        var work = RunWork(state, settings, zones, now: start)
        // Once somebody connects again, an earlier end need not be reported any more.
        work.state.owedReport = nil
        var offline: CompanionFailure?
        let isFirst = state.user == nil
        do throws(Stop) {
            try await observe(&work)
            do throws(Stop) { try await pull(&work) } catch {
                guard case .service(let failure) = error else { throw error }
                offline = failure
            }
            try await act(&work, offline)
        } catch {
            report.take(await meant(error))
        }
        if let offline, report.failure == nil { report.take(.service(offline)) }
        work.state.forgetOldNotes(start)
        work.counts.linked = work.state.links.count { $0.state == .linked && $0.key != nil }
        work.counts.conflicts = work.state.links.count(where: \.isInConflict)
        report.counts = work.counts
        if offline == nil { await reportProblem(&work, report.pause ?? work.pause, isFirst: isFirst) }
        if report.status == .success, let pause = work.pause { (report.status, report.pause) = (.paused, pause) }
        if report.status == .success, work.counts.failed > 0 { report.status = .partial }
        do { try await states.save(work.state) } catch { (report.status, report.error) = (.failed, "memory") }
        report.endedAt = clock()
        return report
    }

    private func act(_ work: inout RunWork, _ offline: CompanionFailure?) async throws(Stop) {
        work.followMarks()
        work.remote = RemoteIndex(work.state.events)
        work.learnServerIDs()
        work.findUnmoved()
        work.findMoved()
        for link in work.wanted() {
            try Self.check()
            if let found = try await lookUp(link) { work.take(found, for: link) }
        }
        work.linkCalendarEvents()
        work.linkServerEvents()
        work.judgeMarks()
        work.decide()
        if work.isEnded { work.leave() }
        if work.mustBeHeld() {
            work.counts.queued = work.plans.count
            throw .pause(.held)
        }
        if work.plans.contains(where: \.deletes) { work.state.isApproved = false }
        try await save(work.state)
        try await write(&work)
        if offline == nil {
            try await send(&work)
        } else {
            work.counts.queued += work.plans.count { $0.sending != nil }
        }
    }

    /// Reports to the server what prevents this device from using its calendars, once for each change.
    ///
    /// - Parameter isFirst: whether this device starts again without a state: the server may remember what it reported before.
    private func reportProblem(_ work: inout RunWork, _ pause: SyncPause?, isFirst: Bool) async {
        let problem = pause?.problem
        guard problem != work.state.reportedProblem || isFirst && work.state.user != nil else { return }
        let body = UpsertBody(sourceDevice: settings.deviceID, events: [], problem: problem)
        // If the report does not arrive, the next run tries again.
        if (try? await service.upsert(body)) != nil { work.state.reportedProblem = problem }
    }

    /// A store refuses what the system does not permit and what the person switched off, which are different things.
    private func meant(_ stop: Stop) async -> Stop {
        switch stop {
        case .store(.notAuthorized): .pause(await refusal())
        default: stop
        }
    }

    /// Why the store gives no access.
    func refusal() async -> SyncPause { await store.switchedOff().isEmpty ? .permissionMissing : .switchedOff }

    /// Finds a link's events by the id that all devices share, then by this device's own id.
    ///
    /// - Returns: nil when the result is unknown, since an event that cannot be read is not deleted.
    private func lookUp(_ link: Link) async throws(Stop) -> [StoreEvent]? {
        guard let key = link.key else { return [] }
        do throws(StoreFailure) {
            var found = try await store.events(externalID: key.externalID)
            if found.isEmpty, let event = try await store.event(localID: key.localID) { found.append(event) }
            return found
        } catch {
            switch error {
            case .temporary, .invalid: return nil
            default: throw .store(error)
            }
        }
    }

    func save(_ state: EngineState) async throws(Stop) {
        do { try await states.save(state) } catch { throw .memory }
    }

    static func check() throws(Stop) {
        if Task.isCancelled { throw .cancelled }
    }
}

extension SyncReport {
    fileprivate mutating func take(_ stop: SyncEngine.Stop) {
        switch stop {
        case .pause(let reason): (status, pause) = (.paused, reason)
        case .store(.notAuthorized): (status, pause) = (.paused, .permissionMissing)
        case .store(.calendarGone): (status, pause) = (.paused, .calendarGone)
        case .store(.cancelled), .cancelled: (status, failure, error) = (.failed, .cancelled, "cancelled")
        case .store: (status, failure, error) = (.failed, .calendar, "calendar")
        case .service(let failed): (status, failure, error) = (.failed, failed.kind, failed.kind.rawValue)
        case .memory: (status, error) = (.failed, "memory")
        }
    }
}
