// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCompanion
import OfficeDays
import PhoneTexts
import Testing

@Suite("Companion: one sync of all that a device keeps in step")
struct CompanionTests {
    /// A server that answers as a test wants, and records its requests.
    private actor Service: CompanionService {
        var failure: CompanionFailure?
        /// The connector's state there, and the answer to what is planned.
        var connector: ConnectorThere?
        var plannedFailure: CompanionFailure?
        var failed: [PlannedAnswer.Failed] = []
        private(set) var planned: [PlannedBody] = []
        private(set) var calls: [String] = []
        private(set) var problems: [String?] = []
        private var events: [RemoteEvent] = []

        func show(_ events: [RemoteEvent]) { self.events = events }

        init(_ failure: CompanionFailure? = nil) { self.failure = failure }
        func fail(_ failed: [PlannedAnswer.Failed]) { self.failed = failed }
        func fail(with failure: CompanionFailure?) { self.failure = failure }
        func end(_ connector: ConnectorThere?, planned failure: CompanionFailure? = nil) {
            (self.connector, plannedFailure) = (connector, failure)
        }
        func forget() { (calls, problems) = ([], []) }

        func status() throws(CompanionFailure) -> ServiceStatus {
            if let failure { throw failure }
            return ServiceStatus(user: "ann", serverTime: 1, connector: connector)
        }

        func changes(since: Int, limit: Int) throws(CompanionFailure) -> ChangePage {
            calls.append("changes")
            if let failure { throw failure }
            let isEnded = connector?.state == .disconnected
            return ChangePage(
                events: events, serverTime: 1, nextSince: since, hasMore: false,
                connector: isEnded ? .disconnected : nil)
        }

        func upsert(_ body: UpsertBody) throws(CompanionFailure) -> UpsertAnswer {
            calls.append("upsert")
            problems.append(body.problem)
            if let failure { throw failure }
            return UpsertAnswer(created: 0, updated: 0, unchanged: 0, rejected: [], events: [], serverTime: 1)
        }

        func upsertPlanned(_ body: PlannedBody) throws(CompanionFailure) -> PlannedAnswer {
            calls.append("planned")
            if let failure = failure ?? plannedFailure { throw failure }
            planned.append(body)
            return PlannedAnswer(deleted: 2, upserted: 3, unchanged: 4, failed: failed)
        }

        func register(_ device: DeviceRegistration) throws(CompanionFailure) -> RegisteredDevice { throw .badAnswer }
    }

    private struct Phone {
        let store: SpyStore
        let companion: Companion

        init(
            _ service: Service, permission: CalendarAuthorization = .fullAccess, planned: [String] = ["home"],
            mirror: String? = nil
        ) {
            store = SpyStore(permission)
            let states = MemoryStateStore()
            let connector = CalendarConnector(
                opening: store, memory: SpyMemory(), installation: "this", clear: { await states.clear() })
            var settings = CompanionSettings(deviceID: "phone", serverURL: "https://example.org")
            settings.mirrorCalendar = mirror
            companion = Companion(
                connector: connector, status: StatusStore(), service: service, states: states, settings: settings,
                plannedCalendars: planned, zones: Zones(device: { "Europe/Paris" }), clock: { 1_769_040_000_000 })
        }
    }

    @Test("Without a connection nothing is read and nothing is sent")
    func notConnected() async {
        let service = Service()
        let phone = Phone(service)
        let outcome = await phone.companion.sync()
        // Nobody took a permission away: the person has not connected.
        #expect(outcome.problem == nil && outcome.pause == .notConnected && outcome.isIdle)
        #expect(await phone.store.calls.isEmpty)
        #expect(await service.calls.isEmpty)
    }

