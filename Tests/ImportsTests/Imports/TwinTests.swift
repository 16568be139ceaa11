// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Events that come again under other UIDs")
struct TwinTests {
    private static let week = "RRULE:FREQ=WEEKLY;COUNT=4"

    private static func series(_ uid: String, _ more: String...) -> [String] {
        OneCalendar.event(uid, "Choir", week) + more
    }

    /// Another start for the occurrence of 17 March.
    private static func moved(_ uid: String, to start: String) -> [String] {
        ["UID:\(uid)", "RECURRENCE-ID:20260317T090000Z", "DTSTART:\(start)", "SUMMARY:Choir"]
    }

    /// Every start that a feed shows, as other programs would read it.
    private static func starts(_ server: TestServer, _ path: String) async throws -> [String] {
        let answer = try await server.raw(.get, path).expect(200)
        return answer.eventValues("DTSTART").sorted() + answer.values("EXDATE").map { "not \($0)" }
            + answer.values("RDATE").map { "and \($0)" }
    }

    private static func counts(_ answer: Answer) -> [ByteString: Int] {
        (answer.json["counts"]?.object ?? [:]).compactMapValues(\.integer).filter { $0.value > 0 && $0.key != "events" }
    }

    /// Runs a test with a calendar that ann follows.
    static func follow(
        _ body: @escaping @Sendable (TestServer, _ serve: ([[String]]) async throws -> JSONValue) async throws -> Void
    ) async throws {
        try await CalendarHost.run { host, server in
            let path = "/v1/circles/c/subscriptions"
            let made = try await server.call(.post, path, ["url": .string(host.url)], as: "ann").expect(201)
            let id = try #require(made.json["id"]?.string)
            try await body(server) { events in
                host.serve(.init(body: OneCalendar.text(events)))
                let answer = try await server.call(.post, "\(path)/\(id)/refresh").expect(200)
                #expect(answer.json["lastProblem"] == .null)
                return answer.json
            }
        }
    }

