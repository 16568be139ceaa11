// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import KalendsCompanion
import OfficeDays
import Testing

@Suite("Connector: a person opens the way to their calendars")
struct ConnectorTests {
    private struct Phone {
        let store: SpyStore
        let memory: SpyMemory
        let cleared = Counter()
        let counts = UsageCounts()
        let connector: CalendarConnector

        init(
            _ permission: CalendarAuthorization, answer: CalendarAuthorization = .fullAccess,
            record: ConnectorRecord? = nil, installation: String = "this"
        ) {
            store = SpyStore(permission, answer: answer)
            memory = SpyMemory(record)
            connector = CalendarConnector(
                opening: store, memory: memory, installation: installation, counts: counts,
                clear: { [cleared] in await cleared.add() })
        }
    }

    /// Returns every function of a store that reads or writes, by its name.
    private static func everything(
        _ store: some CalendarStore
    ) -> [(name: String, isRead: Bool, isWrite: Bool, call: @Sendable () async throws -> Void)] {
        let window = TimeRange(seconds: 0..<1)
        let key = EventKey(calendarID: "home", localID: "a", externalID: "b")
        let day = Day(daysSinceEpoch: 20_000)
        let draft = EventDraft(
            key: nil, calendarID: "home",
            unit: EventUnit(EventContent(title: "A", span: .allDay(first: day, last: day))), url: nil)
        return [
            ("calendars", true, true, { _ = try await store.calendars() }),
            ("makeCalendar", false, true, { _ = try await store.makeCalendar(titled: "Kalends") }),
            ("events", true, false, { _ = try await store.events(in: window, calendars: ["home"]) }),
            ("occurrences", true, false, { _ = try await store.occurrences(in: window, calendars: ["home"]) }),
            ("externalID", true, false, { _ = try await store.events(externalID: "b") }),
            ("localID", true, false, { _ = try await store.event(localID: "a") }),
            ("save", false, true, { _ = try await store.save(draft) }),
            ("remove", false, true, { try await store.remove(key) }),
            ("commit", false, true, { _ = try await store.commit() }),
        ]
    }

    @Test("Nobody is asked at launch, nor by anything that reads, writes, looks or changes toggles")
    func neverAsksByItself() async throws {
        let phone = Phone(.notDetermined)
        let calendars = phone.connector.calendars
        #expect(await phone.connector.status() == .notConnected)
        #expect(await calendars.authorization() == .denied)
        #expect(await calendars.requestAccess() == .denied)
        #expect(try await phone.connector.use(read: true, write: true) == .notConnected)
        await phone.connector.opened()
        for step in Self.everything(calendars) { try? await step.call() }
        for await _ in await calendars.changeNotices() {}
        #expect(await phone.store.questions == 0)
        #expect(await phone.store.calls.isEmpty)
    }

    @Test("Connect asks once, connects with both toggles on, and is remembered")
    func connect() async throws {
        let phone = Phone(.notDetermined)
        #expect(try await phone.connector.connect() == .connected(read: true, write: true))
        #expect(await phone.store.questions == 1)
        #expect(await phone.memory.record == ConnectorRecord(installation: "this", read: true, write: true))
        for step in Self.everything(phone.connector.calendars) { try await step.call() }
        #expect(await phone.store.calls == Self.everything(phone.store).map(\.name))

        let later = Phone(.fullAccess, record: await phone.memory.record)
        #expect(await later.connector.status() == .connected(read: true, write: true))
        #expect(await later.store.questions == 0)
    }

    @Test("A permission that the system has already does not connect by itself")
    func neverByItself() async throws {
        let phone = Phone(.fullAccess)
        #expect(await phone.connector.status() == .notConnected)
        #expect(await phone.connector.calendars.authorization() == .denied)
        #expect(try await phone.connector.connect() == .connected(read: true, write: true))
        #expect(await phone.store.questions == 0)
    }

