// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto
import FeedTokens
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Requests that take effect once")
struct OnceTests {
    static func keyed(_ key: String) -> HTTPFields { [.idempotencyKey: "\"\(key)\""] }

    private static func rows(_ server: TestServer) async throws -> [SQLRow] {
        try await server.services.store.read { try $0.rows("SELECT * FROM kept_answers ORDER BY name", []) }
    }

    @Test("The same request gets the same answer with its secret, which nobody reads in the database; another gets 422")
    func same() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let body: JSONValue = ["userId": "ann", "label": "phone"]
            func make(_ key: String, _ body: JSONValue, circle: String = "c") async throws -> Answer {
                try await server.call(.post, "/v1/circles/\(circle)/feeds", body, headers: Self.keyed(key))
            }
            let first = try await make("a", body).expect(201)
            #expect(first.headers[.idempotencyReplayed] == nil)
            let again = try await make("a", body).expect(201)
            #expect(again.headers[.idempotencyReplayed] == "true")
            #expect(again.body == first.body && again.headers[.location] == first.headers[.location])
            let feeds = try await server.call(.get, "/v1/circles/c/feeds").expect(200)
            #expect(feeds.json["items"]?.array?.count == 1)

            let other = try await make("a", ["userId": "ann", "label": "watch"]).expect(422)
            #expect(other.json["code"] == "idempotency-key-reused")
            try await make("a", body, circle: "none").expect(422)
            try await make("b", ["userId": "ann", "label": "watch"]).expect(201)

