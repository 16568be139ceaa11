// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import ICalBridge
import Outbound
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// The calendar at Google, as a person uses it.
struct GooglePerson {
    let emulator: ProviderEmulator
    let path: String
    let token: String

    init(_ server: TestServer, _ emulator: ProviderEmulator, _ id: String) async throws {
        let own = try await server.call(.get, "/v1/connections/\(id)", as: "ann").expect(200).json
        self.emulator = emulator
        path = "/calendar/v3/calendars/\(pathComponent(try #require(own["calendarId"]?.string)))/events"
        token = try #require(try await emulator.control("person", [:])["token"]?.string)
    }

    /// Returns the events there, by title.
    func events() async throws -> [String: JSONValue] {
        let all = try await ProviderSyncTests.events(emulator)
        let found = all.compactMap { event in event["summary"]?.string.map { ($0, event) } }
        #expect(Set(found.map(\.0)).count == found.count, "Something is there twice.")
        return Dictionary(found) { $1 }
    }

    func start(_ item: String) async throws -> Int? {
        let event = try await events().first { $0.key.hasSuffix("Dr. \(item)") }?.value
        return milliseconds(event?["start"]?["dateTime"])
    }

    func move(_ item: String, to start: Int) async throws {
        let event = try #require(try await events().first { $0.key.hasSuffix("Dr. \(item)") }?.value)
        func time(_ milliseconds: Int) -> JSONValue {
            ["dateTime": .string(rfc3339(milliseconds: milliseconds)), "timeZone": "America/Los_Angeles"]
        }
        let id = pathComponent(try #require(event["id"]?.string))
        let answer = try await ExchangeClient().send(
            "PATCH", "\(emulator.address)\(path)/\(id)",
            headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
            body: try (["start": time(start), "end": time(start + 3_600_000)] as JSONValue).serialized(),
            longest: 1 << 20)
        #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
    }
}

func milliseconds(_ value: JSONValue?) -> Int? {
    value?.string.flatMap { Instant(rfc3339: $0) }?.milliseconds
}

@Suite("A phone beside a connection with Google, on one circle")
struct PhoneBesideGoogleTests {
    /// Returns when the phone's calendar shows an item.
    private static func start(_ item: String, _ pocket: Pocket) throws -> Int? {
        guard let event = pocket.events.values.first(where: { $0["itemId"] == .string(item) }),
            let date = event["date"]?.string, let time = event["startTime"]?.string,
            let zone = event["timeZone"]?.string.flatMap({ TimeZoneReference($0) }),
            let wall = Instant(rfc3339: "\(date)T\(time):00Z")?.seconds,
            let clock = CivilDateTime(
                date: CivilDate(daysSinceEpoch: wall / 86_400), hour: wall / 3600 % 24, minute: wall / 60 % 60)
        else { return nil }
        return zone.rules.instant(of: clock).milliseconds
    }

    @Test("Each has every item once, a move at one end reaches the other, and writes stop within two rounds")
    func rests() async throws {
        try await ProviderSyncTests.run("google") { server, sync, emulator, google in
            let bench = PhoneBench(server: server)
            func day(_ days: Int) -> String { ProviderSyncTests.day(days, server).string ?? "" }
            for number in 0..<6 { try await bench.appointment("a\(number)", day(number + 3)) }
            let apple = try await bench.connect()
            let pocket = Pocket(try await Phone(server), "a")
            let person = try await GooglePerson(server, emulator, google)

            /// Makes two rounds, after which neither side writes anything, however often it is asked.
            func settle() async throws {
                func round() async throws {
                    server.clock.advance(seconds: 1200)
                    try await sync.once()
                    _ = try await pocket.round(bench)
                }
                for _ in 0..<2 { try await round() }
                let (written, there) = (pocket.writes, try await person.events())
                for _ in 0..<2 { try await round() }
                #expect(pocket.writes == written)
                #expect(try await person.events() == there)
                #expect(there.count == 6 && pocket.items == (0..<6).map { "a\($0)" })
                for number in 0..<6 {
                    let item = try await server.item("appointments", "a\(number)")
                    let start = milliseconds(item["startAt"])
                    #expect(try await person.start("a\(number)") == start)
                    #expect(try Self.start("a\(number)", pocket) == start)
                }
            }
            try await settle()

            // On the phone, at Google, here, and the same one in two places.
            try await pocket.edit("a1", ["startTime": "15:00", "endTime": "16:00"], bench)
            try await settle()
            let evening = try #require(milliseconds(.string(day(12)))) + 6 * 3_600_000
            try await person.move("a2", to: evening)
            try await settle()
            #expect(milliseconds(try await server.item("appointments", "a2")["startAt"]) == evening)
            try await bench.appointment("a3", day(20))
            try await settle()
            try await person.move("a4", to: evening + 86_400_000)
            try await pocket.edit("a4", ["startTime": "16:00", "endTime": "17:00"], bench)
            try await settle()
            // Words are Kalends', wherever they are typed.
            try await pocket.edit("a5", ["title": "Typed on the phone"], bench)
            try await settle()

            // After the end of one the other goes on by itself.
            try await server.call(.delete, "/v1/connections/\(apple)?events=remove", as: "ann").expect(204)
            _ = try await pocket.round(bench)
            #expect(pocket.items.isEmpty)
            server.clock.advance(seconds: 1200)
            try await sync.once()
            #expect(try await person.events().count == 6)
        }
    }
}
