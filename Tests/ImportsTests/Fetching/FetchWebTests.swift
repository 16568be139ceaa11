// SPDX-License-Identifier: Apache-2.0

import Outbound
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A fetch takes the web as it is")
struct FetchWebTests {
    private static let hosts = NamedHosts([:], otherwise: ["93.184.215.14"])

    private static func fields(_ request: OutboundRequest, _ name: String) -> String? {
        request.headers.first { $0.name == name }?.value
    }

    /// What a fetch ends with: the failure's message, or nil for a calendar.
    private static func message(_ text: String, _ host: ConnectRecorder) async throws -> String? {
        do {
            _ = try await GuardedFetcher(hosts, host).attempt(try PublicURL(text, allowsHTTP: false), nil, for: nil)
            return nil
        } catch let failure as OutboundFailure {
            return failure.message
        }
    }

    @Test("A cookie that a redirect sets goes back to the host that set it, and to no other")
    func cookies() async throws {
        let host = ConnectRecorder { request in
            let cookie = Self.fields(request, "Cookie")
            switch request.url.host.text {
            case "cal.example" where cookie == "sid=1; b=2": return .redirect("https://other.example/a")
            case "cal.example":
                #expect(cookie == nil)
                return OutboundAnswer(
                    status: 302,
                    headers: [
                        ("Location", "/timetable.ics"), ("Set-Cookie", "sid=1; Path=/; HttpOnly"),
                        ("set-cookie", "gone=1"), ("Set-Cookie", "gone=1; Max-Age=0"), ("Set-Cookie", "b = 2"),
                        ("Set-Cookie", "no sign"), ("Set-Cookie", "long=" + String(repeating: "x", count: 5000)),
                    ])
            default:
                #expect(cookie == nil)
                return .calendar
            }
        }
        #expect(try await Self.message("https://cal.example/timetable.ics", host) == nil)
        #expect(host.urls.map { $0.contains("other") } == [false, false, true])
        // The next fetch knows none of them.
        #expect(try await Self.message("https://cal.example/timetable.ics", host) == nil)
    }

    @Test("A host that answers only browsers is asked as one, once it has not answered Kalends")
    func browsers() async throws {
        let statuses = [400, 403, 406, 418, 451, 500].map { OutboundAnswer(status: $0, headers: []) }
        for refusal in [OutboundAnswer.redirect("/owa/auth/errorfe.aspx")] + statuses {
            let host = ConnectRecorder { request in
                let agent = Self.fields(request, "User-Agent") ?? ""
                #expect(agent.contains("Kalends/1"))
                return agent.contains("Mozilla/5.0") && agent.contains("Chrome/") ? .calendar : refusal
            }
            #expect(try await Self.message("https://outlook.example/owa/calendar.ics", host) == nil)
            #expect(host.urls.count <= 3)
        }
        // What has nothing to do with the name is asked once.
        for status in [401, 404, 407, 410, 429, 502, 503] {
            let host = ConnectRecorder { _ in OutboundAnswer(status: status, headers: []) }
            #expect(try await Self.message("https://cal.example/a", host) != nil)
            #expect(host.urls.count == 1, "\(status)")
        }
        let everybody = ConnectRecorder { _ in .redirect("/a") }
        let message = try #require(try await Self.message("https://cal.example/a", everybody))
        #expect(message.contains("leads back to itself"))
        #expect(everybody.urls.count == 2)
    }

    @Test("A sign-in that is wanted, and a coding that nobody asked for, are named")
    func named() async throws {
        let closed = ConnectRecorder { _ in OutboundAnswer(status: 401, headers: [("WWW-Authenticate", "Basic")]) }
        #expect(try await Self.message("https://cal.example/a", closed)?.contains("wants a sign-in") == true)
        #expect(closed.urls.count == 1)
        let packed = ConnectRecorder { _ in OutboundAnswer(status: 200, headers: [("Content-Encoding", "br")]) }
        #expect(
            try await Self.message("https://cal.example/a", packed)?.contains("packed its calendar with br") == true)
    }

    @Test("Blanks and letters of any script are encoded in an address, and a host's name has none")
    func addresses() throws {
        func revealed(_ text: String) throws -> String { try PublicURL(text, allowsHTTP: false).reveal() }
        #expect(
            try revealed("https://cal.example/My Calendar.ics?a=b c ")
                == "https://cal.example/My%20Calendar.ics?a=b%20c")
        #expect(try revealed("https://cal.example/müll kalender.ics") == "https://cal.example/m%C3%BCll%20kalender.ics")
        for text in [
            "https://cal example/a", "https://cal.example /a", "https://cal.example/a\nb", "https://cal.example/\\b",
        ] {
            #expect(throws: OutboundFailure.self) { try PublicURL(text, allowsHTTP: false) }
        }
    }

    @Test(
        "A calendar is unpacked from zlib's format, and from gzip that no field names",
        arguments: [
            (
                "deflate",
                [
                    120, 156, 115, 114, 117, 247, 244, 179, 10, 115, 118, 244, 113, 245, 115, 113, 12, 2, 0, 33, 54, 4,
                    48,
                ]
            ),
            (
                nil,
                [
                    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 115, 114, 117, 247, 244, 179, 10, 115, 118, 244, 113, 245, 115,
                    113, 12,
                    2, 0, 130, 176, 159, 42, 15, 0, 0, 0,
                ]
            ),
        ] as [(String?, [UInt8])])
    func packed(coding: String?, bytes: [UInt8]) throws {
        let answer = OutboundAnswer(status: 200, headers: coding.map { [("Content-Encoding", $0)] } ?? [])
        let sink = try CalendarSink(answer, limit: 1000, for: nil)
        try sink.take(bytes)
        let spool = try sink.finish().spool
        #expect(try spool.read(0..<spool.count) == Array("BEGIN:VCALENDAR".utf8))
    }
}