    @Test("A followed series keeps its UID, and its dates, moved occurrences, status and text follow the calendar's")
    func followed() async throws {
        try await Self.follow { server, serve in
            let feed = try await server.makeFeed().path
            _ = try await serve([Self.series("a")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z"])
            _ = try await serve([Self.series("b", "EXDATE:20260324T090000Z")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z", "not 20260324T090000Z"])
            _ = try await serve([Self.series("c", "RDATE:20260320T090000Z")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z", "and 20260320T090000Z"])
            for (uid, start) in [("d", "20260318T100000Z"), ("e", "20260318T100000Z"), ("f", "20260319T110000Z")] {
                _ = try await serve([Self.series(uid), Self.moved(uid, to: start)])
                #expect(try await Self.starts(server, feed) == ["20260310T090000Z", start])
            }
            // The exception may come first.
            _ = try await serve([Self.moved("g", to: "20260320T120000Z"), Self.series("g", "DESCRIPTION:Room 2")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z", "20260320T120000Z"])
            #expect(try await server.raw(.get, feed).eventValues("DESCRIPTION") == ["Room 2"])
            #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a"])
            _ = try await serve([Self.series("h")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z"])
            _ = try await serve([Self.series("i", "STATUS:CANCELLED")])
            let shown = try await server.raw(.get, feed).expect(200)
            #expect(shown.values("SUMMARY").isEmpty || shown.values("STATUS") == ["CANCELLED"])
        }
    }

    @Test("A followed event that becomes private is no longer shown to others, and the other way round")
    func privacy() async throws {
        try await Self.follow { server, serve in
            let (own, others) = (try await server.makeFeed().path, try await server.makeFeed(user: "ben").path)
            for (uid, more, shown) in [
                ("a", [], ["Choir"]), ("b", ["CLASS:PRIVATE"], []), ("c", ["CLASS:PUBLIC"], ["Choir"]),
            ] as [(String, [String], [String])] {
                _ = try await serve([Self.series(uid) + more])
                #expect(try await server.titles(own) == ["Choir"])
                #expect(try await server.titles(others) == shown, "\(more)")
            }
        }
    }

    @Test("Nothing changes while a calendar only changes its UIDs and the times of its events' creation")
    func unchanged() async throws {
        try await Self.follow { server, serve in
            let feed = try await server.makeFeed().path
            var first: String?
            for number in 1...4 {
                let created = "CREATED:2026010\(number)T000000Z"
                _ = try await serve([
                    Self.series("a\(number)", created, "EXDATE:20260324T090000Z"),
                    Self.moved("a\(number)", to: "20260318T100000Z"), Self.series("b\(number)", created),
                    OneCalendar.event("c\(number)", "Gym", "DESCRIPTION:1", created),
                    OneCalendar.event("d\(number)", "Gym", "DESCRIPTION:2", created),
                ])
                let shown = try await server.raw(.get, feed).expect(200).text
                #expect(shown == first ?? shown)
                first = shown
            }
        }
    }

    @Test("A file with new UIDs changes the dates and occurrences of what is stored, and an undo puts them back")
    func imported() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            try await server.bring([Self.series("a")], as: "ann").expect(201)
            let before = try await Self.starts(server, feed)
            for (uid, more, exceptions, shown, counted) in [
                ("b", ["EXDATE:20260324T090000Z"], [], ["20260310T090000Z", "not 20260324T090000Z"], ["updated": 1]),
                (
                    "c", [], [Self.moved("c", to: "20260318T100000Z")], ["20260310T090000Z", "20260318T100000Z"],
                    ["unchanged": 1, "created": 1]
                ), ("d", ["CLASS:PUBLIC"], [], before, ["unchanged": 1]),
            ] as [(String, [String], [[String]], [String], [ByteString: Int])] {
                let answer = try await server.bring([Self.series(uid) + more] + exceptions, as: "ann").expect(201)
                #expect(Self.counts(answer) == counted)
                #expect(try await Self.starts(server, feed) == shown)
                #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a"])
                let reasons = answer.json["items"]?.array?.compactMap { $0["reason"]?.string } ?? []
                #expect(reasons.count == 1 + exceptions.count && reasons.allSatisfy { $0.contains("another UID") })
                let id = try #require(answer.json["id"]?.string)
                try await server.call(.post, "/v1/imports/\(id)/undo").expect(200)
                #expect(try await Self.starts(server, feed) == before)
            }
        }
    }

    @Test("A later file moves an occurrence again and changes its title, without an undo between them")
    func movedAgain() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            try await server.bring([Self.series("a"), Self.moved("a", to: "20260318T100000Z")], as: "ann").expect(201)
            let again = try await server.bring(
                [Self.series("b"), Self.moved("b", to: "20260319T110000Z")], as: "ann"
            ).expect(201)
            #expect(Self.counts(again) == ["unchanged": 1, "updated": 1])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z", "20260319T110000Z"])
            let title = Self.moved("c", to: "20260319T110000Z").map { $0.replacing("Choir", with: "Concert") }
            try await server.bring([Self.series("c"), title], as: "ann").expect(201)
            #expect(try await server.titles(feed) == ["Choir", "Concert"])
            #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a"])
        }
    }

    @Test("The stored event that is the most alike is matched, whatever comes before it")
    func mostAlike() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            let exception = "EXDATE:20260324T090000Z"
            try await server.bring([Self.series("a1"), Self.series("a2", exception)], as: "ann").expect(201)
            let before = try await server.raw(.get, feed).text
            #expect(Self.counts(try await server.bring([Self.series("b", exception)], as: "ann")) == ["unchanged": 1])
            // The one that differs comes first in the file.
            let both = try await server.bring(
                [Self.series("c", "EXDATE:20260331T090000Z"), Self.series("d"), Self.series("e", exception)], as: "ann"
            ).expect(201)
            #expect(Self.counts(both) == ["created": 1, "unchanged": 2])
            let id = try #require(both.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(id)/undo").expect(200)
            #expect(try await server.raw(.get, feed).text == before)
        }
    }

    @Test("A lone exception and one of a series never take the same stored event")
    func loneException() async throws {
        try await Self.follow { server, serve in
            let feed = try await server.makeFeed().path
            _ = try await serve([Self.series("a"), Self.moved("a", to: "20260318T100000Z")])
            for number in 1...3 {
                let lone = Self.moved("y\(number)", to: "20260318T100000Z") + ["DESCRIPTION:2"]
                let own = Self.moved("b\(number)", to: "20260318T100000Z") + ["DESCRIPTION:1"]
                _ = try await serve([lone, Self.series("b\(number)"), own])
                let texts = try await server.raw(.get, feed).eventValues("DESCRIPTION")
                #expect(texts.sorted() == ["1", "2"])
            }
            // The series has no exception any more, and the lone one is an event by itself.
            _ = try await serve([Self.moved("y4", to: "20260318T100000Z"), Self.series("b4")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z", "20260318T100000Z"])
            #expect(Set(try await server.raw(.get, feed).eventValues("UID")).count == 2)
        }
    }

    @Test("A series whose exceptions lie far from it in the calendar is shown whole")
    func farApart() async throws {
        try await Self.follow { server, serve in
            let feed = try await server.makeFeed().path
            _ = try await serve([Self.series("a")])
            for (uid, isFirst) in [("b", true), ("c", false), ("d", true)] {
                let others = (0..<1_000).map { OneCalendar.event("\(uid)\($0)", "Gym \($0)") }
                let (series, moved) = (Self.series(uid), Self.moved(uid, to: "20260318T100000Z"))
                _ = try await serve((isFirst ? [moved] : [series]) + others + (isFirst ? [series] : [moved]))
                let shown = try await server.shown(feed).filter { $0.title == "Choir" }
                #expect(shown.count == 2 && Set(shown.map(\.uid)).count == 1)
                #expect(try await server.titles(feed).count == 1_002)
            }
        }
    }

    @Test("A series in a file is matched with its exceptions, however far they lie from it")
    func farApartInFile() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            let others = (0..<1_000).map { OneCalendar.event("o\($0)", "Gym \($0)") }
            try await server.bring([Self.series("a"), Self.moved("a", to: "20260318T100000Z")] + others, as: "ann")
                .expect(201)
            let cancelled = "EXDATE:20260324T090000Z"
            let first = [Self.moved("b", to: "20260318T100000Z")] + others + [Self.series("b", cancelled)]
            #expect(Self.counts(try await server.bring(first, as: "ann")) == ["unchanged": 1_001, "updated": 1])
            let last = [Self.series("c", cancelled)] + others + [Self.moved("c", to: "20260319T110000Z")]
            #expect(Self.counts(try await server.bring(last, as: "ann")) == ["unchanged": 1_001, "updated": 1])
            let shown = try await server.raw(.get, feed).expect(200)
            #expect(shown.eventValues("DTSTART").contains("20260319T110000Z") && shown.values("EXDATE").count == 1)
            #expect(Set(try await server.shown(feed).filter { $0.title == "Choir" }.map(\.uid)) == ["a"])
            #expect(try await server.titles(feed).count == 1_002)
        }
    }

    @Test("What another person imported is not changed by an event that only looks like it")
    func othersImports() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            try await server.bring([Self.series("a", "EXDATE:20260324T090000Z", "DESCRIPTION:Hall")], as: "ben").expect(
                201)
            let own = try await server.bring([Self.series("b")], as: "ann").expect(201)
            #expect(Self.counts(own) == ["created": 1])
            let shown = try await server.raw(.get, feed).expect(200)
            #expect(shown.eventValues("DESCRIPTION") == ["Hall"] && shown.values("EXDATE") == ["20260324T090000Z"])
            #expect(Set(shown.eventValues("UID")) == ["a", "b"])
        }
    }

    @Test("Series in zones that differ on some day are not the same, and those in zones of different names can be")
    func zones() async throws {
        let rome = ";TZID=Europe/Rome:20260112T100000"
        let (daily, short) = ("FREQ=DAILY", "FREQ=DAILY;COUNT=5")
        for (first, second, rule, counted) in [
            (":20260112T090000Z", rome, daily, "updated"), (rome, ":20260112T090000Z", daily, "updated"),
            (";TZID=America/New_York:20260112T040000", rome, daily, "updated"),
            // They change their clocks two days apart in March, long after the end of the short series.
            (";TZID=Asia/Jerusalem:20260112T100000", ";TZID=Europe/Athens:20260112T100000", daily, "updated"),
            (";TZID=Asia/Jerusalem:20260112T100000", ";TZID=Europe/Athens:20260112T100000", short, "unchanged"),
            // Turkey did not go back to winter time in 2016.
            (";TZID=Europe/Istanbul:20120425T100000", ";TZID=Europe/Athens:20120425T100000", daily, "updated"),
            (";TZID=W. Europe Standard Time:20260112T100000", rome, daily, "unchanged"),
            (":20260112T090000Z", ";TZID=Africa/Abidjan:20260112T090000", daily, "unchanged"),
        ] {
            try await TestServer.run { server in
                try await server.makeCircle()
                let feed = try await server.makeFeed().path
                let rest = ["SUMMARY:Pills", "RRULE:\(rule)"]
                try await server.bring([["UID:a", "DTSTART\(first)"] + rest], as: "ann").expect(201)
                let before = try await server.raw(.get, feed).text
                let answer = try await server.bring([["UID:b", "DTSTART\(second)"] + rest], as: "ann").expect(201)
                #expect(Self.counts(answer) == [ByteString(counted): 1], "\(first), \(second)")
                let after = try await server.raw(.get, feed).text
                #expect((after == before) == (counted == "unchanged"))
                #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a"])
            }
        }
    }

    @Test("An exception that is for all later occurrences is not the same as one for a single occurrence")
    func laterOccurrences() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            try await server.bring([Self.series("a"), Self.moved("a", to: "20260318T100000Z")], as: "ann").expect(201)
            for parameter in [";RANGE=THISANDFUTURE", ""] {
                let uid = "b\(parameter.utf8.count)"
                let moved = Self.moved(uid, to: "20260318T100000Z").map {
                    $0.replacing("RECURRENCE-ID", with: "RECURRENCE-ID\(parameter)")
                }
                let answer = try await server.bring([Self.series(uid), moved], as: "ann").expect(201)
                #expect(Self.counts(answer) == ["unchanged": 1, "updated": 1])
                #expect(try await server.raw(.get, feed).text.contains("THISANDFUTURE") == !parameter.isEmpty)
            }
        }
    }

