// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Other forms of a feed")
struct OtherFormsTests {
    private static let forms: [CalendarForm] = [.jCal, .xCal, .csv]

    private func fill(_ server: TestServer) async throws {
        try await server.makeCircle()
        try await server.put(
            "tasks", "t1",
            ["title": "Größe; \"two\", three", "dueAt": "2026-03-03T09:00:00Z", "reminders": [15], "notes": "a\nb"])
        try await server.put(
            "shifts", "s1", ["patientId": "mom", "startDate": "2026-03-03", "endDate": "2026-03-04"])
        try await server.put(
            "appointments", "a1",
            [
                "patientId": "mom", "provider": "Dr. Wu", "startAt": "2026-03-05T09:00:00-08:00",
                "endAt": "2026-03-05T10:00:00-08:00", "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=4"],
            ])
    }

    @Test("By Accept a feed is jCal, xCal or CSV, and holds what the iCalendar holds", arguments: forms)
    func negotiated(_ form: CalendarForm) async throws {
        try await TestServer.run { server in
            try await fill(server)
            let path = try await server.makeFeed().path
            let plain = try await server.raw(.get, path).expect(200)
            let other = try await server.raw(.get, path, headers: [.accept: form.mediaType]).expect(200)
            #expect(other.headers[.contentType] == form.contentType)
            #expect(
                plain.headers[.vary] == "Accept, Accept-Encoding, User-Agent"
                    && other.headers[.vary] == "Accept, Accept-Encoding, User-Agent")
            #expect(other.headers[.eTag] != plain.headers[.eTag])
            let read = CalendarReader().read(anyForm: other.body)
            #expect(read.refusal == nil && read.problems.isEmpty, "\(read.problems)")
            let expected = CalendarReader().read(plain.body).events
            #expect(expected.count == 3)
            if form == .csv {
                #expect(Set(read.events.map(\.summary)) == Set(expected.map(\.summary)))
                #expect(Set(read.events.map(\.uid)) == Set(expected.map(\.uid)))
                #expect(read.events.map(\.isAllDay) == expected.map(\.isAllDay))
            } else {
                #expect(read.events == expected)
            }
            let etag = try #require(other.headers[.eTag])
            try await server.raw(.get, path, headers: [.accept: form.mediaType, .ifNoneMatch: etag]).expect(304)
            try await server.raw(.get, path, headers: [.ifNoneMatch: etag]).expect(200)
            try await server.put("tasks", "t1", ["title": "Other", "dueAt": "2026-03-03T09:00:00Z"])
            try await server.raw(.get, path, headers: [.accept: form.mediaType, .ifNoneMatch: etag]).expect(200)
        }
    }

    @Test(
        "iCalendar is what an app gets that asks for nothing else, whatever it sends",
        arguments: [
            ("", CalendarForm.iCalendar), ("*/*", .iCalendar), ("text/html, application/json;q=0.9", .iCalendar),
            ("text/calendar, application/calendar+json", .iCalendar), ("application/calendar+json", .jCal),
            ("application/calendar+json;q=0.9, text/calendar", .iCalendar),
            ("text/calendar;q=0.5 , Application/Calendar+XML ; q=0.6", .xCal), ("text/csv, */*;q=0.1", .csv),
            ("text/*, application/calendar+json;q=0.3", .iCalendar), ("text/csv;q=0", .iCalendar),
            ("text/calendar;q=0, */*;q=1, text/csv;q=0.2", .csv), (";;;q=x,,", .iCalendar),
        ])
    func accept(_ header: String, _ form: CalendarForm) {
        #expect(CalendarForm(accept: header.isEmpty ? [] : [header]) == form, "\(header)")
    }

    @Test("A calendar in another form is imported as the .ics file is", arguments: forms)
    func imported(_ form: CalendarForm) async throws {
        let path = packageRoot.appending(path: "Samples/exports/google-export.ics").path
        let ics = Array(try #require(FileManager.default.contents(atPath: path)))
        let calendar = try #require(CalendarReader().read(ics).calendars.first)
        try await TestServer.run { server in
            try await server.makeCircle()
            func preview(_ bytes: [UInt8]) async throws -> JSONValue {
                let answer = try await server.raw(
                    .post, "/v1/circles/c/imports",
                    headers: [.authorization: "Bearer \(server.key)", .contentType: "application/octet-stream"],
                    body: ByteBuffer(bytes: bytes)
                ).expect(201)
                return answer.json
            }
            let first = try await preview(ics)
            let second = try await preview(calendar.bytes(as: form))
            #expect(first["counts"] == second["counts"], "\(second)")
            #expect(first["items"]?.array?.count == second["items"]?.array?.count)
        }
    }

    @Test("Format reads each form it writes")
    func formatted() async throws {
        let source = packageRoot.appending(path: "Samples/exports/google-export.ics").path
        let strict = try await runProgram(Programs.kalends, ["format", source])
        for form in ["jcal", "xcal"] {
            let there = try await runProgram(Programs.kalends, ["format", source, "--to", form])
            let back = try await runProgram(Programs.kalends, ["format", "-"], input: there.output)
            #expect(back.output == strict.output, "\(form)")
            #expect(back.status == 0)
        }
        let broken = try await runProgram(Programs.kalends, ["format", "-"], input: "[\"vcalendar\",\n[")
        #expect(broken.status == 1 && broken.error.contains("line 2") || broken.error.contains("Line 2"))
    }
}
