// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Testing

/// Items of every kind.
enum Family {
    static func visit(
        location: String = "Main St 5", status: String = "confirmed", reminders: [Int] = []
    ) -> JSONValue {
        [
            "patientId": "dad", "provider": "Dr. Wu", "startAt": "2026-03-04T09:00:00-08:00",
            "location": .string(location), "status": .string(status),
            "reminders": .array(reminders.map { .integer($0) }),
        ]
    }

    static let weekly: JSONValue = [
        "patientId": "mom", "provider": "Gym", "startAt": "2026-03-03T09:00:00-08:00",
        "recurrence": [
            "rrule": "FREQ=WEEKLY;COUNT=9", "exdates": ["2026-03-24T09:00:00-07:00"],
            "rdates": ["2026-03-26T09:00:00-07:00"],
        ],
        "reminders": [30],
    ]
}

extension TestServer {
    /// Creates the circle of `makeCircle` with a task, three shifts, an appointment, a series with a cancelled
    /// occurrence, and a follow-up.
    func fillCircle() async throws {
        try await makeCircle()
        try await put("tasks", "pills", ["title": "Refill", "dueAt": "2026-03-03T09:00:00-08:00", "reminders": [15]])
        try await put(
            "shifts", "days",
            ["patientId": "mom", "ownerId": "ben", "startDate": "2026-03-05", "endDate": "2026-03-06"])
        try await put(
            "shifts", "hours",
            ["patientId": "dad", "startAt": "2026-03-07T22:00:00-08:00", "endAt": "2026-03-08T06:00:00-07:00"])
        try await put("appointments", "visit", Family.visit())
        try await put("appointments", "weekly", Family.weekly)
        try await call(
            .put, "/v1/circles/c/appointments/weekly/occurrences/20260331T160000Z", ["status": "cancelled"]
        ).expect(201)
        try await put(
            "follow-ups", "ask",
            ["description": "Ask about dosage", "dueAt": "2026-03-04T09:00:00-08:00", "timeZone": "America/New_York"])
    }

    /// Imports an event with these lines.
    func importFile(_ lines: String...) async throws {
        let file =
            [
                "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//Test//EN", "BEGIN:VEVENT",
                "DTSTAMP:20260301T000000Z",
            ]
            + lines + ["END:VEVENT", "END:VCALENDAR", ""]
        let answer = try await raw(
            .post, "/v1/circles/c/imports?mode=commit",
            headers: [.authorization: "Bearer \(key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: file.joined(separator: "\r\n")))
        #expect(answer.status == 201 || answer.status == 200, "\(answer.text)")
    }

    func events(_ path: String) async throws -> [FeedEvent] {
        try await raw(.get, path).expect(200).events
    }
}

/// An event as its lines.
struct FeedEvent: Sendable {
    /// The lines between BEGIN and END, without its alarms.
    var lines: [String]

    var uid: String { self["UID"] ?? "" }
    var sequence: Int { self["SEQUENCE"].flatMap { Int($0) } ?? -1 }
    var key: String { uid + " " + (self["RECURRENCE-ID"] ?? "") }
    /// The lines that a person sees.
    var shown: [String]

    private func all(_ name: String) -> [Substring] {
        lines.filter { $0.hasPrefix(name + ":") || $0.hasPrefix(name + ";") }.map { $0.dropFirst(name.count) }
    }

    subscript(name: String) -> String? {
        all(name).first.map { String($0.drop { $0 != ":" }.dropFirst()) }
    }

    func allParameters(_ name: String) -> [String] { all(name).map { String($0.prefix { $0 != ":" }.dropFirst()) } }
    func parameters(_ name: String) -> String { allParameters(name).first ?? "" }

    /// Returns the time of a property, for comparison within one zone.
    func instant(_ name: String) -> Instant? {
        guard let text = self[name] else { return nil }
        guard let wall = CivilDateTime(basic: text.prefix(15)) else { return nil }
        guard let zone = parameters(name).split(separator: "=").last.flatMap({ TimeZoneReference(String($0)) }) else {
            return Instant(utc: wall)
        }
        return zone.rules.instant(of: wall)
    }
}

extension Answer {
    var events: [FeedEvent] {
        calendarLines.split(separator: "BEGIN:VEVENT").dropFirst().map { rest in
            let all = Array(rest.prefix { $0 != "END:VEVENT" })
            let own = Array(all.prefix { $0 != "BEGIN:VALARM" })
            let revision = ["SEQUENCE:", "LAST-MODIFIED:", "DTSTAMP:"]
            return FeedEvent(lines: own, shown: all.filter { line in !revision.contains { line.hasPrefix($0) } })
        }
    }
}
