// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
internal import PhoneTexts

/// Syncs everything that a device keeps in step, behind one connector: the titles of planned events, the person's own
/// events, and the server's events in a calendar of the device.
public struct Companion: Sendable {
    public let connector: CalendarConnector
    public let status: StatusStore
    private let planned: PlannedUpload
    private let plannedCalendars: [String]
    private let engine: SyncEngine?
    private let service: any CompanionService
    private let states: any StateStore
    private let deviceID: String?
    private let clock: @Sendable () -> Int

    /// - Parameters:
    ///   - plannedCalendars: the ids of the calendars whose titles and times go to the server; if empty, none go.
    ///   - clock: returns milliseconds since 1970.
    public init(
        connector: CalendarConnector, status: StatusStore, service: any CompanionService, states: any StateStore,
        settings: CompanionSettings, plannedCalendars: [String], zones: Zones, clock: @escaping @Sendable () -> Int
    ) {
        self.connector = connector
        self.status = status
        self.plannedCalendars = plannedCalendars
        self.clock = clock
        (self.service, self.states, deviceID) = (service, states, settings.deviceID)
        // All syncing uses only the calendars that check with the connector.
        let calendars = connector.calendars
        planned = PlannedUpload(store: calendars, service: service, zones: zones)
        engine =
            settings.ownCalendars.isEmpty && settings.mirrorCalendar == nil
            ? nil
            : SyncEngine(
                store: calendars, service: service, states: states, settings: settings, zones: zones, clock: clock)
    }

    /// Approves the deletions for which the last sync was held.
    public func approve() async throws { try await engine?.approve() }

    /// Syncs once; ends early, at a safe point, when its task is cancelled.
    public func sync() async -> SyncOutcome {
        let connection = await connector.status()
        guard connection.isConnected else { return await unconnected() }
        // After the connection was ended on the server nothing is read until the server says that the connection exists again.
        if await status.current.pause == .disconnectedThere, let outcome = await disconnectedThere() { return outcome }
        guard connection.allows(.read) else {
            await report(.switchedOff)
            return SyncOutcome(endedAt: clock(), pause: .switchedOff, isIdle: true)
        }
        var outcome = SyncOutcome(endedAt: clock())
        if !plannedCalendars.isEmpty { await sendPlanned(&outcome) }
        // If the server refused the planned events, it would refuse the engine's requests for the same reason.
        if engine != nil {
            if outcome.problem == nil || outcome.problem == .someFailed { await runEngine(&outcome) }
        } else if outcome.isFinished, [nil, .someFailed, .permissionDenied].contains(outcome.problem) {
            await report(outcome.pause)
        }
        outcome.endedAt = clock()
        return outcome
    }

    /// Disconnects when the person taps “Disconnect Apple Calendar”, and reports it to the server, whose page then says so.
    ///
    /// Without a network the next `sync()` tells it. The connector's own `disconnect()` tells nobody.
    ///
    /// - Throws: when something could not be removed; even then, reads and writes have stopped.
    public func disconnect() async throws {
        let isNews = await connector.status().isConnected
        var failure: (any Error)?
        do { try await connector.disconnect() } catch { failure = error }
        if isNews, !(await sendReport(Self.disconnected)) {
            var state = EngineState()
            state.owedReport = Self.disconnected
            try await states.save(state)
        }
        if let failure { throw failure }
    }

    private static let disconnected = "disconnected"

    /// What a sync does without a connection: it reads nothing, and reports the reason to the server.
    private func unconnected() async -> SyncOutcome {
        if await isTakenAway(await connector.permission()) {
            await report(.permissionMissing)
            return SyncOutcome(endedAt: clock(), problem: .permissionDenied, pause: .permissionMissing)
        }
        if let owed = try? await states.load()?.owedReport, await sendReport(owed) { try? await states.clear() }
        return SyncOutcome(endedAt: clock(), pause: .notConnected, isIdle: true)
    }