    @Test(
        "Where the system says no, nobody is asked again and nothing is connected",
        arguments: [CalendarAuthorization.denied, .restricted])
    func denied(_ permission: CalendarAuthorization) async throws {
        let phone = Phone(permission)
        #expect(try await phone.connector.connect() == .notConnected)
        #expect(await phone.store.questions == 0)
        #expect(await phone.memory.record == nil)
    }

    @Test("A no to the question, and leave to add without reading, connect nothing")
    func refused() async throws {
        for answer in [CalendarAuthorization.denied, .writeOnly] {
            let phone = Phone(.notDetermined, answer: answer)
            #expect(try await phone.connector.connect() == .notConnected)
            #expect(await phone.connector.calendars.authorization() == .denied)
        }
        // From leave to add, the system asks once more for the rest.
        let upgraded = Phone(.writeOnly)
        #expect(try await upgraded.connector.connect() == .connected(read: true, write: true))
    }

    @Test("Adding an event asks, and opens the way for adding and not for reading")
    func adding() async throws {
        let phone = Phone(.notDetermined)
        #expect(try await phone.connector.connectToAddEvent() == .connected(read: false, write: true))
        #expect(await phone.store.questions == 1)
        // Whoever is connected keeps their toggles.
        _ = try await phone.connector.use(read: true, write: false)
        #expect(try await phone.connector.connectToAddEvent() == .connected(read: true, write: false))
    }

    @Test("Each toggle closes its own uses, and only those", arguments: [true, false], [true, false])
    func toggles(_ read: Bool, _ write: Bool) async throws {
        let phone = Phone(.fullAccess)
        _ = try await phone.connector.connect()
        #expect(try await phone.connector.use(read: read, write: write) == .connected(read: read, write: write))
        for step in Self.everything(phone.connector.calendars) {
            await phone.store.forget()
            let isOpen = step.isRead && read || step.isWrite && write
            do {
                try await step.call()
                #expect(isOpen, "\(step.name)")
            } catch {
                #expect(!isOpen && error as? StoreFailure == .notAuthorized, "\(step.name)")
            }
            #expect(await phone.store.calls == (isOpen ? [step.name] : []), "\(step.name)")
        }
    }

    @Test("What the person switched off is told apart from what the system does not permit")
    func switchedOff() async throws {
        let phone = Phone(.fullAccess)
        let calendars = phone.connector.calendars
        _ = try await phone.connector.connect()
        #expect(await calendars.switchedOff().isEmpty)
        _ = try await phone.connector.use(write: false)
        #expect(await calendars.switchedOff() == [.write])
        try await phone.connector.disconnect()
        #expect(await calendars.switchedOff() == [.read, .write])
        await phone.store.set(.denied)
        #expect(await calendars.switchedOff().isEmpty)
    }

    @Test(
        "A permission that went away ends the connection, and its return does not bring it back",
        arguments: [CalendarAuthorization.denied, .writeOnly, .restricted, .notDetermined])
    func revoked(_ permission: CalendarAuthorization) async throws {
        let phone = Phone(.fullAccess)
        _ = try await phone.connector.connect()
        await phone.store.set(permission)
        await phone.store.forget()
        for step in Self.everything(phone.connector.calendars) {
            await #expect(throws: StoreFailure.notAuthorized) { try await step.call() }
        }
        #expect(await phone.store.calls.filter { $0 != "rollback" }.isEmpty)
        #expect(await phone.connector.status() == .notConnected)
        #expect(await phone.memory.record == nil)
        await phone.store.set(.fullAccess)
        #expect(await phone.connector.status() == .notConnected)
        // The knowledge about the events stays, so that a new connection creates no duplicates.
        #expect(await phone.cleared.count == 0)
    }

