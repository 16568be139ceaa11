// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import ICalBridge
import Testing

@Suite struct GoogleFaultTests {
    typealias Bench = GoogleBench

    struct Fault: Sendable, CustomTestStringConvertible {
        var status: Int
        var reason: String
        var retryAfter: Int?
        var kind: ProviderFailure.Kind
        var testDescription: String { "\(status) \(reason)" }

        init(_ status: Int, _ reason: String, _ kind: ProviderFailure.Kind, retryAfter: Int? = nil) {
            (self.status, self.reason, self.kind, self.retryAfter) = (status, reason, kind, retryAfter)
        }

        func body(_ method: String, times: Int) -> JSONValue {
            var body: [ByteString: JSONValue] = [
                "method": .string(method), "times": .integer(times), "status": .integer(status),
                "reason": .string(reason),
            ]
            if let retryAfter { body["retryAfter"] = .integer(retryAfter) }
            return .object(body)
        }
    }

    static let faults = [
        Fault(400, "invalid", .refused), Fault(403, "forbidden", .forbidden),
        Fault(403, "insufficientPermissions", .forbidden), Fault(403, "requiredAccessLevel", .forbidden),
        Fault(403, "forbiddenForNonOrganizer", .refused), Fault(403, "accessNotConfigured", .misconfigured),
        Fault(403, "rateLimitExceeded", .throttled(retryAfter: nil)),
        Fault(403, "userRateLimitExceeded", .throttled(retryAfter: nil)),
        Fault(403, "quotaExceeded", .quotaExceeded), Fault(429, "quotaExceeded", .quotaExceeded),
        Fault(429, "rateLimitExceeded", .throttled(retryAfter: 77), retryAfter: 77),
        Fault(500, "backendError", .unavailable(retryAfter: nil)),
        Fault(502, "x", .unavailable(retryAfter: nil)),
        Fault(503, "backendError", .unavailable(retryAfter: 3600), retryAfter: 3600),
    ]

    @Test("Each refusal of Google's has its kind, for a listing, one write and a batch", arguments: faults)
    func kinds(_ fault: Fault) async throws {
        let bench = try await Bench()
        let cursor = try await bench.changes(since: nil).cursor
        try await bench.control("fault", fault.body("events.list", times: 9))
        if fault.status != 400 {
            #expect(await bench.failure { try await bench.changes(since: cursor) } == fault.kind)
        }
        #expect(await bench.failure { try await bench.changes(since: nil) } == fault.kind)
        try await bench.control("clear", [:])
        try await bench.control("fault", fault.body("events.insert", times: 9))
        #expect(await bench.create([("a", Bench.single("A"))])[0].failedKind == fault.kind)
        try await bench.control("clear", [:])
        try await bench.control("fault", fault.body("batch", times: 1))
        let both = await bench.create([("a", Bench.single("A")), ("b", Bench.single("B"))])
        #expect(both.map(\.failedKind) == [fault.kind, fault.kind])
        #expect(try await bench.stored().isEmpty)
    }

    @Test(
        "A call that was throttled in a batch is sent again, and only that call",
        arguments: [
            Fault(403, "rateLimitExceeded", .refused), Fault(429, "rateLimitExceeded", .refused),
            Fault(409, "conflict", .refused), Fault(503, "backendError", .refused),
        ])
    func again(_ fault: Fault) async throws {
        let bench = try await Bench()
        var body = fault.body("events.insert", times: 2).object ?? [:]
        body["skip"] = 30
        try await bench.control("fault", .object(body))
        let answers = await bench.create((0..<60).map { ("item\($0)", Bench.single("Visit \($0)")) })
        #expect(answers.allSatisfy { $0.written != nil })
        #expect(try await bench.stored().count == 60)
        #expect(bench.http.takeSent().count == 3)
    }

    @Test(
        "A failure of all calls stops the remaining batches, and none of their calls was carried out",
        arguments: [
            (
                #"{"method":"batch","unanswered":"after"}"#, ProviderFailure.Kind.unanswered,
                ProviderFailure.Kind.unreachable, 1
            ),
            (
                #"{"method":"events.insert","skip":49,"times":99,"status":403,"reason":"quotaExceeded"}"#, nil,
                .quotaExceeded, 1
            ),
            (
                #"{"method":"events.insert","skip":49,"times":3,"status":429,"reason":"rateLimitExceeded"}"#, nil,
                .throttled(retryAfter: nil), 3
            ),
        ] as [(String, ProviderFailure.Kind?, ProviderFailure.Kind, Int)])
    func heldBack(
        _ fault: String, _ first: ProviderFailure.Kind?, _ rest: ProviderFailure.Kind, _ requests: Int
    ) async throws {
        let bench = try await Bench()
        try await bench.control("fault", try JSONValue(parsing: Array(fault.utf8)))
        let answers = await bench.create((0..<120).map { ("item\($0)", Bench.single("Visit \($0)")) })
        #expect(answers[..<49].allSatisfy { $0.failedKind == first })
        #expect(answers[50...].allSatisfy { $0.failedKind == rest })
        #expect(bench.http.takeSent().count == requests)
        #expect(try await bench.stored().count == (first == nil ? 49 : 50))
    }

