// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Synchronization
import Testing

@testable import CalendarSync

/// Answers that no tested server gives, played from a script.
@Suite struct CalDAVListingTests {
    private let calendar = "https://dav.example.test/c/"
    private let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 1))

    private func provider(
        _ steps: [ScriptedHTTP.Step], room: Int = .max, clock: @escaping @Sendable () -> Int = { 1_000_000 },
        pause: @escaping @Sendable () async -> Void = {}
    ) throws -> (CalDAVCalendar, ScriptedHTTP) {
        let http = ScriptedHTTP(steps, room: room, pause: pause)
        let account = CalDAVAccount(
            principal: calendar, homes: ["https://dav.example.test/"], entrance: "https://dav.example.test/")
        return (
            try CalDAVCalendar(
                account: account, username: "a", password: "b", calendarKey: "k", objects: DirectObjects(), http: http,
                clock: clock),
            http
        )
    }

    private func page(_ inner: String, token: String?) -> ScriptedHTTP.Step {
        let token = token.map { "<sync-token>\($0)</sync-token>" } ?? ""
        return .answer(
            207, "<multistatus xmlns=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\">\(inner)\(token)</multistatus>")
    }

    private func member(_ name: String) -> String {
        "<response><href>/c/\(name)</href><propstat><prop><getetag>\"1\"</getetag></prop>"
            + "<status>HTTP/1.1 200 OK</status></propstat></response>"
    }

    private func object(_ name: String) -> String {
        let text = String(
            decoding: CalDAVSamples.days.calendar(
                ObjectStamp(uid: name, mark: CalDAVRoom.mark(name), now: Instant(seconds: 0), sequence: 0)
            ).serialized(), as: UTF8.self)
        return "<response><href>/c/\(name)</href><propstat><prop><getetag>\"1\"</getetag><C:calendar-data>\(text)"
            + "</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
    }

    private let cut = "<response><href>/c/</href><status>HTTP/1.1 507 Insufficient Storage</status></response>"

    @Test("A listing that the server cuts goes on with the next token, until nothing is cut")
    func pages() async throws {
        let (provider, http) = try provider([
            page(member("a.ics") + cut, token: "1"), page(member("b.ics") + cut, token: "2"),
            page(member("c.ics"), token: "3"), page(object("a.ics") + object("b.ics") + object("c.ics"), token: nil),
        ])
        let changes = try await provider.changes(in: calendar, since: nil, window: window)
        #expect(changes.events.map(\.id) == ["/c/a.ics", "/c/b.ics", "/c/c.ics"] && changes.isFull)
        let tokens = http.requests.prefix(3).map { String(decoding: $0.body ?? [], as: UTF8.self) }
        #expect(
            tokens[0].contains("<D:sync-token></D:sync-token>") && tokens[2].contains("<D:sync-token>2</D:sync-token>"))
        #expect(tokens.allSatisfy { !$0.contains("limit") })
    }

    @Test("A cut listing whose token does not move is an error, not a full listing")
    func stuck() async throws {
        let (provider, _) = try provider(
            Array(repeating: page(member("a.ics") + cut, token: "1"), count: 5))
        let failure = await #expect(throws: ProviderFailure.self) {
            try await provider.changes(in: calendar, since: nil, window: window)
        }
        #expect(failure?.kind == .malformed)
    }

    @Test("A listing that never ends is given two minutes, however short its pages are")
    func endless() async throws {
        let time = Atomic(0)
        let (provider, http) = try provider(
            (0..<900).map { page(member("\($0).ics") + cut, token: "\($0)") },
            clock: { time.load(ordering: .relaxed) }, pause: { time.add(1_000, ordering: .relaxed) })
        let failure = await #expect(throws: ProviderFailure.self) {
            try await provider.changes(in: calendar, since: nil, window: window)
        }
        #expect(failure?.code == "too-slow" && failure?.isTransient == true && http.requests.count == 120)
    }

    @Test("The names of a listing are counted over all of its pages, and so are the events")
    func counted() async throws {
        let long = String(repeating: "n", count: 4000)
        let pages = (0..<900).map { page(member("\($0)\(long).ics") + cut, token: "\($0)") }
        let (named, http) = try provider(pages, room: 1 << 20)
        var failure = await #expect(throws: ProviderFailure.self) {
            try await named.changes(in: calendar, since: nil, window: window)
        }
        #expect(failure?.kind == .busy(retryAfter: 1) && http.requests.count < 300)
        let (listed, _) = try provider(
            [page(member("a.ics"), token: "1"), page(object("a.ics"), token: nil)], room: 400)
        failure = await #expect(throws: ProviderFailure.self) {
            try await listed.changes(in: calendar, since: nil, window: window)
        }
        #expect(failure?.kind == .busy(retryAfter: 1))
    }

    @Test("An empty 207 without a token is not an empty calendar")
    func emptyAnswer() async throws {
        let (provider, _) = try provider([page("", token: nil), page("", token: nil)])
        let failure = await #expect(throws: ProviderFailure.self) {
            try await provider.changes(in: calendar, since: nil, window: window)
        }
        #expect(failure?.kind == .malformed)
    }

    @Test("An event that the server lists but does not return exists and is unreadable")
    func unreadable() async throws {
        let (provider, _) = try provider([
            page(member("a.ics") + member("b.ics"), token: "1"), page(object("a.ics"), token: nil), .answer(500, ""),
        ])
        let changes = try await provider.changes(in: calendar, since: nil, window: window)
        #expect(changes.isFull && changes.events.count == 2)
        guard case .unreadable = changes.events[1].content else {
            Issue.record("It is \(changes.events[1].content).")
            return
        }
    }

    @Test("A failed part of a listing fails the whole: no event counts as absent")
    func failedPart() async throws {
        for step: ScriptedHTTP.Step in [.answer(502, ""), .failure(.unanswered("")), .answer(401, "")] {
            let (provider, _) = try provider([page(member("a.ics"), token: "1"), step])
            await #expect(throws: ProviderFailure.self) {
                try await provider.changes(in: calendar, since: nil, window: window)
            }
        }
    }

    @Test("An answer that is too long is asked for in halves, and one event that is too large is unreadable")
    func tooLong() async throws {
        let (provider, http) = try provider([
            page(member("a.ics") + member("b.ics"), token: "1"), .failure(.tooLong), page(object("a.ics"), token: nil),
            .failure(.tooLong), .failure(.tooLong),
        ])
        let changes = try await provider.changes(in: calendar, since: nil, window: window)
        #expect(changes.events.map(\.entry) == [CalDAVSamples.days, nil])
        #expect(http.requests.map(\.method) == ["REPORT", "REPORT", "REPORT", "REPORT", "GET"])
    }

    @Test("A server that shows what it made of a PUT is believed")
    func representation() async throws {
        var other = CalDAVSamples.days
        other.title = "As the server has it"
        let stamp = ObjectStamp(
            uid: CalDAVIdentity.uid(CalDAVRoom.mark("a")), mark: CalDAVRoom.mark("a"), now: Instant(seconds: 0),
            sequence: 0)
        let text = String(decoding: other.calendar(stamp).serialized(), as: UTF8.self)
        let (provider, http) = try provider([
            .answer(201, text, [("ETag", "\"7\""), ("Preference-Applied", "return=representation")])
        ])
        let request = WriteRequest(key: "k", mark: CalDAVRoom.mark("a"), kind: .create(CalDAVSamples.days))
        let event = try #require(await provider.write([request], in: calendar)[0].event)
        #expect(event.entry == other && event.etag == "p0 \"7\"")
        let headers = http.requests[0].headers
        #expect(headers.contains { $0 == ("If-None-Match", "*") })
        #expect(!headers.contains { $0.name == "If-Match" })
    }

    @Test("An identity that is kept in a bin is taken, although no event has it")
    func bin() async throws {
        let conflict = "<error xmlns=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\"><C:no-uid-conflict/></error>"
        let empty = page("", token: nil)
        for steps in [[.answer(412, conflict), empty, .answer(404, ""), empty], [.answer(412, ""), .answer(404, "")]] {
            let (provider, _) = try provider(steps)
            let request = WriteRequest(key: "k", mark: CalDAVRoom.mark("a"), kind: .create(CalDAVSamples.days))
            #expect(await provider.write([request], in: calendar) == [.taken(nil)])
        }
    }

    @Test("Refusals of one event keep back that event, and name the server's condition")
    func refusals() async throws {
        func answer(_ status: Int, _ condition: String?) async throws -> ProviderFailure? {
            let body = condition.map {
                "<error xmlns=\"DAV:\"><\($0) xmlns=\"urn:ietf:params:xml:ns:caldav\"/></error>"
            }
            let (provider, _) = try provider([.answer(status, body ?? "")])
            let request = WriteRequest(key: "k", mark: CalDAVRoom.mark("a"), kind: .create(CalDAVSamples.days))
            return await provider.write([request], in: calendar)[0].failure
        }
        #expect(try await answer(403, "max-resource-size")?.kind == .refused)
        #expect(try await answer(412, "valid-calendar-data")?.code == "valid-calendar-data")
        #expect(try await answer(403, "need-privileges")?.kind == .forbidden)
        #expect(try await answer(507, nil)?.kind == .quotaExceeded)
        #expect(try await answer(423, nil)?.isTransient == true)
        #expect(try await answer(404, nil)?.kind == .calendarMissing)
        // A server's own word is never a code.
        #expect(try await answer(400, "secret-of-the-server")?.code == "http-400")
    }

    private func calendar(_ href: String) -> String {
        """
        <response><href>\(href)</href><propstat><prop><resourcetype><collection/><C:calendar/></resourcetype></prop>
        <status>HTTP/1.1 200 OK</status></propstat></response>
        """
    }

    @Test("A document is looked at only where it is read: what leaves that place is small")
    func turns() async throws {
        let (provider, http) = try provider([
            page((0..<1500).map { calendar("/c\($0)/") }.joined() + calendar("/c0/"), token: nil),
            page(member("a.ics"), token: "1"), page(object("a.ics"), token: nil),
            page("", token: nil), .answer(404, ""), page(member("b.ics"), token: nil),
            page(object("b.ics"), token: nil),
        ])
        let calendars = try await provider.calendars()
        #expect(calendars.count == 1000 && Set(calendars.map(\.id)).count == 1000)
        #expect(try await provider.changes(in: calendar, since: nil, window: window).events.count == 1)
        #expect(try await provider.find([CalDAVRoom.mark("b")], in: calendar).isEmpty)
        #expect(http.worked.count >= 5 && !http.worked.contains { $0.contains("Multistatus") }, "\(http.worked)")
    }

    @Test("An object that a server sends again and again is read once")
    func repeated() async throws {
        let objects = CountedObjects()
        let account = CalDAVAccount(
            principal: calendar, homes: ["https://dav.example.test/"], entrance: "https://dav.example.test/")
        let many = String(repeating: object("a.ics"), count: 500) + object("b.ics")
        let http = ScriptedHTTP([page(many, token: nil)])
        let provider = try CalDAVCalendar(
            account: account, username: "a", password: "b", calendarKey: "k", objects: objects, http: http,
            clock: { 1_000_000 })
        let looks = try await provider.look(at: ["/c/a.ics", "/c/b.ics"], in: calendar)
        #expect(looks.map(\.id) == ["/c/a.ics", "/c/b.ics"])
        #expect(objects.count.load(ordering: .relaxed) == 2)
    }
}

/// Counts the objects that it reads.
private final class CountedObjects: ObjectReading {
    let count = Atomic(0)

    func answers(to questions: [ObjectQuestion]) async throws(ProviderFailure) -> [ObjectAnswer] {
        count.add(questions.count, ordering: .relaxed)
        return questions.map { $0.answer() }
    }
}
