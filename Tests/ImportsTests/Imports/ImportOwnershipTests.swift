// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Logging
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Whose imported events are")
struct ImportOwnershipTests {
    private static let secret = OneCalendar.event("secret@x", "Doctor", "CLASS:PRIVATE")

    private func counts(_ answer: Answer) -> [ByteString: Int] {
        (answer.json["counts"]?.object ?? [:]).compactMapValues(\.integer).filter { $0.value > 0 }
    }

    @Test("Nobody takes a private event by importing its UID, committing and undoing; its owner sees it as before")
    func theft() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring([Self.secret], as: "ann").expect(201)
            let (ann, ben) = (try await server.makeFeed().path, try await server.makeFeed(user: "ben").path)
            let before = try await server.raw(.get, ann).body
            // Whoever has the UID learns nothing by it, whatever the form of their own event.
            for (number, more) in [[String](), ["CLASS:PRIVATE"], ["SEQUENCE:2147483647"]].enumerated() {
                let event = OneCalendar.event("secret@x", "Mine", "LOCATION:\(number)") + more
                let preview = try await server.bring([event], as: "ben", mode: "preview").expect(201)
                #expect(counts(preview) == ["events": 1, "created": 1])
                #expect(preview.json["items"]?.array?.first?["reason"] == .null)
                let id = try #require(preview.json["id"]?.string)
                try await server.call(.post, "/v1/imports/\(id)/commit", as: "ben").expect(200)
                #expect(try await server.titles(ben) == ["Mine"])
                let all = try await server.shown(ann)
                #expect(all.map(\.title).sorted() == (more == ["CLASS:PRIVATE"] ? ["Doctor"] : ["Doctor", "Mine"]))
                #expect(Set(all.map(\.uid)).count == all.count, "no two events with one UID")
                let undone = try await server.call(.post, "/v1/imports/\(id)/undo", as: "ben").expect(200)
                #expect(undone.json["kept"] == [])
                #expect(try await server.raw(.get, ann).body == before)
                #expect(try await server.titles(ben) == [])
            }
        }
    }

    @Test("Private events of others are only counted, whatever days, kinds or patients are asked for")
    func leftOut() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.bring(
                [Self.secret, OneCalendar.event("open@x", "Bins")], as: "ann"
            ).expect(201)
            for config in [[:], ["includeImported": false], ["patientIds": ["mom"]]] as [JSONValue] {
                let feed = try await server.makeFeed(user: "ben", label: "\(config)", config: config)
                for query in ["", "?from=2026-03-10&to=2026-03-11", "?from=2020-01-01&to=2020-01-02"] {
                    let answer = try await server.call(.get, "/v1/feeds/\(feed.id)/preview\(query)", as: "ben").expect(
                        200)
                    #expect(!answer.text.contains("secret@x") && !answer.text.contains("Doctor"))
                    let private_ = answer.json["leftOut"]?.array?.filter { $0["rule"] == "private-event" } ?? []
                    #expect(private_ == [["collection": "imported", "id": .null, "rule": "private-event", "count": 1]])
                }
            }
            let own = try await server.makeFeed()
            let answer = try await server.call(.get, "/v1/feeds/\(own.id)/preview", as: "ann").expect(200)
            #expect(answer.text.contains("Doctor") && answer.json["leftOut"] == [])
        }
    }

    @Test("An import of private events is its maker's to undo, and an undo restores who brought them")
    func undoOfOthers() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let ann = try await server.makeFeed().path
            let id = try #require(try await server.bring([Self.secret], as: "ann").expect(201).json["id"]?.string)
            let refused = try await server.call(.post, "/v1/imports/\(id)/undo", as: "ben").expect(403)
            #expect(!refused.text.contains("Doctor") && !refused.text.contains("secret@x"))
            #expect(try await server.titles(ann) == ["Doctor"])
            // A newer version by the same person, undone: the older one is hers still.
            let newer = OneCalendar.event("secret@x", "Dentist", "CLASS:PRIVATE", "SEQUENCE:4")
            let second = try await server.bring([newer], as: "ann").expect(201)
            #expect(counts(second) == ["events": 1, "updated": 1])
            let other = try #require(second.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(other)/undo", as: "ann").expect(200)
            #expect(try await server.titles(ann) == ["Doctor"])
            // And what decides which version is newer is as it was before too.
            #expect(counts(try await server.bring([newer], as: "ann").expect(201)) == ["events": 1, "updated": 1])
            try await server.call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200)
        }
    }

    @Test("The importer of an event may make it private and public again; anybody else creates another event")
    func classes() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (ann, ben) = (try await server.makeFeed().path, try await server.makeFeed(user: "ben").path)
            let open = OneCalendar.event("u@x", "Lunch")
            try await server.bring([open], as: "ann").expect(201)
            let uid = try await server.shown(ann).map(\.uid)
            var sequences = [try #require(try await server.shown(ann).first?.sequence)]
            // Not his to hide.
            try await server.bring([open + ["CLASS:PRIVATE"]], as: "ben").expect(201)
            #expect(try await server.titles(ann) == ["Lunch"])
            let both = try await server.shown(ben)
            #expect(both.count == 2 && Set(both.map(\.uid)).count == 2)
            let hidden = try await server.bring([open + ["CLASS:PRIVATE"]], as: "ann").expect(201)
            #expect(counts(hidden) == ["events": 1, "updated": 1])
            #expect(try await server.titles(ann) == ["Lunch"])
            #expect(try await server.shown(ben).count == 1)
            #expect(try await server.shown(ann).map(\.uid) == uid)
            sequences.append(try #require(try await server.shown(ann).first?.sequence))
            let id = try #require(hidden.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200)
            #expect(try await server.shown(ben).count == 2)
            sequences.append(try #require(try await server.shown(ann).first?.sequence))
            try await server.bring([open + ["CLASS:PRIVATE"]], as: "ann").expect(201)
            #expect(counts(try await server.bring([open], as: "ann").expect(201)) == ["events": 1, "updated": 1])
            #expect(try await server.shown(ann).map(\.title) == ["Lunch"])
            #expect(try await server.shown(ben).count == 2)
            sequences.append(try #require(try await server.shown(ann).first?.sequence))
            // Readers drop what comes with a lower SEQUENCE than they have.
            #expect(sequences == sequences.sorted() && Set(sequences).count > 2, "\(sequences)")
        }
    }

    @Test("A series with one private occurrence is private with all its occurrences")
    func series() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let master = OneCalendar.event("s@x", "Choir", "RRULE:FREQ=WEEKLY;COUNT=4")
            let changed = [
                "UID:s@x", "RECURRENCE-ID:20260317T090000Z", "DTSTART:20260317T100000Z", "SUMMARY:Concert",
                "CLASS:PRIVATE",
            ]
            try await server.bring([master, changed], as: "ann").expect(201)
            let (ann, ben) = (try await server.makeFeed().path, try await server.makeFeed(user: "ben").path)
            #expect(try await server.titles(ann) == ["Choir", "Concert"])
            #expect(try await server.titles(ben) == [])
            // A part that comes later without a class stays with its series.
            let more = ["UID:s@x", "RECURRENCE-ID:20260324T090000Z", "DTSTART:20260324T100000Z", "SUMMARY:Rehearsal"]
            try await server.bring([more], as: "ann").expect(201)
            #expect(try await server.titles(ann) == ["Choir", "Concert", "Rehearsal"])
            #expect(try await server.titles(ben) == [])
            #expect(Set(try await server.shown(ann).map(\.uid)) == ["s@x"])
        }
    }

    @Test("A file's greatest SEQUENCE keeps nobody from changing the event, in feeds and in later files")
    func sequence() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed().path
            let id = try #require(
                try await server.bring(
                    [OneCalendar.event("u@x", "High", "SEQUENCE:2147483647")], as: "ann"
                ).expect(201).json["id"]?.string)
            var last = try #require(try await server.shown(feed).first?.sequence)
            #expect(last < 1_000_000)
            try await server.call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200)
            for title in ["One", "Two", "Three"] {
                try await server.bring([OneCalendar.event("u@x", title, "SEQUENCE:7")], as: "ann").expect(201)
                let now = try #require(try await server.shown(feed).first)
                #expect(now.title == title && now.sequence > last)
                last = now.sequence
            }
        }
    }
}

