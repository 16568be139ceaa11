// SPDX-License-Identifier: Apache-2.0

import Foundation
import KalendsCompanion
import KalendsEventKit

/// Puts the library together from what is stored, for the screens and for background time alike.
///
/// Nothing here needs a screen: the system may launch the app in the background without a scene.
nonisolated struct Workshop: Sendable {
    let zones: Zones
    let connector: CalendarConnector
    let status: StatusStore
    let officeMemory: FilePhoneOfficeMemory
    let offices: PhoneOfficeDays
    let runner: SyncRunner
    let refresh: BackgroundRefresh

    init() {
        let zones = Zones(device: { TimeZone.current.identifier })
        let status = StatusStore(AppFiles.status)
        let connector = CalendarConnector(
            opening: EventKitStore(zones: zones), memory: FileConnectorMemory(AppFiles.connector),
            // Without a name of its own nothing that was kept counts, and the person connects again.
            installation: (try? AppFiles.installation()) ?? UUID().uuidString, counts: UsageCounts(AppFiles.usage),
            // Office days stay: they are what the person said, and no copy of a calendar.
            clear: {
                try await FileStateStore(AppFiles.engine).clear()
                try await status.clear()
            })
        let officeMemory = FilePhoneOfficeMemory(AppFiles.offices)
        let offices = PhoneOfficeDays(
            store: connector.calendars, memory: officeMemory, zones: zones, seed: UUID().uuidString,
            clock: { Self.now / 1000 })
        let runner = SyncRunner(status: status) { Self.companion(connector, status, zones) }
        self.zones = zones
        self.connector = connector
        self.status = status
        self.officeMemory = officeMemory
        self.offices = offices
        self.runner = runner
        refresh = BackgroundRefresh(
            identifier: "org.kalends.companion.sync", scheduler: SystemBackground(), status: status, runner: runner,
            // If it fails, the next time decides the days that have ended.
            besides: { _ = try? await offices.advance() })
    }

    /// The library over what is stored; nil before the phone is paired.
    func companion() -> Companion? { Self.companion(connector, status, zones) }

    /// Milliseconds since 1970.
    static var now: Int { Int(Date.now.timeIntervalSince1970 * 1000) }

    private static func companion(_ connector: CalendarConnector, _ status: StatusStore, _ zones: Zones) -> Companion? {
        guard let choices = try? AppFiles.choices.read(), let server = choices.server, let token = AppFiles.token()
        else { return nil }
        var settings = CompanionSettings(deviceID: choices.deviceID, serverURL: server.url.absoluteString)
        settings.ownCalendars = choices.own
        settings.mirrorCalendar = choices.mirror
        return Companion(
            connector: connector, status: status,
            service: HTTPCompanionService(server, credential: .device(token)),
            states: FileStateStore(AppFiles.engine), settings: settings, plannedCalendars: choices.planned,
            zones: zones, clock: { now })
    }
}
