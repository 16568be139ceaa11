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
        var failed: [PlannedAnswer.Failed] = []
        private(set) var planned: [PlannedBody] = []
        private(set) var calls: [String] = []
        private(set) var problems: [String?] = []
        private var events: [RemoteEvent] = []

        func show(_ events: [RemoteEvent]) { self.events = events }

        init(_ failure: CompanionFailure? = nil) { self.failure = failure }
        func fail(_ failed: [PlannedAnswer.Failed]) { self.failed = failed }

        func status() throws(CompanionFailure) -> ServiceStatus {
            if let failure { throw failure }
            return ServiceStatus(user: "ann", serverTime: 1)
        }

        func changes(since: Int, limit: Int) throws(CompanionFailure) -> ChangePage {
            calls.append("changes")
            if let failure { throw failure }
            return ChangePage(events: events, serverTime: 1, nextSince: since, hasMore: false)
        }

        func upsert(_ body: UpsertBody) throws(CompanionFailure) -> UpsertAnswer {
            calls.append("upsert")
            problems.append(body.problem)
            if let failure { throw failure }
            return UpsertAnswer(created: 0, updated: 0, unchanged: 0, rejected: [], events: [], serverTime: 1)
        }

        func upsertPlanned(_ body: PlannedBody) throws(CompanionFailure) -> PlannedAnswer {
            calls.append("planned")
            if let failure { throw failure }
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
        #expect(outcome.problem == .permissionDenied)
        #expect(await phone.store.calls.isEmpty)
        #expect(await service.calls.isEmpty)
    }

    @Test("A permission that the person takes away is reported to the server, once")
    func revoked() async throws {
        let service = Service()
        let phone = Phone(service, planned: [], mirror: "home")
        var event = RemoteEvent(id: "e", title: "Dentist", date: "2026-02-01", updatedAt: 1)
        event.itemId = "a"
        await service.show([event])
        _ = try await phone.companion.connector.connect()
        _ = await phone.companion.sync()
        let before = await service.problems.count
        await phone.store.set(.denied)
        for _ in 0..<2 { #expect(await phone.companion.sync().pause == .permissionMissing) }
        #expect(await Array(service.problems.dropFirst(before)) == ["permissionRevoked"])
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

    @Test("Calendars that are gone pause the sync; nothing is sent, because what is not sent would be removed there")
    func gone() async throws {
        let service = Service()
        let phone = Phone(service, planned: ["elsewhere"])
        _ = try await phone.companion.connector.connect()
        let outcome = await phone.companion.sync()
        #expect(outcome.pause == .calendarGone && outcome.problem == nil)
        #expect(await service.calls.isEmpty)
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
        #expect(await phone.companion.sync().problem == .permissionDenied)
        #expect(await phone.store.calls.isEmpty)
        #expect(await service.calls.isEmpty)
    }
}
