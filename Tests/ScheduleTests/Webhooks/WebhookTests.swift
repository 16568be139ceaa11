// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Webhooks")
struct WebhookTests {
    private static func task(_ title: String) -> JSONValue {
        ["title": .string(title), "dueAt": "2026-03-03T09:00:00Z"]
    }

    /// Returns what a host application's code in Samples decides about messages.
    private static func genuine(
        _ cases: [(secret: String, headers: [String: String], body: [UInt8], now: Int)]
    ) async throws -> [Bool] {
        let lines = try cases.map { one in
            try JSONValue.object([
                "secret": .string(one.secret),
                "headers": .object(Dictionary(uniqueKeysWithValues: one.headers.map { (ByteString($0), .string($1)) })),
                "body": .string(Data(one.body).base64EncodedString()), "now": .integer(one.now),
            ]).text()
        }
        let files = ["Tests/ScheduleTests/Oracles/verify_webhooks.py", "Samples/first-hour/first_hour.py"]
        let result = try await runProgram(
            try #require(Programs.python), files.map { packageRoot.appending(path: $0).path },
            input: lines.joined(separator: "\n") + "\n")
        let answers = result.output.split(separator: "\n").map { $0 == "True" }
        try #require(answers.count == cases.count, "\(result.error)")
        return answers
    }

    @Test(
        "A receiver's code in Python takes our messages, in a rotation under both secrets, and nobody else's",
        .enabled(if: Programs.python != nil, "KALENDS_PYTHON names no Python; make test makes one"))
    func signatures() async throws {
        try await HookReceiver.run { receiver in
            try await TestServer.run { server in
                try await server.makeCircle()
                let (id, first) = try await server.makeWebhook(receiver.url)
                #expect(first.hasPrefix("kal_wh_"))
                try await server.put("tasks", "t", Self.task("Ärzte 👩🏽‍⚕️"))
                #expect(try await server.sendWebhooks() == 1)
                let rotated = try await server.call(.post, "/v1/webhooks/\(id)/rotate", ["graceSeconds": 600])
                    .expect(200)
                let second = try #require(rotated.json["secret"]?.string)
                try await server.call(.delete, "/v1/circles/c/tasks/t").expect(204)
                try await server.call(.post, "/v1/webhooks/\(id)/test").expect(202)
                #expect(try await server.sendWebhooks() == 2)
                server.clock.advance(seconds: 600)
                try await server.put("tasks", "t", Self.task("x"))
                #expect(try await server.sendWebhooks() == 1)
                let sent = receiver.messages
                #expect(sent.count == 4)
                #expect(sent.map { $0.headers["webhook-signature"]?.split(separator: " ").count } == [1, 2, 2, 1])
                func check(
                    _ message: HookReceiver.Message, _ secret: String, late: Int = 0
                ) throws
                    -> (secret: String, headers: [String: String], body: [UInt8], now: Int)
                {
                    let time = try #require(message.headers["webhook-timestamp"].flatMap { Int($0) })
                    return (secret, message.headers, message.body, time + late)
                }
                var forged = sent[0]
                forged.body[0] = 32
                // The example of Standard Webhooks itself.
                let example = (
                    secret: "plJ3nmyCDGBKInavdOK15jsl",
                    headers: [
                        "webhook-id": "msg_loFOjxBNrRLzqYUf", "webhook-timestamp": "1731705121",
                        "webhook-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
                    ], body: Array(#"{"event_type":"ping","data":{"success":true}}"#.utf8), now: 1_731_705_121
                )
                let cases = [
                    (example, true), (try check(sent[0], first), true), (try check(sent[0], second), false),
                    (try check(sent[1], first), true), (try check(sent[1], second), true),
                    (try check(sent[2], first), true), (try check(sent[3], first), false),
                    (try check(sent[3], second), true), (try check(forged, first), false),
                    (try check(sent[0], first, late: 301), false),
                ]
                #expect(try await Self.genuine(cases.map(\.0)) == cases.map(\.1))
                #expect(sent[0].json["type"] == "circle.changed" && sent[0].numbers == [7])
                // One after another in the order of the calls, but for the trial, which waits for no circle.
                #expect(Set(sent[1...2].map { $0.json["type"]?.string }) == ["circle.changed", "webhook.test"])
                #expect(sent.allSatisfy { $0.path == "/hook-path" })
            }
        }
    }

    @Test("Every change comes at least once and in the order of its circle, whatever fails, and over restarts")
    func flaky() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hooks-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = {
            var settings = ServerSettings()
            settings.database = folder.appending(path: "k.sqlite").path
            return settings
        }()
        let clock = TestClock()
        try await HookReceiver.run { receiver in
            let generator = Mutex(SplitMix(seed: 7))
            receiver.answer { _ in
                switch generator.withLock({ Int.random(in: 0..<10, using: &$0) }) {
                case 0..<4: .status(200)
                case 4..<6: .status(500)
                case 6: .status(302)
                default: .drop
                }
            }
            try await TestServer.run(clock: clock, settings: settings) { server in
                _ = try await server.makeWebhook(receiver.url)
            }
            // Six lives of the server, each with changes and a few looks at what is due.
            for life in 0..<6 {
                try await TestServer.run(clock: clock, settings: settings) { server in
                    for circle in ["a", "b", "c"] {
                        _ = try await server.call(
                            .put, "/v1/circles/\(circle)", ["name": .string("Life \(life)"), "timeZone": "UTC"])
                        for item in 0..<70 {
                            _ = try await server.call(
                                .put, "/v1/circles/\(circle)/tasks/t\(item)", Self.task("\(life)"))
                        }
                    }
                    for _ in 0..<3 {
                        try await server.sendWebhooks()
                        clock.advance(seconds: 8)
                    }
                }
            }
            try await TestServer.run(clock: clock, settings: settings) { server in
                for _ in 0..<200 {
                    try await server.sendWebhooks()
                    let waiting = try await server.services.store.read { transaction in
                        try transaction.webhooks(after: "", limit: 1).map {
                            try transaction.pendingDeliveries(of: $0.id)
                        }
                    }
                    if waiting == [0] { break }
                    clock.advance(seconds: 3600)
                }
                for circle in ["a", "b", "c"] {
                    let mine = receiver.messages.filter { $0.circle == circle }
                    var seen: [Int] = []
                    var bodies: [String: [UInt8]] = [:]
                    for message in mine {
                        #expect(message.numbers.count <= 100)
                        if let before = bodies[message.id] {
                            #expect(before == message.body)
                        } else {
                            bodies[message.id] = message.body
                            seen += message.numbers
                        }
                    }
                    let latest = try await server.call(.get, "/v1/circles/\(circle)/changes?limit=1").json["latest"]
                    #expect(seen == Array(1...(latest?.integer ?? 0)), "\(circle)")
                    #expect(seen.count == 6 * 71)
                    #expect(mine.count > bodies.count, "nothing failed")
                }
            }
        }
    }

