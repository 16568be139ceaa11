// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import Synchronization
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Events that are written in many transactions and shown by one")
struct StagedEventsTests {
    private static func events(_ count: Int, _ title: String = "Event") -> [[String]] {
        (0..<count).map { OneCalendar.event("\($0)@x", "\(title) \($0)") }
    }

    @Test("Whoever looks while an import, its undo or a calendar's update is under way sees all of it or nothing")
    func atOnce() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let count = 3000
            let feed = try await server.makeFeed(config: ["pastDays": 3660, "futureDays": 3660]).path
            func look(during work: @escaping @Sendable () async throws -> Void) async throws -> Set<Int> {
                let isDone = Flag()
                let watching = Task {
                    var seen: Set<Int> = []
                    while !isDone.isSet {
                        seen.insert(try await server.raw(.get, feed).values("SUMMARY").count)
                        // Others write at the same time, and feeds are updated because of it.
                        try await server.put("tasks", "t", ["title": "T", "dueAt": "2046-03-03T09:00:00Z"])
                    }
                    return seen
                }
                defer { isDone.set() }
                try await work()
                isDone.set()
                return try await watching.value
            }
            let id = Flag()
            let during = try await look {
                let answer = try await server.bring(Self.events(count), as: "ann").expect(201)
                id.text = answer.json["id"]?.string ?? ""
            }
            #expect(during.isSubset(of: [0, count]))
            let undoing = try await look {
                try await server.call(.post, "/v1/imports/\(id.text)/undo", as: "ann").expect(200)
            }
            #expect(undoing.isSubset(of: [0, count]))
            #expect(try await server.raw(.get, feed).values("SUMMARY").isEmpty)
        }
    }

    @Test("A circle's room is counted by the bytes of its imported events as they are, over imports, changes and undo")
    func bytes() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func bytes() async throws -> (counted: Int, stored: Int) {
                try await server.services.store.read { transaction in
                    let stored = try transaction.rows(
                        """
                        SELECT CAST(length(CAST(content AS BLOB)) AS BIGINT) AS bytes FROM event_versions
                        WHERE circle_id = 'c' AND until_epoch = \(EventEpoch.open)
                        """, []
                    ).reduce(0) { $0 + (try $1.integer(required: "bytes")) }
                    return (try transaction.importedUsage(in: "c").bytes, stored)
                }
            }
            func check(atLeast least: Int = 0, below most: Int) async throws {
                let found = try await bytes()
                #expect(found.counted == found.stored && (least..<most).contains(found.counted), "\(found)")
            }
            let notes = "DESCRIPTION:" + String(repeating: "n", count: 100_000)
            let large = (0..<8).map { OneCalendar.event("\($0)@x", "Event", notes) }
            let id = try await server.bring(large, as: "ann").expect(201).json["id"]?.string
            try await check(atLeast: 800_000, below: 820_000)
            // What becomes shorter is counted as it is then.
            let short = (0..<4).map { OneCalendar.event("\($0)@x", "Event", "SEQUENCE:1") }
            try await server.bring(short, as: "ann").expect(201)
            try await check(atLeast: 400_000, below: 420_000)
            try await server.call(.post, "/v1/imports/\(try #require(id))/undo", as: "ann").expect(200)
            try await check(below: 10_000)
        }
    }

    @Test("More bytes than a circle may have of imported events are refused, and nothing of them stays")
    func tooManyBytes() async throws {
        var settings = ServerSettings()
        settings.eventLimits.bytes = 300_000
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let notes = "DESCRIPTION:" + String(repeating: "n", count: 100_000)
            func bring(_ names: String...) async throws -> Answer {
                try await server.bring(names.map { OneCalendar.event("\($0)@x", "Event \($0)", notes) }, as: "ann")
            }
            try await bring("a", "b").expect(201)
            let answer = try await bring("c", "d")
            #expect(answer.status == 409 && answer.text.contains("300000 bytes"), "\(answer.text)")
            #expect(try await server.services.store.read { try $0.importedUsage(in: "c").count } == 2)
            try await bring("a").expect(201)
        }
    }

    @Test("A series has so many changed occurrences and bytes of them, over all imports; the report names the others")
    func longSeries() async throws {
        var settings = ServerSettings()
        settings.eventLimits.occurrences = Usage(count: 3, bytes: 250_000)
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            func change(_ day: Int, _ more: String...) -> [String] {
                ["UID:s@x", "RECURRENCE-ID:202603\(day)T090000Z", "DTSTART:202603\(day)T100000Z", "SUMMARY:\(day)"]
                    + more
            }
            func leftOut(_ answer: Answer) -> Int {
                (answer.json["items"]?.array ?? []).count {
                    $0["reason"]?.string?.contains("more than 3 changed occurrences") == true
                }
            }
            let first = try await server.bring(
                [OneCalendar.event("s@x", "Series", "RRULE:FREQ=DAILY")] + (10...12).map { change($0) }, as: "ann"
            ).expect(201)
            #expect(leftOut(first) == 0)
            // One more is refused, and a change of one that is there is not.
            let second = try await server.bring([change(11, "SEQUENCE:1"), change(13)], as: "ann").expect(201)
            #expect(leftOut(second) == 1, "\(second.text)")
            let long = "DESCRIPTION:" + String(repeating: "n", count: 100_000)
            let third = try await server.bring((10...12).map { change($0, "SEQUENCE:2", long) }, as: "ann").expect(201)
            #expect(leftOut(third) == 1, "\(third.text)")
            #expect(try await server.services.store.read { try $0.importedUsage(in: "c").count } == 4)
        }
    }

    @Test("What a process left in the middle is gone at the next start, and what it ended is there again")
    func leftovers() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "staged-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.database = folder.appending(path: "k.sqlite").path
        let before = Flag()
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            try await server.bring(Self.events(300), as: "ann").expect(201)
            before.text = try await server.raw(.get, try await server.makeFeed().path).text
            try await server.services.store.record { transaction in
                let circle = try #require(try transaction.circle("c"))
                try transaction.beginStaging(in: circle)
                let all = try transaction.importedEvents(in: circle, from: 0, to: .max / 2)
                try transaction.stageEnd(of: all.map(\.key), in: circle)
                try transaction.stage(
                    all.map { event in
                        var event = event
                        event.uid += "-new"
                        return event
                    }, in: circle)
            }
            #expect(try await server.raw(.get, try await server.makeFeed(label: "again").path).text == before.text)
        }
        try await TestServer.run(settings: settings) { server in
            await server.services.turns.settle()
            let feed = try await server.makeFeed(label: "later").path
            #expect(try await server.raw(.get, feed).text == before.text)
            let rows = try await server.services.store.read { transaction in
                try transaction.rows("SELECT uid FROM event_versions", []).count
                    + transaction.rows("SELECT epoch FROM event_stagings", []).count
            }
            #expect(rows == 300)
            // And the next import goes on from there.
            let answer = try await server.bring(Self.events(300, "Other"), as: "ann").expect(201)
            #expect(answer.json["counts"]?["updated"] == 300)
        }
    }

    @Test("Imports of one circle at the same time follow each other, and each finds what the other brought")
    func turns() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        let answer = try await patiently { try await server.bring(Self.events(120), as: "ann") }
                        return try answer.expect(201).json["counts"]?["created"]?.integer ?? -1
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.sorted()
            }
            #expect(answers == [0, 0, 0, 0, 120])
        }
    }

    @Test("A deleted circle is gone at once, whatever it held, and a new one of its id has nothing of it")
    func circles() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring(Self.events(2000), as: "ann").expect(201)
            let lines = (0..<1500).map {
                #"{"op":"put","collection":"tasks","id":"t\#($0)","value":{"title":"T","dueAt":"2026-03-03T09:00:00Z"}}"#
            }
            try await server.raw(
                .post, "/v1/circles/c/batch", headers: [.authorization: "Bearer \(server.key)"],
                body: ByteBuffer(string: lines.joined(separator: "\n"))
            ).expect(200)
            let feed = try await server.makeFeed()
            try await server.call(.delete, "/v1/circles/c").expect(204)
            for (path, status) in [
                (feed.path, 410), ("/v1/circles/c", 404), ("/v1/feeds/\(feed.id)", 404),
                ("/v1/circles/c/tasks/t1", 404),
            ] {
                try await server.call(.get, path).expect(status)
            }
            try await server.makeCircle()
            #expect(try await server.call(.get, "/v1/circles/c/tasks").json["items"] == [])
            #expect(try await server.raw(.get, try await server.makeFeed().path).values("SUMMARY") == [])
            #expect(try await server.raw(.get, feed.path).status == 410)
            #expect(try await server.call(.get, "/v1/circles/c/imports").json["items"] == [])
        }
    }

    @Test("A name in the titles of many items is a new revision of each of them, once")
    func renames() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let lines = (0..<1300).map {
                #"{"op":"put","collection":"appointments","id":"a\#($0)","value":{"patientId":"\#($0 % 2 == 0 ? "mom" : "dad")","#
                    + #""provider":"P","startAt":"2026-03-03T09:00:00Z"}}"#
            }
            try await server.raw(
                .post, "/v1/circles/c/batch", headers: [.authorization: "Bearer \(server.key)"],
                body: ByteBuffer(string: lines.joined(separator: "\n"))
            ).expect(200)
            server.clock.advance(seconds: 60)
            try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": "Mum"]).expect(200)
            let feed = try await server.shown(try await server.makeFeed().path)
            #expect(feed.filter { $0.title.contains("Mum") }.map(\.sequence) == Array(repeating: 1, count: 650))
            #expect(feed.filter { $0.title.contains("Dad") }.map(\.sequence) == Array(repeating: 0, count: 650))
            let due = try await server.services.store.read { try $0.hasRevisionsDue(in: "c") }
            #expect(!due)
        }
    }

    @Test("No transaction of an import, its undo or the deletion of its circle takes a time that grows with them")
    func shortTransactions() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let writes = server.services.maintenance.writes
            writes.reset()
            let before = writes.total
            let answer = try await server.bring(Self.events(8000), as: "ann").expect(201)
            let id = try #require(answer.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200)
            try await server.bring(Self.events(8000, "More"), as: "ann").expect(201)
            try await server.call(.delete, "/v1/circles/c").expect(204)
            await server.services.turns.settle()
            // Four acts, each in many transactions: in one each, the longest were a quarter of all, whatever the machine's speed.
            let (longest, total) = (writes.longest, writes.total - before)
            #expect(longest * 10 < total, "\(longest) of \(total)")
        }
    }
}

/// A flag that tasks share.
private final class Flag: Sendable {
    private let state = Mutex((isSet: false, text: ""))

    var isSet: Bool { state.withLock { $0.isSet } }
    func set() { state.withLock { $0.isSet = true } }
    var text: String {
        get { state.withLock { $0.text } }
        set { state.withLock { $0.text = newValue } }
    }
}
