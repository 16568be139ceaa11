// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ICalBridge
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("No foreign text is slow")
struct TextAsBytesTests {
    /// Marks of two classes, with those that belong first at the end, which take the longest to sort.
    private static func marks(_ count: Int) -> String {
        String(repeating: "\u{301}", count: count / 2) + String(repeating: "\u{316}", count: count / 2)
    }

    private static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let time = try await ContinuousClock().measure { try await work() }
        return time / .seconds(1)
    }

    @Test("A name of a document in two hundred thousand marks is refused in a moment, without a credential")
    func names() async throws {
        try await TestServer.run { server in
            let name = "a" + Self.marks(200_000)
            let body = Array(#"{"\#(name)":0,"\#(name)b":0}"#.utf8)
            let taken = try await Self.seconds {
                try await server.raw(
                    .post, "/v1/sessions", headers: [.contentType: "application/json"], body: ByteBuffer(bytes: body)
                ).expect(400)
            }
            // Minutes, where the marks of each name are sorted.
            #expect(taken < 60)
        }
    }

    @Test("Names that differ in how a letter is spelt are two names")
    func spellings() throws {
        let value = try JSONValue(parsing: Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8))
        #expect(value.object?.count == 2)
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
        #expect(throws: JSONFault.self) { try JSONValue(parsing: Array("{\"\u{E9}\":1,\"\\u00e9\":2}".utf8)) }
    }

    @Test("Entity tags, cookies, types and weights of twenty thousand marks are read in a moment")
    func headers() {
        let text = Self.marks(20_000)
        let taken = effort {
            let validators = Validators(etag: "\"abc\"", lastModified: nil)
            for value in [text, "\"\(text)\"", "W/" + text, text + ",\"abc\"", "\"" + text] {
                _ = ConditionalGet.isNotModified(ifNoneMatch: [value], ifModifiedSince: value, validators)
                _ = CalendarForm(accept: [value, "text/\(value);q=\(value)"])
                _ = ContentCoding(acceptEncoding: [value, "gzip;q=\(value)"], from: ClientFamily(userAgent: value))
                _ = MediaType.parameter("name", of: "form-data; name=\(value)")
                _ = IPAddress(value)
                for cookie in [value, "\(value)=x", "kalends_session=\(value)"] {
                    let head = HTTPRequest(
                        method: .get, scheme: nil, authority: "x", path: "/", headerFields: [.cookie: cookie])
                    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
                    #expect(SessionCookie.secret(of: request, ServerSettings()) == nil)
                }
            }
        }
        #expect(taken < .seconds(20))
    }

    @Test("Lists of entity tags are read by their commas and quotes, and compared weakly where the RFC does")
    func entityTags() throws {
        let known = Validators(etag: "\"a,b\"", lastModified: nil)
        for (list, holds) in [
            ("\"a,b\"", true), (" W/\"a,b\" ", true), ("\"x\", \"a,b\"", true), ("*", true), ("\"x\",* ", true),
            ("\"a\",\"b\"", false), ("a,b", false), ("", false), ("\"a,b", false), ("W/\"a\u{301},b\"", false),
            (",,\"a,b\",", true),
        ] {
            #expect(
                ConditionalGet.isNotModified(ifNoneMatch: [list], ifModifiedSince: nil, known) == holds, "\(list)")
        }
    }

    @Test("What a request's head holds of marks is bounded before anything looks at it")
    func heads() throws {
        let marks = Self.marks(4000)
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/v1/circles/a\(marks)?q=b")
        head.headers.add(name: "X-Other", value: "b" + marks)
        head.headers.add(name: "Host", value: "x")
        guard case .head(let bounded) = HTTPServerRequestPart.head(head).withBoundedMarks else {
            Issue.record("it is no head")
            return
        }
        #expect(!bounded.uri.hasLongRunOfMarks)
        #expect(bounded.headers["X-Other"].allSatisfy { !$0.hasLongRunOfMarks && $0.hasPrefix("b\u{301}") })
        #expect(bounded.headers["Host"] == ["x"])
        #expect(bounded.uri.hasSuffix("?q=b"))
    }

    @Test("Percent-escapes do not hide marks from that bound, and what is ordinary stays as it was sent")
    func targets() throws {
        let escaped = "/x?" + String(repeating: "%CC%81%cc%96", count: 500) + "&a=%C3%A9"
        let bounded = try #require(RequestTarget.withBoundedMarks(escaped))
        #expect(bounded == "/x?" + String(repeating: "%CC%81%cc%96", count: 15) + "&a=%C3%A9")
        for target in [
            "/v1/circles/" + String(repeating: "%C3%A9", count: 90), "/x?" + String(repeating: "%FF", count: 99),
        ] {
            #expect(RequestTarget.withBoundedMarks(target) == nil)
        }
        #expect(RequestTarget.withBoundedMarks("/x?%CC" + String(repeating: "%F0%CC%81", count: 200) + "%") == nil)
    }

    @Test(
        "Thirty marks in a row are text, and thirty-one are refused with the limit",
        arguments: ["title", "notes"])
    func refused(field: String) async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (count, status) in [(30, 201), (31, 422)] {
                let text = "a" + String(repeating: "\u{301}", count: count)
                var task: [ByteString: JSONValue] = ["title": "t", "dueAt": "2026-03-03T09:00:00Z"]
                task[field] = .string(text)
                let answer = try await server.call(.put, "/v1/circles/c/tasks/t\(count)", .object(task)).expect(status)
                if status == 422 {
                    #expect(answer.pointers == ["/\(field)"])
                    #expect(answer.text.contains("30 combining marks"))
                }
            }
        }
    }

    @Test("Names, labels and display names of marks are refused too")
    func names422() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let text = JSONValue.string("a" + Self.marks(40))
            try await server.call(.put, "/v1/circles/d", ["name": text, "timeZone": "UTC"]).expect(422)
            try await server.call(.put, "/v1/circles/c/members/eve", ["displayName": text, "role": "viewer"]).expect(
                422)
            try await server.call(.put, "/v1/circles/c/patients/eve", ["displayName": text]).expect(422)
            try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann", "label": text]).expect(422)
            try await server.call(.post, "/v1/keys", ["name": text]).expect(422)
        }
    }

    private static func file(_ description: String) -> String {
        """
        BEGIN:VCALENDAR\r
        VERSION:2.0\r
        PRODID:-//Example//Test//EN\r
        BEGIN:VEVENT\r
        UID:one@example.com\r
        DTSTAMP:20260301T000000Z\r
        DTSTART:20260310T090000Z\r
        SUMMARY:Piano lesson\r
        DESCRIPTION:\(description)\r
        END:VEVENT\r
        END:VCALENDAR\r

        """
    }

    @Test("A file's text of a hundred thousand marks that changed is imported in a moment, and bounded")
    func imported() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            for (description, change) in [
                ("b" + Self.marks(60_000) + "b", "created"), (Self.marks(60_000) + "c", "updated"),
            ] {
                let taken = try await Self.seconds {
                    let report = try await server.raw(
                        .post, "/v1/circles/c/imports?mode=commit",
                        headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
                        body: ByteBuffer(string: Self.file(description))
                    ).expect(201)
                    #expect(report.json["counts"]?[change] == 1, "\(report.text)")
                }
                #expect(taken < 120)
            }
            let shown = try await server.call(.get, "/v1/circles/c/export.ics").expect(200)
            #expect(shown.text.contains("Piano lesson"))
            #expect(!shown.text.replacingOccurrences(of: "\r\n ", with: "").hasLongRunOfMarks)
        }
    }

    @Test("Stored events and items whose long texts differ are compared in a moment")
    func compared() throws {
        func packed(_ text: String) -> String {
            var event = Event(uid: "u", start: .utc(Instant(seconds: 0)))
            event.description = text
            return StoredEvent.text(event)
        }
        let (one, two) = (Self.marks(200_000) + "b", Self.marks(200_000) + "c")
        let taken = try effort {
            let isSame = StoredEvent.isSame(packed(one), packed(two))
            #expect(!isSame)
            let (first, second) = (try StoredEvent.event(packed(one)), try StoredEvent.event(packed(two)))
            #expect(first != second)
            let lines = [one, two].map {
                ContentLine(name: "X", parameters: [.init(name: "Y", values: [$0])], value: $0)
            }
            #expect(lines[0] != lines[1])
            #expect(JSONValue.string(one) != JSONValue.string(two))
        }
        #expect(taken < .seconds(5))
    }

    @Test("A body of blanks that comes a byte a chunk is looked at once")
    func blanks() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let port = try #require(server.client.port)
            func send(_ count: Int) async throws -> Double {
                let head =
                    "POST /v1/circles/c/imports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\n"
                    + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                let body = String(repeating: "1\r\n \r\n", count: count) + "0\r\n\r\n"
                return try await Self.seconds {
                    let answer = try await RawConnection(port: port).exchange(head + body) { $0.contains("\r\n\r\n") }
                    #expect(answer.hasPrefix("HTTP/1.1 4"))
                }
            }
            // Looking again at all that came before takes more than ten minutes here; a sanitizer takes ten times as long.
            #expect(try await send(Programs.isSanitized ? 100_000 : 400_000) < 300)
        }
    }
}
