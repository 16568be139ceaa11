// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import FeedTokens
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Outbound
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Nothing is held while somebody else is waited for")
struct WaitingRequestTests {
    /// What others need is free: the memory for documents and answers, and the turns at the database.
    private static func held(_ server: TestServer) -> Int {
        let memory = server.services.memory
        return [
            memory.documents, memory.large, memory.answers, memory.feeds, memory.circles, memory.texts, memory.spooled,
            memory.pages,
        ]
        .reduce(0) { $0 + $1.used }
    }

    /// Asks for every list, in its own user's name where it is somebody's, and returns what was refused.
    private static func refusedLists(_ server: TestServer, _ paths: RoutePaths) async throws -> [String] {
        var refused: [String] = []
        for route in try Routes.table(server.front, isLocal: false).described
        where route.method == .get && route.operation.query.contains(where: { $0.name == "cursor" }) {
            let user = RoutePaths.needsUser(route.operation.access) ? "xia" : nil
            let answer = try await server.call(.get, paths.path(of: route), as: user)
            if answer.status != 200 { refused.append("\(route.path): \(answer.status)") }
        }
        return refused
    }

    private static let length = 700 << 10

    /// The beginning of a request whose body never comes to its end.
    private static func begin(
        _ method: HTTPRequest.Method, _ path: String, _ headers: [String], type: String, isChunked: Bool
    ) -> String {
        let half = String(repeating: " ", count: length / 2)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        let lines = ["\(method) \(path) HTTP/1.1", "Host: x", "Content-Type: \(type)", framing] + headers
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
            + (isChunked ? "\(String(half.utf8.count, radix: 16))\r\n\(half)\r\n" : half)
    }

