// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import Observation

/// Does what the buttons say. What the screens show is made by the library.
@MainActor
@Observable
final class AppModel {
    let texts = CompanionTexts(app: "Kalends")
    let connectorTexts = ConnectorTexts(app: "Kalends")
    let workshop: Workshop

    private(set) var status = SyncStatus()
    private(set) var connection = ConnectorStatus.notConnected
    private(set) var permission = CalendarAuthorization.notDetermined
    private(set) var calendars: [StoreCalendar] = []
    private(set) var choices = AppChoices()
    private(set) var isSyncing = false
    private(set) var wasDisconnected = false
    private(set) var problem: String?

    init(_ workshop: Workshop) { self.workshop = workshop }

    /// Syncs whenever something changed in a calendar, while connected and until the view goes.
    func follow() async {
        guard connection.isConnected else { return }
        let debouncer = ChangeDebouncer { [weak self] in await self?.syncNow() }
        await debouncer.follow(await workshop.connector.calendars.changeNotices())
    }

    /// Looks how things are. It asks for nothing.
    func cameBack() async {
        await look()
        await syncNow()
    }

    // MARK: The connector

    /// “Connect Apple Calendar”, and “Continue” after the welcome: the system's sheet comes from here.
    func connect() async {
        wasDisconnected = false
        await attempt { try await $0.connect() }
        await syncNow()
    }

    /// Ends everything: calendars are read no more, and the token is forgotten.
    func disconnect() async {
        do {
            // The companion tells the server, too; before the phone is paired it has no connection.
            if let companion = workshop.companion() {
                try await companion.disconnect()
            } else {
                try await workshop.connector.disconnect()
            }
        } catch { problem = error.localizedDescription }
        AppFiles.keep(nil)
        keep { $0 = AppChoices() }
        wasDisconnected = true
        await look()
    }

    func use(read: Bool? = nil, write: Bool? = nil) async {
        await attempt { try await $0.use(read: read, write: write) }
    }

    private func attempt(_ body: (CalendarConnector) async throws -> ConnectorStatus) async {
        do { connection = try await body(workshop.connector) } catch { problem = error.localizedDescription }
        await look()
    }

    // MARK: The server

    /// Registers this phone with a token that the person has from their account, and keeps the phone's own.
    func pair(_ typed: String, token: String) async {
        do {
            let address = try ServerAddress(typed)
            let isNew = choices.server != address
            let registration = DeviceRegistration(
                label: "Kalends on a phone", deviceId: isNew || choices.deviceID.isEmpty ? nil : choices.deviceID,
                platform: "ios")
            let answer = try await HTTPCompanionService(address, credential: .bearer(token)).register(registration)
            // Whatever was remembered about another server's events is wrong here.
            if isNew { try await FileStateStore(AppFiles.engine).clear() }
            guard AppFiles.keep(answer.deviceToken) else {
                problem = "The Keychain did not take the token."
                return
            }
            keep { ($0.server, $0.deviceID) = (address, answer.device.deviceId) }
            await syncNow()
        } catch let failure as CompanionFailure {
            problem = failure.description
        } catch let fault as ServerAddress.Fault {
            problem = fault.description
        } catch {
            problem = error.localizedDescription
        }
    }

    // MARK: The calendars

    func share(_ id: String, as share: Share) async {
        keep { choices in
            choices.own.removeAll { $0 == id }
            choices.planned.removeAll { $0 == id }
            switch share {
            case .nothing: break
            case .titles: choices.planned.append(id)
            case .everything: choices.own.append(id)
            }
        }
        await syncNow()
    }

    func write(into id: String?) async {
        keep { choices in
            choices.mirror = id
            // What Kalends writes does not go back as the person's own.
            choices.own.removeAll { $0 == id }
            choices.planned.removeAll { $0 == id }
        }
        await syncNow()
    }

    func makeCalendar() async {
        do {
            let made = try await workshop.connector.calendars.makeCalendar(titled: "Kalends")
            await look()
            await write(into: made.id)
        } catch { problem = "This phone's account takes no new calendar. Make one in the Calendar app." }
    }

    private func keep(_ body: (inout AppChoices) -> Void) {
        body(&choices)
        problem = nil
        do { try AppFiles.choices.write(choices) } catch { problem = error.localizedDescription }
    }

    // MARK: The sync

    func syncNow() async {
        // Without the permission a sync reads nothing, and tells the server why its events stay away.
        let isForbidden = ![.notDetermined, .fullAccess].contains(permission)
        guard !isSyncing, connection.isConnected || isForbidden, workshop.companion() != nil else { return }
        isSyncing = true
        defer { isSyncing = false }
        do { status = try await workshop.runner.now() } catch { problem = error.localizedDescription }
    }

    /// Approves the deletions for which the last sync was held, and makes them.
    func approve() async {
        do { try await workshop.companion()?.approve() } catch { problem = error.localizedDescription }
        await syncNow()
    }

    private func look() async {
        (connection, permission) = (await workshop.connector.status(), await workshop.connector.permission())
        status = await workshop.status.current
        choices = (try? AppFiles.choices.read()) ?? AppChoices()
        // Without a connection the store lists none.
        calendars = (try? await workshop.connector.calendars.calendars()) ?? []
    }
}

/// What of a calendar goes to the server.
nonisolated enum Share: CaseIterable {
    case nothing, titles, everything

    var text: String {
        switch self {
        case .nothing: "Nothing"
        case .titles: "Titles and times"
        case .everything: "Whole events"
        }
    }
}

nonisolated extension AppChoices {
    func share(of id: String) -> Share {
        own.contains { $0 == id } ? .everything : planned.contains { $0 == id } ? .titles : .nothing
    }
}
