// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import PhoneTexts
import Testing

/// The documents from which the texts come; they are beside the project and not part of it.
private enum Source {
    static let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared")

    /// Returns a document in which every run of white space is one blank.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            .replacing(/\s+/, with: " ").replacing("> ", with: "")
    }

    static var exists: Bool { FileManager.default.fileExists(atPath: folder.appending(path: "seeds").path) }
}

@Suite("Phones: words for a person")
struct PhoneTextsTests {
    private let connector = ConnectorTexts(app: "helpem")

    @Test("The connector says what its specification says, word for word", .enabled(if: Source.exists))
    func connectorWords() throws {
        let text = try Source.text("seeds/apple-calendar-connector.md")
        let words =
            [
                connector.menu, connector.name, connector.subtitle(isConnected: true),
                connector.subtitle(isConnected: false), connector.status(isConnected: true),
                connector.status(isConnected: false), connector.explanation, connector.connect, connector.disconnect,
                connector.account, connector.readToggle, connector.writeToggle, connector.managePermissions,
                connector.denied, connector.openSettings, connector.disconnected,
                "toggle only controls usage, not permission; permission is managed by iOS",
            ] + connector.capabilities.map { "\($0.mark) \($0.text)" }
        for word in words { #expect(text.contains(word), "\(word)") }
        #expect(
            connector.writeNote.contains("toggle only controls usage, not permission; permission is managed by iOS"))
    }

    @Test("The companion says what its specification says, word for word", .enabled(if: Source.exists))
    func companionWords() throws {
        let text = try Source.text("seeds/timesense-companion.md")
        let companion = CompanionTexts(app: "TimeSense")
        let words =
            [
                companion.welcome, companion.proceed, companion.header, companion.subtext, companion.syncNow,
                companion.lastSync("<time>"), companion.window(past: 7, future: 30), companion.serverURL,
                companion.settings,
            ] + SyncProblem.allCases.map(\.text)
        for word in words { #expect(text.contains(word), "\(word)") }
        // `Events synced: <count>`, with a number in place of the mark.
        #expect(text.contains(companion.eventsSynced(0).replacing("0", with: "<count>")))
    }

    @Test("Office days say what their specification says, word for word", .enabled(if: Source.exists))
    func officeDayWords() throws {
        let text = try Source.text("seeds/in-office-days.md")
        let office = OfficeDayTexts()
        for word in [
            office.title, office.setupTitle, office.chooseCalendar, office.skip, office.proceed, office.enable,
            office.selectedCalendar, office.eventTitles, office.officeEvent, office.remoteEvent, office.eventType,
            office.allDay, office.timed, office.availability, office.showAsBusy, office.timeZoneMode,
            office.deviceZone, office.homeOfficeZone, office.remoteWork, office.createRemoteEvents, office.reset,
            office.fallbackCalendar, office.usage,
            office.preview(title: "Office Day", kind: "Timed 9–5", calendar: "Work Calendar"),
        ] { #expect(text.contains(word), "\(word)") }
    }

    @Test("The contract's table has the same words", .enabled(if: Source.exists))
    func contractWords() throws {
        let text = try Source.text("contract-sync.md")
        let (app, companion) = (ConnectorTexts(app: "(app)"), CompanionTexts(app: "(app)"))
        let words =
            [
                app.subtitle(isConnected: true), app.subtitle(isConnected: false), app.explanation, app.connect,
                app.disconnect, app.account, app.managePermissions, app.denied, app.openSettings, app.disconnected,
                companion.welcome, companion.subtext,
            ] + SyncProblem.allCases.map(\.text)
        for word in words { #expect(text.contains(word), "\(word)") }
    }

    @Test("Only the app's name changes from app to app")
    func names() {
        let other = ConnectorTexts(app: "Kalends")
        #expect(other.explanation == connector.explanation.replacing("helpem", with: "Kalends"))
        #expect(other.disconnected == connector.disconnected.replacing("helpem", with: "Kalends"))
        #expect(other.connect == connector.connect)
    }
}
