// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Outbound
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Imports that go on behind the answer")
struct ImportProgressTests {
    private func post(
        _ server: TestServer, _ text: String, mode: String = "preview", isAsync: Bool = true
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
        if isAsync { headers[.prefer] = "wait=1, Respond-Async; x=y" }
        return try await server.raw(
            .post, "/v1/circles/c/imports?mode=\(mode)", headers: headers, body: ByteBuffer(string: text))
    }

    /// Waits for an import's result, and checks that its progress never goes backwards.
    private func end(_ server: TestServer, _ path: String) async throws -> JSONValue {
        var last = 0.0
        while true {
            let report = try await server.call(.get, path).expect(200).json
            let state = try #require(report["state"]?.string)
            guard ["reading", "committing"].contains(state) else { return report }
            let part = report["progress"]
            let now = if case .number(let number)? = part { number } else { Double(part?.integer ?? -1) }
            #expect(now >= last && now <= 1)
            last = now
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("The import does not end.")
        return .null
    }

    @Test("A preview and its commit are answered at once and end as they would have been answered")
    func asynchronous() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let accepted = try await post(server, NumberedEvents.calendar(250)).expect(202)
            #expect(accepted.headers[.preferenceApplied] == "respond-async")
            let path = try #require(accepted.headers[.location])
            #expect(path == "/v1/imports/\(accepted.json["id"]?.string ?? "")")
            #expect(["reading", "previewed"].contains(accepted.json["state"]?.string))
            let preview = try await end(server, path)
            #expect(preview["state"] == "previewed" && preview["counts"]?["created"] == 250)
            let same = try await post(server, NumberedEvents.calendar(250), isAsync: false).expect(201).json
            for member in ["counts", "span", "items", "problems", "timeZones"] {
                #expect(preview[member] == same[member])
            }
            let begun = try await server.call(
                .post, "\(path)/commit", [:], headers: [.prefer: "respond-async"]
            ).expect(202)
            #expect(begun.headers[.location] == path)
            let done = try await end(server, path)
            #expect(done["state"] == "committed" && done["items"] == preview["items"])
            try await server.call(.post, "\(path)/commit", [:], headers: [.prefer: "respond-async"]).expect(409)
            let again = try await post(server, NumberedEvents.calendar(250), mode: "commit").expect(202)
            let unchanged = try await end(server, try #require(again.headers[.location]))
            #expect(unchanged["state"] == "committed" && unchanged["counts"]?["unchanged"] == 250)
        }
    }

    @Test("A refused file fails with the problem document of the answer, and so does an invalid exclusion")
    func failures() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let refused = try await post(server, "no calendar", isAsync: false).expect(422)
            let accepted = try await post(server, "no calendar").expect(202)
            let path = try #require(accepted.headers[.location])
            let failed = try await end(server, path)
            #expect(failed["state"] == "failed" && failed["problem"] == refused.json)
            try await server.call(.post, "\(path)/commit", [:]).expect(409)
            try await server.call(.post, "\(path)/undo", [:]).expect(409)