    @Test("One event that Google refuses keeps back itself, and no other")
    func quarantined() async throws {
        let bench = try await Bench()
        var bad = Bench.single("Bad")
        bad.repetition = Repetition(rrule: "FREQ=SECONDLY")
        let answers = await bench.create([("a", Bench.single("A")), ("bad", bad), ("c", Bench.single("C"))])
        #expect(answers.map { $0.written != nil } == [true, false, true])
        #expect(answers[1].failedKind == .refused)
    }

    @Test("A lost answer leaves one event, which is found again", arguments: [1, 5], ["before", "after"])
    func lost(_ count: Int, _ moment: String) async throws {
        let bench = try await Bench()
        let items = (0..<count).map { ("item\($0)", Bench.single("Visit \($0)")) }
        let marks = items.map { Bench.mark($0.0) }
        try await bench.control(
            "fault", ["method": .string(count == 1 ? "events.insert" : "batch"), "unanswered": .string(moment)])
        let answers = await bench.create(items)
        #expect(answers.allSatisfy { $0.failedKind == .unanswered })
        let wasDone = moment == "after"
        #expect(try await bench.provider.find(marks, in: bench.calendar).count == (wasDone ? count : 0))
        for answer in await bench.create(items) {
            guard wasDone else {
                #expect(answer.written != nil)
                continue
            }
            guard case .taken(let event?) = answer else {
                Issue.record("\(answer)")
                return
            }
            #expect(event.mark.map(marks.contains) == true)
        }
        #expect(try await bench.stored().count == count)
    }

    @Test(
        "A batch whose answer is cut off, or is not a valid one, counts as perhaps done",
        arguments: [
            "", "garbage", "--batch_of_answers\r\n\r\n\r\n--batch_of_answers--",
            "--batch_of_answers\r\nContent-ID: <response-item-7>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}\r\n--batch_of_answers--",
            "--batch_of_answers\r\nContent-ID: <response-item-0>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}\r\n",
            "--batch_of_answers--",
        ])
    func brokenBatch(_ body: String) async throws {
        let bench = try await Bench()
        try await bench.control("fault", ["method": "batch", "body": .string(body)])
        let items = [("a", Bench.single("A")), ("b", Bench.single("B"))]
        #expect(await bench.create(items).map(\.failedKind) == [.unanswered, .unanswered])
        try await bench.control("fault", ["method": "batch", "cut": true])
        #expect(await bench.create(items).map(\.failedKind) == [.unanswered, .unanswered])
        #expect(try await bench.stored().count == 2)
    }

    @Test("One call of a batch that stays unanswered is perhaps done, the others are done")
    func lostPart() async throws {
        let bench = try await Bench()
        try await bench.control("fault", ["method": "events.insert", "skip": 1, "unanswered": "after"])
        let answers = await bench.create((0..<3).map { ("item\($0)", Bench.single("Visit \($0)")) })
        #expect(answers.map(\.failedKind) == [nil, .unanswered, nil])
        #expect(try await bench.stored().count == 3)
    }