    @Test("A webhook gets only changes of its circles and kinds, and none from before it was created")
    func filters() async throws {
        try await HookReceiver.run { receiver in
            try await TestServer.run { server in
                try await server.makeCircle()
                _ = try await server.makeWebhook(receiver.url, ["circles": ["d"], "types": ["item", "patient"]])
                try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
                for circle in ["c", "d"] {
                    try await server.call(.put, "/v1/circles/\(circle)/tasks/t", Self.task("x")).expect(201)
                    try await server.call(.put, "/v1/circles/\(circle)/patients/p", ["displayName": "P"]).expect(201)
                    try await server.call(
                        .put, "/v1/circles/\(circle)/members/m", ["displayName": "M", "role": "owner"]
                    ).expect(201)
                }
                #expect(try await server.sendWebhooks() == 1)
                #expect(receiver.messages.map(\.circle) == ["d"])
                #expect(receiver.messages.first?.numbers == [2, 3])
                #expect(try await server.sendWebhooks() == 0)
            }
        }
    }

    @Test("Messages of one circle wait for each other, and those of another circle for none")
    func lanes() async throws {
        try await HookReceiver.run { receiver in
            receiver.answer { $0.circle == "c" ? .status(503) : .status(204) }
            try await TestServer.run { server in
                try await server.makeCircle()
                try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
                let id = try await server.makeWebhook(receiver.url).id
                for round in 0..<3 {
                    try await server.put("tasks", "t", Self.task("\(round)"))
                    _ = try await server.call(.put, "/v1/circles/d/tasks/t", Self.task("\(round)"))
                    try await server.sendWebhooks()
                }
                #expect(receiver.messages.filter { $0.circle == "d" }.flatMap(\.numbers) == [2, 3, 4])
                #expect(receiver.messages.filter { $0.circle == "c" }.flatMap(\.numbers) == [7])
                let list = try await server.call(.get, "/v1/webhooks/\(id)/deliveries?limit=4").expect(200)
                #expect(list.json["items"]?.array?.count == 4 && list.json["nextCursor"]?.string != nil)
                let waiting = try #require(list.json["items"]?.array?.last { $0["circleId"] == "c" })
                #expect(waiting["state"] == "pending")
                receiver.answer { _ in .status(200) }
                server.clock.advance(seconds: 7)
                #expect(try await server.sendWebhooks() == 3)
                #expect(receiver.messages.filter { $0.circle == "c" }.flatMap(\.numbers) == [7, 7, 8, 9])
            }
        }
    }

