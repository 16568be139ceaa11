// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Storage
import TestSupport
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The connections' pages")
struct ConnectionPageTests {
    private static let sync = "/app/circles/c/calendar-sync"

    private static func api(_ server: TestServer, _ id: String) async throws -> JSONValue {
        try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
    }

    @Test("A connection begins with a button, asks for its account, and keeps what was typed but the password")
    func begin() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open(Self.sync).expect(200)
            // Those that the operator has not set up are named with what is missing.
            #expect(page.text.contains("KALENDS_GOOGLE_CLIENT_ID"))
            let first = try await ann.send(page, to: "/app/circles/c/connections", ["provider": "caldav"]).expect(200)
            let target = try #require(ann.history.last)
            #expect(target.hasPrefix("/app/circles/c/connections/") && first.text.contains("name=\"password\""))
            let wrong = try await ann.send(
                first, to: target + "/account",
                ["url": "https://127.0.0.1/", "username": "jane", "password": "of-the-test"])
            try wrong.expect(422)
            #expect(wrong.text.contains("value=\"https://127.0.0.1/\"") && wrong.text.contains("value=\"jane\""))
            #expect(!wrong.text.contains("of-the-test") && !server.log.text.contains("of-the-test"))
            let empty = try await ann.send(wrong, to: target + "/account", ["url": "", "password": ""])
            try empty.expect(422)
            // The same provider again leads to the connection that is there.
            _ = try await ann.send(page, to: "/app/circles/c/connections", ["provider": "caldav"])
            #expect(ann.history.last == target)
            let token = try #require(HTMLForm.all(in: page.text).first?.token)
            try await ann.post("/app/circles/c/connections", [("token", token), ("provider", "google")]).expect(422)
            try await ann.post("/app/circles/c/connections", [("token", token), ("provider", "x")]).expect(422)
        }
    }

    @Test(
        "Nothing leaves before its person said what may, and the set-up goes on where it was left",
        .enabled(if: Programs.python != nil))
    func setUp() async throws {
        let host = try await CalDAVHost("radicale")
        defer { host.stop() }
        var settings = ServerSettings()
        settings.connections.privateCaldavHosts = [host.host]
        let clock = TestClock(Int(Date().timeIntervalSince1970 * 1000))
        try await TestServer.withPasswords(clock: clock, settings: settings) { server in
            try await server.put(
                "appointments", "a",
                [
                    "patientId": "mom", "provider": "Dr. Lee", "notes": "Of the stomach",
                    "startAt": .string(clock.winterTime(day: 5, hour: 9)),
                ])
            let sync = server.services.connectionSync(Logger(label: "t") { _ in server.log })
            let ann = try await Browser.signedIn("ann", server)
            var page = try await ann.open(Self.sync).expect(200)
            page = try await ann.send(page, to: "/app/circles/c/connections", ["provider": "caldav"]).expect(200)
            let target = try #require(ann.history.last)
            page = try await ann.send(
                page, to: target + "/account",
                ["url": host.address, "username": CalDAVHost.username, "password": CalDAVHost.password]
            ).expect(200)
            page = try await ann.send(page, to: target + "/calendar", ["calendarId": "", "name": "Ours"]).expect(200)
            #expect(ann.history.last == target + "?step=content")
            let id = try #require(target.split(separator: "/").last.map(String.init))
            #expect(try await Self.api(server, id)["state"] == "paused")
            let person = CalDAVPerson(
                host: host, calendar: try #require(try await Self.api(server, id)["calendarId"]?.string))
            try await sync.once()
            #expect(try await person.resources().isEmpty)
            // Whoever went away in between is led on.
            let list = try await ann.open(Self.sync).expect(200)
            #expect(list.text.contains("Set-up not finished") && list.text.contains("Finish set-up"))
            page = try await ann.open(target).expect(200)
            #expect(page.text.contains("Choose what is synced to go on.") && page.text.contains("name=\"first\""))
            page = try await ann.send(page, to: target + "/settings", ["detail": "titles"]).expect(200)
            #expect(ann.history.last == target + "?new=1")
            #expect(page.text.contains("Calendar connected. Events will sync within 15 minutes."))
            try await sync.once()
            let there = try await person.resources()
            #expect(there.count == 1 && !there[0].text.contains("stomach") && there[0].text.contains("Dr. Lee"))
            #expect(try await Self.api(server, id)["state"] == "active")
            // Another calendar later on is no set-up: it is in step at once.
            page = try await ann.open(target + "?step=calendar").expect(200)
            page = try await ann.send(page, to: target + "/calendar", ["calendarId": "", "name": "Other"]).expect(200)
            #expect(try await Self.api(server, id)["state"] == "active")
        }
    }

    @Test(
        "A connection that is paused before its first sync has ended is paused, and its set-up is not asked for again")
    func pausedEarly() async throws {
        try await TestServer.withPasswords { server in
            let id = try await server.connect()
            let path = "/app/circles/c/connections/\(id)"
            let ann = try await Browser.signedIn("ann", server)
            var page = try await ann.send(try await ann.open(path).expect(200), to: path + "/sync").expect(200)
            page = try await ann.send(page, to: path + "/pause").expect(200)
            #expect(!page.text.contains("name=\"first\"") && page.text.contains("/resume\""))
            let list = try await ann.open(Self.sync).expect(200)
            #expect(list.text.contains("Paused") && !list.text.contains("Set-up not finished"))
        }
    }

    @Test("A connection is paused, resumed, changed, run and ended by its page's forms")
    func life() async throws {
        try await TestServer.withPasswords { server in
            let id = try await server.connect()
            let now = server.clock.now
            try await server.services.store.record { transaction in
                var own = try #require(try transaction.connection(id))
                own.lastSyncAt = now
                try transaction.recordConnection(own)
            }
            let path = "/app/circles/c/connections/\(id)"
            let ann = try await Browser.signedIn("ann", server)
            var page = try await ann.open(path).expect(200)
            page = try await ann.send(page, to: path + "/pause").expect(200)
            #expect(page.text.contains("Syncing is paused.") && ann.history.last == path + "?done=connectionPaused")
            #expect(try await Self.api(server, id)["state"] == "paused")
            page = try await ann.send(page, to: path + "/resume").expect(200)
            #expect(try await Self.api(server, id)["state"] == "active")
            page = try await ann.send(page, to: path + "/settings", ["kinds": "shift"]).expect(200)
            page = try await ann.send(
                page, to: path + "/settings", ["label": "Work", "twoWay": nil, "syncIntervalMinutes": "30"]
            ).expect(200)
            let changed = try await Self.api(server, id)
            #expect(changed["label"] == "Work" && changed["isTwoWay"] == false)
            #expect(changed["config"]?["syncTasks"] == false && changed["config"]?["syncShifts"] == true)
            #expect(changed["config"]?["syncIntervalMinutes"] == 30)
            let wrong = try await ann.send(page, to: path + "/settings", ["syncIntervalMinutes": "1"])
            try wrong.expect(422)
            #expect(wrong.text.contains("href=\"#connection-other-syncIntervalMinutes\""))

            page = try await ann.open(path)
            page = try await ann.send(page, to: path + "/sync").expect(200)
            let runs = try await server.call(.get, "/v1/connections/\(id)/runs", as: "ann").expect(200)
            #expect(runs.json["items"]?.array?.first?["trigger"] == "manual")
            let progress = try await ann.open(path + "/progress").expect(200)
            #expect(progress.json["done"] == false && progress.json["progress"] == .null)
            #expect(progress.headers[.cacheControl] == "no-store")
            try await server.raw(.get, path + "/progress").expect(401)

            page = try await ann.open(path + "?ask=disconnect").expect(200)
            _ = try await ann.send(page, to: path + "/delete", ["events": "keep"]).expect(200)
            #expect(ann.history.last == Self.sync + "?done=disconnected")
            try await ann.open(path).expect(404)
        }
    }

    @Test("Only their owner lists and undoes runs, and sees both sides of conflicts and leaves them as they are")
    func records() async throws {
        try await TestServer.withPasswords { server in
            let id = try await server.connect()
            try await SyncSamples.put(in: server, of: id, now: server.clock.now)
            let path = "/app/circles/c/connections/\(id)"
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open(path).expect(200)
            #expect(page.text.contains("4 added") && page.text.contains(path + "/runs/run-\(id)/undo"))
            var conflicts = try await ann.open("/app/circles/c/conflicts").expect(200)
            for text in ["CK Appt: Mom - Dr. Lee", "Room 4", "\"keep\" value=\"kalends\"", "\"keep\" value=\"both\""] {
                #expect(conflicts.text.contains(text), "\(text)")
            }
            // Somebody else has none of it.
            let ben = try await Browser.signedIn("ben", server)
            let token = try #require(HTMLForm.all(in: try await ben.open(Self.sync).text).first?.token)
            try await ben.open(path).expect(404)
            let none = try await ben.open("/app/circles/c/conflicts").expect(200)
            #expect(none.text.contains("No conflicts"))
            for form in [
                "\(path)/pause", "\(path)/sync", "\(path)/authorize", "\(path)/account", "\(path)/calendar",
                "\(path)/settings", "\(path)/delete", "\(path)/runs/run-\(id)/approve", "\(path)/runs/run-\(id)/undo",
                "/app/circles/c/conflicts/conflict-\(id)/resolve", "/app/circles/c/conflicts/conflict-\(id)/dismiss",
            ] {
                let answer = try await ben.post(form, [("token", token), ("keep", "kalends")])
                #expect(answer.status == 404, "\(form) → \(answer.status)")
            }
            conflicts = try await ann.send(
                conflicts, to: "/app/circles/c/conflicts/conflict-\(id)/dismiss"
            ).expect(200)
            #expect(ann.history.last == "/app/circles/c/conflicts?done=conflictDismissed")
            let decided = try await server.call(.get, "/v1/conflicts/conflict-\(id)", as: "ann").expect(200)
            #expect(decided.json["state"] == "resolved" && decided.json["outcome"] == "dismissed")
            let undone = try await ann.send(page, to: path + "/runs/run-\(id)/undo").expect(200)
            #expect(undone.text.contains("data-progress=\"\(path)/progress\""))
        }
    }

    @Test("A run that waits says why: only one that would delete events speaks of that", arguments: [0, 12])
    func waiting(deletions: Int) async throws {
        try await TestServer.withPasswords { server in
            let (id, now) = (try await server.connect(), server.clock.now)
            var run = RunRecord(id: "run-1", trigger: .schedule, startedAt: Instant(milliseconds: now))
            let cause: Hold.Cause = deletions > 0 ? .deletions : .missing
            let hold = Hold(causes: [cause], deletions: deletions, missing: 12 - deletions)
            (run.state, run.held, run.error) = (.held, hold, hold.sentence)
            let text = try SyncContent.text(run)
            try await server.services.store.record { [run] transaction in
                try transaction.putSyncRun(
                    SyncRunRow(id: run.id, connectionID: id, state: .held, startedAt: now, content: text),
                    RunCounts(isSuccess: false, writes: 0, errors: 0), now: now)
            }
            let ann = try await Browser.signedIn("ann", server)
            for path in [Self.sync, "/app/circles/c/connections/\(id)"] {
                let page = try await ann.open(path).expect(200).text
                #expect(page.contains("12 events would be deleted") == (deletions > 0), "\(path)")
                #expect(page.contains(hold.sentence) || deletions > 0, "\(path)")
                #expect(!page.contains("0 events would"), "\(path)")
            }
        }
    }

    @Test("The page of conflicts shows the latest of all connections, and little of long notes")
    func longConflicts() async throws {
        try await TestServer.withPasswords { server in
            let ids = [try await server.connect(label: "a"), try await server.connect(label: "b")]
            let start = server.clock.now
            let notes = String(repeating: "\"", count: 64_000)
            for (index, id) in ids.enumerated() {
                let rows = try (0..<80).map { number in
                    let at = Instant(seconds: start / 1000 + number * 2 + index)
                    let entry = Entry(
                        title: "Event \(index)-\(number).", notes: notes,
                        span: .timed(start: at, end: at.adding(seconds: 3600), zone: "Europe/Vienna"))
                    let conflict = ConflictRecord(
                        id: "f\(index)-\(number)", item: ItemKey(.tasks, "t\(number)"), at: at, kind: .bothChanged,
                        fields: [], ours: entry, theirs: entry, state: .open)
                    return try SyncConflictRow(conflict, of: id)
                }
                try await server.services.store.record { transaction in
                    for row in rows { try transaction.putSyncConflict(row, now: start) }
                }
            }
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/circles/c/conflicts").expect(200)
            #expect(page.text.utf8.count < 4_000_000)
            for name in ["Event 0-79.", "Event 1-79.", "Event 0-30.", "Event 1-30."] {
                #expect(page.text.contains(name), "\(name)")
            }
            #expect(!page.text.contains("Event 0-29.") && !page.text.contains("Event 1-29."))
        }
    }

    @Test("A sign-in at a provider leaves to its page by one that goes on by itself, and comes back")
    func authorize() async throws {
        var settings = ServerSettings()
        settings.connections.googleClientID = "g.apps.example"
        settings.connections.googleClientSecret = Concealed("of the test")
        try await TestServer.withPasswords(settings: settings) { server in
            let ann = try await Browser.signedIn("ann", server)
            let sync = try await ann.open(Self.sync)
            let page = try await ann.send(sync, to: "/app/circles/c/connections", ["provider": "google"]).expect(200)
            let target = try #require(ann.history.last)
            #expect(page.headers[.contentSecurityPolicy]?.contains("form-action 'self';") == true)
            let away = try await ann.send(page, to: target + "/authorize", follows: false).expect(200)
            let address = try away.onward
            #expect(address.hasPrefix("https://accounts.google.com/o/oauth2/v2/auth?"))
            #expect(away.headers[.referrerPolicy] == "same-origin" && away.headers[.cacheControl] == "no-store")
            #expect(away.text.contains("You sign in at Google Calendar, and come back here."))
            let state = try #require(address.firstMatch(of: /[?&]state=([^&]+)/)?.1)
            let back = try await ann.open("/v1/connections/callback?state=\(state)&error=access_denied")
            #expect(ann.history.last?.hasPrefix(target + "?connection=") == true)
            #expect(back.status == 200 && back.text.contains("You refused at the provider"))
        }
    }
}
