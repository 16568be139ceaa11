// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import ServerTestSupport

@Suite("Whatever a phone sends")
struct PhoneFuzzTests {
    private static let names = [
        "externalId", "externalInstanceId", "externalCalendarId", "title", "date", "startTime", "endTime", "endDate",
        "timeZone", "allDay", "description", "location", "recurrence", "rrule", "exdates", "rdates", "syncState",
        "lastSyncedAt", "lastModified", "sourceDevice", "id", "events", "notes", "external_id", "start_at", "end_at",
        "is_all_day", "source_calendar_name", "range_start", "range_end",
    ]
    private static let texts = [
        "", "x", "2026-03-04", "2026-13-04", "09:00", "25:00", "2026-03-04T09:00:00Z", "2026-03-04T09:00:00-08:00",
        "9999-12-31", "0001-01-01", "FREQ=DAILY", "FREQ=YEARLY;COUNT=99999", "linked", "deleted", "apple", "UTC",
        "Europe/Vienna", "\u{0}", "\u{1}", "👩‍👩‍👧", "a\u{301}\u{301}", String(repeating: "x", count: 1001),
        String(repeating: "e\u{301}", count: 40) + String(repeating: "\u{301}", count: 40),
    ]

    private static func value(_ depth: Int, _ random: inout SplitMix) -> JSONValue {
        switch Int.random(in: 0..<(depth > 3 ? 6 : 9), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer([0, -1, 1, 1 << 53, .max, .min, 1_772_452_800_000].randomElement(using: &random) ?? 0)
        case 3: return .number([0.5, -1e300, 1e-300].randomElement(using: &random) ?? 0)
        case 4, 5: return .string(texts.randomElement(using: &random) ?? "")
        case 6:
            return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth + 1, &random) })
        default:
            var members: [ByteString: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0..<9, using: &random) {
                members[ByteString(names.randomElement(using: &random) ?? "")] = value(depth + 1, &random)
            }
            return .object(members)
        }
    }

    /// Returns a body that is valid except for some members.
    private static func body(_ random: inout SplitMix) -> JSONValue {
        if Int.random(in: 0..<8, using: &random) == 0 { return value(0, &random) }
        let events = (0..<Int.random(in: 0..<6, using: &random)).map { number -> JSONValue in
            var event = JSONValue.sent("E\(number % 3)").object ?? [:]
            event["external_id"] = .string("E\(number % 3)")
            event["start_at"] = "2026-03-04T09:00:00-08:00"
            event["end_at"] = "2026-03-04T10:00:00-08:00"
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                event[ByteString(names.randomElement(using: &random) ?? "")] = value(2, &random)
            }
            return .object(event)
        }
        var members: [ByteString: JSONValue] = [
            "events": .array(events), "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-04-01T00:00:00Z",
        ]
        if Int.random(in: 0..<4, using: &random) == 0 {
            members[ByteString(names.randomElement(using: &random) ?? "")] = value(1, &random)
        }
        return .object(members)
    }

    @Test("No body makes the server fail, and every rejection names an index and a field", arguments: 0..<4)
    func bodies(seed: Int) async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            var random = SplitMix(seed: UInt64(seed))
            var (taken, rejected) = (0, 0)
            for _ in 0..<250 {
                let body = Self.body(&random)
                let answer = try await phone.call(.post, "/sync/apple/events/upsert", body)
                #expect([200, 422].contains(answer.status), "\(answer.text.prefix(300))")
                guard answer.status == 200 else {
                    #expect(!answer.pointers.isEmpty)
                    continue
                }
                let count = body["events"]?.array?.count ?? 0
                for one in answer.json["rejected"]?.array ?? [] {
                    let index = try #require(one["index"]?.integer)
                    let errors = try #require(one["errors"]?.array)
                    #expect(index < count && !errors.isEmpty)
                    for error in errors {
                        #expect(error["pointer"]?.string?.hasPrefix("/events/\(index)") == true, "\(error)")
                    }
                    rejected += 1
                }
                let report = answer.json
                let sum = ["created", "updated", "unchanged"].reduce(0) { $0 + (report[$1]?.integer ?? 0) }
                #expect(sum + (report["rejected"]?.array?.count ?? 0) == count)
                taken += sum
            }
            #expect(taken > 100 && rejected > 100)
            #expect(try await phone.changes(limit: 3).events.count >= 3)
            try await phone.call(.get, "/sync/apple/status").expect(200)
        }
    }

    @Test(
        "No body of planned events makes the server fail, and every failure names an index and a field",
        arguments: 0..<4)
    func planned(seed: Int) async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            var random = SplitMix(seed: UInt64(200 + seed))
            var (taken, failed) = (0, 0)
            for _ in 0..<250 {
                let body = Self.body(&random)
                let answer = try await phone.call(.post, "/api/apple_sync/planned_upsert", body)
                #expect([200, 422].contains(answer.status), "\(answer.text.prefix(300))")
                guard answer.status == 200 else {
                    #expect(!answer.pointers.isEmpty)
                    continue
                }
                let count = body["events"]?.array?.count ?? 0
                for one in answer.json["failed"]?.array ?? [] {
                    let index = try #require(one["index"]?.integer)
                    let sentence = try #require(one["error"]?.string)
                    let field = sentence.prefix { $0 != ":" }
                    #expect(index < count && Self.plannedFields.contains(String(field)), "\(one)")
                    failed += 1
                }
                let report = answer.json
                let sum = ["upserted", "unchanged"].reduce(0) { $0 + (report[$1]?.integer ?? 0) }
                #expect(sum + (report["failed"]?.array?.count ?? 0) == count, "\(answer.text.prefix(300))")
                taken += sum
            }
            #expect(taken > 100 && failed > 100)
            // What the last body's range took away may have been all.
            try await server.call(.get, "/v1/users/ann/planned", as: "ann").expect(200)
        }
    }

    /// The fields that a failure may name; `event` means all of one event.
    private static let plannedFields = [
        "external_id", "title", "start_at", "end_at", "is_all_day", "source_calendar_name", "event",
    ]

    @Test("Bytes that are broken anywhere are 400, 422, or taken as what they then say", arguments: 0..<4)
    func broken(seed: Int) async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            var random = SplitMix(seed: UInt64(100 + seed))
            for _ in 0..<250 {
                var bytes = try Self.body(&random).serialized()
                for _ in 0..<Int.random(in: 1..<4, using: &random) where !bytes.isEmpty {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: index)
                    default: bytes.removeSubrange(index...)
                    }
                }
                let answer = try await server.raw(
                    .post, "/sync/apple/events/upsert",
                    headers: [.authorization: "Device \(phone.token)"], body: ByteBuffer(bytes: bytes))
                #expect([200, 400, 422].contains(answer.status), "\(answer.text.prefix(300))")
            }
        }
    }
}