    @Test("A receiver that is gone, or takes nothing for three days, is not written to any more, until it is woken")
    func disabling() async throws {
        try await HookReceiver.run { receiver in
            try await TestServer.run { server in
                try await server.makeCircle()
                let id = try await server.makeWebhook(receiver.url).id
                func hook() async throws -> JSONValue {
                    try await server.call(.get, "/v1/webhooks/\(id)").expect(200).json
                }
                receiver.answer { _ in .status(410) }
                try await server.put("tasks", "t", Self.task("1"))
                try await server.sendWebhooks()
                #expect(try await hook()["state"] == "disabled")
                #expect(try await hook()["disabledReason"]?.string?.contains("410") == true)
                try await server.call(.post, "/v1/webhooks/\(id)/test").expect(409)
                try await server.put("tasks", "t", Self.task("2"))
                server.clock.advance(seconds: 86_400)
                try await server.sendWebhooks()
                #expect(receiver.messages.count == 1)

                receiver.answer { _ in .status(500) }
                try await server.call(.patch, "/v1/webhooks/\(id)", ["state": "active"]).expect(200)
                var attempts = 0
                while try await hook()["state"] == "active", attempts < 1000 {
                    try await server.sendWebhooks()
                    server.clock.advance(seconds: 600)
                    attempts += 1
                }
                // About once an hour and a few quick ones at first, for three days.
                #expect((60...120).contains(receiver.messages.count - 1))
                #expect(try await hook()["disabledReason"]?.string?.contains("three days") == true)

                receiver.answer { _ in .status(200) }
                try await server.call(.patch, "/v1/webhooks/\(id)", ["state": "active"]).expect(200)
                #expect(try await server.sendWebhooks() == 2)
                #expect(receiver.messages.suffix(2).flatMap(\.numbers) == [7, 8])
                #expect(try await hook()["failingSince"] == .null)
            }
        }
    }

    @Test("Only a host application has webhooks, and every fault of one is reported")
    func calls() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (method, path) in [(HTTPRequest.Method.get, ""), (.post, ""), (.get, "/x"), (.delete, "/x")] {
                try await server.call(method, "/v1/webhooks\(path)", method == .post ? [:] : nil, as: "ann").expect(403)
            }
            let bad = try await server.call(
                .post, "/v1/webhooks", ["url": "ftp://x", "circles": [], "types": ["nothing"], "more": 1]
            ).expect(422)
            #expect(Set(bad.pointers) == ["/url", "/circles", "/types", "/more"])
            for url in ["https://u:p@x/", "https://", "x", "https://x/#f", "javascript:1", "https://x/ y"] {
                #expect(
                    try await server.call(.post, "/v1/webhooks", ["url": .string(url)]).expect(422).pointers == ["/url"]
                )
            }
            let id = try await server.makeWebhook("http://10.0.0.1:3000/a").id
            let first = try await server.call(.get, "/v1/webhooks/\(id)").expect(200)
            #expect(first.json["url"] == "http://10.0.0.1:3000/a" && first.json["secret"] == nil)
            let etag = try #require(first.headers[.eTag])
            try await server.call(
                .patch, "/v1/webhooks/\(id)", ["types": ["item"], "url": "http://10.0.0.1/b"], headers: [.ifMatch: etag]
            ).expect(200)
            try await server.call(.patch, "/v1/webhooks/\(id)", ["types": nil], headers: [.ifMatch: etag]).expect(412)
            let all = try await server.call(.patch, "/v1/webhooks/\(id)", ["types": nil]).expect(200)
            #expect(all.json["types"] == .null && all.json["url"] == "http://10.0.0.1/b")
            #expect(try await server.call(.get, "/v1/webhooks").json["items"]?.array?.count == 1)
            try await server.call(.delete, "/v1/webhooks/\(id)").expect(204)
            for path in ["", "/deliveries"] { try await server.call(.get, "/v1/webhooks/\(id)\(path)").expect(404) }
        }
    }

    @Test("Neither a secret nor the path of an address is in the database or the log")
    func secrecy() async throws {
        try await HookReceiver.run { receiver in
            receiver.answer { _ in .status(500) }
            try await TestServer.run { server in
                try await server.makeCircle()
                let (id, secret) = try await server.makeWebhook(receiver.url)
                try await server.put("tasks", "t", Self.task("Pills"))
                try await server.sendWebhooks()
                let rotated = try await server.call(.post, "/v1/webhooks/\(id)/rotate").expect(200)
                let next = try #require(rotated.json["secret"]?.string)
                try await server.call(.patch, "/v1/webhooks/\(id)", ["url": "http://127.0.0.1:1/hook-path"]).expect(200)
                server.clock.advance(seconds: 60)
                try await server.sendWebhooks()
                var stored = Data()
                for file in try FileManager.default.contentsOfDirectory(
                    at: server.folder, includingPropertiesForKeys: nil)
                {
                    stored += (try? Data(contentsOf: file)) ?? Data()
                }
                #expect(stored.holds(Data("The connection to the receiver failed.".utf8)))
                for text in [secret, next].map({ String($0.dropFirst(7)) }) + ["hook-path"] {
                    #expect(!stored.holds(Data(text.utf8)))
                    #expect(!server.log.text.contains(text))
                }
            }
        }
    }
}