    @Test("After a new installation nothing is connected, whatever came along with a backup")
    func reinstalled() async {
        let record = ConnectorRecord(installation: "the phone before", read: true, write: true)
        let phone = Phone(.fullAccess, record: record)
        #expect(await phone.connector.status() == .notConnected)
        #expect(await phone.connector.calendars.authorization() == .denied)
    }

    @Test("Disconnect stops reads and writes, drops what was not committed, clears the cache and leaves the permission")
    func disconnect() async throws {
        let phone = Phone(.fullAccess)
        let calendars = phone.connector.calendars
        _ = try await phone.connector.connect()
        try await phone.connector.disconnect()
        #expect(await phone.cleared.count == 1)
        #expect(await phone.store.calls == ["rollback"])
        #expect(await phone.store.permission == .fullAccess)
        #expect(await phone.connector.status() == .notConnected)
        for step in Self.everything(calendars) {
            await #expect(throws: StoreFailure.notAuthorized) { try await step.call() }
        }
        #expect(await phone.store.calls == ["rollback"])
        #expect(await phone.memory.record == nil)
    }

    @Test("A read that is under way when the person disconnects brings nothing back")
    func disconnectAmidRead() async throws {
        let phone = Phone(.fullAccess)
        _ = try await phone.connector.connect()
        await phone.store.amidRead { [phone] in try? await phone.connector.disconnect() }
        await #expect(throws: StoreFailure.notAuthorized) {
            _ = try await phone.connector.calendars.events(in: TimeRange(seconds: 0..<1), calendars: ["home"])
        }
    }

    @Test("Five things are counted, and a count holds a name of ours and a number")
    func counts() async throws {
        let phone = Phone(.notDetermined)
        await phone.connector.opened()
        _ = try await phone.connector.connect()
        _ = try await phone.connector.calendars.calendars()
        try await phone.connector.disconnect()
        await phone.store.set(.denied)
        _ = try await phone.connector.connect()
        let counts = await phone.counts.snapshot
        #expect(counts[ByteString("connectorOpened")] == 1)
        #expect(counts[ByteString("connectTapped")] == 2)
        #expect(counts[ByteString("permissionGranted")] == 1)
        #expect(counts[ByteString("permissionDenied")] == 1)
        #expect(counts[ByteString("disconnectTapped")] == 1)
        #expect(Set(counts.keys).sortedTexts() == UsageEvent.allCases.map(\.rawValue).sorted())
    }

    @Test("A record and counts are files that only their owner reads; what is no record connects nothing")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)/deep")
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        let file = PrivateFile<ConnectorRecord>(folder.appending(path: "connector.json"))
        let memory = FileConnectorMemory(file)
        #expect(try memory.load() == nil)
        for read in [true, false] {
            let record = ConnectorRecord(installation: "this", read: read, write: true)
            try memory.save(record)
            #expect(try memory.load() == record)
            let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["connector.json"])
        try Data("{".utf8).write(to: file.url)
        let connector = CalendarConnector(
            opening: SpyStore(.fullAccess), memory: memory, installation: "this", clear: {})
        #expect(await connector.status() == .notConnected)
        try memory.save(nil)
        #expect(!FileManager.default.fileExists(atPath: file.url.path))

        let countFile = PrivateFile<[ByteString: Int]>(folder.appending(path: "usage.json"))
        await UsageCounts(countFile).count(.connectorOpened)
        let again = UsageCounts(countFile)
        await again.count(.connectorOpened)
        #expect(await again.snapshot[ByteString("connectorOpened")] == 2)
    }

    @Test("Where nobody chose a calendar it is the device's own choice, else the first that can be written")
    func primary() {
        let holidays = StoreCalendar(id: "holidays", title: "Holidays", canWrite: false, isDefault: false)
        let work = StoreCalendar(id: "work", title: "Work")
        let home = StoreCalendar(id: "home", title: "Home", isDefault: true)
        #expect([holidays, work, home].primary?.id == "home")
        #expect([holidays, work].primary?.id == "work")
        #expect([holidays].primary == nil)
    }
}