    /// Whether a permission is missing that the app had before. iOS may reset it to its state before anybody was asked; only
    /// the memory of earlier syncs shows that this happened.
    private func isTakenAway(_ permission: CalendarAuthorization) async -> Bool {
        switch permission {
        case .denied, .restricted, .writeOnly: return true
        case .notDetermined:
            guard let state = try? await states.load() else { return false }
            return state.owedReport == nil
        case .fullAccess: return false
        }
    }

    /// Asks the server whether the connection is still ended there; nil when it is not.
    private func disconnectedThere() async -> SyncOutcome? {
        var outcome = SyncOutcome(endedAt: clock(), pause: .disconnectedThere, isIdle: true)
        do throws(CompanionFailure) {
            let state = try await service.status().connector?.state
            return state == .disconnected ? outcome : nil
        } catch {
            // A token that is only for planned events may not ask; the planned events find out.
            if error == .forbidden { return nil }
            outcome.isFinished = error != .cancelled
            (outcome.problem, outcome.isIdle) = (error.problem, false)
            return outcome
        }
    }

    /// Reports to the server what prevents this device from using its calendars, once for each change.
    private func report(_ pause: SyncPause?) async {
        // The engine reads nothing without permission, and reports by itself.
        if let engine {
            _ = await engine.sync()
            return
        }
        let known: EngineState?
        do { known = try await states.load() } catch { return }
        var state = known ?? EngineState()
        // The fact that a sync took place is remembered, too.
        if known == nil { try? await states.save(state) }
        let isNews = state.reportedProblem != pause?.problem || state.owedReport != nil
        guard isNews, await sendReport(pause?.problem) else { return }
        (state.reportedProblem, state.owedReport) = (pause?.problem, nil)
        try? await states.save(state)
    }

    private func sendReport(_ problem: String?) async -> Bool {
        let body = UpsertBody(sourceDevice: deviceID, events: [], problem: problem)
        return (try? await service.upsert(body)) != nil
    }

    private func runEngine(_ outcome: inout SyncOutcome) async {
        guard let report = await engine?.sync() else { return }
        outcome.take(report)
    }

    private func sendPlanned(_ outcome: inout SyncOutcome) async {
        do throws(PlannedFailure) {
            let answer = try await planned.run(calendars: plannedCalendars, now: clock())
            outcome.counts.deleted = answer.deleted
            outcome.counts.upserted = answer.upserted
            outcome.counts.events = answer.upserted + answer.unchanged
            outcome.counts.failed = answer.failed.count
            if !answer.failed.isEmpty { outcome.problem = .someFailed }
        } catch {
            switch error {
            case .permissionMissing: (outcome.problem, outcome.pause) = (.permissionDenied, .permissionMissing)
            case .switchedOff: outcome.pause = .switchedOff
            case .store(.calendarGone): outcome.pause = .calendarGone
            case .store(.cancelled), .service(.cancelled): outcome.isFinished = false
            case .store: outcome.problem = .someFailed
            case .service(.refused(_, let code)) where code == "connector-off":
                outcome.pause = await endThere()
                outcome.isIdle = engine == nil
            case .service(let failure): outcome.problem = failure.problem
            }
        }
    }

    /// The server refuses what is planned after the connection has ended there, and while reading is off there.
    private func endThere() async -> SyncPause {
        let there = try? await service.status().connector
        return there?.state == .connected ? .switchedOffThere : .disconnectedThere
    }
}

extension SyncOutcome {
    /// Adds the results of the engine's run.
    fileprivate mutating func take(_ report: SyncReport) {
        counts.written = report.counts.made + report.counts.changed + report.counts.removed
        counts.sent = report.counts.sent + report.counts.deletedThere
        counts.failed += report.counts.failed
        if let pause = report.pause { self.pause = pause }
        if report.pause == .permissionMissing { problem = .permissionDenied }
        switch report.failure {
        case nil: break
        case .offline: problem = .offline
        case .unauthorized: problem = .invalidToken
        case .server, .refused: problem = .serverError
        case .cancelled: isFinished = false
        case .calendar: problem = problem ?? .someFailed
        }
        if problem == nil, report.counts.failed > 0 || report.status == .failed && report.failure == nil {
            problem = .someFailed
        }
    }
}
