// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import PhoneTexts
import TestSupport
import Testing

/// Returns a document from which the texts come, in which every run of white space is one blank.
private func source(_ name: String) throws -> String {
    try String(contentsOf: try #require(Corpora.find(name)), encoding: .utf8)
        .replacing(/\s+/, with: " ").replacing("> ", with: "")
}

@Suite("Phones: words for a person")
struct PhoneTextsTests {
    private let connector = ConnectorTexts(app: "helpem")

    @Test("The connector says what its specification says, word for word", .needsCorpora("apple-calendar-connector.md"))
    func connectorWords() throws {
        let text = try source("apple-calendar-connector.md")
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

    @Test("The companion says what its specification says, word for word", .needsCorpora("timesense-companion.md"))
    func companionWords() throws {
        let text = try source("timesense-companion.md")
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

    @Test("Office days say what their specification says, word for word", .needsCorpora("in-office-days.md"))
    func officeDayWords() throws {
        let text = try source("in-office-days.md")
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

    @Test("Only the app's name changes from app to app")
    func names() {
        let other = ConnectorTexts(app: "Kalends")
        #expect(other.explanation == connector.explanation.replacing("helpem", with: "Kalends"))
        #expect(other.disconnected == connector.disconnected.replacing("helpem", with: "Kalends"))
        #expect(other.connect == connector.connect)
    }
}
