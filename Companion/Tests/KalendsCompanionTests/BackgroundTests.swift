// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import KalendsCompanion
import PhoneTexts
import Testing

@Suite("Companion: background time, schedule and status")
struct BackgroundTests {
    /// The system's side, which records its calls and ends the time when a test wants it.
    private final class System: BackgroundTime, BackgroundScheduler, Sendable {
        let (notes, noting) = AsyncStream<String>.makeStream()
        private let (expiries, expiring) = AsyncStream<@Sendable () -> Void>.makeStream()
        let isSwitchedOff: Bool

        init(isSwitchedOff: Bool = false) { self.isSwitchedOff = isSwitchedOff }

        func whenItExpires(_ body: @escaping @Sendable () -> Void) {
            noting.yield("expiry")
            expiring.yield(body)
        }

        func complete(success: Bool) { noting.yield("complete \(success)") }

        func request(_ identifier: String, after: Int) throws {
            if isSwitchedOff { throw CocoaError(.featureUnsupported) }
            noting.yield("request \(identifier) \(after)")
        }

        func expire() async {
            for await body in expiries {
                body()
                return
            }
        }

        /// Returns all recorded calls after the last one.
        func all() async -> [String] {
            noting.finish()
            var all: [String] = []
            for await note in notes { all.append(note) }
            return all
        }
    }

    private static func success() -> SyncStatus {
        var status = SyncStatus()
        status.take(SyncOutcome(endedAt: 1))
        return status
    }

    @Test("First the expiry is set, then the next time asked for, then the work done, then the time given back once")
    func order() async {
        let system = System()
        let refresh = BackgroundRefresh(identifier: "sync", scheduler: system, status: StatusStore()) {
            system.noting.yield("work")
            return Self.success()
        }
        await refresh.handle(system)
        #expect(await system.all() == ["expiry", "request sync 1800", "work", "complete true"])
    }

    @Test("A launch in the background, without a screen, syncs what is stored and keeps the outcome")
    func withoutScreen() async throws {
        let (system, status, store) = (System(), StatusStore(), SpyStore(.fullAccess))
        let connector = CalendarConnector(
            opening: store, memory: SpyMemory(ConnectorRecord(installation: "this", read: true, write: true)),
            installation: "this", clear: {})
        var settings = CompanionSettings(deviceID: "phone", serverURL: "https://example.org")
        settings.ownCalendars = ["home"]
        let companion = Companion(
            connector: connector, status: status, service: PlannedService(),
            states: MemoryStateStore(), settings: settings, plannedCalendars: ["home"],
            zones: Zones(device: { "Europe/Paris" }), clock: { 1_769_040_000_000 })
        let refresh = BackgroundRefresh(
            identifier: "sync", scheduler: system, status: status,
            runner: SyncRunner(status: status, companion: { companion }),
            besides: { system.noting.yield("besides") })
        await refresh.handle(system)
        // The engine's service is offline here, and the outcome says so.
        #expect(await system.all() == ["expiry", "request sync 1800", "besides", "complete false"])
        #expect(await status.current.lastError == .offline)
        #expect(await store.calls.contains("events"))
    }

    @Test("A background time before anything is set up does nothing")
    func notSetUp() async throws {
        let (system, status) = (System(), StatusStore())
        let refresh = BackgroundRefresh(
            identifier: "sync", scheduler: system, status: status,
            runner: SyncRunner(status: status, companion: { nil }))
        await refresh.handle(system)
        #expect(await status.current.lastSyncStatus == nil)
        #expect(await system.all().contains("complete false"))
    }

    @Test("A sync that failed gives the time back without success")
    func failure() async {
        let system = System()
        let refresh = BackgroundRefresh(identifier: "sync", scheduler: system, status: StatusStore()) {
            var status = SyncStatus()
            status.take(SyncOutcome(endedAt: 1, problem: .offline))
            return status
        }
        await refresh.handle(system)
        #expect(await system.all().last == "complete false")
    }

