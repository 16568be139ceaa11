// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import ServerTestSupport

@Suite("An edit is decided alike, whichever way it comes")
struct EditWaysTests {
    private struct Outcome: Equatable, CustomStringConvertible {
        let keepsCalendar: Bool
        let isOpen: Bool

        var description: String { "\(keepsCalendar ? "the calendar's" : "Kalends'")\(isOpen ? ", open" : "")" }
    }

    /// The Saturday of the appointment, or the second Saturday of a series: within the window before and after a year.
    private static func day(_ isSeries: Bool) -> String { isSeries ? "2027-03-27" : "2027-03-20" }
    private static let occurrence = "20270327T170000Z"

    private static func time(_ isSeries: Bool, hour: Int) -> String { "\(day(isSeries))T\(hour):00:00-07:00" }

    private static func span(_ isSeries: Bool, hour: Int) throws -> TimeSpan {
        try .at(time(isSeries, hour: hour), time(isSeries, hour: hour + 1))
    }

    /// Stores the appointment, or moves it or its occurrence here.
    private static func put(_ server: TestServer, isSeries: Bool, hour: Int) async throws {
        if isSeries, hour != 10 {
            let path = "/v1/circles/c/appointments/a/occurrences/\(occurrence)"
            let body: JSONValue = [
                "startAt": .string(time(isSeries, hour: hour)), "endAt": .string(time(isSeries, hour: hour + 1)),
            ]
            try await server.call(.put, path, body).expect(201)
            return
        }
        let rule: JSONValue = isSeries ? ["rrule": "FREQ=WEEKLY;COUNT=3"] : .null
        try await server.put(
            "appointments", "a",
            [
                "patientId": "mom", "provider": "Dr. A", "startAt": .string(time(false, hour: hour)),
                "endAt": .string(time(false, hour: hour + 1)), "timeZone": "America/Los_Angeles", "recurrence": rule,
            ])
    }

    /// Does both edits, each at its time.
    private static func edit(
        _ edit: EditCase, _ server: TestServer, isSeries: Bool, there: () async throws -> Void
    ) async throws {
        var passed = 0
        func wait(until time: Int) {
            server.clock.advance(seconds: time - passed)
            passed = time
        }
        func here() async throws {
            guard let time = edit.here else { return }
            wait(until: time)
            try await put(server, isSeries: isSeries, hour: 12)
        }
        let isHereFirst = (edit.here ?? .max) <= (edit.there ?? .max)
        if isHereFirst { try await here() }
        if let time = edit.there {
            wait(until: time)
            try await there()
        }
        if !isHereFirst { try await here() }
        server.clock.advance(seconds: 60)
    }

    private static func outcome(_ server: TestServer, isSeries: Bool, open: Int) async throws -> Outcome {
        let path = "/v1/circles/c/appointments/a\(isSeries ? "/occurrences/\(occurrence)" : "")"
        let start = try await server.call(.get, path).expect(200).json["startAt"]
        #expect(open <= 1)
        for (hour, isCalendars) in [(12, false), (14, true)] where start == .string(time(isSeries, hour: hour)) {
            return Outcome(keepsCalendar: isCalendars, isOpen: open == 1)
        }
        throw Unexpected(start: start)
    }

    private struct Unexpected: Error { let start: JSONValue? }

    // MARK: The ways

    private static func merged(_ edit: EditCase, isSeries: Bool) throws -> Outcome {
        let base = Entry(
            title: "A", span: try span(false, hour: 10),
            repetition: isSeries ? Repetition(rrule: "FREQ=WEEKLY;COUNT=3") : nil)
        func side(_ isEdited: Bool, hour: Int) throws -> Entry {
            var entry = base
            guard isEdited else { return entry }
            let span = try span(isSeries, hour: hour)
            if isSeries {
                entry.occurrences[try instant(time(true, hour: 10))] = .changed(
                    Entry(title: "A", notes: "", location: "", span: span))
            } else {
                entry.span = span
            }
            return entry
        }
        let rule = FieldRule(
            mayMove: true, ours: Instant(seconds: edit.here ?? 0), theirs: Instant(seconds: edit.there ?? 0), tie: 300,
            frozen: [])
        let merged = ThreeStates(
            base: Agreement(ours: base, theirs: base), here: .shown(try side(edit.here != nil, hour: 12)),
            there: .present(try side(edit.there != nil, hour: 14))
        ).merged(rule, isAppointment: true)
        return Outcome(keepsCalendar: !merged.incoming.isEmpty, isOpen: merged.findings.contains(where: \.isOpen))
    }

