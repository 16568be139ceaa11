// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("People, files and reminders of imported events")
struct ImportExtrasTests {
    private static func calendar(_ events: [String]...) -> String {
        let components = events.map { lines in
            (["BEGIN:VEVENT", "DTSTAMP:20260301T000000Z"] + lines + ["END:VEVENT", ""]).joined(separator: "\r\n")
        }
        return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(components.joined())END:VCALENDAR\r\n"
    }

    private static let meeting = [
        "UID:meeting", "DTSTART:20260310T090000Z", "DTEND:20260310T100000Z", "SUMMARY:Meeting",
        "ORGANIZER;CN=Olga:mailto:olga@example.com", "ATTENDEE;CN=Paul:mailto:paul@example.com",
        "ATTENDEE:mailto:quinn@example.com", "CONTACT:Ring Olga", "ATTACH:https://files.example/plan.pdf",
        "ATTACH;ENCODING=BASE64;VALUE=BINARY:SGVsbG8=", "PRIORITY:12",
        "BEGIN:VALARM", "ACTION:EMAIL", "TRIGGER:-PT30M", "ATTENDEE:mailto:paul@example.com", "SUMMARY:Soon",
        "DESCRIPTION:Soon", "END:VALARM", "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT10M", "REPEAT:2", "END:VALARM",
    ]

    private func post(
        _ server: TestServer, _ text: String, _ query: String = "mode=commit", as user: String? = nil
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
        if let user { headers[.kalendsUser] = user }
        return try await server.raw(
            .post, "/v1/circles/c/imports?\(query)", headers: headers, body: ByteBuffer(string: text))
    }

    private func dropped(_ report: Answer) -> [String] {
        (report.json["dropped"]?.array ?? []).map {
            "\($0["property"]?.string ?? "") \($0["count"]?.integer ?? 0)"
        }
    }

    private func export(_ server: TestServer, as user: String? = nil) async throws -> Answer {
        try await server.call(.get, "/v1/circles/c/export.ics", as: user).expect(200)
    }