    @Test(
        "A permission that the person takes away is reported to the server, once, whatever is synced; and its return is",
        arguments: [nil, "home"] as [String?], [.denied, .notDetermined] as [CalendarAuthorization])
    func revoked(_ mirror: String?, _ permission: CalendarAuthorization) async throws {
        let service = Service()
        let phone = Phone(service, planned: mirror == nil ? ["home"] : [], mirror: mirror)
        _ = try await phone.companion.connector.connect()
        _ = await phone.companion.sync()
        await service.forget()
        await phone.store.set(permission)
        for _ in 0..<2 {
            let outcome = await phone.companion.sync()
            #expect(outcome.pause == .permissionMissing && outcome.problem == .permissionDenied)
        }
        #expect(await service.problems == ["permissionRevoked"])
        await phone.store.set(.fullAccess)
        _ = try await phone.companion.connector.connect()
        for _ in 0..<2 { #expect(await phone.companion.sync().pause == nil) }
        #expect(await service.problems == ["permissionRevoked", nil])
    }

    @Test(
        "What the person switches off in the app is no lost permission, here and at the server",
        arguments: [nil, "home"] as [String?])
    func switchedOff(_ mirror: String?) async throws {
        let service = Service()
        let phone = Phone(service, planned: mirror == nil ? ["home"] : [], mirror: mirror)
        _ = try await phone.companion.connector.connect()
        _ = await phone.companion.sync()
        await service.forget()
        await phone.store.forget()
        _ = try await phone.companion.connector.use(read: false)
        for _ in 0..<2 {
            let outcome = await phone.companion.sync()
            #expect(outcome.pause == .switchedOff && outcome.problem == nil && outcome.isIdle)
        }
        #expect(await service.problems == ["switchedOff"])
        #expect(await phone.store.calls.allSatisfy { $0 == "calendars" || $0 == "rollback" })
        _ = try await phone.companion.connector.use(read: true)
        #expect(await phone.companion.sync().pause == nil)
        #expect(await service.problems == ["switchedOff", nil])
    }

    @Test("Without the toggle for writing, the rest goes on, and the pause says that the person switched it off")
    func writeOff() async throws {
        let service = Service()
        var event = RemoteEvent(id: "e", title: "Dentist", date: "2026-01-23", updatedAt: 1)
        event.startTime = "09:00"
        await service.show([event])
        let phone = Phone(service, mirror: "home")
        _ = try await phone.companion.connector.connect()
        _ = try await phone.companion.connector.use(write: false)
        let outcome = await phone.companion.sync()
        #expect(outcome.pause == .switchedOff && outcome.problem == nil && !outcome.isIdle, "\(outcome)")
        #expect(await service.calls == ["planned", "changes", "upsert"])
        #expect(await service.problems == ["switchedOff"])
    }

    @Test("A calendar that the person no longer chooses is no lost permission and no lost calendar")
    func deselected() async throws {
        let service = Service()
        let phone = Phone(service, planned: [], mirror: nil)
        _ = try await phone.companion.connector.connect()
        let outcome = await phone.companion.sync()
        #expect(outcome.pause == nil && outcome.problem == nil)
        #expect(await service.calls.isEmpty)
    }

    @Test("After an end on the server the phone stops, says where to connect again, and goes on once that is done")
    func endedThere() async throws {
        let service = Service()
        let phone = Phone(service, planned: [], mirror: "home")
        _ = try await phone.companion.connector.connect()
        try await phone.companion.status.take(await phone.companion.sync())
        await service.end(ConnectorThere(state: .disconnected, read: false, write: false))
        var event = RemoteEvent(id: "e", title: "Dentist", date: "2026-01-23", updatedAt: 1)
        event.startTime = "09:00"
        await service.show([event])
        let outcome = await phone.companion.sync()
        #expect(outcome.pause == .disconnectedThere && outcome.problem == nil, "\(outcome)")
        #expect(await !phone.store.calls.contains("save"))
        let status = try await phone.companion.status.take(outcome)
        let home = HomeScreen(status, CompanionTexts(app: "TimeSense"), shown: { "\($0)" })
        let text = "Apple Calendar was disconnected on the server. Visit Connectors there to connect it again."
        #expect(home.pause == text)
        let texts = ConnectorTexts(app: "TimeSense")
        let row = ConnectorRow(.connected(read: true, write: true), pause: status.pause, texts)
        #expect(row.status == "Not Connected" && row.subtitle == text)
        // It is asked, and nothing is read.
        await phone.store.forget()
        await service.forget()
        let again = await phone.companion.sync()
        #expect(again.pause == .disconnectedThere && again.isIdle)
        #expect(await phone.store.calls.isEmpty)
        #expect(await service.calls.isEmpty)
        await service.end(ConnectorThere(state: .connected, read: true, write: true))
        #expect(await phone.companion.sync().pause == nil)
    }

    @Test("What is planned is refused after an end on the server, and while reading is off there; neither is an error")
    func plannedOffThere() async throws {
        let refusal = CompanionFailure.refused(status: 409, code: "connector-off")
        for (state, pause) in [
            (ConnectorThere.State.disconnected, SyncPause.disconnectedThere), (.connected, .switchedOffThere),
        ] {
            let service = Service()
            let phone = Phone(service)
            _ = try await phone.companion.connector.connect()
            await service.end(ConnectorThere(state: state, read: false, write: true), planned: refusal)
            let outcome = await phone.companion.sync()
            #expect(outcome.problem == nil && outcome.pause == pause && outcome.isIdle)
            #expect(pause.text(ConnectorTexts(app: "TimeSense")).contains("Visit Connectors there"))
        }
    }

    @Test("A disconnect on the phone is told to the server, later if there is no network, and once")
    func farewell() async throws {
        let service = Service()
        let phone = Phone(service)
        _ = try await phone.companion.connector.connect()
        _ = await phone.companion.sync()
        await service.forget()
        try await phone.companion.disconnect()
        #expect(await service.problems == ["disconnected"])
        #expect(await phone.companion.sync().pause == .notConnected)
        #expect(await service.problems == ["disconnected"])

        _ = try await phone.companion.connector.connect()
        await service.fail(with: .offline)
        try await phone.companion.disconnect()
        #expect(await phone.companion.connector.status() == .notConnected)
        await service.fail(with: nil)
        await service.forget()
        for _ in 0..<2 { #expect(await phone.companion.sync().pause == .notConnected) }
        #expect(await service.problems == ["disconnected"])
    }

    @Test("What the person switched off keeps the time of the last sync, and is no failure")
    func idle() {
        var status = SyncStatus()
        status.take(SyncOutcome(endedAt: 1_000))
        status.take(SyncOutcome(endedAt: 2_000, problem: .offline))
        status.take(SyncOutcome(endedAt: 3_000, pause: .notConnected, isIdle: true))
        #expect(status.lastSyncAt == 1_000 && status.lastError == nil && status.failures == 0)
        let home = HomeScreen(status, CompanionTexts(app: "TimeSense"), shown: { "\($0)" })
        #expect(home.pause == "Apple Calendar is not connected. Visit Connectors to connect it.")
    }

    @Test("Planned events are those of the past 7 and the next 30 days, and are counted")
    func planned() async throws {
        let service = Service()
        let phone = Phone(service)
        _ = try await phone.companion.connector.connect()
        let outcome = await phone.companion.sync()
        #expect(outcome.problem == nil && outcome.isFinished)
        #expect(outcome.counts.deleted == 2 && outcome.counts.upserted == 3 && outcome.counts.events == 7)
        let body = try #require(await service.planned.first)
        #expect(body.rangeStart == "2026-01-15T00:00:00+01:00")
        #expect(body.rangeEnd == "2026-02-22T00:00:00+01:00")
        #expect(await service.calls == ["planned"])
        await service.fail([.init(index: 0)])
        #expect(await phone.companion.sync().problem == .someFailed)
    }

    @Test(
        "What the server refuses ends the sync with its text, and the next one is not tried with the same",
        arguments: [
            (CompanionFailure.offline, SyncProblem.offline), (.unauthorized, .invalidToken),
            (.timedOut, .serverError), (.server(status: 503, retryAfter: nil), .serverError),
        ])
    func failures(_ failure: CompanionFailure, _ problem: SyncProblem) async throws {
        let service = Service(failure)
        let phone = Phone(service, mirror: "home")
        _ = try await phone.companion.connector.connect()
        #expect(await phone.companion.sync().problem == problem)
        #expect(await service.calls == ["planned"])
        // The same by the engine's way, without planned events.
        let other = Phone(Service(failure), planned: [], mirror: "home")
        _ = try await other.companion.connector.connect()
        let outcome = await other.companion.sync()
        #expect(outcome.problem == problem, "\(outcome)")
    }

    @Test("Calendars that are gone pause the sync; no plan is sent, because what is not sent would be removed there")
    func gone() async throws {
        let service = Service()
        let phone = Phone(service, planned: ["elsewhere"])
        _ = try await phone.companion.connector.connect()
        let outcome = await phone.companion.sync()
        #expect(outcome.pause == .calendarGone && outcome.problem == nil)
        // The companion reports to the server why nothing comes.
        #expect(await service.calls == ["upsert"])
        #expect(await service.problems == ["calendarGone"])
    }

    @Test("A time that runs out is no failure")
    func cancelled() async throws {
        let phone = Phone(Service(.cancelled))
        _ = try await phone.companion.connector.connect()
        let outcome = await phone.companion.sync()
        #expect(!outcome.isFinished && outcome.problem == nil)
        var status = SyncStatus()
        status.take(outcome)
        #expect(status == SyncStatus())
    }

    @Test("After a disconnect a sync reads nothing and sends nothing")
    func disconnected() async throws {
        let service = Service()
        let phone = Phone(service, mirror: "home")
        _ = try await phone.companion.connector.connect()
        try await phone.companion.connector.disconnect()
        await phone.store.forget()
        #expect(await phone.companion.sync().pause == .notConnected)
        #expect(await phone.store.calls.isEmpty)
        #expect(await service.calls.isEmpty)
    }
}
