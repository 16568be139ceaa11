// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Calendar apps that keep a circle in step")
struct CircleStepTests {
    /// The seeds of the histories; `KALENDS_HISTORIES` says how many there are.
    private static let seeds =
        1...UInt64(max(1, ProcessInfo.processInfo.environment["KALENDS_HISTORIES"].flatMap { Int($0) } ?? 3))

    /// What an app that synchronizes has of a collection.
    private struct Copy {
        let app: CalendarApp
        let segment: String
        var number = 0
        var etags: [ByteString: String] = [:]

        mutating func synchronize(limit: Int) async throws {
            while true {
                let found = try await app.source.changes(of: app.collection(segment), after: number, limit: limit)
                for name in found.removed { etags[ByteString(name)] = nil }
                for member in found.changed { etags[ByteString(member.name)] = member.etag }
                number = found.number
                if !found.isTruncated { return }
            }
        }

        func check(_ note: String) async throws {
            var listed: [ByteString: String] = [:]
            for member in try await app.members(segment) {
                listed[ByteString(member.name)] = member.etag
                let read = try await app.member(member.name, in: segment)
                #expect(read == member, "\(note): \(app.user) reads \(member.name)")
            }
            #expect(listed == etags, "\(note): \(app.user) in \(segment)")
        }
    }

    private func change(_ server: TestServer, _ random: inout SplitMix) async throws {
        let number = random.below(6)
        let day = Instant(milliseconds: server.clock.now).adding(seconds: random.below(90) * 86_400)
        let time = JSONValue(milliseconds: day.milliseconds)
        let app = CalendarApp(server: server, user: random.below(2) == 0 ? "ann" : "ben")
        func some(_ segment: String) async throws -> String? {
            let all = try await app.members(segment).filter { !$0.name.hasSuffix("+imported.ics") }
            return all.isEmpty ? nil : all[random.below(all.count)].name
        }
        switch random.below(14) {
        case 0, 1:
            try await server.put(
                "tasks", "t\(number)",
                [
                    "title": .string("T \(random.below(9))"), "dueAt": random.below(3) == 0 ? .null : time,
                    "status": random.below(2) == 0 ? "open" : "completed",
                ])
        case 2, 3:
            try await server.put(
                "appointments", "a\(number)",
                [
                    "patientId": "mom", "provider": .string("P \(random.below(9))"), "startAt": time,
                    "recurrence": random.below(2) == 0 ? .null : ["rrule": "FREQ=WEEKLY;COUNT=4"],
                ])
        case 4:
            try await server.put(
                "shifts", "a\(number)",
                [
                    "patientId": "mom", "ownerId": random.below(2) == 0 ? "ann" : "ben", "startAt": time,
                    "endAt": JSONValue(milliseconds: day.milliseconds + 3_600_000),
                ])
        case 5:
            let paths = ["tasks/t", "appointments/a", "shifts/a"]
            _ = try await server.call(.delete, "/v1/circles/c/\(paths[random.below(3)])\(number)")
        case 6:
            try await server.call(
                .put, "/v1/circles/c/patients/mom", ["displayName": .string("Mom \(random.below(3))")]
            ).expect(200)
        case 7:
            let title = OneCalendar.event("e\(number)", "E \(random.below(9))")
            let isPrivate = random.below(3) == 0
            try await server.bring([title + (isPrivate ? ["CLASS:PRIVATE"] : [])], as: app.user).expect(201)
        case 8, 9:
            guard let name = try await some("c~tasks") else { return }
            let text = try await app.text(name, in: "c~tasks")
            let edited = text.replacingOccurrences(of: "STATUS:NEEDS-ACTION", with: "STATUS:COMPLETED")
                .replacingOccurrences(of: "END:VTODO", with: "PRIORITY:\(random.below(9))\r\nEND:VTODO")
            try await app.put(edited, as: name, in: "c~tasks")
        case 10, 11:
            guard let name = try await some("c") else { return }
            let text = try await app.text(name)
            let edited = text.replacingOccurrences(
                of: "SUMMARY:", with: "COLOR:red\r\nLOCATION:L\(random.below(9))\r\nSUMMARY:")
            try await app.put(edited, as: name)
        case 12:
            let text = CalendarApp.object("VTODO", "UID:u\(number)", "SUMMARY:Mine", "DUE:20260310T100000Z")
            _ = await CalendarApp.fault { try await app.put(text, as: "mine\(number).ics", in: "c~tasks") }
        default:
            let segment = random.below(2) == 0 ? "c" : "c~tasks"
            guard let name = try await some(segment) else { return }
            try await app.delete(name, in: segment)
        }
    }

    @Test(
        "After any changes by the API and by two persons' apps, what changed since is what the list has",
        arguments: Self.seeds)
    func random(seed: UInt64) async throws {
        try await TestServer.withCircle { server in
            var random = SplitMix(seed: seed)
            var copies: [Copy] = []
            for user in ["ann", "ben"] {
                for segment in ["c", "c~tasks"] {
                    copies.append(Copy(app: CalendarApp(server: server, user: user), segment: segment))
                }
            }
            for step in 0..<25 {
                for _ in 0...random.below(3) { try await change(server, &random) }
                server.clock.advance(seconds: 3)
                for index in copies.indices {
                    try await copies[index].synchronize(limit: 1 + random.below(20))
                    try await copies[index].check("seed \(seed), step \(step)")
                }
            }
        }
    }
}