    @Test("The report counts what is not stored by property, in a preview and after the commit")
    func counted() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file = Self.calendar(Self.meeting)
            let all = ["ATTACH 2", "ATTENDEE 3", "CONTACT 1", "ORGANIZER 1", "PRIORITY 1", "REPEAT 1"]
            let preview = try await post(server, file, "mode=preview").expect(201)
            #expect(dropped(preview) == all && preview.json["keep"] == [])
            let id = try #require(preview.json["id"]?.string)
            let done = try await server.call(.post, "/v1/imports/\(id)/commit", [:]).expect(200)
            #expect(dropped(done) == all)
            #expect(dropped(try await server.call(.get, "/v1/imports/\(id)").expect(200)) == all)
            let text = try await export(server).text
            #expect(!text.contains("example.com") && !text.contains("files.example") && !text.contains("ATTACH"))
            // To others the report says nothing of events that may be private.
            #expect(try await server.call(.get, "/v1/imports/\(id)", as: "ben").expect(200).json["dropped"] == [])
            for wrong in ["keep=reminders", "keep=people"] {
                #expect(try await post(server, file, wrong).status == 422)
            }
            try await server.call(.post, "/v1/imports/\(id)/commit", ["keep": ["reminders"]]).expect(422)
        }
    }

    @Test("What the importer keeps comes out in exports, and in feeds whose owners ask for it")
    func kept() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let preview = try await post(server, Self.calendar(Self.meeting), "keep=attachments").expect(201)
            #expect(preview.json["keep"] == ["attachments"] && !dropped(preview).contains("ATTACH 2"))
            let id = try #require(preview.json["id"]?.string)
            let done = try await server.call(
                .post, "/v1/imports/\(id)/commit", ["keep": ["attendees", "attachments"]]
            ).expect(200)
            #expect(dropped(done) == ["PRIORITY 1", "REPEAT 1"], "\(done.text)")
            let people = ["mailto:olga@example.com", "paul@example.com", "quinn@example.com", "Ring Olga"]
            let files = ["https://files.example/plan.pdf", "SGVsbG8="]
            let exported = try await export(server).text
            #expect((people + files).allSatisfy(exported.contains), "\(exported)")
            func feed(_ config: JSONValue) async throws -> String {
                let label = try config.text()
                return try await server.raw(.get, try await server.makeFeed(label: label, config: config).path)
                    .expect(200).text
            }
            let plain = try await feed([:])
            #expect(plain.contains("SUMMARY:Meeting") && !(people + files).contains(where: plain.contains))
            let withPeople = try await feed(["includeAttendees": true])
            #expect(people.allSatisfy(withPeople.contains) && !files.contains(where: withPeople.contains))
            let withFiles = try await feed(["includeAttachments": true])
            #expect(files.allSatisfy(withFiles.contains) && !people.contains(where: withFiles.contains))
            for detail in ["titles", "busy"] {
                let little = try await feed([
                    "includeAttendees": true, "includeAttachments": true, "detail": .string(detail),
                ])
                #expect(!(people + files).contains(where: little.contains))
            }
            // The same file without the wish to keep anything takes nothing away.
            let again = try await post(server, Self.calendar(Self.meeting)).expect(201)
            #expect(again.json["counts"]?["unchanged"] == 1 && dropped(again) == ["PRIORITY 1", "REPEAT 1"])
            #expect(try await export(server).text == exported)
        }
    }

    @Test("Feeds show files of the web and those within the calendar only; an export has all as they came")
    func schemes() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let shown = ["https://files.example/plan.pdf", "HTTP://files.example/b", "SGVsbG8="]
            let hidden = [
                "javascript:alert(1)", "JavaScript:alert(2)", "file:///etc/passwd", "data:text/html\\,hello",
                "cid:part1@example.com", "ftp://files.example/c", "Basso",
            ]
            let lines =
                shown.dropLast().map { "ATTACH:\($0)" } + ["ATTACH;ENCODING=BASE64;VALUE=BINARY:SGVsbG8="]
                + hidden.map { "ATTACH:\($0)" } + ["ATTACH;VALUE=BINARY;ENCODING=BASE64:javascript:alert(3)"]
            let alarm = ["BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER:-PT5M", "ATTACH:file:///bin/sh", "END:VALARM"]
            let event = ["UID:files", "DTSTART:20260310T090000Z", "DTEND:20260310T100000Z", "SUMMARY:Files"]
            let report = try await post(
                server, Self.calendar(event + lines + alarm), "mode=commit&keep=attachments"
            ).expect(201)
            #expect(dropped(report) == [])
            let exported = try await export(server)
            #expect(exported.eventValues("ATTACH").count == lines.count + 1)
            #expect(hidden.allSatisfy(exported.text.contains), "\(exported.text)")
            let made = try await server.makeFeed(config: ["includeAttachments": true])
            let feed = try await server.raw(.get, made.path).expect(200)
            #expect(feed.eventValues("ATTACH") == shown, "\(feed.text)")
            #expect(feed.eventValues("TRIGGER") == ["-PT5M"])
        }
    }

    @Test("Feeds show addresses that calendar apps open, and none that a program runs; an export has all as they came")
    func addresses() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let shown = [
                "URL:https://pages.example/a", "CONFERENCE;VALUE=URI:xmpp:room@chat.example",
                "CONFERENCE;VALUE=URI:tel:+1-555-0100", "CONFERENCE;VALUE=URI:MSTEAMS:/l/meet/1",
                "IMAGE;VALUE=URI:https://pages.example/a.png", "X-HOST-NOTE:javascript is a language",
                "X-HOST-PLACE;VALUE=URI:geo:52.5,13.4",
            ]
            let hidden = [
                "CONFERENCE;VALUE=URI:javascript:alert(1)", "CONFERENCE;VALUE=URI: java\tscript:alert(2)",
                "CONFERENCE;VALUE=URI:unheard-of:alert(3)", "IMAGE;VALUE=URI:data:image/svg+xml,alert(4)",
                "IMAGE;VALUE=URI:file:///alert(5)", "X-HOST-LINK:vbscript:alert(6)",
                "LINK;VALUE=URI;LINKREL=alternate:file:///alert(7)",
            ]
            let first = ["UID:a", "DTSTART:20260310T090000Z", "SUMMARY:A"] + shown + hidden
            let others = ["JavaScript:alert(8)", "data:text/html\\,alert(9)", "file:///alert(10)"].enumerated().map {
                ["UID:b\($0)", "DTSTART:20260311T090000Z", "SUMMARY:B", "URL:\($1)"]
            }
            let altered = ["UID:c", "DTSTART:20260312T090000Z", "SUMMARY;ALTREP=\"javascript:alert(11)\":C"]
            let events = ([first, altered] + others).flatMap {
                ["BEGIN:VEVENT", "DTSTAMP:20260101T000000Z"] + $0 + ["END:VEVENT"]
            }
            let text = (["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//T//T//EN"] + events + ["END:VCALENDAR", ""])
                .joined(separator: "\r\n")
            try await post(server, text, "mode=commit").expect(201)
            let exported = try await export(server).text.replacing("\r\n ", with: "")
            for number in 1...11 { #expect(exported.contains("alert(\(number))"), "\(exported)") }
            let feed = try await server.raw(.get, try await server.makeFeed().path).expect(200)
            let lines = feed.text.replacing("\r\n ", with: "")
            #expect(!lines.contains("alert("), "\(lines)")
            #expect(feed.eventValues("SUMMARY").sorted() == ["A", "B", "B", "B", "C"])
            let kept = [
                "https://pages.example/a", "xmpp:room@", "tel:+1", "MSTEAMS:/l", "a.png", "is a language", "geo:",
            ]
            for value in kept {
                #expect(lines.contains(value), "\(value): \(lines)")
            }
        }
    }

    @Test("Reminders are kept, in a form that every reader accepts, and feeds show them if they include reminders")
    func reminders() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await post(server, Self.calendar(Self.meeting)).expect(201)
            let shown = try await server.raw(.get, try await server.makeFeed().path)
            #expect(shown.eventValues("TRIGGER") == ["-PT30M", "-PT10M"])
            #expect(shown.eventValues("ACTION") == ["DISPLAY", "DISPLAY"])
            #expect(shown.eventValues("DESCRIPTION") == ["Soon", "Meeting"])
            #expect(!shown.text.contains("REPEAT") && !shown.text.contains("paul@"))
            let quiet = try await server.makeFeed(label: "quiet", config: ["includeReminders": false])
            #expect(!(try await server.raw(.get, quiet.path).text.contains("VALARM")))
        }
    }

    @Test("Files that are too large are left out and counted, and their event stays")
    func large() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file = "ATTACH;ENCODING=BASE64;VALUE=BINARY:" + String(repeating: "SGVsbG8h", count: 30_000)
            let answer = try await post(
                server, Self.calendar(["UID:a", "DTSTART:20260310T090000Z", file, file]),
                "mode=commit&keep=attachments"
            ).expect(201)
            #expect(answer.json["counts"]?["created"] == 1 && dropped(answer) == ["ATTACH 1"], "\(answer.text)")
            #expect(answer.json["problems"]?.array?.contains { $0["code"] == "attachment-dropped" } == true)
            #expect(try await export(server).eventValues("ATTACH").count == 1)
            // Rather than the event, what would make it too large to be stored is left out.
            let guests = (0..<5000).map {
                "ATTENDEE;CN=\(String(repeating: "x", count: 250)):mailto:guest\($0)@example.com"
            }
            let meeting = try await post(
                server, Self.calendar(["UID:b", "DTSTART:20260311T090000Z"] + guests), "mode=commit&keep=attendees"
            ).expect(201)
            #expect(meeting.json["counts"]?["created"] == 1 && dropped(meeting) == ["ATTENDEE 5000"])
        }
    }

    @Test("A followed calendar and a file with reminders and people are one event")
    func repeated() async throws {
        let plain = ["UID:meeting", "DTSTART:20260310T090000Z", "SUMMARY:Meeting"]
        let reminder = ["BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT5M", "END:VALARM"]
        let file = Self.calendar(plain + ["ATTENDEE:mailto:paul@example.com"] + reminder)
        // Whichever comes first.
        for isFollowedFirst in [true, false] {
            try await CalendarHost.run { host, server in
                host.serve(.init(body: file))
                if !isFollowedFirst { try await post(server, file, "mode=commit&keep=attendees").expect(201) }
                try await server.call(
                    .post, "/v1/circles/c/subscriptions", ["url": .string(host.url)], as: "ann"
                ).expect(201)
                try await post(server, file, "mode=commit&keep=attendees").expect(201)
                let exported = try await export(server)
                #expect(exported.eventValues("UID") == ["meeting"], "\(exported.text)")
                #expect(exported.text.contains("VALARM"))
            }
        }
    }

    @Test("A repetition whose series is missing comes back from an export as the event that it became")
    func orphan() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let moved = [
                "UID:series", "RECURRENCE-ID;RANGE=THISANDFUTURE:20260310T090000Z", "DTSTART:20260310T100000Z",
                "RRULE:FREQ=WEEKLY;COUNT=4", "SUMMARY:Choir",
            ]
            let first = try await post(server, Self.calendar(moved)).expect(201)
            #expect(first.json["counts"]?["created"] == 1)
            let exported = try await export(server)
            #expect(exported.values("RECURRENCE-ID").isEmpty)
            let second = try await post(server, exported.text).expect(201)
            #expect(second.json["counts"]?["unchanged"] == 1 && second.json["counts"]?["created"] == 0)
            #expect(try await export(server).body == exported.body)
            #expect(try await post(server, Self.calendar(moved)).expect(201).json["counts"]?["unchanged"] == 1)
            // It does not replace a series that is there.
            let whole = ["UID:other", "DTSTART:20260106T090000Z", "RRULE:FREQ=WEEKLY", "SUMMARY:Choir practice"]
            try await post(server, Self.calendar(whole)).expect(201)
            let part = moved.map { $0.replacing("UID:series", with: "UID:other") }
            let refused = try await post(server, Self.calendar(part)).expect(201)
            #expect(refused.json["counts"]?["skipped"] == 1)
            #expect(refused.text.contains("already in the circle"))
        }
    }

    @Test("What a rule, a status or a start loses is in the report")
    func neverSilent() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await post(
                server,
                Self.calendar(
                    ["UID:a", "DTSTART:20260310T090000Z", "RRULE:FREQ=WEEKLY;UNTIL=20260301T000000Z", "SUMMARY:A"],
                    ["UID:b", "DTSTART:20260310T090000Z", "RRULE:FREQ=WEEKLY;COUNT=3;UNTIL=20260401T000000Z"],
                    ["UID:c", "DTSTART:20260310T090000Z", "STATUS:CONFIRMED", "STATUS:CANCELLED"],
                    [
                        "UID:d", "DTSTART:20260310T090000Z", "RRULE:FREQ=WEEKLY;BYDAY=WE;COUNT=3",
                        "EXDATE:20260310T090000Z",
                    ])
            ).expect(201)
            let problems = (answer.json["problems"]?.array ?? []).map {
                "\($0["uid"]?.string ?? "") \($0["code"]?.string ?? "")"
            }
            #expect(problems == ["a until-before-start", "b count-and-until", "c duplicate-property"])
            let exported = try await export(server)
            #expect(exported.eventValues("UID") == ["a", "b", "c", "d"])
            #expect(exported.eventValues("STATUS") == ["CONFIRMED"])
            // The start is left out as the file says, and the other two dates are there.
            #expect(exported.eventValues("EXDATE") == ["20260310T090000Z"] && exported.eventValues("RDATE").isEmpty)
            #expect(exported.eventValues("RRULE").last?.contains("UNTIL=20260318T090000Z") == true, "\(exported.text)")
            let second = try await post(server, exported.text).expect(201)
            #expect(second.json["counts"]?["unchanged"] == 4, "\(second.text)")
        }
    }
}
