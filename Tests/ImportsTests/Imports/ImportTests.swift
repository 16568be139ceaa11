// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CalendarSync
@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Imports")
struct ImportTests {
    private static let file = """
        BEGIN:VCALENDAR\r
        VERSION:2.0\r
        PRODID:-//Example//Test//EN\r
        BEGIN:VEVENT\r
        UID:one@example.com\r
        DTSTAMP:20260301T000000Z\r
        DTSTART;TZID=America/New_York:20260310T090000\r
        DTEND;TZID=America/New_York:20260310T100000\r
        SUMMARY:Piano lesson\r
        LOCATION:Music school\r
        X-EXAMPLE:kept\r
        ATTENDEE:mailto:teacher@example.com\r
        BEGIN:VALARM\r
        ACTION:DISPLAY\r
        TRIGGER:-PT10M\r
        DESCRIPTION:x\r
        END:VALARM\r
        END:VEVENT\r
        BEGIN:VEVENT\r
        UID:two@example.com\r
        DTSTAMP:20260301T000000Z\r
        DTSTART;VALUE=DATE:20260312\r
        RRULE:FREQ=WEEKLY\r
        SUMMARY:Bins\r
        END:VEVENT\r
        END:VCALENDAR\r

        """

    private func post(
        _ server: TestServer, _ text: String, mode: String = "commit", as user: String? = nil
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"]
        if let user { headers[.kalendsUser] = user }
        return try await server.raw(
            .post, "/v1/circles/c/imports?mode=\(mode)", headers: headers, body: ByteBuffer(string: text))
    }

    private func counts(_ answer: Answer) -> [ByteString: Int] {
        (answer.json["counts"]?.object ?? [:]).compactMapValues(\.integer).filter { $0.value > 0 }
    }