    @Test("An update or deletion whose answer was lost is not done twice")
    func lostUpdate() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        var entry = try #require(event.entry)
        entry.title = "B"
        try await bench.control("fault", ["method": "events.patch", "unanswered": "after"])
        #expect(try await bench.update("a", event, to: entry).failedKind == .unanswered)
        #expect(try await bench.update("a", event, to: entry) == .mismatch)
        let look = try await bench.provider.look(at: [event.id], in: bench.calendar)[0].look
        guard case .present(let now) = look else {
            Issue.record("It is gone.")
            return
        }
        #expect(now.entry == entry)
        try await bench.control("fault", ["method": "events.delete", "unanswered": "after"])
        #expect(await bench.delete("a", now).failedKind == .unanswered)
        #expect(try await bench.provider.look(at: [event.id], in: bench.calendar)[0].look == .gone)
    }

    @Test(
        "A series of which an occurrence could not be written says so, and the next try ends it",
        arguments: [
            "events.patch", "events.get",
        ])
    func halfSeries(_ method: String) async throws {
        let bench = try await Bench()
        try await bench.control("fault", ["method": .string(method), "times": 9, "status": 503])
        #expect(await bench.create([("a", Bench.series("Walk"))])[0].failedKind == .unavailable(retryAfter: nil))
        try await bench.control("clear", [:])
        let listed = try await bench.changes(since: nil).events
        #expect(listed.map(\.isUnfinished) == [true])
        #expect(listed.first?.entry?.occurrences == [:])
        // What a person has done in the meantime is left alone.
        let id = try #require(listed.first?.id)
        try await bench.edit("PATCH", Bench.instanceID(id, Bench.day(5)), ["summary": "With Anna"])
        var whole = bench.provider.expressible(Bench.series("Walk")).entry
        let event = try #require(await bench.create([("a", whole)])[0].written)
        #expect(!event.isUnfinished)
        var anna = Bench.later("With Anna", day: 5)
        anna.span = .timed(start: Bench.day(5), end: Bench.day(5).adding(seconds: 3600), zone: "Europe/Berlin")
        whole.occurrences[Bench.day(5)] = .changed(anna)
        #expect(event.entry == whole)
        #expect(try await bench.provider.look(at: [id], in: bench.calendar).map(\.look) == [.present(event)])
    }

    @Test("A series that moves says that its occurrences are missing, until they are written again")
    func halfMoved() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.series("Walk"))
        #expect(!event.isUnfinished)
        var moved = try #require(event.entry)
        let start = Bench.morning.adding(seconds: 7200)
        moved.span = .timed(start: start, end: start.adding(seconds: 3600), zone: "Europe/Berlin")
        moved.repetition?.exdates = []
        let original = start.adding(seconds: 86_400)
        moved.occurrences = [original: .changed(Bench.later("Moved walk", day: 1))]
        try await bench.control("fault", ["method": "events.patch", "skip": 1, "unanswered": "before"])
        #expect(try await bench.update("a", event, to: moved).failedKind == .unanswered)
        let half = try #require(try await bench.changes(since: nil).events.first)
        #expect(half.isUnfinished)
        let whole = try #require(try await bench.update("a", half, to: moved).written)
        #expect(whole.entry == moved)
        #expect(!whole.isUnfinished)
        #expect(try await bench.changes(since: nil).events == [whole])
    }

    @Test("A series is not moved while its changed occurrences cannot be looked at")
    func unreadOccurrences() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.series("Walk"))
        var shorter = try #require(event.entry)
        shorter.repetition?.rrule = "FREQ=DAILY;COUNT=8"
        try await bench.control("fault", ["method": "events.get", "times": 9, "status": 503])
        #expect(try await bench.update("a", event, to: shorter).failedKind == .unavailable(retryAfter: nil))
        try await bench.control("clear", [:])
        #expect(try await bench.changes(since: nil).events.map(\.entry) == [event.entry])
        let written = try #require(try await bench.update("a", event, to: shorter).written)
        #expect(written.entry == shorter)
    }

    @Test("A listing that is empty or cut off is not taken for what it is not")
    func shortListing() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        try await bench.control("fault", ["method": "events.list", "cut": true])
        #expect(await bench.failure { try await bench.changes(since: nil) } == .unanswered)
        try await bench.control("fault", ["method": "events.list", "empty": true])
        #expect(try await bench.changes(since: nil).events.isEmpty)
        // An empty listing is confirmed by a look at the event.
        #expect(try await bench.provider.look(at: [event.id], in: bench.calendar).map(\.look) == [.present(event)])
    }

    @Test("A calendar that became read-only is forbidden, and none of its events is gone")
    func readOnly() async throws {
        let bench = try await Bench()
        let event = try await bench.createOne("a", Bench.single("A"))
        try await bench.knob(["role": "reader"])
        #expect(await bench.delete("a", event).failedKind == .forbidden)
        #expect(await bench.create([("b", Bench.single("B"))])[0].failedKind == .forbidden)
        #expect(try await bench.changes(since: nil).events == [event])
    }

    @Test("A scope that was not granted is forbidden where it is needed")
    func scopes() async throws {
        let emulator = try await GoogleEmulator()
        let http = LoopbackHTTP()
        let answer = try await http.send(
            ProviderRequest(
                "POST", emulator.address + "/control/person",
                body: Array(#"{"scopes":["\#(GoogleScope.calendarList)"]}"#.utf8)))
        let token = try JSONValue(parsing: answer.body)["token"]?.string ?? ""
        let provider = Bench.provider(emulator, http, FixedToken(token: token))
        #expect(try await provider.calendars().count == 1)
        await #expect { _ = try await provider.createCalendar(named: "x", timeZone: "UTC") } throws: {
            ($0 as? ProviderFailure)?.kind == .forbidden
        }
    }

    @Test("A server that is not there was not asked")
    func unreachable() async throws {
        let provider = GoogleCalendar(
            http: LoopbackHTTP(), tokens: FixedToken(token: "t"), baseURL: "http://127.0.0.1:1",
            now: { Instant(seconds: 0) }, pause: { _ in }, random: { _ in 0 })
        await #expect { _ = try await provider.calendars() } throws: {
            ($0 as? ProviderFailure)?.kind == .unreachable
        }
        let requests = (0..<120).map {
            WriteRequest(key: "\($0)", mark: Bench.mark("\($0)"), kind: .create(Bench.single("A")))
        }
        #expect(await provider.write(requests, in: "c").allSatisfy { $0.failedKind == .unreachable })
    }
}
