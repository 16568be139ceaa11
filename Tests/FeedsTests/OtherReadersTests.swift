// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Readers that nobody here wrote")
struct OtherReadersTests {
    /// An event that was stored, in the terms of `read_feed.py`.
    private struct Expected: Codable, Hashable {
        var uid: String
        var summary: String
        var start: String
        var end: String
        var description: String?
        var alarms: [Int]
    }

    @Test(
        "icalendar and Home Assistant's ical read every title, time and reminder as it was put in",
        .enabled(if: Programs.python != nil), arguments: ["icalendar", "ical"])
    func libraries(reader: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var expected: [Expected] = []
            func put(
                _ collection: String, _ id: String, _ value: JSONValue, _ title: String, _ start: String, _ end: String
            ) async throws {
                try await server.put(collection, id, value)
                let uid = try #require(
                    try await server.call(.get, "/v1/circles/c/\(collection)/\(id)").json["uid"]?.string)
                expected.append(
                    Expected(
                        uid: uid, summary: title, start: start, end: end, description: value["notes"]?.string,
                        alarms: Set(value["reminders"]?.array?.compactMap(\.integer) ?? []).sorted()))
            }
            let titles = [
                "Plain", "Comma, semicolon; colon: backslash \\ quote \"", "Ärzte 👩🏽‍⚕️ および 医者", "\\n is no line break",
                String(repeating: "long ", count: 60) + "end", "Tab\there",
            ]
            let zones = [
                "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca",
                "America/St_Johns",
            ]
            for (index, title) in titles.enumerated() {
                // On both sides of the changes of spring, in zones of every kind.
                for (month, day) in [("03", "05"), ("06", "15"), ("11", "20")] {
                    let instant = try #require(Instant(rfc3339: "2026-\(month)-\(day)T15:30:00Z"))
                    let end = instant.adding(seconds: 30 * 60).description
                    try await put(
                        "tasks", "t\(index)-\(month)",
                        [
                            "title": .string(title), "dueAt": .string(instant.description),
                            "timeZone": .string(zones[index]),
                            "reminders": [0, 10, 1440], "notes": .string("Notes: \(title)\nsecond line"),
                        ], "CK: \(title)", instant.description, end)
                }
            }
            try await put(
                "shifts", "s1",
                ["patientId": "mom", "ownerId": "ben", "startDate": "2026-03-05", "endDate": "2026-03-08"],
                "CK Shift: Mom - Ben", "2026-03-05", "2026-03-09")
            try await put(
                "appointments", "a1",
                ["patientId": "dad", "provider": "Dr. Wu", "startAt": "2026-04-05T02:30:00Z", "reminders": [30]],
                "CK Appt: Dad - Dr. Wu", "2026-04-05T02:30:00Z", "2026-04-05T03:30:00Z")
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let file = server.folder.appending(path: "feed.ics")
            try Data(feed.body).write(to: file)
            let script = packageRoot.appending(path: "Tests/FeedsTests/Oracles/read_feed.py").path
            let result = try await runProgram(try #require(Programs.python), [script, reader, file.path])
            #expect(result.status == 0, "\(result.error)")
            let read = try result.output.split(separator: "\n").map {
                try JSONDecoder().decode(Expected.self, from: Data($0.utf8))
            }
            #expect(read.count == expected.count)
            let byUID = Dictionary(uniqueKeysWithValues: read.map { ($0.uid, $0) })
            for entry in expected { #expect(byUID[entry.uid] == entry) }
        }
    }

    @Test(
        "vdirsyncer and khal subscribe to the demo's address and list its events",
        .enabled(if: Programs.vdirsyncer != nil && Programs.khal != nil))
    func clients() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let welcome = try await server.kalends(["welcome"])
        let url = try #require(
            welcome.output.split(separator: "\n").first { $0.contains("http://") && $0.contains("/feeds/") }
        )
        .trimmingCharacters(in: .whitespaces)
        let home = server.folder.appending(path: "home")
        try FileManager.default.createDirectory(at: home.appending(path: "calendar"), withIntermediateDirectories: true)
        let address = url.replacing("localhost", with: "127.0.0.1")
        try Data(
            """
            [general]
            status_path = "\(home.path)/status/"
            [pair demo]
            a = "local"
            b = "feed"
            collections = null
            [storage local]
            type = "filesystem"
            path = "\(home.path)/calendar"
            fileext = ".ics"
            [storage feed]
            type = "http"
            url = "\(address)"

            """.utf8
        ).write(to: home.appending(path: "vdirsyncer"))
        try Data(
            """
            [calendars]
            [[demo]]
            path = \(home.path)/calendar
            [locale]
            timeformat = %H:%M
            dateformat = %Y-%m-%d
            longdateformat = %Y-%m-%d
            datetimeformat = %Y-%m-%d %H:%M
            longdatetimeformat = %Y-%m-%d %H:%M
            local_timezone = America/Los_Angeles
            default_timezone = America/Los_Angeles
            [sqlite]
            path = \(home.path)/khal.db

            """.utf8
        ).write(to: home.appending(path: "khal"))
        // Debian's programs run on Debian's Python, whatever else the caller's environment holds.
        let environment = [
            "HOME": home.path, "XDG_CONFIG_HOME": home.path,
            "VDIRSYNCER_CONFIG": home.appending(path: "vdirsyncer").path,
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONPATH": "",
        ]
        let vdirsyncer = try #require(Programs.vdirsyncer)
        for command in [["discover"], ["sync"]] {
            let result = try await runProgram(vdirsyncer, command, environment: environment, input: "y\ny\n")
            #expect(result.status == 0, "\(result.error)\(result.output)")
        }
        let feed = try await server.kalends(["export", "--circle", "rivera-family"]).output
        let uids = Set(feed.components(separatedBy: "\r\n").filter { $0.hasPrefix("UID:") })
        let files = try FileManager.default.contentsOfDirectory(atPath: home.appending(path: "calendar").path)
        #expect(files.count > 30)
        #expect(files.count <= uids.count)
        let listed = try await runProgram(
            try #require(Programs.khal),
            ["--config", home.appending(path: "khal").path, "list", "--format", "{title}", "today", "30d"],
            environment: environment)
        #expect(listed.status == 0, "\(listed.error)")
        #expect(listed.output.contains("CK: "))
        #expect(listed.output.contains("CK Shift: "))
        #expect(listed.output.contains("CK Appt: "))
        _ = await server.stop()
    }
}
