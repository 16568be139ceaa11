// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

@Suite struct GraphFaultTests {
    /// Each function of the provider, for tests in which only its failure counts.
    private static let functions: [(name: String, run: @Sendable (GraphRoom, RemoteEvent) async throws -> Void)] = [
        ("calendars", { room, _ in _ = try await room.graph.calendars() }),
        ("createCalendar", { room, _ in _ = try await room.graph.createCalendar(named: "New", timeZone: "UTC") }),
        (
            "changes",
            { room, _ in
                _ = try await room.graph.changes(in: room.calendar, since: nil, window: GraphRoom.window)
            }
        ),
        ("look", { room, event in _ = try await room.graph.look(at: [event.id], in: room.calendar) }),
        ("find", { room, _ in _ = try await room.graph.find([room.mark("a")], in: room.calendar) }),
        ("create", { room, _ in try fail(await room.write(.create(.single()), "new")) }),
        (
            "update",
            { room, event in
                try fail(await room.write(.update(id: event.id, etag: event.etag, from: .single(), to: .single("x"))))
            }
        ),
        ("delete", { room, event in try fail(await room.write(.delete(id: event.id, etag: event.etag))) }),
        (
            "watch",
            { room, _ in
                _ = try await room.graph.watch(room.calendar, address: room.emulator.root + "/hook", secret: "s")
            }
        ),
        (
            "unwatch",
            { room, _ in
                try await room.graph.unwatch(WatchChannel(id: "x", expiresAt: Instant(seconds: 0)))
            }
        ),
    ]

    private static func fail(_ answer: WriteAnswer) throws {
        if case .failed(let failure) = answer { throw failure }
    }

    private static let kinds: [(fault: JSONValue, kind: ProviderFailure.Kind, isTransient: Bool)] = [
        (["status": 400, "code": "ErrorInvalidRequest"], .refused, false),
        (["status": 403, "code": "ErrorAccessDenied"], .forbidden, false),
        (
            ["status": 429, "code": "ApplicationThrottled", "retryAfter": 60, "times": 9], .throttled(retryAfter: 60),
            true
        ),
        (["status": 500, "code": "ErrorInternalServerError"], .unavailable(retryAfter: nil), true),
        (["status": 503, "code": "serviceNotAvailable", "retryAfter": 7], .unavailable(retryAfter: 7), true),
        (["status": 504, "code": "UnknownError"], .unavailable(retryAfter: nil), true),
        (["status": 507, "code": "ErrorQuotaExceeded"], .quotaExceeded, true),
        (["drop": "before"], .unanswered, true), (["drop": "after"], .unanswered, true),
        (["answer": "<html>"], .malformed, false),
    ]

    @Test("Each function reports each fault as what it is", arguments: 0..<10)
    func table(_ number: Int) async throws {
        let function = Self.functions[number]
        let room = try await GraphRoom()
        let event = try await room.created(.single())
        for (fault, kind, isTransient) in Self.kinds {
            // What a refused subscription means is said by another test.
            if function.name == "watch", kind == .refused { continue }
            // An answer without a body is as good as any to a deletion.
            if function.name == "unwatch", kind == .malformed { continue }
            try await room.emulator.fault(fault)
            do {
                try await function.run(room, event)
                Issue.record("\(function.name) met \(fault) and did not say so.")
            } catch let failure as ProviderFailure {
                #expect(failure.kind == kind, "\(function.name): \(fault)")
                #expect(failure.isTransient == isTransient)
                #expect(failure.message.hasSuffix(".") && !failure.message.contains("fault"))
            }
            try await room.emulator.ask("DELETE", "/control/faults")
            if case .object(let members) = fault, members["drop"] == "after" {
                let seen = try await room.looked(event.id)
                if seen == nil || seen?.etag != event.etag { return }
            }
        }
    }