    /// A request for each route that takes a body, of the API and of the pages.
    private static func drips(_ server: TestServer, _ paths: RoutePaths) async throws -> [String] {
        let table = try Routes.table(server.front, isLocal: false)
        var requests: [String] = []
        for (number, route) in table.described.enumerated() {
            guard let body = route.operation.body else { continue }
            var headers = ["Authorization: Bearer \(server.key)"]
            if RoutePaths.needsUser(route.operation.access) { headers.append("Kalends-User: xia") }
            requests.append(
                begin(
                    route.method, paths.path(of: route), headers, type: body.contents[0].type,
                    isChunked: number.isMultiple(of: 2)))
        }
        for (number, route) in table.pages.enumerated() where route.method == .post && route.access == .session {
            guard case .form = route.body else { continue }
            let secret = Secret.make(.session)
            let session = Session(
                id: FeedLedger.makeID(), userID: "u\(number)", client: "test", now: server.clock.now)
            try await server.services.store.record {
                try $0.insertSession(session, hash: secret.hash, maximum: 100)
            }
            let cookie = SessionCookie.field(secret, server.services.settings).prefix { $0 != ";" }
            // Forms are shorter than the others' bodies.
            requests.append(
                begin(
                    .post, route.path.replacing(#/{\w+}/#, with: "x"),
                    ["Cookie: \(cookie)", "Origin: http://calendar.example"],
                    type: "application/x-www-form-urlencoded", isChunked: false
                ).replacing("Content-Length: \(length)", with: "Content-Length: \(250 << 10)")
                    .replacing(String(repeating: " ", count: length / 2), with: String(repeating: "a", count: 1 << 17)))
        }
        return requests
    }

    @Test(
        "Whatever route a body drips into, others' lists are answered, and nothing is left when the clients have gone")
    func bodies() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            let intake = server.services.intake
            let requests = try await Self.drips(server, paths)
            #expect(requests.count > 50)
            let port = try #require(server.client.port)
            var clients: [OpenConnection] = []
            for request in requests {
                let client = try await OpenConnection(port: port)
                try await client.send(request)
                clients.append(client)
            }
            // The few that answer before they want a body are not waiting.
            try await eventually("The bodies are arriving.") {
                intake.bodies.slots + intake.files.slots >= requests.count * 3 / 4
                    && intake.bodies.bytes > requests.count * (100 << 10)
            }
            try await eventually("Nothing is held.") { Self.held(server) == 0 }
            #expect(try await Self.refusedLists(server, paths) == [])
            #expect(Self.held(server) == 0)
            for client in clients { try await client.close() }
            try await eventually("Nothing is left.") { intake.bodies.slots == 0 && intake.files.slots == 0 }
            #expect(intake.bodies.bytes == 0 && intake.files.bytes == 0)
            #expect(try await Self.refusedLists(server, paths) == [])
        }
    }

    /// A transport of which no answer ever comes; it counts those who wait.
    private final class SilentTransport: RequestTransport {
        private let open = Mutex(0)
        var waiting: Int { open.withLock { $0 } }

        func send<Sink: AnswerSink>(
            _ sent: OutboundRequest, _ sink: @escaping @Sendable (OutboundAnswer) throws -> Sink?
        ) async throws -> (OutboundAnswer, Sink?) {
            open.withLock { $0 += 1 }
            defer { open.withLock { $0 -= 1 } }
            try await Task.sleep(for: .seconds(3600))
            throw OutboundFailure.timeout
        }
    }

    private static let origin = "https://dav.example.org"

    /// The requests that make the server ask somebody else, with bodies that are padded.
    private static func requests(_ server: TestServer) async throws -> [String] {
        let account = CalDAVAccount(principal: "\(origin)/p/", homes: ["\(origin)/h/"], entrance: "\(origin)/")
        let services = server.services
        // A person has two such questions under way.
        func connection(_ label: String, of user: String = "vic") async throws -> String {
            let id = try await server.connect(user: user, label: label, calendar: "\(origin)/h/c/")
            try await services.connections.store(
                .password(account, username: "v", password: Concealed("p")),
                of: ProviderAccount(id: account.principal, name: "v"), for: id,
                Caller(.user(user), actor: AuditActor(user: user)))
            let now = services.now()
            try await services.store.record { transaction in
                var own = try #require(try transaction.connection(id))
                (own.calendarID, own.calendarName) = ("\(origin)/h/c/", "c")
                own.turn(to: .active, now: now)
                try transaction.recordConnection(own)
            }
            return "/v1/connections/\(id)"
        }
        let followed = try await server.call(
            .post, "/v1/circles/c/subscriptions", ["url": "https://dav.example.org/x.ics"], as: "ben"
        ).expect(201)
        let subscription = try #require(followed.json["id"]?.string)
        let all: [(HTTPRequest.Method, String, JSONValue?, String)] = [
            (.post, "\(try await connection("a"))/sync?mode=preview", nil, "vic"),
            (
                .put, "\(try await connection("b"))/account",
                ["url": .string("\(origin)/"), "username": "v", "password": "p"], "vic"
            ),
            (.get, "\(try await connection("c", of: "ann"))/calendars", nil, "ann"),
            (.put, "\(try await connection("d", of: "ann"))/calendar", ["create": [:]], "ann"),
            (.post, "/v1/circles/c/subscriptions/\(subscription)/refresh", nil, "ben"),
            (.post, "/v1/circles/c/imports", ["url": .string("\(origin)/y.ics")], "ben"),
        ]
        return try all.map { method, path, body, user in
            var text = ""
            if let body {
                text = String(repeating: " ", count: 200 << 10) + String(decoding: try body.serialized(), as: UTF8.self)
            }
            return "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(server.key)\r\n"
                + "Kalends-User: \(user)\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
                + text
        }
    }

    @Test("Whatever another server is asked for, others' lists are answered, and the work ends with its client")
    func questions() async throws {
        let transport = SilentTransport()
        var settings = ServerSettings()
        settings.fetching.transport = transport
        settings.fetching.deadline = .seconds(3000)
        settings.fetching.resolver = NamedHosts(["dav.example.org": [["198.51.101.7"]]])
        settings.fetching.services = NamedServices()
        try await TestServer.run(live: true, settings: settings) { server in
            try await server.makeCircle()
            let paths = try await RoutePaths(server)
            let requests = try await Self.requests(server)
            let port = try #require(server.client.port)
            var clients: [OpenConnection] = []
            for request in requests {
                let client = try await OpenConnection(port: port)
                try await client.send(request)
                clients.append(client)
            }
            try await eventually("All are asked.") { transport.waiting >= requests.count }
            #expect(Self.held(server) == 0)
            #expect(try await Self.refusedLists(server, paths) == [])
            for (number, client) in clients.enumerated() {
                if number.isMultiple(of: 2) { try await client.close() } else { try await client.endSending() }
            }
            try await eventually("Nobody is asked any more.") {
                transport.waiting == 0 && server.services.intake.files.slots == 0
            }
            #expect(try await Self.refusedLists(server, paths) == [])
        }
    }

    @Test("Phones that send much at the same time all succeed, one after the other")
    func phones() async throws {
        var settings = ServerSettings()
        settings.limits.largeMemory = 8 << 20
        try await TestServer.run(live: true, settings: settings) { server in
            try await server.makeCircle()
            let padding = String(repeating: "x", count: 2 << 20)
            let event: JSONValue = ["externalId": "e", "title": "T", "date": "2026-03-03"]
            let body: JSONValue = ["events": [event], "unknown": .string(padding)]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await server.call(.post, "/sync/apple/events/upsert", body, as: "p\(number)").status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 8))
            #expect(server.services.intake.bodies.slots == 0)
            try await eventually("Nothing is held.") { Self.held(server) == 0 }
        }
    }

    @Test("A list of large items waits for its turn at the database, and for nothing else")
    func turns() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let pages = server.services.memory.pages
            // Others read whole circles.
            for _ in 0..<3 { pages.force(MemoryBudgets.mostPageBytes, for: "other") }
            let list = Task { try await patiently { try await server.call(.get, "/v1/circles/c/tasks") } }
            try await eventually("The list waits.") { pages.isAwaited }
            #expect(server.services.memory.answers.used == 0)
            pages.give(3 * MemoryBudgets.mostPageBytes, of: "other")
            try await list.value.expect(200)
            #expect(pages.used == 0)
        }
    }
}
