// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import KalendsCore
import TestSupport
import Testing

@testable import FeedServer
@testable import ServerTestSupport

@Suite("What commands say about the next step")
struct NextStepTests {
    @Test("Without a circle, welcome names none and says how one is made")
    func withoutCircle() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let empty = try await server.kalends(["welcome"]).output
        #expect(empty.contains("There is no circle.") && empty.contains("-X PUT"), "\(empty)")
        #expect(!empty.contains("/tasks") && !empty.contains("demo"), "\(empty)")
        let key = try #require(empty.firstMatch(of: /kal_sk_[\w-]+/))
        #expect(try await Self.put(server, key.output, "circles/rossi", #"{"name": "R", "timeZone": "Europe/Rome"}"#))
        let second = try await server.kalends(["welcome"]).output
        #expect(second.contains("/v1/circles/rossi/tasks") && second.contains("export --circle rossi"), "\(second)")
        #expect(await server.stop() == 0)
    }

    @Test("A connection without an account is listed, does not run, and is not said to run again")
    func connection() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        #expect(try await server.kalends(["stats"]).output.contains("No connection has run in the last 30 days."))
        let key = try await server.kalends(["key", "create", "--name", "k"]).output.dropLast()
        let path = "http://127.0.0.1:\(server.port)/v1/circles/rivera-family/connections"
        let made = try await runProgram(
            "/usr/bin/curl",
            [
                "-s", path, "-H", "Authorization: Bearer \(key)", "-H", "Kalends-User: maria-rivera",
                "-H", "Content-Type: application/json", "-d", #"{"provider": "caldav"}"#,
            ])
        let id = try #require(try JSONValue(parsing: Array(made.output.utf8))["id"]?.string, "\(made.output)")
        let list = try await server.kalends(["connection", "list"]).output
        #expect(list.split(separator: "\n").first?.hasSuffix("LAST RUN  NEXT RUN") == true, "\(list)")
        let failed: JSONValue = [
            "id": "n1", "circleId": "c", "userId": "ann", "provider": "caldav", "state": "active",
            "lastSyncAt": "2026-03-02T18:30:00Z", "lastSyncStatus": "failed", "lastSyncError": "It did not answer.",
            "nextSyncAt": "2026-03-02T18:31:00Z",
        ]
        let lines = ConnectionCommand.List.lines([failed])
        #expect(lines.dropFirst().first?.hasSuffix("2026-03-02 18:30 UTC  2026-03-02 18:31 UTC") == true, "\(lines)")
        #expect(lines.last == "    The last run says: It did not answer.")
        let resumed = try await server.kalends(["connection", "resume", id])
        #expect(resumed.output.contains("was not paused: it is unauthorized"), "\(resumed.output)")
        let run = try await server.kalends(["sync", id])
        #expect(run.status == 1 && run.error.contains("its user has to sign in"), "\(run.error)")
        #expect(await server.stop() == 0)
    }

    @Test("A backup that is restored elsewhere asks for its key, and doctor says what is wrong with a key")
    func key() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let copy = server.folder.appending(path: "copy").path
        let backup = try await server.kalends(["backup", copy])
        #expect(backup.output.contains("followed calendars and second factors have to be set up again"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: server.database + ".key")
        let open = try await server.kalends(["doctor"])
        #expect(open.status == 3 && open.output.contains("k.sqlite.key can be read by other users"), "\(open.output)")
        #expect(await server.stop() == 0)
        let elsewhere = server.folder.appending(path: "elsewhere.sqlite").path
        func run(_ arguments: String...) async throws -> ProgramResult {
            try await runProgram(Programs.kalends, arguments + ["--database", elsewhere])
        }
        let refused = try await run("restore", copy)
        #expect(refused.status == 3 && refused.error.contains("none at \(elsewhere).key"), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
        let restored = try await run("restore", copy, "--without-key")
        #expect(restored.status == 0 && restored.error.contains("There is no sealing key"), "\(restored.error)")
        #expect(!FileManager.default.fileExists(atPath: elsewhere + ".key"))
        let doctor = try await run("doctor")
        #expect(doctor.status == 3 && doctor.output.contains("BAD  sealing key: not the one that"), "\(doctor.output)")
    }

    @Test(
        "A feed that ends by itself is listed with its end, and a configuration that is no JSON shows the right usage")
    func feeds() async throws {
        let feed: JSONValue = [
            "id": "f1", "circleId": "c", "userId": "ann", "accessCount": 0, "expiresAt": "2026-03-02T18:30:00Z",
        ]
        #expect(
            FeedLines([feed], now: Instant(seconds: 0)).lines.last?.contains("  until 2026-03-02 18:30 UTC  never")
                == true)
        let arguments = ["feed", "create", "--circle", "c", "--user", "u", "--configuration", "x"]
        let wrong = try await runProgram(Programs.kalends, arguments)
        #expect(wrong.status == 2 && wrong.error.contains("Usage: kalends feed create"), "\(wrong.error)")
    }

    @Test("An import of one event says so, and how it is undone; the same again has changed nothing")
    func imported() async throws {
        let server = try await RunningServer(["--demo"])
        defer { server.remove() }
        let file = server.folder.appending(path: "one.ics")
        try Data(NumberedEvents.calendar(1).utf8).write(to: file)
        let arguments = ["import", file.path, "--circle", "rivera-family"]
        let first = try await server.kalends(arguments).output
        #expect(first.contains("  1 is new\n") && first.contains("can be undone"), "\(first)")
        let second = try await server.kalends(arguments).output
        #expect(second.contains("  1 has stayed the same\n"), "\(second)")
        #expect(second.hasSuffix(" has changed nothing.\n"), "\(second)")
        let id = try #require(first.firstMatch(of: /kalends import undo (\S+)/)?.1)
        let undone = try await server.kalends(["import", "undo", String(id)])
        #expect(undone.status == 0 && undone.output == "Import \(id) is undone.\n", "\(undone)")
        let again = try await server.kalends(["import", "undo", String(id)])
        #expect(again.status == 1 && again.error.contains("already been undone"), "\(again)")
        // Flags before the file, and the name of what the command does by itself.
        for words in [
            ["--circle", "rivera-family", "--preview", file.path],
            ["file", file.path, "--preview"] + arguments.suffix(2),
        ] {
            let preview = try await server.kalends(["import"] + words)
            #expect(preview.output.contains("  1 would be new\n"), "\(preview)")
        }
        #expect(await server.stop() == 0)
    }

    @Test("A circle is made and listed, and faults name the flags that were typed")
    func circle() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let none = try await server.kalends(["circle", "list"])
        #expect(none.status == 0 && none.output.contains("kalends circle create"), "\(none)")
        let rome = ["circle", "create", "rossi", "--name", "Rossi", "--time-zone", "Europe/Rome", "--owner", "ada"]
        let nowhere = try await server.kalends(rome.map { $0 == "Europe/Rome" ? "Europe/Nowhere" : $0 })
        #expect(nowhere.status == 1 && nowhere.error.contains("  --time-zone: "), "\(nowhere)")
        #expect(!nowhere.error.contains("/timeZone"))
        #expect(try await server.kalends(rome).output == "Circle rossi is made.\n")
        let twice = try await server.kalends(rome)
        #expect(twice.status == 1 && twice.error.contains("already"), "\(twice)")
        let list = try await server.kalends(["circle", "list"]).output.split(separator: "\n")
        #expect(list.count == 2 && list[1].hasPrefix("rossi  Rossi  Europe/Rome  "), "\(list)")
        let feed = ["feed", "create", "--circle", "rossi"]
        #expect(try await server.kalends(feed + ["--user", "ada"]).status == 0)
        let flags = try await server.kalends(
            feed + ["--user", "ada", "--label", "b", "--configuration", #"{"pastDays": -1}"#])
        #expect(flags.status == 1 && flags.error.contains("  --configuration, /pastDays: "), "\(flags)")
        let key = try await server.kalends(["key", "create", "--name", ""])
        #expect(key.status == 1 && key.error.contains("  --name: "), "\(key)")
        let id = try await server.kalends(["feed", "list", "--json"]).output.firstMatch(of: /"id":"([^"]+)"/)?.1
        let grace = ["feed", "regenerate", String(try #require(id)), "--grace-seconds"]
        let long = try await server.kalends(grace + ["99999999"])
        #expect(long.status == 1 && long.error.contains("  --grace-seconds: "), "\(long)")
        let kept = try await server.kalends(grace + ["86400"])
        #expect(kept.status == 0 && kept.output.contains("The old address is answered until 2"), "\(kept)")
        let listed = try await server.kalends(["feed", "list"])
        #expect(listed.output.contains("    The old address is answered until 2"), "\(listed)")
        #expect(await server.stop() == 0)
    }

    private static func put(
        _ server: RunningServer, _ key: Substring, _ path: String, _ body: String
    ) async throws -> Bool {
        let address = "http://127.0.0.1:\(server.port)/v1/\(path)"
        let answer = try await runProgram(
            "/usr/bin/curl",
            [
                "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PUT", address, "-H",
                "Authorization: Bearer \(key)", "-H", "Content-Type: application/json", "-d", body,
            ])
        return answer.output == "201"
    }
}