@Suite("Whose a followed calendar's events are")
struct SubscriptionOwnershipTests {
    private static let path = "/v1/circles/c/subscriptions"

    private func follow(_ host: CalendarHost, _ server: TestServer, as user: String = "ben") async throws -> String {
        let made = try await server.call(.post, Self.path, ["url": .string(host.url)], as: user).expect(201)
        let id = try #require(made.json["id"]?.string)
        try await refresh(server, id)
        return id
    }

    private func refresh(_ server: TestServer, _ id: String) async throws {
        try await server.call(.post, "\(Self.path)/\(id)/refresh", as: "ben").expect(200)
    }

    @Test("A followed calendar with the UID of an imported event changes it by no SEQUENCE, before, with or after it")
    func takeover() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed().path
            let own = OneCalendar.event("u@x", "Ours", "SEQUENCE:3")
            let imported = try await server.bring([own], as: "ann").expect(201)
            let before = try await server.raw(.get, feed).body
            host.serve(
                CalendarHost.Content(
                    body: OneCalendar.text([OneCalendar.event("u@x", "Theirs", "SEQUENCE:2147483647")])))
            let id = try await follow(host, server)
            let both = try await server.shown(feed)
            #expect(both.map(\.title).sorted() == ["Ours", "Theirs"])
            #expect(both.first { $0.title == "Ours" }.map { [$0.uid, "\($0.sequence)"] } == ["u@x", "3"])
            let derived = try #require(both.first { $0.title == "Theirs" }?.uid)
            #expect(derived != "u@x")
            // Its own next version has the same UID as its last.
            host.serve(CalendarHost.Content(body: OneCalendar.text([OneCalendar.event("u@x", "Theirs again")])))
            try await refresh(server, id)
            let after = try await server.shown(feed)
            #expect(after.first { $0.title == "Theirs again" }?.uid == derived)
            #expect(after.first { $0.title == "Ours" }?.sequence == 3)
            // Importing again and undoing touch what the file brought.
            #expect(try await server.bring([own], as: "ann").expect(201).json["counts"]?["unchanged"] == 1)
            try await server.call(.delete, "\(Self.path)/\(id)", as: "ben").expect(204)
            #expect(try await server.raw(.get, feed).body == before)
            let number = try #require(imported.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(number)/undo", as: "ann").expect(200)
            #expect(try await server.titles(feed) == [])
        }
    }

    private static let series = OneCalendar.event("a", "Choir", "RRULE:FREQ=WEEKLY;COUNT=4")
    private static let cancelled = [
        "UID:a", "RECURRENCE-ID:20260317T090000Z", "DTSTART:20260317T090000Z", "SUMMARY:Choir", "STATUS:CANCELLED",
    ]

    /// Returns how many components the events of a feed have, the fewest first.
    private static func components(_ feed: String, _ server: TestServer) async throws -> [Int] {
        let uids = try await server.raw(.get, feed).expect(200).eventValues("UID")
        return Dictionary(grouping: uids) { ByteString($0) }.map(\.value.count).sorted()
    }

    @Test("A followed series is shown with its own exceptions, though some of it is the same as a file's")
    func partOfSeries() async throws {
        try await TwinTests.follow { [series = Self.series, cancelled = Self.cancelled] server, serve in
            let feed = try await server.makeFeed().path
            try await server.bring([series, cancelled], as: "ben").expect(201)
            for (events, shown) in [
                ([series, cancelled], [2]), ([series + ["LOCATION:Gym"], cancelled], [2, 2]),
                ([cancelled, series + ["LOCATION:Hall"]], [2, 2]), ([series], [1, 2]),
                ([series, cancelled + ["LOCATION:Gym"]], [2, 2]),
            ] {
                _ = try await serve(events)
                #expect(try await Self.components(feed, server) == shown)
            }
            #expect(try await server.raw(.get, feed).text.contains("LOCATION:Gym"))
            _ = try await serve([OneCalendar.event("z", "Gym")])
            #expect(try await Self.components(feed, server) == [1, 2])
        }
    }

    @Test(
        "A followed series is left to a file with all of its exceptions or not at all, however far apart they are",
        arguments: [true, false], [true, false])
    func farApart(isSame: Bool, isExceptionFirst: Bool) async throws {
        let others = (0..<1_000).map { OneCalendar.event("o\($0)", "Gym \($0)") }
        let series = isSame ? Self.series : Self.series + ["LOCATION:Hall"]
        try await TwinTests.follow { server, serve in
            func update(_ exception: [String]) async throws {
                let ends = isExceptionFirst ? [exception, series] : [series, exception]
                _ = try await serve([ends[0]] + others + [ends[1]])
            }
            let feed = try await server.makeFeed().path
            try await server.bring([Self.series, Self.cancelled], as: "ben").expect(201)
            try await update(Self.cancelled)
            #expect(try await Self.components(feed, server).suffix(2) == (isSame ? [1, 2] : [2, 2]))
            // As soon as one component differs, the calendar has all of them.
            try await update(Self.cancelled + ["LOCATION:Gym"])
            #expect(try await Self.components(feed, server).suffix(2) == [2, 2])
        }
    }

    @Test("A report says when a file makes an event private that others still see")
    func stillShared() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let moved = ["UID:a", "RECURRENCE-ID:20260317T090000Z", "DTSTART:20260318T090000Z", "SUMMARY:Choir"]
            let first = try await server.bring([Self.series, moved + ["SEQUENCE:2"]], as: "ann").expect(201)
            let feed = try await server.makeFeed(user: "ben").path
            let hiding = [Self.series + ["CLASS:PRIVATE"]]
            let preview = try await server.bring(hiding, as: "ann", mode: "preview").expect(201)
            let reason = preview.json["items"]?.array?.first?["reason"]?.string
            #expect(reason?.contains("others still see it") == true)
            // With the exception, it is private as a whole, though the stored exception is newer.
            let whole = try await server.bring(hiding + [moved], as: "ann", mode: "preview")
            #expect(whole.json["items"]?.array?.compactMap { $0["reason"]?.string } == ["It is private now."])
            // It is private and still seen: each further import says so, until one has the exception too.
            let second = try await server.bring(hiding, as: "ann").expect(201)
            let again = try await server.bring(hiding, as: "ann", mode: "preview").expect(201)
            #expect(again.json["items"]?.array?.first?["reason"]?.string == reason)
            let hidden = try await server.bring(hiding + [moved], as: "ann").expect(201)
            #expect(hidden.json["items"]?.array?.first?["reason"]?.string == "It is private now.")
            #expect(try await server.titles(feed) == [])
            for (answer, left) in [(hidden, ["Choir", "Choir"]), (second, ["Choir", "Choir"]), (first, [])] {
                let id = try #require(answer.json["id"]?.string)
                try await server.call(.post, "/v1/imports/\(id)/undo").expect(200)
                #expect(try await server.titles(feed) == left)
            }
        }
    }

    @Test("An imported event stays when a calendar that also had it is no longer followed")
    func leaving() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed().path
            host.serve(["u": "Gym"])
            let id = try await follow(host, server)
            let event = [["UID:u", "DTSTART:20260310T090000Z", "SUMMARY:Gym"]]
            #expect(try await server.bring(event, as: "ann").expect(201).json["counts"]?["created"] == 1)
            // The same twice is shown once.
            #expect(try await server.titles(feed) == ["Gym"])
            host.serve(["u": "Gym and sauna"])
            try await refresh(server, id)
            #expect(try await server.titles(feed) == ["Gym", "Gym and sauna"])
            try await server.call(.delete, "\(Self.path)/\(id)", as: "ben").expect(204)
            #expect(try await server.titles(feed) == ["Gym"])
        }
    }

    @Test("What an undone import took along, a calendar brings that had left it to the import")
    func afterUndo() async throws {
        try await CalendarHost.run { host, server in
            let feed = try await server.makeFeed().path
            let event = [["UID:u", "DTSTART:20260310T090000Z", "SUMMARY:Gym"]]
            let imported = try await server.bring(event, as: "ann").expect(201)
            host.serve(["u": "Gym"], etag: "\"1\"")
            let id = try await follow(host, server)
            #expect(try await server.titles(feed) == ["Gym"])
            let number = try #require(imported.json["id"]?.string)
            try await server.call(.post, "/v1/imports/\(number)/undo", as: "ann").expect(200)
            #expect(try await server.titles(feed) == [])
            try await refresh(server, id)
            #expect(try await server.titles(feed) == ["Gym"])
        }
    }

    @Test("Fresh UIDs at every fetch leave nothing behind, and too many events are a problem in words")
    func floods() async throws {
        try await CalendarHost.run { host, server in
            func calendar(_ round: Int, _ count: Int) -> CalendarHost.Content {
                CalendarHost.Content(
                    body: OneCalendar.text(
                        (0..<count).map { OneCalendar.event("\(round)-\($0)", "Event \(round) \($0)") }))
            }
            host.serve(calendar(0, 1200))
            let id = try await follow(host, server)
            func rows() async throws -> Int {
                await server.services.turns.settle()
                return try await server.services.store.read { transaction in
                    try transaction.rows("SELECT uid FROM event_versions", []).count
                }
            }
            for round in 1...4 {
                host.serve(calendar(round, 1200))
                try await refresh(server, id)
                #expect(try await rows() == 1200)
            }
            let feed = try await server.makeFeed().path
            #expect(try await server.shown(feed).allSatisfy { $0.title.hasPrefix("Event 4") })
        }
    }
}
