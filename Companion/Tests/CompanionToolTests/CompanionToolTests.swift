// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Base
import Foundation
import KalendsCompanion
import PhoneTexts
import Testing

@testable import CompanionTool

@Suite("kalends-companion: files, locks and what it prints")
struct CompanionToolTests {
    private let home = FileManager.default.temporaryDirectory.appending(path: "companion-\(UUID().uuidString)")

    @Test("Files lie below the XDG folders, and a relative one counts for nothing")
    func paths() {
        let usual = ToolPaths(environment: [:], home: home)
        #expect(usual.configuration.path == home.appending(path: ".config/kalends-companion").path)
        #expect(usual.state.path == home.appending(path: ".local/state/kalends-companion").path)
        let named = ToolPaths(environment: ["XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"], home: home)
        #expect(named.token.url.path == "/c/kalends-companion/token.json")
        #expect(named.engine.path == "/s/kalends-companion/engine.json")
        #expect(ToolPaths(environment: ["XDG_CONFIG_HOME": "c"], home: home).configuration == usual.configuration)
        #expect(ToolPaths(environment: ["HOME": home.path]).token.url.path == usual.token.url.path)
    }

    @Test("A token is in a file that only its owner reads, in a folder of the same kind, and another mode is refused")
    func token() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let paths = ToolPaths(environment: [:], home: home)
        try paths.token.write(StoredToken(kind: .device, token: "hidden"))
        func mode(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try mode(paths.token.url) == 0o600)
        #expect(try mode(paths.configuration) == 0o700)
        try CompanionContext.checkMode(paths.token.url)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: paths.token.url.path)
        #expect(throws: ToolFailure.self) { try CompanionContext.checkMode(paths.token.url) }
        // Another token takes the place of the first one, with the right mode again.
        try paths.token.write(StoredToken(kind: .planned, token: "other"))
        #expect(try mode(paths.token.url) == 0o600)
        #expect(try paths.token.read()?.token == "other")
    }

    @Test("A home that was copied to another machine is another installation")
    func installation() throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let paths = ToolPaths(environment: [:], home: home)
        let here = try paths.installation(machine: "this")
        #expect(try paths.installation(machine: "this") == here)
        #expect(try paths.installation(machine: "that") != here)
        #expect(
            try ToolPaths(environment: [:], home: home.appending(path: "other")).installation(machine: "this") != here)
    }

    @Test("Choices become the engine's settings; what nobody chose is the engine's own")
    func choices() throws {
        var choices = Choices(server: try ServerAddress("https://example.org"), folder: "/calendars")
        let usual = CompanionSettings(deviceID: "", serverURL: "https://example.org")
        #expect(choices.settings == usual && choices.summary == nil)
        (choices.own, choices.mirror, choices.patience) = (["home"], "circle", 7)
        #expect(choices.settings.ownCalendars == ["home"])
        #expect(choices.settings.mirrorCalendar == "circle")
        #expect(choices.settings.deletionPatience == 7_000)
        #expect(choices.settings.futureDays == usual.futureDays)
        choices.planned = ["work", "home"]
        #expect(choices.summary == "home (own, planned), work (planned), circle (mirror)")
        let data = try JSONEncoder().encode(choices)
        #expect(try JSONDecoder().decode(Choices.self, from: data) == choices)
    }

    @Test("Two syncs take turns, and one that waits too long reports it")
    func lock() async throws {
        defer { try? FileManager.default.removeItem(at: home) }
        let file = home.appending(path: "state/lock")
        let (entered, entering) = AsyncStream<Void>.makeStream()
        let (gate, opener) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await RunLock.hold(file) {
                entering.finish()
                for await _ in gate {}
            }
        }
        for await _ in entered {}
        await #expect(throws: ToolFailure.self) {
            try await RunLock.hold(file, patience: .milliseconds(150)) { Issue.record("It had the lock.") }
        }
        opener.finish()
        try await first.value
        #expect(try await RunLock.hold(file, patience: .seconds(5)) { 7 } == 7)
    }

    @Test("Each status has its lines, and times are those of the clock")
    func lines() throws {
        let vienna = try #require(TimeZone(identifier: "Europe/Vienna"))
        var status = SyncStatus()
        func lines(plans: Bool = false) -> [String] { status.lines(plans: plans, zone: vienna) }
        #expect(lines() == ["Last sync: never"])
        var counts = SyncStatus.Counts()
        (counts.sent, counts.written, counts.events, counts.upserted, counts.deleted) = (1, 3, 12, 2, 4)
        status.take(SyncOutcome(endedAt: 1_769_040_000_000, counts: counts))
        #expect(
            lines(plans: true) == [
                "Last sync: 2026-01-22T01:00:00+01:00",
                "Planned: 12 events on the server; 2 added or changed, 4 deleted",
                "Events: 1 change sent to the server, 3 written here",
            ])
        #expect(lines().count == 2)
        status.take(SyncOutcome(endedAt: 1_769_040_000_000, problem: .someFailed, pause: .held))
        #expect(lines().first == "Last sync: 2026-01-22T01:00:00+01:00")
        #expect(lines().contains("Some events failed; retry scheduled."))
        #expect(lines().last?.contains("--approve") == true)
        // The line about the last sync is not about the one that failed.
        status.take(SyncOutcome(endedAt: 1_769_050_000_000, problem: .offline))
        #expect(lines().first == "Last sync that worked: 2026-01-22T01:00:00+01:00")
        #expect(lines().last == "Offline. Sync will retry.")
        for pause in SyncPause.allCases { #expect(pause.sentence.hasSuffix(".")) }
    }

    @Test("The arguments are read as their help says")
    func arguments() throws {
        let login = try #require(
            try CompanionTool.parseAsRoot(["login", "https://example.org", "--folder", "/c", "--planned"]) as? Login)
        #expect(login.planned && login.folder == "/c")
        #expect(throws: (any Error).self) { try CompanionTool.parseAsRoot(["login", "https://example.org"]) }
        #expect(throws: (any Error).self) {
            try CompanionTool.parseAsRoot(["calendars", "--mirror", "a", "--make", "b"])
        }
        #expect(throws: (any Error).self) { try CompanionTool.parseAsRoot(["calendars", "--patience", "-1"]) }
        let calendars = try #require(
            try CompanionTool.parseAsRoot(["calendars", "--own", "a", "--own", "b", "--json"]) as? Calendars)
        #expect(calendars.own == ["a", "b"] && calendars.json)
    }
}
