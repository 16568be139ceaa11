// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("A reader of changes and a server that is killed")
struct PhoneKillTests {
    private static func call(
        _ server: RunningServer, _ path: String, _ credential: String, _ body: JSONValue? = nil
    ) async throws -> (status: Int, json: JSONValue) {
        var arguments = [
            "-s", "-m", "20", "-w", "\n%{http_code}", "-H", "Authorization: \(credential)", "-H", "Kalends-User: ann",
        ]
        if body != nil { arguments += ["-H", "Content-Type: application/json", "--data-binary", "@-"] }
        let result = try await runProgram(
            "/usr/bin/curl", arguments + ["http://127.0.0.1:\(server.port)\(path)"],
            input: try body.map { String(decoding: try $0.serialized(), as: UTF8.self) })
        guard let end = result.output.lastIndex(of: "\n") else { return (0, .null) }
        let text = result.output
        return (
            Int(text[text.index(after: end)...]) ?? 0, (try? JSONValue(parsing: Array(text[..<end].utf8))) ?? .null
        )
    }

    @Test("It keeps only nextSince, and ends equal to the server, thousands of edits and three kills later")
    func killed() async throws {
        var server = try await RunningServer()
        defer { server.remove() }
        let made = try await server.kalends(["key", "create", "--name", "phones"])
        let key = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let registered = try await Self.call(server, "/sync/devices/register", "Bearer \(key)", [:])
        let token = "Device \(try #require(registered.json["deviceToken"]?.string))"
        var random = SplitMix(seed: 7)
        var (known, since, edits): ([String: JSONValue], Int, Int) = ([:], 0, 0)
        for round in 0..<4 {
            let folder = server.folder
            let (current, seed) = (server, UInt64.random(in: 0..<1000, using: &random))
            let writer = Task {
                var random = SplitMix(seed: seed)
                var sent = 0
                // Until the server is gone.
                for part in 0..<1000 where !Task.isCancelled {
                    let events = (0..<500).map { number in
                        JSONValue.sent("E\(Int.random(in: 0..<2000, using: &random))", "\(round)/\(part)/\(number)")
                    }
                    guard
                        let answer = try? await Self.call(
                            current, "/sync/apple/events/upsert", token, ["events": .array(events)]),
                        answer.status == 200
                    else { break }
                    sent += events.count
                }
                return sent
            }
            for _ in 0..<40 {
                let limit = Int.random(in: 1...400, using: &random)
                guard
                    let page = try? await Self.call(
                        server, "/sync/events/changes?since=\(since)&limit=\(limit)", token), page.status == 200
                else { break }
                for event in page.json["events"]?.array ?? [] { known[event["id"]?.string ?? ""] = event }
                since = page.json["nextSince"]?.integer ?? since
            }
            if round < 3 {
                await server.kill()
                edits += await writer.value
                server = try await RunningServer(folder: folder)
            } else {
                writer.cancel()
                edits += await writer.value
            }
        }
        while true {
            let page = try await Self.call(server, "/sync/events/changes?since=\(since)&limit=2000", token)
            try #require(page.status == 200)
            for event in page.json["events"]?.array ?? [] { known[event["id"]?.string ?? ""] = event }
            since = try #require(page.json["nextSince"]?.integer)
            if page.json["hasMore"] == false { break }
        }
        var (whole, position): ([JSONValue], Int) = ([], 0)
        while true {
            let page = try await Self.call(server, "/sync/events/changes?since=\(position)&limit=2000", token).json
            whole += try #require(page["events"]?.array)
            position = try #require(page["nextSince"]?.integer)
            if page["hasMore"] == false { break }
        }
        #expect(edits > 2000, "\(edits)")
        #expect(known.count == whole.count && position == since)
        for event in whole { #expect(known[event["id"]?.string ?? ""] == event) }
        #expect(await server.stop() == 0)
    }
}