    @Test("What Kalends wrote into a calendar is not imported from it; a copy that a person made is")
    func eventsOfKalends() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let mark = EventMark(
                installation: "another", connection: "n", circle: "c", item: ItemKey(.tasks, "t"), generation: 3)
            let google = GoogleMark.eventID(mark) + "@google.com"
            let long = EventMark(
                installation: "another", connection: "n", circle: "c",
                item: ItemKey(.tasks, String(repeating: "t", count: 300)), generation: 0)
            let uids = [CalDAVIdentity.uid(mark), CalDAVIdentity.uid(long), google, "kalends-of-rome@example.com"]
            let events =
                uids.map { uid in
                    Self.event.replacingOccurrences(of: "one@example.com", with: uid)
                } + [
                    Self.event.replacingOccurrences(of: "one@example.com", with: "phone")
                        .replacingOccurrences(of: "SUMMARY", with: "URL:kalends:/i/n/c/tasks/t/0\r\nSUMMARY")
                ]
            let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\(events.joined())END:VCALENDAR\r\n"
            let answer = try await post(server, text).expect(201)
            #expect(counts(answer) == ["created": 1, "events": 5, "skipped": 4], "\(answer.text)")
            #expect(answer.text.contains("Kalends wrote this event into a calendar"))
        }
    }

    private static let event = """
        BEGIN:VEVENT\r
        UID:one@example.com\r
        DTSTAMP:20260301T000000Z\r
        DTSTART:20260310T090000Z\r
        SUMMARY:Piano lesson\r
        END:VEVENT\r

        """

    @Test("A preview says what a commit does and changes nothing")
    func preview() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            let before = try await server.raw(.get, feed.path).body
            let preview = try await post(server, Self.file, mode: "preview").expect(201)
            #expect(preview.json["state"] == "previewed")
            #expect(counts(preview) == ["events": 2, "created": 2])
            #expect(preview.json["span"]?["from"] == "2026-03-10")
            #expect(try await server.raw(.get, feed.path).body == before)
            let id = try #require(preview.json["id"]?.string)
            let done = try await server.call(.post, "/v1/imports/\(id)/commit").expect(200)
            #expect(done.json["state"] == "committed")
            #expect(done.json["items"] == preview.json["items"])
            try await server.call(.post, "/v1/imports/\(id)/commit").expect(409)
            let titles = try await server.raw(.get, feed.path).values("SUMMARY")
            #expect(titles == ["Piano lesson", "Bins"])
        }
    }

    /// What programs write that number the events of each file from 0 on.
    private static func term(_ title: String, _ day: String) -> String {
        let lines = [
            "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:0@default", "DTSTAMP:20260101T000000Z",
            "DTSTART:\(day)T130000Z", "DTEND:\(day)T140000Z", "SUMMARY:\(title)", "END:VEVENT", "END:VCALENDAR", "",
        ]
        return lines.joined(separator: "\r\n")
    }

    @Test("An event that has only the UID in common with a stored one says which it replaces, and can be left out")
    func numbered() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func titles() async throws -> [String] {
                try await server.call(.get, "/v1/circles/c/export.ics").expect(200).eventValues("SUMMARY")
            }
            try await post(server, Self.term("CS 4601", "20260210")).expect(201)
            let moved = try await post(server, Self.term("CS 4601", "20260211"), mode: "preview").expect(201)
            #expect(moved.json["items"]?.array?.map { $0["reason"] } == [.null])
            let next = try await post(server, Self.term("ECE 2020", "20260908"), mode: "preview").expect(201)
            let item = try #require(next.json["items"]?.array?.first)
            #expect(item["change"] == "updated")
            #expect(item["reason"] == "It has the UID of CS 4601 on 2026-02-10, and replaces it.")
            let (id, left) = (try #require(next.json["id"]?.string), try #require(item["itemId"]?.string))
            try await server.call(.post, "/v1/imports/\(id)/commit", ["exclude": [.string(left)]]).expect(200)
            #expect(try await titles() == ["CS 4601"])
            let taken = try await post(server, Self.term("ECE 2020", "20260908")).expect(201)
            #expect(try await titles() == ["ECE 2020"])
            let other = try #require(taken.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(other)/undo").expect(200)
            #expect(try await titles() == ["CS 4601"])
        }
    }

    @Test("People are left out, reminders and other properties are kept")
    func fidelity() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await post(server, Self.file).expect(201)
            let text = try await server.raw(.get, try await server.makeFeed().path).text
            #expect(text.contains("X-EXAMPLE:kept"))
            #expect(text.contains("DTSTART;TZID=America/New_York:20260310T090000"))
            #expect(text.contains("RRULE:FREQ=WEEKLY"))
            #expect(text.contains("TRIGGER:-PT10M"))
            #expect(!text.contains("teacher"))
        }
    }

    @Test("The same file twice changes nothing, also with new UIDs")
    func idempotent() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await post(server, Self.file).expect(201)
            let feed = try await server.makeFeed()
            let before = try await server.raw(.get, feed.path).body
            #expect(counts(try await post(server, Self.file).expect(201)) == ["events": 2, "unchanged": 2])
            let shuffled = Self.file.replacing("@example.com\r\n", with: "-new@example.com\r\n")
            let answer = try await post(server, shuffled).expect(201)
            #expect(counts(answer) == ["events": 2, "unchanged": 2])
            #expect(answer.json["items"]?.array?.first?["reason"]?.string?.contains("another UID") == true)
            #expect(try await server.raw(.get, feed.path).body == before)
        }
    }

    @Test("A changed event is an update, an older one is not")
    func updates() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let newer = Self.file.replacing("SUMMARY:Piano lesson", with: "SEQUENCE:3\r\nSUMMARY:Piano concert")
            try await post(server, newer).expect(201)
            #expect(counts(try await post(server, Self.file).expect(201)) == ["events": 2, "unchanged": 2])
            let newest = newer.replacing("SEQUENCE:3", with: "SEQUENCE:4").replacing("concert", with: "exam")
            #expect(counts(try await post(server, newest).expect(201)) == ["events": 2, "unchanged": 1, "updated": 1])
            let feed = try await server.raw(.get, try await server.makeFeed().path)
            #expect(feed.values("SUMMARY").contains("Piano exam"))
            #expect(feed.values("SEQUENCE").contains("4"))
        }
    }

    @Test("Undo puts back what was there and keeps what was edited since")
    func undo() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let first = try #require(try await post(server, Self.file).expect(201).json["id"]?.string)
            let changed = Self.file.replacing("Piano lesson", with: "Piano concert")
            let second = try #require(try await post(server, changed).expect(201).json["id"]?.string)
            let feed = try await server.makeFeed()
            let kept = try await server.call(.post, "/v1/imports/\(first)/undo").expect(200).json
            #expect(kept["kept"]?.array?.count == 1)
            #expect(try await server.raw(.get, feed.path).values("SUMMARY") == ["Piano concert"])
            try await server.call(.post, "/v1/imports/\(first)/undo").expect(409)
            try await server.call(.post, "/v1/imports/\(second)/undo").expect(200)
            let answer = try await server.raw(.get, feed.path)
            #expect(answer.values("SUMMARY") == ["Piano lesson"])
            #expect(answer.values("SEQUENCE") == ["2"])
        }
    }

    @Test("Items can be left out of a commit")
    func exclude() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let preview = try await post(server, Self.file, mode: "preview").expect(201).json
            let id = try #require(preview["id"]?.string)
            let item = try #require(preview["items"]?.array?.last?["itemId"])
            try await server.call(.post, "/v1/imports/\(id)/commit", ["exclude": ["nothing"]]).expect(422)
            let done = try await server.call(.post, "/v1/imports/\(id)/commit", ["exclude": [item]]).expect(200)
            #expect(counts(done) == ["events": 2, "created": 1, "skipped": 1])
        }
    }

    @Test("A feed of ours that is imported into its own circle is skipped, with a reason")
    func ownEvents() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", ["title": "Refill", "dueAt": "2026-03-03T09:00:00Z"])
            let text = try await server.raw(.get, try await server.makeFeed().path).text
            let answer = try await post(server, text).expect(201)
            #expect(counts(answer) == ["events": 1, "skipped": 1])
        }
    }

    @Test("A private event is shown only to its importer")
    func privateEvents() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let text = Self.file.replacing("SUMMARY:Piano lesson", with: "SUMMARY:Piano lesson\r\nCLASS:PRIVATE")
            try await post(server, text, as: "ann").expect(201)
            let (ann, ben) = (try await server.makeFeed(), try await server.makeFeed(user: "ben"))
            #expect(try await server.raw(.get, ann.path).values("SUMMARY") == ["Piano lesson", "Bins"])
            #expect(try await server.raw(.get, ben.path).values("SUMMARY") == ["Bins"])
        }
    }

    @Test(
        "A file that is not a calendar is refused with a clear sentence, within a second",
        arguments: [
            ("", "", 0), ("<!DOCTYPE html><html><body>Sign in</body></html>", "", 0),
            (#"{"error": "not found"}"#, "", 0),
            ("\u{1}\u{2}\u{3}\u{0}binary\u{0}\u{7F}", "", 0), ("", "x", 9_000_000), ("BEGIN:VEVENT", "", 0),
            ("", "\0", 4096), ("BEGIN:VCALENDAR\r\nDESCRIPTION:", "y", 9_000_000),
        ])
    func refused(start: String, repeated: String, count: Int) async throws {
        let text = start + String(repeating: repeated, count: count)
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await post(server, text).expect(422)
            #expect(answer.json["detail"]?.string?.hasSuffix(".") == true)
            #expect((answer.json["detail"]?.string?.count ?? 0) > 15)
        }
    }

    @Test("One bad event never loses its neighbours")
    func neighbours() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let bad = Self.file.replacing("DTSTART;TZID=America/New_York:20260310T090000", with: "DTSTART:yesterday")
            let answer = try await post(server, bad).expect(201)
            #expect(counts(answer) == ["events": 2, "created": 1, "skipped": 1])
            #expect(
                answer.json["problems"]?.array?.contains { $0["severity"] == "error" && $0["line"]?.integer == 7 }
                    == true)
        }
    }

    @Test("A file over the limit is 413, a form carries a file too")
    func forms() async throws {
        var settings = ServerSettings()
        settings.maxImportBytes = 5000
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            try await post(server, Self.file + String(repeating: "X", count: 5000)).expect(413)
            let form =
                "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--b\r\n"
                + "Content-Disposition: form-data; name=\"file\"; filename=\"a.ics\"\r\nContent-Type: text/calendar\r\n\r\n\(Self.file)\r\n--b--\r\n"
            let answer = try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "multipart/form-data; boundary=b"],
                body: ByteBuffer(string: form)
            ).expect(201)
            #expect(counts(answer) == ["events": 2, "created": 2])
        }
    }

    @Test("A form with two files is refused: the second one would be lost without a word")
    func twoFiles() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.ics\""
            let part = "--b\r\n\(head)\r\n\r\n\(Self.file)\r\n"
            let answer = try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "multipart/form-data; boundary=b"],
                body: ByteBuffer(string: "\(part)\(part)--b--\r\n")
            ).expect(400)
            #expect(answer.json["detail"] == "The form has more than one part named file.")
            #expect(try await server.call(.get, "/v1/circles/c/imports").json["items"] == [])
        }
    }

    @Test("An empty calendar is not a fault, but a report with nothing in it")
    func emptyCalendar() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await post(server, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n")
                .expect(201)
            #expect(counts(answer).isEmpty)
        }
    }
}