            let preview = try await post(server, NumberedEvents.calendar(3), isAsync: false).expect(201).json
            let other = "/v1/imports/\(try #require(preview["id"]?.string))"
            let answer = try await server.call(.post, "\(other)/commit", ["exclude": ["none"]]).expect(422)
            try await server.call(
                .post, "\(other)/commit", ["exclude": ["none"]], headers: [.prefer: "respond-async"]
            ).expect(202)
            let stopped = try await end(server, other)
            #expect(stopped["state"] == "failed" && stopped["problem"] == answer.json)
            // The preview is there still.
            #expect(stopped["items"] == preview["items"])
            #expect(try await server.call(.post, "\(other)/commit", [:]).expect(200).json["state"] == "committed")
        }
    }

    @Test("What was under way when the server ended is failed at the next start, and says so")
    func interrupted() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "left-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.database = folder.appending(path: "k.sqlite").path
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let preview = try await post(server, NumberedEvents.calendar(3), isAsync: false).expect(201).json
            let id = try #require(preview["id"]?.string)
            try await server.services.store.record { transaction in
                var record = try #require(try transaction.importRecord(id))
                record.stage = .committing
                try transaction.putImport(record)
                record.id = "left"
                record.stage = .reading
                try transaction.putImport(record)
                try transaction.putItems(ofImport: "left", block: 0, items: "[]")
                try transaction.putSource(ofImport: "left", block: 0, part: 0, "x")
            }
        }
        try await TestServer.run(settings: settings) { server in
            let list = try await server.call(.get, "/v1/circles/c/imports").expect(200).json["items"]?.array ?? []
            #expect(list.map { $0["state"] } == ["failed", "failed"])
            for item in list { #expect(item["problem"]?["detail"]?.string?.contains("stopped") == true) }
            try await server.call(.post, "/v1/imports/left/commit", [:]).expect(409)
            await server.services.turns.close()
            let left = try await server.services.store.read { transaction in
                try ["import_items", "import_sources"].flatMap {
                    try transaction.rows("SELECT block FROM \($0) WHERE import_id = 'left'", [])
                }.count
            }
            #expect(left == 0)
            let id = try #require(list.compactMap { $0["id"]?.string }.first { $0 != "left" })
            let done = try await server.call(.post, "/v1/imports/\(id)/commit", [:]).expect(200).json
            #expect(done["counts"]?["created"] == 3)
        }
    }

    @Test("A server that is killed in the middle of a commit has all of it afterwards, or nothing")
    func killed() async throws {
        let count = 6000
        let first = try await RunningServer()
        let folder = first.folder
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = try await first.kalends(["key", "create", "--name", "test"]).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        func call(
            _ server: RunningServer, _ path: String, _ method: String = "GET", _ body: String? = nil,
            _ headers: (String, String)...
        ) async throws -> JSONValue {
            let answer = try await ExchangeClient().send(
                method, "http://127.0.0.1:\(server.port)\(path)",
                headers: [("Authorization", "Bearer \(key)")] + headers, body: body.map { Array($0.utf8) },
                longest: 1 << 24)
            return try JSONValue(parsing: answer.body)
        }
        func preview(_ server: RunningServer) async throws -> String {
            let made = try await call(
                server, "/v1/circles/c/imports", "POST", NumberedEvents.calendar(count),
                ("Content-Type", "text/calendar"))
            return "/v1/imports/\(try #require(made["id"]?.string))"
        }
        func stored(_ server: RunningServer) async throws -> Int {
            let export = try await server.kalends(["export", "--circle", "c"])
            return export.output.split(separator: "\r\n").count { $0 == "BEGIN:VEVENT" }
        }
        _ = try await call(
            first, "/v1/circles/c", "PUT", #"{"name": "C", "timeZone": "UTC"}"#, ("Content-Type", "application/json"))
        var path = try await preview(first)
        var server = first
        var wasMiddle = 0
        // More than two rounds only where this process had no turn while the server had.
        for part in [0.2, 0.6, 0.1, 0.1, 0.1, 0.1] where wasMiddle < 2 {
            _ = try await call(
                server, "\(path)/commit", "POST", "{}", ("Prefer", "respond-async"),
                ("Content-Type", "application/json"))
            while true {
                let report = try await call(server, "\(path)?limit=1")
                guard report["state"] == "committing" else { break }
                if case .number(let now)? = report["progress"], now >= part {
                    wasMiddle += 1
                    break
                }
            }
            await server.kill()
            server = try await RunningServer(folder: folder)
            let found = try await stored(server)
            let state = try await call(server, path)["state"]
            // What was done before the end came is there in full.
            #expect(
                found == 0 && state == "failed" || found == count && state == "committed", "\(found) \(state ?? "")")
            if found == count {
                #expect(try await call(server, "\(path)/undo", "POST")["state"] == "undone")
                path = try await preview(server)
            }
        }
        #expect(wasMiddle > 0)
        if try await stored(server) == 0 {
            let done = try await call(server, "\(path)/commit", "POST")
            #expect(done["state"] == "committed" && done["counts"]?["created"]?.integer == count)
        }
        #expect(try await stored(server) == count)
        #expect(try await server.kalends(["doctor"]).status == 0)
        _ = await server.stop()
    }
}
