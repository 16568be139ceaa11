// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("A calendar app and a feed beside a connection with Google, of one person on one circle")
struct DoorBesideGoogleTests {
    /// What a calendar shows, by title: the start, without the name of its zone.
    private static func shown(_ texts: [String]) -> [String: String] {
        var found: [String: String] = [:]
        for text in texts {
            for event in text.replacing("\r\n ", with: "").components(separatedBy: "BEGIN:VEVENT\r\n").dropFirst() {
                func value(_ name: String) -> String {
                    let line = event.components(separatedBy: "\r\n").first {
                        $0.hasPrefix(name + ":") || $0.hasPrefix(name + ";")
                    }
                    return line?.components(separatedBy: ":").dropFirst().joined(separator: ":") ?? ""
                }
                #expect(found[value("SUMMARY")] == nil, "\(value("SUMMARY")) is there twice.")
                found[value("SUMMARY")] = value("DTSTART")
            }
        }
        return found
    }

    @Test("Each has every appointment once, a change at one reaches the others, and writes stop within two rounds")
    func rests() async throws {
        try await ProviderSyncTests.run("google") { server, sync, emulator, google in
            let bench = PhoneBench(server: server)
            func day(_ days: Int) -> String { ProviderSyncTests.day(days, server).string ?? "" }
            for number in 0..<5 { try await bench.appointment("a\(number)", day(number + 3)) }
            let person = try await GooglePerson(server, emulator, google)
            let app = CalendarApp(server: server)
            let feed = try await server.makeFeed()

            /// Makes two rounds, after which nothing changes anywhere, however often it is asked.
            func settle(_ count: Int, _ note: String) async throws {
                func round() async throws {
                    server.clock.advance(seconds: 1200)
                    try await sync.once()
                }
                for _ in 0..<2 { try await round() }
                let (number, there) = (try await app.collection().number, try await person.events())
                for _ in 0..<2 { try await round() }
                #expect(try await app.collection().number == number, "\(note)")
                #expect(try await person.events() == there, "\(note)")
                var texts: [String] = []
                for member in try await app.members() { texts.append(try await app.text(member.name)) }
                let own = Self.shown(texts)
                let read = Self.shown([try await server.raw(.get, feed.path).expect(200).text])
                #expect(own.count == count && own == read, "\(note): \(own), \(read)")
                #expect(there.count == count && Set(there.keys) == Set(own.keys), "\(note): \(there.keys), \(own.keys)")
                let items = try await server.call(.get, "/v1/circles/c/appointments").expect(200).json["items"]?.array
                #expect(items?.count == count)
                for item in items ?? [] {
                    let title = "CK Appt: Mom - \(item["provider"]?.string ?? "")"
                    let start = milliseconds(item["startAt"])
                    #expect(milliseconds(there[title]?["start"]?["dateTime"]) == start, "\(note): \(title)")
                    let local = try #require(start.map { server.clock.zoned($0) })
                    #expect(own[title]?.hasPrefix(local) == true, "\(note): \(title), \(own), \(local)")
                }
            }
            func move(_ name: String, to days: Int) async throws {
                let text = try await app.text(name)
                let lines = text.components(separatedBy: "\r\n")
                let start = try #require(lines.last { $0.hasPrefix("DTSTART") })
                let end = try #require(lines.last { $0.hasPrefix("DTEND") })
                let date = day(days).prefix(10).replacing("-", with: "")
                try await app.edit(
                    name, (start, start.replacing(/:\d{8}T/) { _ in ":\(date)T" }),
                    (end, end.replacing(/:\d{8}T/) { _ in ":\(date)T" }))
            }
            try await settle(5, "at first")

            try await move("a1.ics", to: 15)
            try await settle(5, "moved in the app")
            let evening = try #require(milliseconds(.string(day(12)))) + 6 * 3_600_000
            try await person.move("a2", to: evening)
            try await settle(5, "moved at Google")
            #expect(milliseconds(try await server.item("appointments", "a2")["startAt"]) == evening)
            try await bench.appointment("a3", day(20))
            try await settle(5, "moved here")
            try await move("a4.ics", to: 22)
            try await person.move("a4", to: evening + 86_400_000)
            try await settle(5, "moved in two places")
            // What is the app's own is no reason to write to Google.
            let there = try await person.events()
            try await app.edit(
                "a3.ics",
                ("END:VEVENT", "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\nEND:VEVENT"))
            try await settle(5, "an alarm")
            #expect(try await person.events() == there)
            // Made, deleted and put back in the app.
            let date = day(9).prefix(10).replacing("-", with: "")
            try await app.put(
                CalendarApp.object(
                    "VEVENT", "UID:made@app", "DTSTART:\(date)T180000Z", "DTEND:\(date)T190000Z", "SUMMARY:Eyes",
                    "CATEGORIES:Mom"), as: "made@app.ics")
            try await settle(6, "made in the app")
            let text = try await app.text("a0.ics")
            try await app.delete("a0.ics")
            try await settle(5, "deleted in the app")
            try await app.put(text, as: "a0.ics")
            try await settle(6, "put back in the app")
            // What is imported is the app's and the feed's, and no calendar elsewhere gets it.
            try await server.bring([["UID:party", "DTSTART:\(date)T200000Z", "SUMMARY:Party"]], as: "ann").expect(201)
            var names = Set(try await app.members().map(\.name))
            #expect(names.count == 7)
            names = names.filter { $0.hasSuffix("+imported.ics") }
            try await app.delete(try #require(names.first))
            try await settle(6, "an import that is gone")
        }
    }
}

extension TestClock {
    /// A time as calendars of the circle write it in its zone.
    fileprivate func zoned(_ milliseconds: Int) -> String {
        let zone = TimeZoneReference("America/Los_Angeles")
        return zone.map { $0.rules.civil(at: Instant(milliseconds: milliseconds)).basic } ?? ""
    }
}
