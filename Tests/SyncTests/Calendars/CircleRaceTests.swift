// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Calendar apps that write to a circle at the same time, and what they hear of it")
struct CircleRaceTests {
    /// Returns how many of some writes at once are taken; the others fail because of what has been stored by then.
    private func taken(_ count: Int, _ write: @escaping @Sendable (Int) async throws -> Void) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                group.addTask {
                    let fault = await CalendarApp.fault { try await write(number) }
                    guard let fault else { return true }
                    guard case .preconditionFailed = fault else {
                        Issue.record("\(fault)")
                        return false
                    }
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    @Test("Of two devices that keep something of the same state of an item for one person, one is refused")
    func personalParts() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            for round in 0..<20 {
                let text = try await app.text("knee.ics")
                var conditions = WriteConditions()
                conditions.ifMatch = [try #require(await app.member("knee.ics")).etag]
                let taken = await taken(3) { [conditions] number in
                    let edited = text.replacingOccurrences(
                        of: "END:VEVENT", with: "X-DEVICE:\(round)-\(number)\r\nEND:VEVENT")
                    try await app.put(edited, as: "knee.ics", if: conditions)
                }
                #expect(taken == 1)
            }
        }
    }

    @Test("Of two resources that are made under one name, one is refused")
    func names() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            let before = try await app.members("c~tasks").count
            for round in 0..<20 {
                var absent = WriteConditions()
                absent.needsAbsence = true
                let taken = await taken(3) { [absent] number in
                    let text = CalendarApp.object("VTODO", "UID:\(round)-\(number)", "SUMMARY:New")
                    try await app.put(text, as: "new\(round).ics", in: "c~tasks", if: absent)
                }
                #expect(taken == 1)
            }
            #expect(try await app.members("c~tasks").count == before + 20)
        }
    }

    @Test("An app whose change was put back finds the resource among the changes")
    func putBack() async throws {
        try await TestServer.withCircle { server in
            for (user, name, from, to) in [
                ("ann", "knee.ics", "Dr. Lee", "Dr. No"), ("ben", "day+shifts.ics", "T090000", "T100000"),
            ] {
                let app = CalendarApp(server: server, user: user)
                let text = try await app.text(name)
                let number = try await app.collection().number
                try await app.put(text, as: name)
                #expect(try await app.collection().number == number)
                #expect(try await app.edit(name, (from, to)).etag == nil)
                let found = try await app.source.changes(of: app.collection(), after: number, limit: 10)
                #expect(found.changed.map(\.name) == [name])
                #expect(try await app.text(name) == text)
            }
        }
    }

    @Test("No more changes come at once than are wanted, what a person keeps among them", arguments: [1, 2, 3])
    func limit(most: Int) async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            var number = try await app.collection().number
            for name in ["knee.ics", "physio.ics", "day+shifts.ics"] {
                try await app.edit(name, ("END:VEVENT", "X-OWN:1\r\nEND:VEVENT"))
            }
            try await server.put("tasks", "pills", ["title": "More pills", "dueAt": .null])
            try await server.call(.delete, "/v1/circles/c/follow-ups/call").expect(204)
            try await app.edit("knee.ics", ("LOCATION:Room 1", "LOCATION:Room 2"))
            var seen: Set<ByteString> = []
            while true {
                let found = try await app.source.changes(of: app.collection(), after: number, limit: most)
                #expect(found.changed.count + found.removed.count <= most)
                seen.formUnion(found.changed.map { ByteString($0.name) })
                number = found.number
                if !found.isTruncated { break }
            }
            #expect(seen == ["knee.ics", "physio.ics", "day+shifts.ics"])
        }
    }

    @Test("An import of more events than come at once makes no number too old")
    func imported() async throws {
        try await TestServer.withCircle { server in
            let app = CalendarApp(server: server)
            var number = try await app.collection().number
            for id in ["knee", "physio"] {
                try await server.call(.delete, "/v1/circles/c/appointments/\(id)").expect(204)
            }
            try await server.bring((1...4).map { OneCalendar.event("e\($0)", "E \($0)") }, as: "ann").expect(201)
            var (changed, removed): ([CalendarMember], [String]) = ([], [])
            while true {
                let found = try await app.source.changes(of: app.collection(), after: number, limit: 1)
                changed += found.changed
                removed += found.removed
                number = found.number
                if !found.isTruncated { break }
            }
            #expect(changed.count == 4 && removed == ["knee.ics", "physio.ics"])
        }
    }
}