    @Test("When the time expires the work is cancelled and the time given back once, without success")
    func expiry() async {
        let system = System()
        let refresh = BackgroundRefresh(identifier: "sync", scheduler: system, status: StatusStore()) {
            system.noting.yield("work")
            await system.expire()
            // A cancelled sleep ends at once; what was done until then is kept by whoever does it.
            try? await Task.sleep(for: .seconds(36_000))
            system.noting.yield("cancelled \(Task.isCancelled)")
            return Self.success()
        }
        await refresh.handle(system)
        let notes = await system.all()
        #expect(notes.contains("cancelled true"))
        #expect(notes.filter { $0.hasPrefix("complete") } == ["complete false"])
    }

    @Test("Work that does not heed its end is not waited for at the expiry")
    func stubborn() async {
        let system = System()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let refresh = BackgroundRefresh(identifier: "sync", scheduler: system, status: StatusStore()) {
            await system.expire()
            await Task.detached { for await _ in gate {} }.value
            return Self.success()
        }
        let handling = Task { await refresh.handle(system) }
        for await note in system.notes where note.hasPrefix("complete") {
            #expect(note == "complete false")
            break
        }
        opener.finish()
        await handling.value
    }

    @Test("The budget ends the work before the system does")
    func budget() async {
        let system = System()
        let refresh = BackgroundRefresh(
            identifier: "sync", scheduler: system, status: StatusStore(), budget: .milliseconds(50)
        ) {
            try await Task.sleep(for: .seconds(60))
            return Self.success()
        }
        await refresh.handle(system)
        #expect(await system.all().filter { $0.hasPrefix("complete") } == ["complete false"])
    }

    @Test("Where background refresh is off the status says so, and a sync works nevertheless")
    func switchedOff() async throws {
        let (system, status) = (System(isSwitchedOff: true), StatusStore())
        let refresh = BackgroundRefresh(identifier: "sync", scheduler: system, status: status) { Self.success() }
        await refresh.schedule()
        #expect(await status.current.canRunInBackground == false)
        await refresh.handle(system)
        #expect(await system.all() == ["expiry", "complete true"])
    }

