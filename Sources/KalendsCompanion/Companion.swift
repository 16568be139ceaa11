// SPDX-License-Identifier: Apache-2.0

internal import PhoneTexts

/// Syncs everything that a device keeps in step, behind one connector: the titles of planned events, the person's own
/// events, and the server's events in a calendar of the device.
public struct Companion: Sendable {
    public let connector: CalendarConnector
    public let status: StatusStore
    private let planned: PlannedUpload
    private let plannedCalendars: [String]
    private let engine: SyncEngine?
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
        guard await connector.status().isConnected else {
            // Without the permission the engine reads nothing, and reports to the server why its events stay away.
            if [.denied, .restricted, .writeOnly].contains(await connector.permission()) { _ = await engine?.sync() }
            return SyncOutcome(endedAt: clock(), problem: .permissionDenied, pause: .permissionMissing)
        }
        var outcome = SyncOutcome(endedAt: clock())
        if !plannedCalendars.isEmpty { await sendPlanned(&outcome) }
        // If the server refused the planned events, it would refuse the engine's requests for the same reason.
        if let engine, outcome.problem == nil || outcome.problem == .someFailed { outcome.take(await engine.sync()) }
        outcome.endedAt = clock()
        return outcome
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
            case .store(.calendarGone): outcome.pause = .calendarGone
            case .store(.cancelled), .service(.cancelled): outcome.isFinished = false
            case .store: outcome.problem = .someFailed
            case .service(let failure): outcome.problem = failure.problem
            }
        }
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
