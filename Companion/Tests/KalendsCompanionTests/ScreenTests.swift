// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import KalendsCompanion
import OfficeDays
import PhoneTexts
import Testing

@Suite("Companion: what the screens show")
struct ScreenTests {
    private let texts = CompanionTexts(app: "TimeSense")
    private let connector = ConnectorTexts(app: "helpem")

    @Test("Welcome explains and asks for nothing")
    func welcome() {
        let screen = WelcomeScreen(texts)
        #expect(
            screen.message == "TimeSense reads your Apple Calendar (title only) to show planned events like Outlook.")
        #expect(screen.button == "Continue")
    }

    @Test("Access is asked for, granted, or explained")
    func access() {
        #expect(AccessScreen(.notDetermined, connector) == .asking)
        #expect(AccessScreen(.fullAccess, connector) == .allowed)
        for permission in [CalendarAuthorization.denied, .restricted, .writeOnly] {
            #expect(
                AccessScreen(permission, connector)
                    == .denied(message: "Calendar access is off. Enable in Settings.", button: "Open Settings"))
        }
    }

    @Test("Home shows the last sync, the counts and one sentence for each thing that goes wrong")
    func home() {
        var status = SyncStatus()
        func screen() -> HomeScreen { HomeScreen(status, texts, shown: { "at \($0)" }) }
        #expect(screen().header == "Apple Calendar Sync")
        #expect(screen().lastSync == "Last sync: never")
        #expect(screen().button == "Sync now")
        #expect(screen().subtext == "Title only. No notes or attendees.")
        var counts = SyncStatus.Counts()
        (counts.events, counts.deleted, counts.upserted) = (12, 1, 3)
        status.take(SyncOutcome(endedAt: 1_000, counts: counts))
        #expect(screen().lastSync == "Last sync: at 1000")
        #expect(screen().eventsSynced == "Events synced: 12")
        #expect(screen().deleted == "Deleted: 1" && screen().upserted == "Upserted: 3")
        #expect(screen().problem == nil && !screen().asksForToken)
        for (problem, text) in [
            (SyncProblem.permissionDenied, "Calendar access is off. Enable in Settings."),
            (.offline, "Offline. Sync will retry."), (.invalidToken, "Invalid sync token"),
            (.serverError, "Server error. Try again later."), (.someFailed, "Some events failed; retry scheduled."),
        ] {
            status.take(SyncOutcome(endedAt: 2_000, problem: problem, counts: counts))
            #expect(screen().problem == text)
            #expect(screen().asksForToken == (problem == .invalidToken))
        }
    }

    @Test("Settings show the window, check the address, and never show the token again")
    func settings() {
        var screen = SettingsScreen(server: "https://calendar.example.org", hasToken: true, texts)
        #expect(screen.window == "Past 7 days, next 30 days")
        #expect(screen.token.isEmpty && screen.serverFault == nil)
        screen.server = "http://calendar.example.org"
        #expect(screen.serverFault == "Only a server on this machine may be asked without encryption: use https.")
    }

    @Test("The connector's row and screen say whether it is connected, denied, or just ended")
    func connectorScreens() {
        let off = ConnectorRow(.notConnected, connector)
        #expect(
            [off.name, off.status, off.subtitle] == [
                "Apple Calendar", "Not Connected", "View and add events you approve",
            ])
        let on = ConnectorRow(.connected(read: true, write: false), connector)
        #expect([on.status, on.subtitle] == ["Connected", "Syncing your personal calendar"])

        guard case .notConnected(let fresh) = ConnectorScreen(.notConnected, permission: .notDetermined, connector)
        else { return #expect(Bool(false), "not connected") }
        #expect(
            fresh.explanation == "Connect Apple Calendar to let helpem see your schedule and add events you approve.")
        #expect(
            fresh.capabilities.map { "\($0.mark) \($0.text)" }
                == ["✓ View your schedule", "✓ Add accepted events", "✗ Never shared with others"])
        #expect(fresh.button == "Connect Apple Calendar" && fresh.denial == nil && fresh.notice == nil)

        for permission in [CalendarAuthorization.denied, .restricted, .writeOnly] {
            guard case .notConnected(let denied) = ConnectorScreen(.notConnected, permission: permission, connector)
            else { return #expect(Bool(false), "denied") }
            #expect(denied.denial?.message == "Calendar access is disabled in iOS Settings.")
            #expect(denied.denial?.button == "Open Settings")
        }
        guard
            case .notConnected(let ended) = ConnectorScreen(
                .notConnected, permission: .fullAccess, wasDisconnected: true, connector)
        else { return #expect(Bool(false), "ended") }
        #expect(ended.notice == "Apple Calendar disconnected. helpem will no longer access your schedule.")

        guard
            case .connected(let open) = ConnectorScreen(
                .connected(read: true, write: false), permission: .fullAccess, connector)
        else { return #expect(Bool(false), "connected") }
        #expect(open.account == "This device's calendars")
        #expect([open.read.label, open.write.label] == ["Show my calendar in helpem", "Allow helpem to add events"])
        #expect(open.read.isOn && !open.write.isOn)
        #expect(open.manageButton == "Manage iOS Permissions" && open.disconnectButton == "Disconnect Apple Calendar")
    }

    @Test("The setup of office days offers calendars that can be written, the first one unless another is chosen")
    func officeSetup() {
        var settings = OfficeSettings()
        let calendars = [
            StoreCalendar(id: "h", title: "Holidays", canWrite: false),
            StoreCalendar(id: "p", title: "Personal", color: "#0000FF"), StoreCalendar(id: "w", title: "Work Calendar"),
        ]
        func screen(_ chosen: String?, _ calendars: [StoreCalendar]) -> OfficeSetupScreen {
            OfficeSetupScreen(calendars, chosen: chosen, settings: settings, OfficeDayTexts())
        }
        #expect(screen(nil, calendars).choices.map(\.id) == ["p", "w"])
        #expect(screen(nil, calendars).choices.map(\.isChosen) == [true, false])
        #expect(screen("gone", calendars).choices.map(\.isChosen) == [true, false])
        #expect(
            screen("w", calendars).preview
                == "Preview: “Office Day” (Timed 9–5) will be created in Work Calendar.")
        settings.eventType = .allDay
        #expect(
            screen(nil, []).preview == "Preview: “Office Day” (All-day) will be created in In Office Days.")
        #expect(screen(nil, []).skip == "Skip")
        settings.eventType = .timed
        settings.officeHours = OfficeHours(start: 8 * 60 + 5, end: 12 * 60) ?? .usual
        #expect(screen("w", calendars).preview?.contains("(Timed 8:05–12)") == true)
    }

    @Test("Titles show as they will be, are checked as a person counts, and come back by reset")
    func officeSettings() {
        var screen = OfficeSettingsScreen(OfficeSettings())
        screen.settings.enabled = true
        screen.settings.target = .device
        screen.settings.officeTitle = "  At the office  "
        #expect(screen.officePreview == "At the office")
        screen.showsAsBusy = true
        #expect(screen.settings.availability == .busy)
        screen.settings.remoteTitle = "   "
        #expect(screen.faults { _ in true }.map(\.pointer) == ["/remoteTitle"])
        screen.settings.remoteTitle = String(repeating: "👩‍👩‍👧", count: 50)
        #expect(screen.faults { _ in true }.isEmpty)
        screen.settings.remoteTitle += "a"
        #expect(screen.faults { _ in true }.map(\.code) == [.tooLong])
        screen.reset()
        var expected = OfficeSettings()
        (expected.enabled, expected.target) = (true, .device)
        #expect(screen.settings == expected)
    }

    @Test("The overview shows two weeks, and a banner with its action when the calendar cannot be written")
    func officeOverview() throws {
        var settings = OfficeSettings()
        (settings.enabled, settings.target) = (true, .device)
        let context = OfficeContext { FoundationClock(identifier: $0) }
        var log = OfficeLog(seed: "a seed")
        // 2026-01-19, a Monday.
        let now = 20_472 * 86_400 + 36_000
        _ = log.change(to: settings, now: now, context)
        let calendars = [
            StoreCalendar(id: "r", title: "Read", canWrite: false), StoreCalendar(id: "w", title: "Write"),
        ]
        let open = ConnectorStatus.connected(read: true, write: true)
        func overview(_ status: ConnectorStatus, _ calendar: String?) -> OfficeOverviewScreen {
            let problem = OfficeProblem(status, calendars: calendars, calendarID: calendar)
            return OfficeOverviewScreen(log, problem: problem, now: now, context)
        }
        #expect(overview(open, "w").banner == nil && overview(open, "w").state == .active)
        #expect(
            overview(open, "w").preview.map(\.status) == Array("rrrrr--rrrrr--").map { $0 == "r" ? .remote : .none })
        #expect(overview(.connected(read: true, write: false), "w").banner?.action == .openConnectors)
        #expect(
            OfficeProblem(.notConnected, calendars: calendars, calendarID: "w", permission: .fullAccess) == .switchedOff
        )
        let revoked = overview(.notConnected, "w")
        #expect(revoked.state == .paused)
        #expect(revoked.banner?.text == "Calendar sync paused — permission revoked. Fix")
        #expect(revoked.banner?.action == .openSettings)
        #expect(revoked.preview.count == 14)
        #expect(overview(open, "gone").banner?.action == .chooseCalendar)
        #expect(overview(open, "r").banner?.problem == .calendarReadOnly)
    }
}
