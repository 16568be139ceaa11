// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Logging
import Outbound
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Connections in step with the emulators of Google and Outlook")
struct ProviderSyncTests {
    /// Runs a server whose clock shows the emulators' time, and a connection with a calendar that was created for it.
    static func run(
        _ provider: String,
        _ body: @escaping @Sendable (TestServer, ConnectionSync, ProviderEmulator, _ id: String) async throws -> Void
    ) async throws {
        let emulator = try await ProviderEmulator(provider == "google" ? "google_emulator.py" : "graph_emulator.py")
        defer { emulator.stop() }
        let clock = TestClock(Int(Date().timeIntervalSince1970) * 1000)
        let settings: ServerSettings =
            provider == "google" ? .emulated(google: emulator.address) : .emulated(graph: emulator.address)
        try await TestServer.run(clock: clock, settings: settings) { server in
            try await server.makeCircle()
            let id = try await connect(provider, server, emulator)
            let sync = server.services.connectionSync(Logger(label: "t") { _ in server.log })
            try await body(server, sync, emulator, id)
        }
    }

    /// Connects Ann with the calendar that is created for the circle, or was created for it before.
    static func connect(_ provider: String, _ server: TestServer, _ emulator: ProviderEmulator) async throws -> String {
        let made = try await server.call(
            .post, "/v1/circles/c/connections", ["provider": .string(provider)], as: "ann"
        ).expect(201)
        let id = try #require(made.json["id"]?.string)
        let path = "/v1/connections/\(id)"
        let begun = try await server.call(.post, "\(path)/authorize", nil, as: "ann").expect(200)
        let back = try await emulator.consent(try #require(begun.json["authorizeURL"]?.string))
        let callback = try #require(back.range(of: "/v1/connections/")).lowerBound
        let arrived = try await server.raw(.get, String(back[callback...])).expect(303)
        let code = try #require(arrived.headers[.location]?.split(separator: "&code=").last)
        try await server.call(.post, "\(path)/redeem", ["code": .string(String(code))], as: "ann").expect(200)
        try await server.call(.put, "\(path)/calendar", ["create": [:]], as: "ann").expect(200)
        return id
    }

    static func day(_ days: Int, _ server: TestServer) -> JSONValue {
        .string(rfc3339(milliseconds: server.clock.now / 86_400_000 * 86_400_000 + days * 86_400_000 + 36_000_000))
    }

    static func fill(_ server: TestServer, _ count: Int) async throws {
        for number in 0..<count {
            try await server.put(
                "appointments", "a\(number)",
                ["patientId": "mom", "provider": .string("Dr. \(number)"), "startAt": day(number + 1, server)])
        }
        try await server.put(
            "appointments", "weekly",
            [
                "patientId": "dad", "provider": "Physio", "startAt": day(2, server),
                "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=5"],
            ])
    }

    /// Requests a run, carries it out, and returns its result.
    static func run(_ id: String, _ server: TestServer, _ sync: ConnectionSync) async throws -> JSONValue {
        let begun = try await server.call(.post, "/v1/connections/\(id)/sync", as: "ann").expect(202)
        try await sync.once()
        let run = try #require(begun.json["runId"]?.string)
        return try await server.call(.get, "/v1/runs/\(run)", as: "ann").expect(200).json
    }

    @Test(
        "Appointments go to the calendar once, and changes and deletions after them", arguments: ["google", "outlook"])
    func stories(provider: String) async throws {
        try await Self.run(provider) { server, sync, _, id in
            try await Self.fill(server, 30)
            let preview = try await server.call(.post, "/v1/connections/\(id)/sync?mode=preview", as: "ann").expect(200)
            #expect(preview.json["counts"]?["created"] == 31)
            var run = try await Self.run(id, server, sync)
            #expect(run["state"] == "done" && run["status"] == "success", "\(run)")
            #expect(run["counts"] == preview.json["counts"])
            func own() async throws -> JSONValue {
                try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
            }
            #expect(try await own()["counts"]?["linked"] == 31)
            run = try await Self.run(id, server, sync)
            let counts = run["counts"]
            #expect(counts?["created"] == 0 && counts?["updated"] == 0 && counts?["pulled"] == 0, "\(run)")
            #expect((run["requests"]?.integer ?? 99) <= 2, "\(run)")

            try await server.put(
                "appointments", "a3",
                ["patientId": "mom", "provider": "Dr. Wu", "startAt": Self.day(40, server), "location": "Main St"])
            try await server.call(.delete, "/v1/circles/c/appointments/a4").expect(204)
            run = try await Self.run(id, server, sync)
            #expect(run["counts"]?["updated"] == 1 && run["counts"]?["deleted"] == 1, "\(run)")
            #expect(try await own()["counts"]?["linked"] == 30)
            run = try await Self.run(id, server, sync)
            #expect(run["counts"]?["updated"] == 0 && run["counts"]?["pulled"] == 0, "\(run)")

            try await server.call(.delete, "/v1/connections/\(id)?events=remove", as: "ann").expect(204)
            try await sync.once()
            #expect(try await server.services.store.read { try $0.connectionEverKnown(id) } == nil)
        }
    }