    @Test("The next sync is due in 30 to 60 minutes, and sooner after what may pass")
    func schedule() {
        let schedule = SyncSchedule()
        var status = SyncStatus()
        #expect(schedule.wait(after: status, chance: 0) == 30 * 60_000)
        #expect(schedule.wait(after: status, chance: 1) == 60 * 60_000)
        var waits: [Int] = []
        for _ in 1...8 {
            status.take(SyncOutcome(endedAt: 1, problem: .offline))
            waits.append(schedule.wait(after: status, chance: 1) / 60_000)
        }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30, 30])
        #expect(schedule.wait(after: status, chance: 0) == 15 * 60_000)
        status.take(SyncOutcome(endedAt: 1, problem: .invalidToken))
        #expect(schedule.wait(after: status, chance: 0) == 30 * 60_000)
        status.take(SyncOutcome(endedAt: 1))
        #expect(status.failures == 0)
    }

    /// Returns a wait that reports how long it is to be, and ends by being cancelled.
    private static func reporting(
        _ waits: AsyncStream<Duration>.Continuation
    ) -> @Sendable (Duration) async throws -> Void {
        {
            waits.yield($0)
            try await Task.sleep(for: .seconds(60))
        }
    }

    @Test("The runner syncs, waits as long as it should, and syncs at once when it is woken")
    func runner() async throws {
        let (waits, waiting) = AsyncStream<Duration>.makeStream()
        let syncs = Counter()
        let runner = SyncRunner(
            status: StatusStore(), chance: { 0.5 }, wait: Self.reporting(waiting),
            sync: {
                await syncs.add()
                return SyncOutcome(endedAt: 1)
            })
        let running = Task { try await runner.run() }
        var seen = waits.makeAsyncIterator()
        #expect(await seen.next() == .seconds(45 * 60))
        #expect(await syncs.count == 1)
        await runner.wake()
        #expect(await seen.next() == .seconds(45 * 60))
        #expect(await syncs.count == 2)
        running.cancel()
        try await running.value
        #expect(await syncs.count == 2)
    }

    @Test("A change that is reported during a sync is not forgotten: one further sync follows")
    func wokenDuringSync() async throws {
        let (waits, waiting) = AsyncStream<Duration>.makeStream()
        let (starts, starting) = AsyncStream<Void>.makeStream()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let runner = SyncRunner(
            status: StatusStore(), chance: { 0.5 }, wait: Self.reporting(waiting),
            sync: {
                starting.yield()
                // The first sync is held until the gate opens; later ones find it open.
                for await _ in gate {}
                return SyncOutcome(endedAt: 1)
            })
        let running = Task { try await runner.run() }
        var started = starts.makeAsyncIterator()
        await started.next()
        await runner.wake()
        await runner.wake()
        opener.finish()
        await started.next()
        var waited = waits.makeAsyncIterator()
        #expect(await waited.next() == .seconds(45 * 60))
        starting.finish()
        #expect(await started.next() == nil, "Two reports led to more than one further sync.")
        running.cancel()
        try await running.value
    }

    @Test("A change during a sync that somebody else asked for is not forgotten either")
    func wokenDuringAnothersSync() async throws {
        let (starts, starting) = AsyncStream<Void>.makeStream()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let runner = SyncRunner(
            status: StatusStore(), wait: { _ in try await Task.sleep(for: .seconds(60)) },
            sync: {
                starting.yield()
                for await _ in gate {}
                return SyncOutcome(endedAt: 1)
            })
        var started = starts.makeAsyncIterator()
        let asked = Task { try await runner.now() }
        await started.next()
        await runner.wake()
        // It joins the sync that is under way, and must not wait after it.
        let running = Task { try await runner.run() }
        try await Task.sleep(for: .milliseconds(50))
        opener.finish()
        _ = try await asked.value
        await started.next()
        running.cancel()
        try await running.value
    }

    @Test("Two who ask at the same time get one sync")
    func together() async throws {
        let syncs = Counter()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let runner = SyncRunner(
            status: StatusStore(),
            sync: {
                await syncs.add()
                for await _ in gate {}
                return SyncOutcome(endedAt: 1)
            })
        async let first = runner.now()
        async let second = runner.now()
        while await syncs.count == 0 { await Task.yield() }
        try await Task.sleep(for: .milliseconds(50))
        opener.finish()
        #expect(try await first == second)
        #expect(await syncs.count == 1)
    }

    @Test("The status is kept under fixed names, and counts only")
    func kept() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = PrivateFile<SyncStatus>(folder.appending(path: "status.json"))
        let store = StatusStore(file)
        var counts = SyncStatus.Counts()
        (counts.deleted, counts.upserted) = (2, 5)
        try await store.take(SyncOutcome(endedAt: 1_700_000_000_000, problem: .someFailed, counts: counts))
        let json = try JSONValue(parsing: Array(Data(contentsOf: file.url)))
        #expect(json["last_sync_at"]?.integer == 1_700_000_000_000)
        #expect(json["last_sync_status"]?.string == "partial")
        #expect(json["last_error"]?.string == "someFailed")
        #expect(json["counts"]?["upserted"]?.integer == 5)
        #expect(await StatusStore(file).current == store.current)
        // A failure keeps the time and the counts of the last success.
        try await store.take(SyncOutcome(endedAt: 1_800_000_000_000, problem: .offline))
        #expect(await store.current.lastSyncAt == 1_700_000_000_000)
        #expect(await store.current.counts.upserted == 5)
        #expect(await store.current.lastSyncStatus == .failed)
        // A sync whose time ran out says nothing.
        let before = await store.current
        try await store.take(SyncOutcome(endedAt: 1_900_000_000_000, isFinished: false))
        #expect(await store.current == before)
        try await store.clear()
        #expect(await store.current == SyncStatus())
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
    }
}
