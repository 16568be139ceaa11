// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import KalendsCompanion
import PhoneTexts
import Testing

@Suite("Companion: the server over HTTP", .serialized)
struct ServiceTests {
    private static let token = "hidden-token-0123456789"

    private func service(
        _ server: LocalServer, _ path: String, _ credential: Credential = .device(token),
        retry: RequestRetry = .once, waits: Counter = Counter()
    ) throws -> HTTPCompanionService {
        HTTPCompanionService(
            try server.address(path), credential: credential, transport: URLSessionTransport(silence: 10, whole: 20),
            retry: retry, chance: { 1 }, wait: { await waits.note("\($0)") })
    }

    private static let planned = PlannedBody(
        rangeStart: "2026-01-20T00:00:00Z", rangeEnd: "2026-02-19T00:00:00Z",
        events: [
            .init(
                externalID: "a", title: "Weekly sync", startAt: "2026-01-21T09:00:00-08:00",
                endAt: "2026-01-21T09:30:00-08:00", isAllDay: false, sourceCalendarName: "Work Outlook")
        ])

    @Test("Planned events go in exactly the body that the route takes, with the token and the media type")
    func planned() async throws {
        let server = try LocalServer()
        try server.reply("planned", ["ok": true, "deleted": 1, "upserted": 1, "unchanged": 0, "failed": []])
        let answer = try await service(server, "/say/planned", .bearer(Self.token)).upsertPlanned(Self.planned)
        #expect(answer == PlannedAnswer(deleted: 1, upserted: 1, unchanged: 0))
        let request = try #require(try server.requests(1).first)
        #expect(request["method"]?.string == "POST")
        #expect(request["path"]?.string == "/say/planned/api/apple_sync/planned_upsert")
        #expect(request["authorization"]?.string == "Bearer \(Self.token)")
        #expect(request["type"]?.string == "application/json")
        let body = try JSONValue(parsing: Array(try #require(request["body"]?.string).utf8))
        #expect(
            body == [
                "range_start": "2026-01-20T00:00:00Z", "range_end": "2026-02-19T00:00:00Z",
                "events": [
                    [
                        "external_id": "a", "title": "Weekly sync", "start_at": "2026-01-21T09:00:00-08:00",
                        "end_at": "2026-01-21T09:30:00-08:00", "is_all_day": false,
                        "source_calendar_name": "Work Outlook",
                    ]
                ],
            ])
    }

    @Test("Changes are asked for by a device with since and limit")
    func changes() async throws {
        let server = try LocalServer()
        try server.reply(
            "changes",
            [
                "events": [["id": "e", "title": "A", "date": "2026-01-21", "updatedAt": 7, "news": ["a": 1]]],
                "serverTime": 9, "nextSince": 7, "hasMore": false,
            ])
        let page = try await service(server, "/say/changes").changes(since: 5, limit: 500)
        #expect(page.events.map(\.id) == ["e"] && page.nextSince == 7)
        let request = try #require(try server.requests(1).first)
        #expect(request["path"]?.string == "/say/changes/sync/events/changes?since=5&limit=500")
        #expect(request["authorization"]?.string == "Device \(Self.token)")
    }

    @Test("With a service key the user is named")
    func serviceKey() async throws {
        let server = try LocalServer()
        try server.reply("status", ["ok": true, "user": "ann", "serverTime": 1, "capabilities": ["changes"]])
        let status = try await service(server, "/say/status", .bearer(Self.token, user: "ann")).status()
        #expect(status.user == "ann")
        #expect(try server.requests(1).first?["user"]?.string == "ann")
    }

    @Test(
        "Each status has its failure",
        arguments: [
            (401, CompanionFailure.unauthorized), (403, .forbidden), (404, .refused(status: 404, code: "made_up")),
            (409, .refused(status: 409, code: "made_up")), (413, .refused(status: 413, code: "made_up")),
            (429, .tooManyRequests(retryAfter: nil)), (500, .server(status: 500, retryAfter: nil)),
            (503, .server(status: 503, retryAfter: nil)),
        ])
    func statuses(_ status: Int, _ failure: CompanionFailure) async throws {
        let server = try LocalServer()
        await #expect(throws: failure) { try await service(server, "/status/\(status)").upsertPlanned(Self.planned) }
    }

    @Test("Every failure has its text for a person, and 401 says that the token is not valid")
    func texts() {
        #expect(CompanionFailure.unauthorized.problem?.text == "Invalid sync token")
        #expect(CompanionFailure.offline.problem?.text == "Offline. Sync will retry.")
        for failure in [CompanionFailure.timedOut, .server(status: 500, retryAfter: nil)] {
            #expect(failure.problem?.text == "Server error. Try again later.")
        }
    }

    @Test("What fails and may pass is asked again after waits that double, and then it works")
    func retries() async throws {
        let (server, waits) = (try LocalServer(), Counter())
        let service = try service(
            server, "/flaky/2", retry: RequestRetry(attempts: 3, first: .seconds(1)), waits: waits)
        // The third answer is an object without members, which is not a status: it was asked for three times.
        await #expect(throws: CompanionFailure.badAnswer) { try await service.status() }
        #expect(try server.requests(3).count == 3)
        #expect(await waits.notes == ["\(Duration.seconds(1))", "\(Duration.seconds(2))"])
    }

    @Test("A server that names a time gets it")
    func retryAfter() async throws {
        let (server, waits) = (try LocalServer(), Counter())
        let service = try service(server, "/patient/7", retry: RequestRetry(), waits: waits)
        await #expect(throws: CompanionFailure.badAnswer) { try await service.status() }
        #expect(await waits.notes == ["\(Duration.seconds(7))"])
    }

    @Test("A wrong token is not tried again, and neither is a registration, which would make a second token")
    func notAgain() async throws {
        let (server, waits) = (try LocalServer(), Counter())
        let wrong = try service(server, "/status/401", retry: RequestRetry(), waits: waits)
        await #expect(throws: CompanionFailure.unauthorized) { try await wrong.status() }
        let failing = try service(server, "/status/503", retry: RequestRetry(), waits: waits)
        await #expect(throws: CompanionFailure.server(status: 503, retryAfter: nil)) {
            try await failing.register(DeviceRegistration())
        }
        #expect(await waits.notes.isEmpty)
    }