    /// Returns Google's events in the calendar that was created, as they are stored there.
    static func events(_ emulator: ProviderEmulator) async throws -> [JSONValue] {
        let calendars = try await emulator.state()["accounts"]?["alice@example.test"]?.array ?? []
        return calendars.filter { $0["summary"]?.string?.hasPrefix("CK - ") == true }
            .flatMap { $0["events"]?.array ?? [] }.filter { $0["status"] != "cancelled" }
    }

    @Test("What a person moves in Google Calendar moves here, and what they delete there waits for their word")
    func person() async throws {
        try await Self.run("google") { server, sync, emulator, id in
            try await Self.fill(server, 3)
            _ = try await Self.run(id, server, sync)
            let own = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
            let calendar = pathComponent(try #require(own["calendarId"]?.string))
            let token = try #require(try await emulator.control("person", [:])["token"]?.string)
            func event(_ title: String) async throws -> JSONValue {
                try #require(try await Self.events(emulator).first { $0["summary"]?.string?.contains(title) == true })
            }
            func send(_ method: String, _ title: String, _ body: JSONValue?) async throws {
                let found = pathComponent(try #require(try await event(title)["id"]?.string))
                let answer = try await ExchangeClient().send(
                    method, "\(emulator.address)/calendar/v3/calendars/\(calendar)/events/\(found)",
                    headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
                    body: try body?.serialized(), longest: 1 << 20)
                #expect((200..<300).contains(answer.status), "\(String(decoding: answer.body, as: UTF8.self))")
            }
            let (start, end) = (Self.day(50, server), Self.day(51, server))
            try await send(
                "PATCH", "Dr. 1",
                [
                    "start": ["dateTime": start, "timeZone": "America/Los_Angeles"],
                    "end": ["dateTime": end, "timeZone": "America/Los_Angeles"],
                ])
            try await send("DELETE", "Dr. 2", nil)
            let run = try await Self.run(id, server, sync)
            #expect(run["counts"]?["pulled"] == 1 && run["counts"]?["conflicts"] == 1, "\(run)")
            let moved = try await server.item("appointments", "a1")
            #expect(Self.milliseconds(moved["startAt"]) == Self.milliseconds(start), "\(moved)")
            let list = try await server.call(.get, "/v1/connections/\(id)/conflicts", as: "ann").expect(200).json
            let conflict = try #require(list["items"]?.array?.first)
            #expect(conflict["kind"] == "deletedThere" && conflict["itemId"] == "a2" && conflict["state"] == "open")
            try await server.call(
                .post, "/v1/conflicts/\(try #require(conflict["id"]?.string))/resolve", ["keep": "kalends"], as: "ann"
            ).expect(200)
            try await sync.once()
            let events = try await Self.events(emulator)
            #expect(events.count == 4)
            #expect(events.count { $0["summary"]?.string?.contains("Dr. 2") == true } == 1)
        }
    }

    private static func milliseconds(_ value: JSONValue?) -> Int? {
        value?.string.flatMap { Instant(rfc3339: $0) }?.milliseconds
    }

    @Test(
        "A server that is killed in the middle of its first run goes on after its next start, and makes nothing twice")
    func killed() async throws {
        let emulator = try await ProviderEmulator("google_emulator.py")
        defer { emulator.stop() }
        let address = emulator.address
        let environment = [
            "KALENDS_GOOGLE_CLIENT_ID": "our-client.apps.googleusercontent.com",
            "KALENDS_GOOGLE_CLIENT_SECRET": "GOCSPX-x", "KALENDS_GOOGLE_AUTHORIZE_URL": "\(address)/o/oauth2/v2/auth",
            "KALENDS_GOOGLE_TOKEN_URL": "\(address)/token", "KALENDS_GOOGLE_REVOKE_URL": "\(address)/revoke",
            "KALENDS_GOOGLE_API_URL": address,
        ]
        let first = try await RunningServer(environment: environment)
        defer { first.remove() }
        let key = try await first.kalends(["key", "create", "--name", "t"]).output.trimmingCharacters(
            in: .whitespacesAndNewlines)
        func call(
            _ server: RunningServer, _ method: String, _ path: String, _ body: JSONValue? = nil, as user: String? = nil
        ) async throws -> JSONValue {
            var headers = [("Authorization", "Bearer \(key)"), ("Content-Type", "application/json")]
            if let user { headers.append(("Kalends-User", user)) }
            let answer = try await ExchangeClient().send(
                method, "http://127.0.0.1:\(server.port)\(path)", headers: headers, body: try body?.serialized(),
                longest: 1 << 24)
            #expect((200..<400).contains(answer.status), "\(path): \(String(decoding: answer.body, as: UTF8.self))")
            if answer.status == 303 {
                return .string(answer.headers.first { $0.name.lowercased() == "location" }?.value ?? "")
            }
            return (try? JSONValue(parsing: answer.body)) ?? .null
        }
        _ = try await call(first, "PUT", "/v1/circles/c", ["name": "Family", "timeZone": "Europe/Berlin"])
        _ = try await call(first, "PUT", "/v1/circles/c/members/ann", ["displayName": "Ann", "role": "owner"])
        let count = 300
        let now = Int(Date().timeIntervalSince1970) * 1000
        for number in 0..<count {
            let due = rfc3339(milliseconds: now + number * 3_600_000)
            _ = try await call(
                first, "PUT", "/v1/circles/c/tasks/t\(number)",
                ["title": .string("Task \(number)"), "dueAt": .string(due)])
        }
        let made = try await call(first, "POST", "/v1/circles/c/connections", ["provider": "google"], as: "ann")
        let path = "/v1/connections/\(try #require(made["id"]?.string))"
        let begun = try await call(first, "POST", "\(path)/authorize", [:], as: "ann")
        let back = try await emulator.consent(try #require(begun["authorizeURL"]?.string))
        let query = try #require(back.split(separator: "?", maxSplits: 1).last)
        let target = try await call(first, "GET", "/v1/connections/callback?\(query)").string
        let code = try #require(target?.split(separator: "&code=").last)
        _ = try await call(first, "POST", "\(path)/redeem", ["code": .string(String(code))], as: "ann")
        // The second batch is carried out, and the server waits for its answer when it is killed.
        try await emulator.control("fault", ["method": "batch", "skip": 1, "times": 1000, "hold": true])
        _ = try await call(first, "PUT", "\(path)/calendar", ["create": [:]], as: "ann")
        try await eventually("A batch waits for its answer.") { try await emulator.state()["held"] != 0 }
        await first.kill()
        try await emulator.control("clear", [:])
        let there = try await Self.events(emulator).count
        #expect(there > 0 && there < count, "\(there) events were there when it was killed.")
        let second = try await RunningServer(folder: first.folder, environment: environment)
        var own = JSONValue.null
        try await eventually("The run ends well.") {
            own = try await call(second, "GET", path, as: "ann")
            return own["lastSyncStatus"] == "success"
        }
        #expect(own["lastSyncStatus"] == "success" && own["counts"]?["linked"] == .integer(count), "\(own)")
        let titles = try await Self.events(emulator).compactMap { $0["summary"]?.string }
        #expect(titles.count == count && Set(titles).count == count)
        let runs = try await call(second, "GET", "\(path)/runs", as: "ann")["items"]?.array ?? []
        #expect(runs.allSatisfy { $0["state"] == "done" }, "\(runs)")
        #expect(await second.stop() == 0)
    }
}
