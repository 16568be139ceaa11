// SPDX-License-Identifier: Apache-2.0

import Foundation
import Server
import Storage
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("The command line")
struct CommandTests {
    @Test("Commands work on the same database with and without a server, through one process")
    func withAndWithoutServer() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let beside = try await server.kalends(["feed", "list", "--json"])
        #expect(beside.status == 0)
        #expect(await server.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: server.database + ".sock"))
        let alone = try await server.kalends(["feed", "list", "--json"])
        #expect(alone.output == beside.output)
        #expect(alone.output.contains("rivera-family"))
    }

    @Test("An id of nothing is wrong use, and not a request for another resource")
    func emptyIdentifiers() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        for arguments in [
            ["feed", "revoke", ""], ["feed", "acknowledge", ""], ["export", "--circle", ""], ["key", "revoke", ""],
            ["connection", "remove", ""], ["sync", "", "--preview"], ["conflict", "list", ""], ["open", "--user", ""],
        ] {
            let result = try await server.kalends(arguments)
            #expect(result.status == 2, "\(arguments): \(result)")
            #expect(result.error.hasPrefix("Error: An id must not be empty."), "\(arguments): \(result.error)")
        }
        _ = await server.stop()
    }

    @Test("Only the key is printed, and it opens the API; the listed keys do not show it")
    func keys() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let made = try await server.kalends(["key", "create", "--name", "app"])
        #expect(made.status == 0)
        let key = made.output.trimmingCharacters(in: .newlines)
        #expect(key.hasPrefix("kal_sk_") && !key.contains("\n"))
        let list = try await server.kalends(["key", "list"])
        #expect(list.output.contains("app") && !list.output.contains(key))
        let answer = try await runProgram(
            "/usr/bin/curl",
            [
                "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(key)",
                "http://127.0.0.1:\(server.port)/v1/circles",
            ])
        #expect(answer.output == "200")
        _ = await server.stop()
    }

    @Test("Two servers never run on one database; the second says why")
    func secondServer() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let second = try await server.kalends(["serve", "--port", "0"])
        #expect(second.status == 3)
        #expect(second.error.contains("k.sqlite.lock"))
        #expect(try await server.kalends(["restore", "/nonexistent"]).status == 3)
        _ = await server.stop()
    }

    @Test("A port in use is reported in a sentence, at once")
    func portInUse() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let other = server.folder.appending(path: "other.sqlite").path
        let second = try await runProgram(
            Programs.kalends, ["serve", "--port", "\(server.port)", "--database", other])
        #expect(second.status == 3)
        #expect(
            second.error == """
                127.0.0.1:\(server.port) cannot be listened on: Address already in use. Stop what listens there, or set \
                another port.

                """)
        _ = await server.stop()
    }

    @Test("The demo is loaded once; its address is not in the server's output, and welcome prints the key once")
    func demo() async throws {
        let server = try await RunningServer(["--demo"])
        let first = try await server.kalends(["welcome"])
        #expect(first.status == 0)
        let url = try #require(
            first.output.split(separator: "\n").first { $0.contains("/feeds/") }?.trimmingCharacters(in: .whitespaces))
        let token = try #require(url.split(separator: "/").dropLast().last)
        #expect(first.output.contains("kal_sk_"))
        #expect(first.output.contains("webcal://"))
        let log = String(decoding: FileManager.default.contents(atPath: server.logFile) ?? Data(), as: UTF8.self)
        #expect(!log.contains(token) && !log.contains("kal_sk_"))
        #expect(await server.stop() == 0)
        let again = try await RunningServer(["--demo"], folder: server.folder)
        defer { again.remove() }
        let second = try await again.kalends(["welcome"])
        #expect(second.output.contains(token))
        #expect(!second.output.contains("kal_sk_"))
        #expect(second.output.contains("kalends key create --name NAME"))
        #expect(await again.stop() == 0)
        let alone = try await again.kalends(["welcome"])
        #expect(alone.status == 3 && alone.error.contains("No server runs on"), "\(alone.error)")
    }

    @Test("What was acknowledged is there after kill -9, the count too")
    func killed() async throws {
        let server = try await RunningServer(["--demo"])
        let reveal = try await server.kalends(["welcome"])
        let line = try #require(
            reveal.output.split(separator: "\n").first { $0.contains("http://") && $0.contains("/feeds/") })
        let path = try #require(URL(string: line.trimmingCharacters(in: .whitespaces))?.path)
        for _ in 0..<25 {
            let read = try await runProgram(
                "/usr/bin/curl",
                ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(server.port)\(path)"])
            #expect(read.output == "200")
        }
        await server.kill()
        let again = try await RunningServer(folder: server.folder)
        defer { again.remove() }
        let feeds = try await again.kalends(["feed", "list", "--json"])
        let feed = try JSONValue(parsing: Array(feeds.output.split(separator: "\n")[0].utf8))
        #expect(feed["accessCount"] == 25)
        #expect(try await again.kalends(["doctor"]).status == 0)
        _ = await again.stop()
    }

    @Test("A backup is whole and can be restored; it never overwrites")
    func backup() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let file = server.folder.appending(path: "copy.sqlite").path
        let made = try await server.kalends(["backup", file])
        #expect(made.status == 0, "\(made.error)")
        #expect(made.output.contains("k.sqlite.key"))
        #expect(try await server.kalends(["backup", file]).status == 3)
        let before = try await server.kalends(["export", "--circle", "rivera-family"]).output
        #expect(before.contains("BEGIN:VEVENT"))
        _ = await server.stop()
        let id = try await Self.id(of: server.database)
        let restored = try await server.kalends(["restore", file])
        #expect(restored.status == 0, "\(restored.error)")
        #expect(try await server.kalends(["export", "--circle", "rivera-family"]).output == before)
        // What calendar apps knew of the state before is void.
        let other = try await Self.id(of: server.database)
        #expect(id != nil && other != nil)
        #expect(id != other)
    }

    private static func id(of database: String) async throws -> String? {
        let store = try Engine.open(database, true)
        let id = try await store.read { try $0.databaseID() }
        try store.close()
        return id
    }

    @Test("Import previews, commits, and is idempotent on the command line")
    func importing() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let file = "Samples/exports/apple-export.ics"
        let again = try await server.kalends(["import", file, "--circle", "rivera-family", "--preview"])
        #expect(again.output.contains("6 would stay the same"), "\(again.output)\(again.error)")
        #expect(again.output.contains("Nothing was changed"))
        let missing = try await server.kalends(["import", file, "--circle", "nobody"])
        #expect(missing.status == 1)
        #expect(missing.error.contains("no such circle"))
        let html = try await server.kalends(
            ["import", "-", "--circle", "rivera-family"], input: "<html><body>Sign in</body></html>")
        #expect(html.status == 1)
        // Once: the fault of a file as a whole is the refusal itself.
        #expect(html.error.split(separator: "web page", omittingEmptySubsequences: false).count == 2, "\(html.error)")
        #expect(!html.error.contains("/line/0"))
        _ = await server.stop()
    }

    @Test("Wrong use ends with 2, a missing file with 3, a faulty one with 1")
    func statuses() async throws {
        #expect(try await runProgram(Programs.kalends, ["check"]).status == 2)
        #expect(try await runProgram(Programs.kalends, ["no-such-command"]).status == 2)
        #expect(try await runProgram(Programs.kalends, ["check", "/nonexistent.ics"]).status == 3)
        #expect(try await runProgram(Programs.kalends, ["check", "-"], input: "<html>").status == 1)
        #expect(try await runProgram(Programs.kalends, ["--help"]).status == 0)
        let good =
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20260101T000000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        #expect(try await runProgram(Programs.kalends, ["check", "-"], input: good).status == 0)
    }

    @Test("Parse writes an object for each component, one on a line")
    func parse() async throws {
        let input = """
            BEGIN:VCALENDAR\r
            VERSION:2.0\r
            PRODID:x\r
            BEGIN:VEVENT\r
            UID:a\r
            DTSTAMP:20260101T000000Z\r
            DTSTART;TZID=America/Los_Angeles:20260121T090000\r
            DURATION:PT30M\r
            SUMMARY:One\\, two\r
            RRULE:FREQ=DAILY;COUNT=2\r
            EXDATE;TZID=America/Los_Angeles:20260122T090000\r
            BEGIN:VALARM\r
            ACTION:DISPLAY\r
            TRIGGER:-PT15M\r
            DESCRIPTION:x\r
            END:VALARM\r
            END:VEVENT\r
            END:VCALENDAR\r

            """
        let result = try await runProgram(Programs.kalends, ["parse", "-", "--json"], input: input)
        #expect(result.status == 0)
        let line = try JSONValue(parsing: Array(result.output.utf8))
        #expect(line["component"] == "VEVENT")
        #expect(
            line["start"] == [
                "dateTime": "2026-01-21T09:00:00", "timeZone": "America/Los_Angeles", "utc": "2026-01-21T17:00:00Z",
            ])
        #expect(line["end"]?["dateTime"] == "2026-01-21T09:30:00")
        #expect(line["summary"] == "One, two")
        #expect(line["allDay"] == false)
        #expect(line["rrule"] == "FREQ=DAILY;COUNT=2")
        #expect(line["exdates"]?.array?.first?["utc"] == "2026-01-22T17:00:00Z")
        #expect(line["alarms"] == [["trigger": "-PT15M", "action": "DISPLAY", "description": "x"]])
        let expanded = try await runProgram(
            Programs.kalends, ["expand", "-", "--from", "2026-01-01", "--to", "2026-02-01", "--json"], input: input)
        #expect(expanded.output.split(separator: "\n").count == 1)
        #expect(expanded.output.contains(#""start":"2026-01-21T17:00:00Z""#))
        let formatted = try await runProgram(Programs.kalends, ["format", "-"], input: input)
        let again = try await runProgram(Programs.kalends, ["format", "-"], input: formatted.output)
        #expect(again.output == formatted.output)
        #expect(formatted.output.contains("BEGIN:VTIMEZONE"))
        for (form, begin) in [
            ("jcal", "[\"vcalendar\","), ("xcal", "<?xml"), ("csv", "uid,"), ("ics", "BEGIN:VCALENDAR"),
        ] {
            let other = try await runProgram(Programs.kalends, ["format", "-", "--to", form], input: input)
            #expect(other.status == 0 && other.output.hasPrefix(begin), "\(other.output.prefix(40))")
        }
    }

    @Test("A restore keeps all of what was there, and takes nothing but a database of Kalends")
    func restoreKeeps() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        _ = await server.stop()
        let before = try await server.kalends(["export", "--circle", "rivera-family"]).output
        let log = try FileManager.default.attributesOfItem(atPath: server.database)[.size] as? UInt64 ?? 0
        #expect(log > 100_000, "the file alone is the whole database")
        let foreign = server.folder.appending(path: "foreign.sqlite").path
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('create table recipes (a)')"
        #expect(try await runProgram("/usr/bin/env", ["python3", "-c", script, foreign]).status == 0)
        let refused = try await server.kalends(["restore", foreign])
        #expect(refused.status == 3 && refused.error.contains("not a database of Kalends"), "\(refused.error)")
        #expect(try await server.kalends(["export", "--circle", "rivera-family"]).output == before)
        let other = try await RunningServer()
        defer { other.remove() }
        let empty = server.folder.appending(path: "empty.sqlite").path
        #expect(try await other.kalends(["backup", empty]).status == 0)
        _ = await other.stop()
        let done = try await server.kalends(["restore", empty])
        #expect(done.status == 0, "\(done.error)")
        let kept = try #require(done.output.split(separator: "\n").first?.split(separator: " ").last).dropLast()
        let old = try await runProgram(
            Programs.kalends, ["export", "--circle", "rivera-family", "--database", String(kept)])
        #expect(old.output == before)
    }

    @Test("Without time zone data nothing starts, and it says what to install")
    func noTimeZones() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        let done = try await runProgram(
            Programs.kalends, ["serve", "--port", "0", "--database", folder.appending(path: "k.sqlite").path],
            environment: ["TZDIR": "/nonexistent"])
        #expect(done.status == 3)
        #expect(done.error.contains("no time zone data") && done.error.contains("tzdata"))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("Commands at the same time wait for each other")
    func concurrent() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        _ = await server.stop()
        let database = server.database
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for index in 0..<4 {
                group.addTask {
                    try await runProgram(
                        Programs.kalends, ["key", "create", "--name", "k\(index)", "--database", database]
                    ).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == [0, 0, 0, 0])
    }

    @Test("A mistyped database is reported, not created; a command's settings change no item; a foreign key is named")
    func care() async throws {
        let missing = try await runProgram(Programs.kalends, ["feed", "list", "--database", "/nonexistent/k.sqlite"])
        #expect(missing.status == 3 && missing.error.contains("There is no database"))
        let server = try await RunningServer(["--demo", "--title-prefix", "ZZ"])
        _ = await server.stop()
        _ = try await server.kalends(["key", "list"])
        let again = try await RunningServer(["--title-prefix", "ZZ"], folder: server.folder)
        defer { again.remove() }
        let text = try await again.kalends(["export", "--circle", "rivera-family"]).output
        #expect(text.contains("SUMMARY:ZZ Shift: "))
        let shifts = text.components(separatedBy: "BEGIN:VEVENT").filter { $0.contains("ZZ Shift: ") }
        #expect(shifts.allSatisfy { $0.contains("SEQUENCE:0") })
        #expect(await again.stop() == 0)
        try FileManager.default.removeItem(atPath: again.database + ".key")
        let doctor = try await again.kalends(["doctor"])
        #expect(doctor.status == 3 && doctor.output.contains("BAD  sealing key"), "\(doctor.output)")
    }

    @Test("Settings of the wrong type or of an unknown name are reported, all at once")
    func configuration() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "config-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"port": 1.5, "host": 5, "trustedProxies": ["x"], "prot": 1}"#.utf8).write(to: file)
        let wrong = try await runProgram(Programs.kalends, ["serve", "--config", file.path])
        #expect(wrong.status == 2)
        for name in ["port: ", "host: ", "prot is not a setting; did you mean port?"] {
            #expect(wrong.error.contains(name), "\(wrong.error)")
        }
        try Data(#"{"trustedProxies": ["x"], "publicURL": "ftp://a", "database": ""}"#.utf8).write(to: file)
        #expect(try await runProgram(Programs.kalends, ["serve", "--config", file.path]).status == 2)
    }
}