    @Test("No event counts as removed in a calendar that does not exist itself")
    func missing() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.single())
        #expect(
            try await room.graph.look(at: [event.id, "never"], in: room.calendar).map(\.look) == [
                .present(event), .gone,
            ])
        try await room.emulator.ask("DELETE", "/v1.0/me/calendars/\(PercentEncoding.encode(room.calendar))")
        let missing: (any Error) -> Bool = { ($0 as? ProviderFailure)?.kind == .calendarMissing }
        await #expect {
            _ = try await room.graph.changes(in: room.calendar, since: nil, window: GraphRoom.window)
        } throws: { missing($0) }
        await #expect { _ = try await room.graph.look(at: [event.id], in: room.calendar) } throws: { missing($0) }
        let old = try #require(event.whole)
        var new = old
        new.title = "x"
        for kind: WriteRequest.Kind in [
            .create(.single()), .update(id: event.id, etag: event.etag, from: old, to: new),
            .delete(id: event.id, etag: event.etag),
        ] {
            let answer = await room.write(kind, "b")
            guard case .failed(let failure) = answer else { throw GraphEmulator.Failure(text: "\(answer)") }
            #expect(failure.kind == .calendarMissing)
        }
    }

    @Test("A short wait is waited for, once for all that were refused; a long one is the caller's")
    func throttledSteps() async throws {
        let room = try await GraphRoom()
        let requests = (0..<45).map {
            WriteRequest(key: "k\($0)", mark: room.mark("i\($0)"), kind: .create(.single("E\($0)")))
        }
        try await room.emulator.fault([
            "method": "POST", "path": "/events", "level": "item", "status": 429, "retryAfter": 2, "times": 5,
            "after": 10,
        ])
        let answers = await room.graph.write(requests, in: room.calendar)
        #expect(answers.allSatisfy { if case .written = $0 { true } else { false } })
        #expect(room.pauses.all == [2000])
        #expect(try await room.emulator.takeLog().count == 4)

        try await room.emulator.fault([
            "method": "DELETE", "level": "item", "status": 429, "retryAfter": 120, "times": 100, "after": 3,
        ])
        let deletions = answers.compactMap { answer -> WriteRequest? in
            guard case .written(let event) = answer, let mark = event.mark else { return nil }
            return WriteRequest(key: "d", mark: mark, kind: .delete(id: event.id, etag: event.etag))
        }
        let later = await room.graph.write(deletions, in: room.calendar)
        #expect(later.prefix(3) == [.deleted, .deleted, .deleted])
        for answer in later.dropFirst(3) {
            guard case .failed(let failure) = answer else { throw GraphEmulator.Failure(text: "\(answer)") }
            #expect(failure.kind == .throttled(retryAfter: 120))
        }
        #expect(try await room.emulator.takeLog().count == 1, "Requests during the wait would count against us.")
        #expect(try await room.emulator.events().count == 42)
    }

    @Test("After an answer that did not come nothing more is sent, and what was not sent is said to be so")
    func stops() async throws {
        let room = try await GraphRoom()
        let requests = (0..<45).map {
            WriteRequest(key: "k\($0)", mark: room.mark("i\($0)"), kind: .create(.single("E\($0)")))
        }
        try await room.emulator.fault(["path": "batch", "drop": "after", "after": 1])
        let answers = await room.graph.write(requests, in: room.calendar)
        let kinds = answers.map { answer -> ProviderFailure.Kind? in
            if case .failed(let failure) = answer { failure.kind } else { nil }
        }
        #expect(kinds.prefix(20).allSatisfy { $0 == nil })
        #expect(kinds[20..<40].allSatisfy { $0 == .unanswered })
        #expect(kinds[40...].allSatisfy { $0 == .unreachable })
        // The next run: what was done is taken over, and the rest is made.
        let again = await room.graph.write(Array(requests[20...]), in: room.calendar)
        #expect(again.prefix(20).allSatisfy { if case .taken(let event) = $0 { event != nil } else { false } })
        #expect(try await room.emulator.events().count == 45)
    }

    @Test("Eight runs over one mailbox never have more than four requests under way")
    func gate() async throws {
        let room = try await GraphRoom()
        let event = try await room.created(.single())
        try await room.emulator.settings(["latency": .number(0.05)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    _ = try await room.graph.calendars()
                    _ = try await room.graph.look(at: [event.id, "b", "c"], in: room.calendar)
                    _ = try await room.graph.changes(in: room.calendar, since: nil, window: GraphRoom.window)
                    _ = await room.write(.create(.single("E\(number)")), "i\(number)")
                }
            }
            try await group.waitForAll()
        }
        let statuses = try await room.emulator.takeLog().compactMap { $0.array?[2].integer }
        #expect(!statuses.contains(429) && statuses.count > 32)
        #expect(room.pauses.all.isEmpty && room.http.most <= 4 && room.http.most > 1)
        // A request beyond the four is refused, so that the claim can fail.
        let other = GraphCalendar(
            http: room.http, tokens: room.tokens, baseURL: room.emulator.root + "/v1.0", now: { Instant(seconds: 0) },
            pause: { _ in })
        await withTaskGroup(of: Void.self) { group in
            for provider in [room.graph, other, room.graph, other] {
                group.addTask { _ = try? await provider.look(at: ["a", "b", "c", "d"], in: room.calendar) }
            }
        }
        #expect(try await room.emulator.takeLog().contains { $0.array?[2] == 429 })
    }

    @Test("A dead token is renewed once, also between two requests of a batch; a dead grant is reported as one")
    func tokens() async throws {
        let room = try await GraphRoom()
        try await room.emulator.ask("POST", "/control/expire-tokens")
        let event = try await room.created(.single())
        #expect(room.tokens.renewals == 1)
        try await room.emulator.fault([
            "level": "item", "method": "GET", "status": 401, "code": "InvalidAuthenticationToken",
        ])
        let looks = try await room.graph.look(at: [event.id, "b"], in: room.calendar)
        #expect(looks[0].look == .present(event) && looks[1].look == .gone)
        #expect(room.tokens.renewals == 2)
        let dead = GraphCalendar(
            http: room.http, tokens: TestTokens(mends: false), baseURL: room.emulator.root + "/v1.0",
            now: { Instant(seconds: 0) }, pause: { _ in })
        await #expect { _ = try await dead.calendars() } throws: { ($0 as? ProviderFailure)?.kind == .unauthorized }
        let answer = await dead.write(
            [WriteRequest(key: "k", mark: room.mark("a"), kind: .create(.single()))], in: room.calendar)
        guard case .failed(let failure)? = answer.first else { throw GraphEmulator.Failure(text: "\(answer)") }
        #expect(failure.kind == .unauthorized)
    }

    @Test("Our calendar is known by its sign, whatever it is called, and a taken name gets a number")
    func calendars() async throws {
        let room = try await GraphRoom()
        try await room.emulator.ask(
            "PATCH", "/v1.0/me/calendars/\(PercentEncoding.encode(room.calendar))", ["name": "Family"])
        try await room.emulator.ask("POST", "/v1.0/me/calendars", ["name": "Kalends - Oma"])
        let second = try await room.graph.createCalendar(named: "Kalends - Oma", timeZone: "Europe/Berlin")
        #expect(second.name == "Kalends - Oma (2)" && second.isOurs)
        let calendars = try await room.graph.calendars()
        #expect(calendars.map(\.name) == ["Calendar", "Family", "Kalends - Oma", "Kalends - Oma (2)"])
        #expect(calendars.map(\.isOurs) == [false, true, false, true])
        #expect(calendars.map(\.isPrimary) == [true, false, false, false] && calendars.allSatisfy(\.canWrite))
    }

    @Test("A subscription is opened after its address was tested, its notices carry the secret, and it ends twice")
    func watching() async throws {
        let room = try await GraphRoom()
        try await room.emulator.settings(["pushes": 2])
        let channel = try #require(
            try await room.graph.watch(room.calendar, address: room.emulator.root + "/hook", secret: "s3cret"))
        let ends = Double(channel.expiresAt.seconds) - Date().timeIntervalSince1970
        #expect(ends > 4100 * 60 && ends <= 4200 * 60 + 5)
        _ = try await room.created(.single())
        try await room.emulator.ask("POST", "/control/lifecycle", ["event": "missed"])
        var notices: [PushNotice] = []
        while notices.count < 4 {
            try await Task.sleep(for: .milliseconds(50))
            notices = (try await room.emulator.ask("GET", "/control/hooks").array ?? [])
                .flatMap { GraphPush.notices(body: Array(($0["body"]?.string ?? "").utf8)) ?? [] }
        }
        #expect(notices.count == 4 && Set(notices.map(\.what)) == [.changed, .missed])
        #expect(notices.allSatisfy { $0.channel == channel.id && $0.secret == Concealed("s3cret") })
        try await room.graph.unwatch(channel)
        try await room.graph.unwatch(channel)
        #expect(try await room.emulator.ask("GET", "/control/state")["subscriptions"] == 0)
    }

    @Test(
        "A subscription survives a lower limit and a clock askew, and an address that cannot be reached is said",
        arguments: [
            (4230, 0), (1440, 0), (4230, -2 * 86_400), (4230, 86_400),
        ])
    func limits(_ minutes: Int, _ skew: Int) async throws {
        let room = try await GraphRoom()
        try await room.emulator.settings(["subscriptionMinutes": .integer(minutes), "skew": .integer(skew)])
        let channel = try await room.graph.watch(room.calendar, address: room.emulator.root + "/hook", secret: "s")
        #expect(channel != nil)
        await #expect {
            _ = try await room.graph.watch(room.calendar, address: "http://127.0.0.1:1/hook", secret: "s")
        } throws: { ($0 as? ProviderFailure)?.kind == .refused }
    }
}