    @Test("A series of which somebody else imported more exceptions is not the same")
    func moreExceptions() async throws {
        try await Self.follow { server, serve in
            let feed = try await server.makeFeed().path
            try await server.bring([Self.series("a"), Self.moved("a", to: "20260318T100000Z")], as: "ben").expect(201)
            let answer = try await server.bring([Self.series("b")], as: "ann").expect(201)
            #expect(Self.counts(answer) == ["created": 1])
            _ = try await serve([Self.series("c", "LOCATION:Hall")])
            #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a", "b", "c"])
            #expect(try await Self.starts(server, feed).count == 4)
        }
    }

    @Test("A report says nothing to others of an event that has become private under the UID that it has here")
    func reports() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring([Self.series("a")], as: "ann").expect(201)
            let second = try await server.bring([Self.series("b")], as: "ann").expect(201)
            let id = try #require(second.json["id"]?.string)
            func report() async throws -> String {
                try await server.call(.get, "/v1/imports/\(id)", as: "ben").expect(200).text
            }
            let before = try await report()
            #expect(before.contains("Choir") && !before.contains("\"stored\""))
            try await server.bring([Self.series("a", "CLASS:PRIVATE")], as: "ann").expect(201)
            #expect(try await report().contains("Choir") == false)
        }
    }

    @Test("What somebody else imported is not added again, and is left as it is where the calendar differs")
    func othersEvents() async throws {
        try await Self.follow { server, serve in
            let feed = try await server.makeFeed().path
            let file = [Self.series("a"), Self.moved("a", to: "20260318T100000Z")]
            try await server.bring(file, as: "ben").expect(201)
            _ = try await serve([Self.series("b"), Self.moved("b", to: "20260318T100000Z")])
            #expect(try await Self.starts(server, feed) == ["20260310T090000Z", "20260318T100000Z"])
            _ = try await serve([Self.series("c"), Self.moved("c", to: "20260319T110000Z")])
            #expect(
                try await Self.starts(server, feed) == [
                    "20260310T090000Z", "20260310T090000Z", "20260318T100000Z", "20260319T110000Z",
                ])
            #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a", "c"])
            // From now on the calendar's own is found, whose UID stays.
            for uid in ["d", "e"] {
                _ = try await serve([Self.series(uid), Self.moved(uid, to: "20260320T120000Z")])
                #expect(try await server.raw(.get, feed).eventValues("DTSTART").contains("20260320T120000Z"))
                #expect(Set(try await server.raw(.get, feed).eventValues("UID")) == ["a", "c"])
            }
        }
    }
}
