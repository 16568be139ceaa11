// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
import Foundation
import KalendsCompanion
import KalendsEventKit
import Observation
import PhoneTexts

/// Puts the library together, and does what the buttons say. What the screens show is made by the library.
@MainActor
@Observable
final class AppModel {
    let texts = CompanionTexts(app: "Kalends")
    let connectorTexts = ConnectorTexts(app: "Kalends")

    private(set) var status = SyncStatus()
    private(set) var connection = ConnectorStatus.notConnected
    private(set) var permission = CalendarAuthorization.notDetermined
    private(set) var isSyncing = false
    private(set) var wasDisconnected = false
    private(set) var problem: String?
    var server = UserDefaults.standard.string(forKey: "server") ?? "https://"

    let connector: CalendarConnector
    private let statusStore = StatusStore(AppFiles.status)
    private let background = BackgroundSync()
    @ObservationIgnored private(set) var refresh: BackgroundRefresh

    init() {
        let statusStore = statusStore
        connector = CalendarConnector(
            opening: EventKitStore(zones: Zones(device: { TimeZone.current.identifier })),
            memory: FileConnectorMemory(AppFiles.connector),
            // Without a name of its own nothing that was kept counts, and the person connects again.
            installation: (try? AppFiles.installation()) ?? UUID().uuidString,
            counts: UsageCounts(AppFiles.usage),
            clear: {
                try await FileStateStore(AppFiles.engine).clear()
                try await statusStore.clear()
            })
        let background = background
        refresh = BackgroundRefresh(
            identifier: "org.kalends.companion.sync", scheduler: SystemBackground(), status: statusStore
        ) {
            try await statusStore.take(await background.sync())
        }
    }

    /// Looks how things are. It asks for nothing.
    func start() async {
        await look()
        guard connection.isConnected else { return }
        await syncNow()
        let debouncer = ChangeDebouncer { [weak self] in await self?.syncNow() }
        await debouncer.follow(await connector.calendars.changeNotices())
    }

    func cameBack() async {
        await look()
        if connection.isConnected { await syncNow() }
    }

    /// “Connect Apple Calendar”, and “Continue” after the welcome: the system's sheet comes from here.
    func connect() async {
        wasDisconnected = false
        do { connection = try await connector.connect() } catch { problem = error.localizedDescription }
        await look()
        if connection.isConnected { await syncNow() }
    }

    func disconnect() async {
        do { try await connector.disconnect() } catch { problem = error.localizedDescription }
        AppFiles.keep(nil)
        wasDisconnected = true
        await look()
    }

    func use(read: Bool? = nil, write: Bool? = nil) async {
        do { connection = try await connector.use(read: read, write: write) } catch {
            problem = error.localizedDescription
        }
    }

    /// Registers this device with a token that the person has from their account, and keeps the device's own.
    func logIn(token: String) async {
        do {
            let address = try ServerAddress(server)
            let device = try await HTTPCompanionService(address, credential: .bearer(token)).register(
                DeviceRegistration(label: nil, platform: "ios"))
            AppFiles.keep(device.deviceToken)
            UserDefaults.standard.set(server, forKey: "server")
            UserDefaults.standard.set(device.device.deviceId, forKey: "deviceId")
            problem = nil
            await syncNow()
        } catch { problem = "\(error)" }
    }

    func syncNow() async {
        guard !isSyncing else { return }
        isSyncing = true
        defer { isSyncing = false }
        await background.use(await companion())
        do { status = try await statusStore.take(await background.sync()) } catch {
            problem = error.localizedDescription
        }
    }

    private func look() async {
        (connection, permission) = (await connector.status(), await connector.permission())
        status = await statusStore.current
        await background.use(await companion())
    }

    /// The library over this app's files; nil before somebody logged in and connected.
    private func companion() async -> Companion? {
        guard connection.isConnected, let token = AppFiles.token(), let address = try? ServerAddress(server) else {
            return nil
        }
        // The calendars that can be read; advanced choice comes later.
        let planned = ((try? await connector.calendars.calendars()) ?? []).map(\.id)
        let settings = CompanionSettings(
            deviceID: UserDefaults.standard.string(forKey: "deviceId") ?? "", serverURL: address.url.absoluteString)
        return Companion(
            connector: connector, status: statusStore,
            service: HTTPCompanionService(address, credential: .device(token)),
            states: FileStateStore(AppFiles.engine), settings: settings, plannedCalendars: planned,
            zones: Zones(device: { TimeZone.current.identifier }),
            clock: { Int(Date.now.timeIntervalSince1970 * 1000) })
    }
}

/// What background time syncs: whatever the person has set up last.
actor BackgroundSync {
    private var companion: Companion?

    func use(_ companion: Companion?) { self.companion = companion }

    func sync() async -> SyncOutcome {
        let now = Int(Date.now.timeIntervalSince1970 * 1000)
        guard let companion else { return SyncOutcome(endedAt: now, isFinished: false) }
        return await companion.sync()
    }
}
#endif
