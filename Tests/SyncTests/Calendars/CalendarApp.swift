// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// A person's calendar app at the circle `c`.
struct CalendarApp {
    let server: TestServer
    var user = "ann"
    var mayWrite = true
    var circleIDs: [String]?

    var source: CircleCollections { server.services.circleCollections }

    var caller: CalDAVCaller {
        CalDAVCaller(passwordID: "p", userID: user, mayWrite: mayWrite, circleIDs: circleIDs, own: true)
    }

    func collection(_ segment: String = "c") async throws -> CalendarCollection {
        try #require(await source.collection(segment, of: caller))
    }

    func members(_ segment: String = "c") async throws -> [CalendarMember] {
        try await source.members(of: collection(segment), after: nil, limit: 10_000)
    }

    func text(_ name: String, in segment: String = "c") async throws -> String {
        let found = try await source.resources(of: collection(segment), named: [name])
        return String(decoding: try #require(found.first ?? nil).text.get(), as: UTF8.self)
    }

    func member(_ name: String, in segment: String = "c") async throws -> CalendarMember? {
        try await source.members(of: collection(segment), named: [name]).first ?? nil
    }

    @discardableResult
    func put(
        _ text: String, as name: String, in segment: String = "c", if conditions: WriteConditions = WriteConditions()
    ) async throws -> PutOutcome {
        try await source.put(
            Array(text.utf8), as: name, in: collection(segment), if: conditions, for: caller, room: nil)
    }

    /// Changes a resource as an app does that knows its present text.
    @discardableResult
    func edit(
        _ name: String, in segment: String = "c", _ changes: (from: String, to: String)...
    ) async throws -> PutOutcome {
        var text = try await text(name, in: segment)
        for (from, to) in changes {
            #expect(text.contains(from), "\(text)")
            text = text.replacingOccurrences(of: from, with: to)
        }
        var conditions = WriteConditions()
        conditions.ifMatch = [try #require(await member(name, in: segment)).etag]
        return try await put(text, as: name, in: segment, if: conditions)
    }

    func delete(
        _ name: String, in segment: String = "c", if conditions: WriteConditions = WriteConditions()
    ) async throws {
        try await source.delete(name, from: collection(segment), if: conditions, for: caller, room: nil)
    }

    /// Returns the fault that a request meets; nil if it meets none.
    static func fault(_ body: () async throws -> Void) async -> CollectionFault? {
        do {
            try await body()
            return nil
        } catch let fault as CollectionFault {
            return fault
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    static func object(_ component: String, _ lines: String...) -> String {
        (["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//app//EN", "BEGIN:\(component)", "DTSTAMP:20260301T000000Z"]
            + lines + ["END:\(component)", "END:VCALENDAR", ""]).joined(separator: "\r\n")
    }
}

extension TestServer {
    /// Calls a body with the circle `c`, an appointment, a series, a shift, a task and a follow-up in it.
    static func withCircle(_ body: @escaping @Sendable (TestServer) async throws -> Void) async throws {
        try await run { server in
            try await server.makeCircle()
            let day = "2026-03-06"
            try await server.put(
                "appointments", "knee",
                [
                    "patientId": "mom", "provider": "Dr. Lee", "startAt": .string("\(day)T14:00:00-08:00"),
                    "location": "Room 1", "notes": "Bring scans", "reminders": [30],
                ])
            try await server.put(
                "appointments", "physio",
                [
                    "patientId": "mom", "provider": "Kim", "startAt": "2026-03-03T09:00:00-08:00",
                    "recurrence": ["rrule": "FREQ=WEEKLY;UNTIL=20260428T160000Z"],
                ])
            try await server.put(
                "shifts", "day",
                [
                    "patientId": "mom", "ownerId": "ben", "startAt": .string("\(day)T09:00:00-08:00"),
                    "endAt": .string("\(day)T13:00:00-08:00"), "notes": "Keys",
                ])
            try await server.put(
                "tasks", "pills", ["title": "Pills", "dueAt": .string("\(day)T08:00:00-08:00"), "reminders": [15]])
            try await server.put(
                "follow-ups", "call", ["description": "Call back", "dueAt": .string("\(day)T16:00:00-08:00")])
            try await body(server)
        }
    }

    func value(_ path: String, _ field: String) async throws -> JSONValue? {
        try await call(.get, "/v1/circles/c/\(path)").expect(200).json[field]
    }
}