    private static func run(_ edit: EditCase, isSeries: Bool, _ expected: Outcome) async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await put(server, isSeries: isSeries, hour: 10)
            let id = try await server.connect()
            try await bench.run(id)
            try await Self.edit(edit, server, isSeries: isSeries) {
                let (span, start) = (try span(isSeries, hour: 14), try instant(time(true, hour: 10)))
                bench.calendars[id].edit("a") { entry in
                    guard isSeries else {
                        entry.span = span
                        return
                    }
                    var changed = entry.plain(at: start)
                    changed.span = span
                    entry.occurrences[start] = .changed(changed)
                }
            }
            try await bench.run(id)
            let open = try await bench.conflicts(id)
            #expect(try await outcome(server, isSeries: isSeries, open: open.count) == expected, "a provider's run")
        }
    }

    /// - Parameter isBehind: whether the server's edit is in the phone's calendar before the phone fetches it.
    private static func phone(
        _ edit: EditCase, isSeries: Bool, isBehind: Bool, _ expected: Outcome
    ) async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            let phone = try await Phone(server)
            try await put(server, isSeries: isSeries, hour: 10)
            let id = try await bench.connect()
            let event = try #require(try await phone.changes().events.first)
            try await phone.upsert(bench.sent(event, as: "X"))
            let (_, since) = try await phone.changes()
            _ = try await phone.changes(since: since)
            let start = server.clock.now
            try await Self.edit(edit, server, isSeries: isSeries) {}
            if isBehind { _ = try await bench.look(id) }
            let modified: [ByteString: JSONValue] = ["lastModified": .integer(start + (edit.there ?? 0) * 1000)]
            let moved: [ByteString: JSONValue] = [
                "startTime": "14:00", "endTime": "15:00", "date": .string(day(isSeries)),
                "timeZone": "America/Los_Angeles",
            ]
            let place: [ByteString: JSONValue] =
                isSeries
                ? ["externalInstanceId": .string(try instant(time(true, hour: 10)).rfc3339(offset: 0)), "id": .null]
                : [:]
            if edit.there == nil {
                // It has nothing to say but what it had.
                try await phone.upsert(bench.sent(event, as: "X", modified))
            } else {
                try await phone.upsert(
                    bench.sent(event, as: "X", modified.merging(moved) { $1 }.merging(place) { $1 }))
            }
            let open = try await bench.open(id)
            let found = try await outcome(server, isSeries: isSeries, open: open.count)
            #expect(found == expected, "\(isBehind ? "a phone that is behind" : "a phone")")
        }
    }

    @Test("A move, or a move of one occurrence", arguments: EditCase.moves, [false, true])
    func moves(edit: EditCase, isSeries: Bool) async throws {
        let expected = Outcome(keepsCalendar: edit.keepsCalendar, isOpen: edit.isOpen)
        #expect(try Self.merged(edit, isSeries: isSeries) == expected, "the merge")
        try await Self.run(edit, isSeries: isSeries, expected)
        try await Self.phone(edit, isSeries: isSeries, isBehind: false, expected)
        try await Self.phone(edit, isSeries: isSeries, isBehind: true, expected)
    }

    @Test(
        "A phone's move of an occurrence that was cancelled here is put back, and recorded as a provider's is",
        arguments: [false, true])
    func cancelled(wasChangedBefore: Bool) async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            let phone = try await Phone(server)
            try await Self.put(server, isSeries: true, hour: 10)
            let path = "/v1/circles/c/appointments/a/occurrences/\(Self.occurrence)"
            if wasChangedBefore { try await server.call(.put, path, ["location": "Upstairs"]).expect(201) }
            let id = try await bench.connect()
            let carried = try await phone.changes().events
            #expect(carried.count == (wasChangedBefore ? 2 : 1))
            let event = try #require(carried.first { $0["externalInstanceId"] == JSONValue.null })
            try await phone.upsert(bench.sent(event, as: "X"))
            let (_, since) = try await phone.changes()
            server.clock.advance(seconds: 60)
            try await server.call(.put, path, ["status": "cancelled"]).expect(wasChangedBefore ? 200 : 201)
            _ = try await bench.look(id)
            server.clock.advance(seconds: 60)
            let start = try instant(Self.time(true, hour: 10)).rfc3339(offset: 0)
            try await phone.upsert(
                bench.sent(
                    event, as: "X",
                    [
                        "externalInstanceId": .string(start), "id": .null, "date": .string(Self.day(true)),
                        "startTime": "14:00", "endTime": "15:00", "timeZone": "America/Los_Angeles",
                        "lastModified": .integer(server.clock.now),
                    ]))
            let records = try await server.call(.get, "/v1/connections/\(id)/conflicts", as: "ann").expect(200).json
            let kinds = (records["items"]?.array ?? []).compactMap { $0["kind"]?.string }
            #expect(kinds == ["editedThere"])
            #expect(try await bench.open(id).isEmpty)
            #expect(try await server.call(.get, path).expect(200).json["status"] == "cancelled")
            let (events, _) = try await phone.changes(since: since)
            #expect(events.contains { $0["externalInstanceId"] != .null && $0["syncState"] == "deleted" })
        }
    }

    @Test("An edit of one of the person's own events", arguments: EditCase.own)
    func own(edit: EditCase) async throws {
        try await TestServer.run { server in
            let phone = try await Phone(server)
            let made = try await phone.upsert(.sent("X", "Before", ["lastModified": .integer(server.clock.now)]))
            let path = "/v1/users/ann/events/\(made["events"]?.array?.first?["id"]?.string ?? "")"
            let start = server.clock.now
            server.clock.advance(seconds: edit.here ?? 0)
            if edit.here != nil { try await server.call(.patch, path, ["title": "Here"], as: "ann").expect(200) }
            server.clock.advance(seconds: max(0, (edit.there ?? 0) - (edit.here ?? 0)))
            if let there = edit.there {
                try await phone.upsert(.sent("X", "There", ["lastModified": .integer(start + there * 1000)]))
            }
            let title = try await server.call(.get, path, as: "ann").expect(200).json["title"]
            #expect(title == (edit.keepsCalendar ? "There" : "Here"))
        }
    }
}
