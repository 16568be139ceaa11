// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Imports of long events")
struct LongEventTests {
    /// An event with so many bytes of notes.
    private static func event(_ uid: String, _ bytes: Int, _ more: [String] = []) -> String {
        let notes = String(repeating: "x", count: bytes)
        return
            (["BEGIN:VEVENT", "UID:\(uid)", "DTSTAMP:20260301T000000Z", "DTSTART:20260303T100000Z"] + more + [
                "DESCRIPTION:\(notes)", "END:VEVENT",
            ])
            .map { $0 + "\r\n" }.joined()
    }

    private func post(_ server: TestServer, _ events: [String], _ query: String = "mode=commit") async throws -> Answer
    {
        let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(events.joined())END:VCALENDAR\r\n"
        return try await server.raw(
            .post, "/v1/circles/c/imports?\(query)",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: text))
    }

    @Test("All come in, in pages as well, but for those that nothing could hold, of which the report names the lines")
    func report() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            var events = (0..<9).map { Self.event("\($0)", 200 << 10) }
            let guest = "ATTENDEE;CN=\(String(repeating: "x", count: 900)):mailto:a@example.com"
            events.insert(Self.event("huge", 1, Array(repeating: guest, count: 2500)), at: 4)
            events.insert(Self.event(String(repeating: "u", count: 2001), 10), at: 5)
            let preview = try await post(server, events, "mode=preview&limit=4").expect(201).json
            #expect(preview["counts"]?["created"] == 9 && preview["counts"]?["skipped"] == 2)
            let problems = (preview["problems"]?.array ?? []).filter { $0["code"] == "event-skipped" }
            #expect(problems.compactMap { $0["line"]?.integer } == [4 + 4 * 6, 4 + 5 * 6 + 2500])
            #expect(problems.first?["uid"] == "huge" && problems.last?["uid"]?.string == nil)
            let path = "/v1/imports/\(try #require(preview["id"]?.string))"
            try await server.call(.post, "\(path)/commit", [:]).expect(200)
            var (uids, cursor): ([String], String) = ([], "")
            while true {
                let page = try await server.call(.get, "\(path)?limit=4\(cursor)").expect(200).json
                uids += page["items"]?.array?.compactMap { $0["uid"]?.string } ?? []
                guard let next = page["nextCursor"]?.string else { break }
                cursor = "&cursor=\(next)"
            }
            #expect(uids == (0..<9).map(String.init))
            let again = try await post(server, events).expect(201).json
            #expect(again["counts"]?["unchanged"] == 9 && again["counts"]?["created"] == 0)
        }
    }

    @Test("What is stored of many long events is read a part at a time, and all of it is compared")
    func parts() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await post(server, (0..<50).map { Self.event("\($0)", 100 << 10) }).expect(201)
            let store = server.services.store
            let zone = try #require(TimeZoneReference("UTC"))
            let owner = try await store.read { transaction in
                try ImportOwner(
                    .person(nil), ImportIndex(floatingIn: zone), try #require(try transaction.circle("c")),
                    in: transaction)
            }
            let keys = (0..<50).map { ("\($0)", "") }
            #expect(try await owner.together(keys, of: owner.known, store) == 20)
            #expect(try await owner.together(keys, of: [.own("ann")], store) == 50)
            // A small file may be about everything.
            let changed = try await post(server, (0..<50).map { Self.event("\($0)", 1, ["SEQUENCE:1"]) }).expect(201)
                .json
            #expect(changed["counts"]?["updated"] == 50)
        }
    }

    @Test("A series has no more than two mebibytes of changed occurrences, however many imports bring them")
    func series() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let days = (3...31).map { $0 < 10 ? "0\($0)" : "\($0)" }
            let series = Self.event("s", 100 << 10, ["RRULE:FREQ=DAILY;COUNT=29"])
            let changed = days.map { Self.event("s", 100 << 10, ["RECURRENCE-ID:202603\($0)T100000Z"]) }
            let first = try await post(server, [series] + changed.prefix(15)).expect(201).json
            #expect(first["counts"]?["created"] == 16)
            let second = try await post(server, [series] + changed).expect(201).json
            #expect(second["counts"]?["unchanged"] == 16 && second["counts"]?["created"] == 5)
            #expect(second["counts"]?["skipped"] == 9)
            let reasons = second["items"]?.array?.compactMap { $0["reason"]?.string } ?? []
            #expect(reasons.count == 9 && reasons.allSatisfy { $0.contains("2097152 bytes of them") })
            // What is there stays as it is.
            let again = try await post(server, [series] + changed.prefix(20)).expect(201).json
            #expect(again["counts"]?["unchanged"] == 21)
        }
    }

    @Test("A long import lets others go first between its parts, and has nothing in memory while it waits")
    func turns() async throws {
        var settings = ServerSettings()
        settings.limits.importMemory = MemoryBudgets.mostOfImport
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let (budget, most) = (server.services.memory.imports, MemoryBudgets.mostOfImport)
            let first = MemoryShare(budget)
            try await first.hold(most)
            let long = Task {
                try await server.raw(
                    .post, "/v1/circles/c/imports?mode=commit",
                    headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                    body: ByteBuffer(string: NumberedEvents.calendar(3000)))
            }
            while budget.waiting == 0 { try await Task.sleep(for: .milliseconds(5)) }
            first.keep(0)
            while budget.used == 0 { try await Task.sleep(for: .milliseconds(1)) }
            let second = MemoryShare(budget)
            try await second.hold(most)
            let listed = try await server.call(.get, "/v1/circles/c/imports").expect(200).json
            #expect(listed["items"]?.array?.first?["state"] == "committing")
            second.keep(0)
            let done = try await long.value.expect(201).json
            #expect(done["counts"]?["created"] == 3000 && budget.used == 0)
        }
    }
}