            let token = try #require(first.json["token"]?.string)
            let rows = try await Self.rows(server)
            #expect(rows.count == 2)
            for row in rows { #expect(try !row.text(required: "sealed").contains(token)) }
        }
    }

    @Test("An app password is made once, and its act keeps the answer with it")
    func appPassword() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make() async throws -> Answer {
                try await server.call(
                    .post, "/v1/app-passwords", ["label": "phone"], as: "ann", headers: Self.keyed("a")
                ).expect(201)
            }
            let (first, again) = (try await make(), try await make())
            #expect(again.headers[.idempotencyReplayed] == "true")
            #expect(again.body == first.body && again.headers[.location] == first.headers[.location])
            let listed = try await server.call(.get, "/v1/app-passwords", as: "ann").expect(200)
            #expect(listed.json["items"]?.array?.count == 1)
            let password = try #require(first.json["password"]?.string)
            for row in try await Self.rows(server) { #expect(try !row.text(required: "sealed").contains(password)) }
        }
    }

    @Test("A refusal stays the same, and one that may pass is tried again")
    func refusals() async throws {
        try await TestServer.run { server in
            func make(_ key: String) async throws -> Answer {
                try await server.call(
                    .post, "/v1/circles/c/feeds", ["userId": "ann", "label": "phone"], headers: Self.keyed(key))
            }
            let missing = try await make("a").expect(404)
            try await server.makeCircle()
            #expect(try await make("a").expect(404).body == missing.body)
            try await make("b").expect(201)
            let taken = try await make("c").expect(409)
            #expect(taken.json["code"] == "label-taken")
            #expect(try await make("c").expect(409).body == taken.body)
        }
    }

    @Test("A key is the caller's and the operation's, with quotes or without, and anything else is refused")
    func keys() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make(_ label: String, as user: String, _ key: HTTPFields) async throws -> Answer {
                try await server.call(
                    .post, "/v1/circles/c/feeds", ["label": .string(label)], as: user, headers: key)
            }
            let ann = try await make("x", as: "ann", Self.keyed("k")).expect(201)
            let ben = try await make("x", as: "ben", Self.keyed("k")).expect(201)
            #expect(ann.json["id"] != ben.json["id"])
            #expect(try await make("x", as: "ann", [.idempotencyKey: "k"]).expect(201).body == ann.body)
            let made = try await server.call(.post, "/v1/keys", ["name": "k"], headers: Self.keyed("k")).expect(201)
            #expect(made.json["key"] != nil)
            for bad in ["", "\"", "\"a", "a b", "\"a\";b", "é", String(repeating: "k", count: 256)] {
                let answer = try await make("y", as: "ann", [.idempotencyKey: bad])
                #expect(answer.status == 400 && answer.json["code"] == "idempotency-key-invalid", "\(bad)")
            }
            var twice = Self.keyed("k")
            twice.append(HTTPField(name: .idempotencyKey, value: "\"l\""))
            try await make("x", as: "ann", twice).expect(400)
        }
    }

    @Test("Of many at once one takes effect; the others get its answer or 409")
    func doubles() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        try await server.call(
                            .post, "/v1/circles/c/feeds", ["userId": "ann"], headers: Self.keyed("once"))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let made = answers.filter { $0.status == 201 }
            #expect(!made.isEmpty && Set(made.map(\.body)).count == 1)
            for answer in answers where answer.status != 201 {
                #expect(answer.status == 409 && answer.json["code"] == "request-under-way", "\(answer.text)")
            }
            let feeds = try await server.call(.get, "/v1/circles/c/feeds").expect(200)
            #expect(feeds.json["items"]?.array?.count == 1)
        }
    }

    /// What each operation that makes something is sent; a new one has to be added here.
    private static let making: [(id: String, path: String, body: JSONValue, user: String?)] = [
        ("createFeed", "/v1/circles/c/feeds", ["userId": "ann"], nil),
        ("createAppPassword", "/v1/app-passwords", ["label": "Thunderbird", "userId": "ann"], nil),
        ("createKey", "/v1/keys", ["name": "k"], nil),
        ("createWebhook", "/v1/webhooks", ["url": "https://receiver.example/hook"], nil),
        ("createSubscription", "/v1/circles/c/subscriptions", ["url": "https://host.example/a.ics"], nil),
        ("createConnection", "/v1/circles/c/connections", ["provider": "apple", "userId": "ann"], nil),
        ("createSignInLink", "/v1/users/ann/sign-in-links", [:], nil),
        ("registerDevice", "/sync/devices/register", ["label": "phone"], "ann"),
        (
            "createPersonalEvent", "/v1/users/ann/events",
            ["title": "Run", "date": "2026-03-04", "startTime": "19:00:00", "endTime": "21:00"], nil
        ),
        ("beginSecondFactor", "/v1/second-factor", ["currentPassword": "correct horse battery"], "ann"),
        ("signIn", "/v1/sessions", ["userId": "ann", "password": "correct horse battery"], nil),
    ]

    @Test("Every operation that makes something makes it once, and shows its secrets again; none is left out")
    func everyOperation() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/users/ann/password", ["password": "correct horse battery"]).expect(201)
            let routes = try Routes.table(server.front, isLocal: false).described
            let known = Set(Self.making.map(\.id) + ["createImport"])
            let found = Set(
                routes.filter { $0.takesKey && $0.operation.replies.contains { $0.status == 201 } }
                    .map(\.operation.id))
            #expect(found == known)
            for made in Self.making {
                func make(_ key: String) async throws -> Answer {
                    try await server.call(.post, made.path, made.body, as: made.user, headers: Self.keyed(key))
                }
                let first = try await make("each")
                #expect(first.status == 201, "\(made.id): \(first.text)")
                let again = try await make("each")
                #expect(again.status == 201 && again.body == first.body, "\(made.id): \(again.text)")
                #expect(again.headers[.idempotencyReplayed] == "true", "\(made.id)")
                #expect(again.headers[.setCookie] == first.headers[.setCookie], "\(made.id)")
            }
        }
    }

    @Test("A wrong password is not told from another body of a key, and is not kept")
    func passwords() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/users/ann/password", ["password": "correct horse battery"]).expect(201)
            func signIn(_ password: String) async throws -> Answer {
                try await server.call(
                    .post, "/v1/sessions", ["userId": "ann", "password": .string(password)], headers: Self.keyed("s"))
            }
            try await signIn("correct horse battery").expect(201)
            try await signIn("wrong horse battery").expect(401)
            let rows = try await Self.rows(server)
            #expect(rows.count == 1)
            // Without the server's key, nobody can compute the row's name from a password that they guess.
            func hash(_ text: String) -> String { Hexadecimal.text(SHA256.hash(data: Array(text.utf8))) }
            let body: JSONValue = ["userId": "ann", "password": "correct horse battery"]
            let text = String(decoding: try body.serialized(), as: UTF8.self)
            let request = hash("/v1/sessions?\napplication/json\n" + text)
            #expect(rows.first?.text("name") != hash("anyone \(request)\nPOST /v1/sessions\ns"))
        }
    }

    @Test("An import is made once: the same file with its key gets the first one's report")
    func imports() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let file = """
                BEGIN:VCALENDAR\r
                VERSION:2.0\r
                PRODID:-//test//EN\r
                BEGIN:VEVENT\r
                UID:one@example\r
                DTSTAMP:20260301T000000Z\r
                DTSTART:20260310T090000Z\r
                DTEND:20260310T100000Z\r
                SUMMARY:One\r
                END:VEVENT\r
                END:VCALENDAR\r\n
                """
            func send(_ file: String) async throws -> Answer {
                var headers = Self.keyed("file")
                headers[.authorization] = "Bearer \(server.key)"
                headers[.contentType] = "text/calendar"
                return try await server.raw(
                    .post, "/v1/circles/c/imports?mode=commit", headers: headers, body: ByteBuffer(string: file))
            }
            let first = try await send(file).expect(201)
            #expect(try await send(file).expect(201).body == first.body)
            try await send(file.replacingOccurrences(of: "One", with: "Two")).expect(422)
            let all = try await server.call(.get, "/v1/circles/c/imports").expect(200)
            #expect(all.json["items"]?.array?.count == 1)
        }
    }

    @Test("An import that a kill interrupted takes place when it is sent again, and not before its end is known")
    func interruptedImport() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func send() async throws -> Answer {
                var headers = Self.keyed("file")
                headers[.authorization] = "Bearer \(server.key)"
                headers[.contentType] = "text/calendar"
                return try await server.raw(
                    .post, "/v1/circles/c/imports?mode=commit", headers: headers, body: RoutePaths.file)
            }
            let id = try #require(try await send().expect(201).json["id"]?.string)
            // As a server leaves it that is killed while it reads the file.
            let (key, services) = (server.services.sealingKey, server.services)
            try await services.store.record { transaction in
                for row in try transaction.rows("SELECT * FROM kept_answers", []) {
                    let name = try row.text(required: "name")
                    let text = try key.open(try row.text(required: "sealed"), for: OnceRequest.purpose(name))
                    let fingerprint = try GivenAnswer.Kept(stored: text).fingerprint
                    let begun = GivenAnswer(status: 201, fields: [], body: "", importID: id)
                    let kept = try GivenAnswer.Kept(fingerprint: fingerprint, answer: begun).text()
                    let sealed = try key.seal(kept, for: OnceRequest.purpose(name))
                    try transaction.execute(
                        "UPDATE kept_answers SET sealed = $2 WHERE name = $1", [.text(name), .text(sealed)])
                }
                try transaction.execute(
                    "UPDATE imports SET state = 'previewed', stage = 'reading', committed_at = NULL WHERE id = $1",
                    [.text(id)])
            }
            #expect(try await send().expect(409).json["code"] == "request-under-way")
            let failed = try await services.store.record {
                try $0.failInterruptedImports(problem: "{}", limit: 10)
            }
            #expect(failed == [id])
            try await send().expect(503)
            let made = try await send().expect(201)
            #expect(made.json["state"] == "committed" && made.json["id"]?.string != id)
            #expect(try await send().expect(201).body == made.body)
        }
    }

    @Test("What failed after its act is answered as made, and what failed within it leaves nothing")
    func atomic() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let services = server.services
            let caller = Caller(.user("ann"), actor: AuditActor(user: "ann"))
            func request() -> OnceRequest {
                OnceRequest(
                    key: "k", operation: "POST /test", caller: caller, network: "local", services, fingerprint: { "f" })
            }
            struct Broken: Error {}
            @Sendable func name(_ given: String, breaking: Bool) async throws -> String {
                try await services.acts.act(on: .circle("c", .manage), for: caller) { act in
                    _ = try act.transaction.putCircle(Circle(id: "c", name: given, timeZone: "UTC"), now: act.now)
                    if breaking { throw Broken() }
                    return .unnoted("a test", given)
                }
            }
            @Sendable func answer(_ name: String) throws -> GivenAnswer {
                GivenAnswer(status: 201, fields: [], body: name)
            }
            await #expect(throws: Broken.self) {
                let once = request()
                _ = try await once.answering(answer) { try await name("broken", breaking: true) }
            }
            #expect(try await Self.rows(server).isEmpty)
            // As a server that is killed before it answers.
            await #expect(throws: Broken.self) {
                let once = request()
                _ = try await once.answering(answer) {
                    _ = try await name("first", breaking: false)
                    throw Broken()
                }
            }
            let found = try await services.once(request()) { given, _ in
                given.body
            } work: {
                try await name("second", breaking: false)
            }
            #expect(found == "first")
            #expect(try await services.circles.get("c", for: caller).name == "first")
            // Another server that took the same request for new takes no effect.
            await #expect(throws: Refusal.self) {
                let once = request()
                _ = try await once.answering(answer) { try await name("third", breaking: false) }
            }
            #expect(try await services.circles.get("c", for: caller).name == "first")
        }
    }

    @Test("An answer ends after a day, and is removed")
    func bounded() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            func make(_ key: String) async throws -> Answer {
                try await server.call(
                    .post, "/v1/circles/c/feeds", ["label": .string(key)], as: "ann", headers: Self.keyed(key))
            }
            let first = try await make("k").expect(201)
            server.clock.advance(seconds: 86_399)
            #expect(try await make("k").expect(201).body == first.body)
            server.clock.advance(seconds: 1)
            #expect(try await make("k").expect(409).json["code"] == "label-taken")
            server.clock.advance(seconds: 86_400)
            let now = server.clock.now
            try await server.services.store.recordRepeatedly { try $0.pruneKeptAnswers(now: now, limit: $1) }
            #expect(try await Self.rows(server).isEmpty)
        }
    }

    @Test("A long answer is not kept, and those of a person who is erased are removed in steps")
    func sizes() async throws {
        let limit = 64 << 10
        for length in [limit, limit + 1] {
            let body = ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: length))
            let kept = try await GivenAnswer(of: Response(status: .ok, body: body))
            #expect(kept?.body.utf8.count == (length > limit ? nil : limit))
        }
        try await TestServer.withPasswords { server in
            let session = try await server.session("ann")
            for number in 0..<3 {
                var headers = Self.keyed("\(number)")
                headers[.authorization] = "Bearer \(session)"
                try await server.raw(
                    .post, "/v1/circles/c/feeds", headers: headers,
                    body: ByteBuffer(string: #"{"label": "\#(number)"}"#)
                ).expect(201)
            }
            let counted = OnceRequest.counted(of: AuditActor(user: "ann"))
            let isLeft = try await server.services.store.record { try $0.forgetKeptAnswers(of: counted, limit: 2) }
            let left = try await Self.rows(server)
            #expect(isLeft && left.count == 1)
            try await server.call(.delete, "/v1/users/ann?erase=true").expect(200)
            #expect(try await Self.rows(server).isEmpty)
        }
    }

    @Test("The answers of a person are limited in number, and those that are kept are still given")
    func limited() async throws {
        try await TestServer.withPasswords { server in
            let session = try await server.session("ann")
            func make(_ key: String) async throws -> Answer {
                var headers = Self.keyed(key)
                headers[.authorization] = "Bearer \(session)"
                return try await server.raw(
                    .post, "/v1/circles/c/feeds", headers: headers,
                    body: ByteBuffer(string: #"{"label": "\#(key)"}"#))
            }
            let kept = try await make("l").expect(201)
            let caller = try #require(try await Self.rows(server).first).text(required: "caller")
            let now = server.clock.now
            try await server.services.store.record { transaction in
                for number in 1..<1_000 {
                    let name = String(repeating: "0", count: 60) + String(10_000 + number).suffix(4)
                    _ = try transaction.keep(
                        KeptAnswer(name, of: caller, sealed: "", until: now + 86_400_000), now: now)
                }
            }
            try await make("m").expect(429)
            #expect(try await make("l").expect(201).body == kept.body)
        }
    }
}