    @Test(
        "An answer that the API does not describe is a bad answer, whatever it is",
        arguments: ["/text", "/deep", "/flaky/0", "/announced", "/endless"])
    func badAnswers(_ path: String) async throws {
        let server = try LocalServer()
        await #expect(throws: CompanionFailure.badAnswer) { try await service(server, path).status() }
    }

    @Test("A page that goes back, that leads nowhere, or that is larger than asked for is a bad answer")
    func badPages() async throws {
        let server = try LocalServer()
        let event: JSONValue = ["id": "e", "title": "A", "date": "2026-01-21", "updatedAt": 7]
        for page: JSONValue in [
            ["events": [], "serverTime": 9, "nextSince": 4, "hasMore": false],
            ["events": [event], "serverTime": 9, "nextSince": 5, "hasMore": true],
            ["events": [event, event], "serverTime": 9, "nextSince": 7, "hasMore": false],
        ] {
            try server.reply("changes", page)
            await #expect(throws: CompanionFailure.badAnswer) {
                try await service(server, "/say/changes").changes(since: 5, limit: 1)
            }
        }
        try server.reply(
            "upsert",
            [
                "upserted": 1, "created": 1, "updated": 0, "unchanged": 0, "rejected": [], "serverTime": 1,
                "events": [["index": 1, "id": "e", "updatedAt": 1]],
            ])
        await #expect(throws: CompanionFailure.badAnswer) {
            let body = UpsertBody(
                sourceDevice: nil, events: [SentEvent(externalId: "a", title: "A", date: "2026-01-21")])
            _ = try await service(server, "/say/upsert").upsert(body)
        }
    }

    @Test("The token and a server's words are in no failure, description or reflection")
    func secrets() async throws {
        let server = try LocalServer()
        var shown: [String] = []
        for path in ["/status/401", "/status/404", "/status/500", "/text", "/short", "/redirect", "/reset"] {
            do {
                _ = try await service(server, path).status()
            } catch { shown += ["\(error)", String(reflecting: error), "\(dump: error)"] }
        }
        #expect(shown.count == 21)
        let credential = Credential.device(Self.token)
        let whole = try service(server, "/text")
        shown += ["\(credential)", String(reflecting: credential), "\(dump: credential)", "\(whole)", "\(dump: whole)"]
        for text in shown {
            #expect(!text.contains("hidden-token"), "\(text)")
            #expect(!text.contains("secret-in-an-answer"), "\(text)")
            #expect(!text.contains("hotel"), "\(text)")
        }
    }

    @Test("A token with a line break in it, or of no length, is not sent")
    func unsendable() async throws {
        let server = try LocalServer()
        for token in ["", "a\r\nX-Header: b", "ä", String(repeating: "a", count: 5_000)] {
            await #expect(throws: CompanionFailure.unauthorized) {
                try await service(server, "/status/500", .device(token)).status()
            }
        }
    }
}

extension String.StringInterpolation {
    /// Appends what `dump` prints of a value.
    mutating func appendInterpolation(dump value: some Any) {
        var text = ""
        Swift.dump(value, to: &text)
        appendLiteral(text)
    }
}
