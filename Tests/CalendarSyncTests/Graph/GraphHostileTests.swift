// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

@Suite struct GraphHostileTests {
    private func graph(_ steps: [ScriptedHTTP.Step]) -> (GraphCalendar, ScriptedHTTP) {
        let http = ScriptedHTTP(steps)
        let graph = GraphCalendar(
            http: http, tokens: TestTokens(), baseURL: "https://graph.microsoft.com/v1.0/",
            now: { Instant(seconds: 0) },
            pause: { _ in })
        return (graph, http)
    }

    private let base = "https://graph.microsoft.com/v1.0"

    @Test(
        "A link to anywhere but the configured address is never followed",
        arguments: [
            "https://evil.example/v1.0/me/calendars/c/calendarView/delta?$deltatoken=1",
            "http://graph.microsoft.com/v1.0/me/x",
            "https://graph.microsoft.com.evil.example/v1.0/me/x", "https://graph.microsoft.com@evil.example/v1.0/me/x",
            "https://graph.microsoft.com/v1.0/../beta/me", "https://graph.microsoft.com/v1.0/me/../../admin",
            "https://graph.microsoft.com/v1.0/me/%2e%2E/admin", "https://graph.microsoft.com/v1.0/$batch",
            "https://graph.microsoft.com/v1.0/me/x\r\nHost: evil", "https://graph.microsoft.com/v1.0",
            "//evil.example/me",
            "/me/calendars", "file:///etc/passwd", "https://graph.microsoft.com/v1.0\\me/x", "",
            "https://graph.microsoft.com/v1.0/me/" + String(repeating: "a", count: 20_000),
        ])
    func links(_ link: String) async throws {
        let text = String(decoding: try JSONValue.string(link).serialized(), as: UTF8.self)
        for name in ["@odata.nextLink", "@odata.deltaLink"] {
            let (graph, http) = graph([.answer(200, #"{"value":[],"\#(name)":\#(text)}"#)])
            await #expect { _ = try await graph.changes(in: "c", since: nil, window: GraphRoom.window) } throws: {
                ($0 as? ProviderFailure)?.kind == .malformed
            }
            #expect(http.requests.count == 1)
        }
        let (other, http) = graph([.answer(200, #"{"value":[],"@odata.nextLink":\#(text)}"#)])
        await #expect(throws: ProviderFailure.self) { _ = try await other.calendars() }
        #expect(http.requests.count == 1)
        // A cursor with such a link, from an older address perhaps, begins a new round.
        let cursor = GraphCursor(
            calendar: "c", window: GraphCursor.window(for: GraphRoom.window), link: link, series: [])
        let (third, requests) = graph([])
        await #expect(throws: ProviderFailure.self) {
            _ = try await third.changes(in: "c", since: cursor.text, window: GraphRoom.window)
        }
        #expect(requests.requests.first?.url.contains("startDateTime") == true)
    }

    @Test("Links that Graph writes are followed, whatever the case of their host")
    func goodLinks() async throws {
        for link in [
            "\(base)/me/calendars/c/calendarView/delta?$skiptoken=R0usm-_a%3D",
            "HTTPS://Graph.Microsoft.com/v1.0/me/calendars",
            "\(base)/users('u')/calendars('c')/calendarView/microsoft.graph.delta()?$deltaToken=1",
        ] {
            let (graph, http) = graph([.answer(200, #"{"value":[],"@odata.deltaLink":"\#(link)"}"#)])
            let set = try await graph.changes(in: "c", since: nil, window: GraphRoom.window)
            #expect(set.isFull && GraphCursor(set.cursor ?? "")?.link == link)
            #expect(http.requests.first?.field("Prefer")?.contains("IdType=\"ImmutableId\"") == true)
        }
    }

    @Test("Control characters do not part runs of marks that are one without them")
    func marks() {
        let text = "a" + String(repeating: String(repeating: "\u{301}", count: 30) + "\u{1}", count: 100)
        for made in [GraphText.line(text), GraphText.body(text)] {
            #expect(made == "a" + String(repeating: "\u{301}", count: 30))
        }
    }

    @Test("A listing without an end is ended")
    func endless() async throws {
        let page = #"{"value":[],"@odata.nextLink":"\#(base)/me/calendars?$skip=1"}"#
        let (graph, http) = graph(Array(repeating: .answer(200, page), count: 10))
        await #expect(throws: ProviderFailure.self) { _ = try await graph.calendars() }
        #expect(http.requests.count == 2)
        let delta = #"{"value":[],"@odata.nextLink":"\#(base)/me/calendars/c/calendarView/delta?$skiptoken=1"}"#
        let (other, more) = self.graph(Array(repeating: .answer(200, delta), count: 10))
        await #expect(throws: ProviderFailure.self) {
            _ = try await other.changes(in: "c", since: nil, window: GraphRoom.window)
        }
        #expect(more.requests.count == 2)
    }

    @Test(
        "A page of the wrong shape is malformed, never an empty calendar",
        arguments: [
            "", "null", "[]", "{}", #"{"value":null}"#, #"{"value":{}}"#, #"{"value":[]}"#,
            #"{"value":[1],"@odata.deltaLink":"L"}"#,
            #"{"value":[{}],"@odata.deltaLink":"L"}"#, #"{"value":[{"id":""}],"@odata.deltaLink":"L"}"#,
            #"{"value":[{"id":7}],"@odata.deltaLink":"L"}"#, #"{"value":[{"id":"a b"}],"@odata.deltaLink":"L"}"#,
            #"{"value":[{"id":"o","type":"occurrence"}],"@odata.deltaLink":"L"}"#,
            #"{"value":[],"value":[],"@odata.deltaLink":"L"}"#, #"{"value":[],"@odata.deltaLink":7}"#,
            "<html>Service Unavailable</html>",
            #"{"value":\#(String(repeating: "[", count: 200))"#,
        ])
    func shapes(_ body: String) async throws {
        let text = body.replacing("\"L\"", with: "\"\(base)/me/calendars/c/calendarView/delta?$deltatoken=1\"")
        let (graph, _) = graph([.answer(200, text)])
        await #expect { _ = try await graph.changes(in: "c", since: nil, window: GraphRoom.window) } throws: {
            ($0 as? ProviderFailure)?.kind == .malformed
        }
    }

    @Test(
        "An event of the wrong shape is unreadable with a reason, and its neighbours are read",
        arguments: [
            #""subject":7"#, #""start":null"#, #""start":{"dateTime":"tomorrow","timeZone":"UTC"}"#,
            #""start":{"dateTime":"2026-12-03T08:00:00","timeZone":"tzone://Microsoft/Custom"}"#,
            #""start":{"dateTime":"9999-12-31T23:59:59.9999999","timeZone":"UTC"}"#,
            #""end":{"dateTime":"2020-01-01T00:00:00"}"#,
            #""isAllDay":true,"end":{"dateTime":"2026-12-03T08:00:00","timeZone":"UTC"}"#,
            #""location":{"displayName":{}}"#,
            #""subject":"\#(String(repeating: "a", count: 20_000))""#,
            #""body":{"content":"\#(String(repeating: "b", count: 1_100_000))"}"#,
            #""type":"seriesMaster""#, #""type":"seriesMaster","recurrence":{}"#,
            #""type":"seriesMaster","recurrence":7"#,
            #""type":"seriesMaster","recurrence":{"pattern":{"type":"daily","interval":1},"range":{"type":"noEnd","startDate":"2026-12-03"}},"cancelledOccurrences":["x"],"exceptionOccurrences":[]"#,
            #""type":"seriesMaster","recurrence":{"pattern":{"type":"daily","interval":1},"range":{"type":"noEnd","startDate":"2026-12-03"}},"cancelledOccurrences":[],"exceptionOccurrences":[{"id":"x"}]"#,
            #""type":"seriesMaster","recurrence":{"pattern":{"type":"daily","interval":1},"range":{"type":"noEnd","startDate":"2026-12-03"}},"originalStartTimeZone":"Customized Time Zone""#,
        ])
    func unreadable(_ members: String) async throws {
        var known =
            #""id":"bad","type":"singleInstance","start":{"dateTime":"2026-12-03T08:00:00.0000000","timeZone":"UTC"},"#
            + #""end":{"dateTime":"2026-12-03T09:00:00.0000000","timeZone":"UTC"},"originalStartTimeZone":"UTC","subject":"x""#
        for name in ["type", "start", "end", "subject", "originalStartTimeZone"] where members.contains("\"\(name)\":")
        {
            let parts = known.parts(",\"\(name)\":")
            known = parts.joined(separator: ",\"old-\(name)\":")
        }
        let good =
            #"{"id":"good","start":{"dateTime":"2026-12-03T08:00:00","timeZone":"UTC"},"#
            + #""end":{"dateTime":"2026-12-03T09:00:00","timeZone":"UTC"},"subject":"Good"}"#
        let batch =
            #"{"responses":[{"id":"2","status":200,"body":\#(good)},{"id":"1","status":200,"body":{\#(known),\#(members)}},"#
            + #"{"id":"0","status":200,"body":{"id":"c"}}]}"#
        let (graph, _) = graph([.answer(200, batch)])
        let looks = try await graph.look(at: ["bad", "good"], in: "c")
        guard case .present(let bad) = looks[0].look, case .unreadable(let reason) = bad.content else {
            Issue.record("\(looks[0])")
            return
        }
        #expect(bad.id == "bad" && reason.hasSuffix("."))
        guard case .present(let other) = looks[1].look else { throw GraphEmulator.Failure(text: "\(looks[1])") }
        #expect(other.whole?.title == "Good")
    }

    @Test(
        "A batch's answer of the wrong shape is a failure of what it does not answer",
        arguments: [
            "{}", #"{"responses":7}"#, #"{"responses":[]}"#, #"{"responses":[{"id":"0"}]}"#,
            #"{"responses":[{"id":0,"status":200}]}"#,
            #"{"responses":[{"id":"0","status":99999}]}"#,
            #"{"responses":[{"id":"7","status":200,"body":{"id":"e"}}]}"#,
        ])
    func batches(_ body: String) async throws {
        let (graph, _) = graph([.answer(200, body), .answer(200, body)])
        await #expect(throws: ProviderFailure.self) { _ = try await graph.look(at: ["e"], in: "c") }
        let mark = EventMark(installation: "i", connection: "c", circle: "c", item: ItemKey(.tasks, "t"), generation: 0)
        let answers = await graph.write([WriteRequest(key: "k", mark: mark, kind: .create(.single()))], in: "c")
        guard case .failed? = answers.first else { throw GraphEmulator.Failure(text: "\(answers)") }
    }

    @Test("An event that was made under an id that nobody can read is perhaps made, and never taken for refused")
    func madeWithoutID() async throws {
        let (graph, _) = graph([.answer(200, #"{"responses":[{"id":"0","status":201,"body":{}}]}"#)])
        let mark = EventMark(installation: "i", connection: "c", circle: "c", item: ItemKey(.tasks, "t"), generation: 0)
        let answers = await graph.write([WriteRequest(key: "k", mark: mark, kind: .create(.single()))], in: "c")
        guard case .failed(let failure)? = answers.first else { throw GraphEmulator.Failure(text: "\(answers)") }
        #expect(failure.kind == .unanswered)
    }

    @Test("Random bytes and damaged answers end every function, and crash none")
    func noise() async throws {
        let good =
            #"{"value":[{"@odata.etag":"W/\"a\"","id":"e","type":"seriesMaster","start":{"dateTime":"2026-12-03T08:00:00.0000000","timeZone":"UTC"},"end":{"dateTime":"2026-12-03T09:00:00.0000000","timeZone":"UTC"},"recurrence":{"pattern":{"type":"weekly","interval":1,"daysOfWeek":["thursday"],"firstDayOfWeek":"sunday"},"range":{"type":"numbered","startDate":"2026-12-03","numberOfOccurrences":10}},"isAllDay":false,"body":{"contentType":"html","content":"<p>x</p>"},"cancelledOccurrences":["OID.e.2026-12-10"],"exceptionOccurrences":[{"id":"x","originalStart":"2026-12-17T08:00:00Z","start":{"dateTime":"2026-12-17T09:00:00","timeZone":"UTC"},"end":{"dateTime":"2026-12-17T10:00:00","timeZone":"UTC"}}]}],"responses":[{"id":"0","status":200,"body":{"id":"e"}}],"@odata.deltaLink":"https://graph.microsoft.com/v1.0/me/x"}"#
        var numbers = SplitMix(seed: 3)
        for _ in 0..<600 {
            var bytes = Array(good.utf8)
            for _ in 0...numbers.below(4) {
                let index = numbers.below(bytes.count)
                switch numbers.below(3) {
                case 0: bytes[index] = UInt8(numbers.below(128))
                case 1: bytes.removeSubrange(index..<min(index + numbers.below(30), bytes.count))
                default: bytes.insert(contentsOf: Array(#"9223372036854775807"#.utf8), at: index)
                }
                if bytes.isEmpty { bytes = [123] }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let (graph, _) = graph([.answer(200, text), .answer(200, text), .answer(200, text)])
            _ = try? await graph.changes(in: "c", since: nil, window: GraphRoom.window)
            if let json = try? JSONValue(parsing: bytes) {
                for item in json["value"]?.array ?? [] { _ = GraphEvent(item)?.remote() }
            }
        }
    }

    @Test("A failure contains no part of a token or of a person's text")
    func failures() async throws {
        let body =
            #"{"error":{"code":"Error Concealed eyJ0.static","message":"eyJ0.static Oma","innerError":{"code":"x y"}}}"#
        for status in [400, 401, 403, 404, 409, 410, 412, 418, 429, 500, 507, 302] {
            let (graph, http) = graph(Array(repeating: .answer(status, body), count: 6))
            do {
                _ = try await graph.calendars()
                Issue.record("\(status) is no success.")
            } catch {
                #expect(!"\(error)".contains("eyJ0") && !"\(error)".contains("Oma") && error.code == nil)
            }
            #expect(http.requests.allSatisfy { $0.field("Authorization")?.hasPrefix("Bearer ") == true })
        }
    }
}

extension String {
    fileprivate func parts(_ mark: String) -> [String] {
        var parts: [String] = [""]
        var rest = self[...]
        while let first = rest.first {
            if rest.hasPrefix(mark) {
                parts.append("")
                rest = rest.dropFirst(mark.count)
            } else {
                parts[parts.count - 1].append(first)
                rest = rest.dropFirst()
            }
        }
        return parts
    }

    fileprivate func replacing(_ mark: String, with other: String) -> String {
        parts(mark).joined(separator: other)
    }
}

extension ProviderRequest {
    fileprivate func field(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
