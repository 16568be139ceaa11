// SPDX-License-Identifier: Apache-2.0

import Calendar
import FeedTokens
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Calendars of a person's own")
struct OwnCalendarTests {
    @Test("Every byte is kept, and the ETag is of exactly these bytes")
    func bytes() async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            // Folds within a character's neighbours, lower case, single LF, unknown properties and components, order.
            let odd = """
                BEGIN:VCALENDAR
                X-First;X-Param="a;b":kept
                VERSION:2.0
                PRODID:x
                BEGIN:VEVENT
                dtstart:20260304T190000Z
                SUMMARY:Chö
                 r
                X-MOZ-LASTACK:20260304T185500Z
                UID:odd
                DTSTAMP:20260301T120000Z
                BEGIN:X-UNKNOWN
                X-A:1
                END:X-UNKNOWN
                BEGIN:VALARM
                ACTION:DISPLAY
                DESCRIPTION:x
                TRIGGER:-PT15M
                END:VALARM
                END:VEVENT
                END:VCALENDAR
                """
            let outcome = try await bench.put("odd.ics", odd)
            #expect(outcome.isNew && outcome.etag != nil)
            #expect(try await bench.text("odd.ics") == odd)
            let member = try #require(
                try await bench.own.members(of: try await bench.found(), named: ["odd.ics", "none"])[0])
            #expect(member.etag == outcome.etag && member.size == odd.utf8.count && member.component == .event)
            #expect(try await bench.own.members(of: try await bench.found(), named: ["none"])[0] == nil)
            // The same again is a change with the same tag; one digit of an alarm is another.
            let number = try await bench.found().number
            let again = try await bench.put("odd.ics", odd)
            #expect(!again.isNew && again.etag == outcome.etag)
            #expect(try await bench.found().number == number + 1)
            let later = try await bench.put("odd.ics", odd.replacing("-PT15M", with: "-PT16M"))
            #expect(!later.isNew && later.etag != outcome.etag)
            #expect(try await bench.found().number == number + 2)
            let marked = try await bench.put("odd.ics", "\u{FEFF}" + odd)
            #expect(!marked.isNew && marked.etag == nil)
            #expect(try await bench.text("odd.ics") == odd)
        }
    }

    @Test("What is written in an unusual form is kept as it came, and its meaning is found")
    func unusual() async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            let text = OwnBench.event("q").replacing(
                "SUMMARY:Choir", with: "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Caf=C3=A9")
            let found = try await OwnObject.read(Array(text.utf8), for: "ann")
            #expect(found.uid == "q" && found.component == .event && found.span != nil)
            #expect(try OwnEvents.events(Array(found.shown.utf8)).map(\.summary) == ["Café"])
            try await bench.put("q.ics", text)
            #expect(try await bench.text("q.ics") == text)
            let twice = text.replacing("END:VEVENT", with: "END:VEVENT\r\nBEGIN:VTODO\r\nUID:q\r\nEND:VTODO")
            #expect(await fault { try await bench.put("r.ics", twice) } == "object")
        }
    }

    @Test("A UID is in a calendar once, and a name keeps its UID")
    func uids() async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            try await bench.make("play")
            try await bench.put("a.ics", OwnBench.event("u1"))
            #expect(await fault { try await bench.put("b.ics", OwnBench.event("u1")) } == "uid work/a.ics")
            #expect(await fault { try await bench.put("a.ics", OwnBench.event("u2")) } == "uid work/a.ics")
            try await bench.put("b.ics", OwnBench.event("u2"))
            #expect(await fault { try await bench.put("a.ics", OwnBench.event("u2")) } == "uid work/b.ics")
            try await bench.put("a.ics", OwnBench.event("u1", "Concert"))
            try await bench.put("a.ics", OwnBench.event("u1"), in: "play")
            // What was removed is free again.
            try await bench.delete("a.ics")
            #expect(try await bench.put("c.ics", OwnBench.event("u1")).isNew)
        }
    }

    @Test("What a calendar may not hold is refused, with the reason")
    func refused() async throws {
        try await OwnBench.run { bench in
            try await bench.make("work", [.event])
            try await bench.make("all", [])
            #expect(try await bench.found("all").components == [.event, .task, .journal])
            let task = OwnBench.event("t", kind: "VTODO")
            #expect(await fault { try await bench.put("t.ics", task) } == "component")
            try await bench.put("t.ics", task, in: "all")
            try await bench.put("j.ics", OwnBench.event("j", kind: "VJOURNAL"), in: "all")
            #expect(
                await fault { try await bench.put("f.ics", OwnBench.event("f", kind: "VFREEBUSY"), in: "all") }
                    == "component")
            #expect(await fault { try await bench.put("x.ics", "hello") } == "data")
            #expect(await fault { try await bench.put("x.ics", "") } == "data")
            #expect(await fault { try await bench.put("x.ics", OwnBench.event("x", "a\u{0}b")) } == "data")
            let method = OwnBench.event("x").replacing("VERSION:2.0", with: "VERSION:2.0\r\nMETHOD:REQUEST")
            #expect(await fault { try await bench.put("x.ics", method) } == "object")
            let long = OwnBench.event(String(repeating: "u", count: 1025))
            #expect(await fault { try await bench.put("x.ics", long) } == "object")
            let latin = Array("BEGIN:VCALENDAR\r\n".utf8) + [0xE4]
            let work = try await bench.found()
            #expect(
                await fault {
                    try await bench.own.put(
                        latin, as: "x.ics", in: work, if: WriteConditions(), for: bench.ann, room: nil)
                } == "data")
            let most = CalendarCollection.maxResourceSize
            let room = most - OwnBench.event("big", "").utf8.count
            let big = OwnBench.event("big", String(repeating: "x", count: room))
            #expect(big.utf8.count == most)
            #expect(await fault { try await bench.put("x.ics", big + " ") } == "large \(most)")
            try await bench.put("big.ics", big)
            #expect(try await bench.own.members(of: work, named: ["big.ics"])[0]?.size == most)
            let name = String(repeating: "n", count: 255)
            try await bench.put(name, OwnBench.event("n"))
            #expect(await fault { try await bench.put(name + "n", OwnBench.event("m")) } == "forbidden")
            #expect(await fault { try await bench.put("a/b", OwnBench.event("m")) } == "forbidden")
        }
    }

    /// Every combination of conditions, and whether a write happens to a resource that is there and to one that is not.
    @Test("Conditions hold for PUT and DELETE, whether the resource is there or not")
    func conditions() async throws {
        try await OwnBench.run { bench in
            try await bench.make()
            for match in 0..<4 {
                for (existing, absent) in [(false, false), (true, false), (false, true), (true, true)] {
                    for other in 0..<3 {
                        let first = try await bench.put("there.ics", OwnBench.event("u"))
                        let etag = try #require(first.etag)
                        var conditions = WriteConditions()
                        conditions.ifMatch = [nil, [etag], ["other"], ["other", etag]][match]
                        conditions.needsExisting = existing
                        conditions.needsAbsence = absent
                        conditions.ifNoneMatch = [[], [etag], ["other"]][other]
                        let allowsThere = match != 2 && !absent && other != 1
                        let allowsNone = match == 0 && !existing
                        let label = Comment(rawValue: "\(conditions)")
                        let text = OwnBench.event("u", "Concert")
                        #expect(
                            await fault { try await bench.put("there.ics", text, if: conditions) }
                                == (allowsThere ? "" : "precondition"), label)
                        try await bench.put("there.ics", OwnBench.event("u"))
                        #expect(
                            await fault { try await bench.delete("there.ics", if: conditions) }
                                == (allowsThere ? "" : "precondition"), label)
                        #expect(
                            await fault { try await bench.put("new.ics", OwnBench.event("v"), if: conditions) }
                                == (allowsNone ? "" : "precondition"), label)
                        if allowsNone { try await bench.delete("new.ics") }
                        #expect(
                            await fault { try await bench.delete("new.ics", if: conditions) }
                                == (allowsNone ? "missing" : "precondition"), label)
                    }
                }
            }
        }
    }

    @Test("Calendars, resources and their bytes have bounds, at which what is there can still be changed")
    func quotas() async throws {
        let size = OwnBench.event("u1").utf8.count
        try await OwnBench.run {
            ($0.ownCalendarsPerUser, $0.ownResourcesPerUser, $0.ownCalendarBytesPerUser) = (2, 3, 3 * size)
        } _: { bench in
            try await bench.make()
            try await bench.make("play")
            #expect(await fault { try await bench.make("third") } == "storage")
            try await bench.put("1.ics", OwnBench.event("u1"))
            try await bench.put("2.ics", OwnBench.event("u2"), in: "play")
            #expect(await fault { try await bench.put("3.ics", OwnBench.event("u3", "Longer")) } == "storage")
            try await bench.put("3.ics", OwnBench.event("u3"))
            #expect(await fault { try await bench.put("4.ics", OwnBench.event("u4", "")) } == "storage")
            try await bench.put("1.ics", OwnBench.event("u1", "Chore"))
            #expect(await fault { try await bench.put("1.ics", OwnBench.event("u1", "Longer")) } == "storage")
            let (work, play) = (try await bench.found(), try await bench.found("play"))
            func transfer(isMove: Bool) async throws {
                _ = try await bench.own.transfer(
                    "1.ics", of: work, to: "1.ics", in: play, isMove: isMove, overwrites: false, if: WriteConditions(),
                    for: bench.ann)
            }
            #expect(await fault { try await transfer(isMove: false) } == "storage")
            try await transfer(isMove: true)
            // Somebody else's are counted for themselves, and what is removed makes room at once.
            try await bench.own.remove(play, for: bench.ann)
            try await bench.make("third")
            try await bench.put("4.ics", OwnBench.event("u4"))
            let ben = CalDAVCaller(passwordID: "b", userID: "ben", mayWrite: true, circleIDs: nil, own: true)
            try await bench.make("work", for: ben)
        }
    }

    @Test("Nobody else reaches them, nor a password without own calendars, and one that reads alone writes nothing")
    func rights() async throws {
        try await OwnBench.run { bench in
            let work = try await bench.make()
            try await bench.put("a.ics", OwnBench.event("u"))
            func caller(_ user: String, mayWrite: Bool = true, own: Bool = true) -> CalDAVCaller {
                CalDAVCaller(passwordID: "p", userID: user, mayWrite: mayWrite, circleIDs: nil, own: own)
            }
            for other in [caller("ben"), caller("ann", own: false)] {
                #expect(try await bench.own.collections(of: other).isEmpty)
                #expect(try await bench.own.collection("work", of: other) == nil)
                #expect(await fault { try await bench.put("b.ics", OwnBench.event("v"), for: other) } == "missing")
            }
            let reader = caller("ann", mayWrite: false)
            #expect(try await bench.own.collections(of: reader).map(\.mayWrite) == [false])
            #expect(try await bench.own.collections(of: bench.ann).map(\.mayWrite) == [true])
            #expect(await fault { try await bench.make("new", for: reader) } == "privileges")
            #expect(await fault { try await bench.make("new", for: caller("ann", own: false)) } == "privileges")
            #expect(await fault { try await bench.put("b.ics", OwnBench.event("v"), for: reader) } == "privileges")
            #expect(
                await fault { try await bench.own.delete("a.ics", from: work, if: .init(), for: reader, room: nil) }
                    == "privileges")
            #expect(await fault { try await bench.own.remove(work, for: reader) } == "privileges")
            // How a calendar looks to its person is no change of it.
            try await bench.own.set([], removing: [], of: work, for: reader)
            #expect(try await bench.list().count == 1)
        }
    }

    @Test("What may be in a span is found: never less than is there, in pages, by component")
    func spans() async throws {
        try await OwnBench.run { bench in
            try await bench.make("work", [.event, .task])
            let day = 86_400
            var spans: [(name: String, first: Int, last: Int, isTask: Bool)] = []
            for index in 0..<40 {
                let first = CivilDate(daysSinceEpoch: 20_000 + index * 3)
                // Some last for weeks, some for ever, and some are tasks.
                let last = first.adding(days: index % 5 == 0 ? 40 : 1)
                let (isTask, isEndless) = (index % 7 == 3, index % 11 == 4)
                let name = "\(index).ics"
                try await bench.put(
                    name,
                    OwnBench.event(
                        "u\(index)", start: "\(first.basic)T080000Z", end: "\(last.basic)T080000Z",
                        isEndless ? "RRULE:FREQ=MONTHLY\r\n" : "", kind: isTask ? "VTODO" : "VEVENT"))
                let begin = first.daysSinceEpoch * day + 8 * 3600
                let end = isEndless ? Int.max : isTask ? begin : last.daysSinceEpoch * day + 8 * 3600
                spans.append((name, begin, end, isTask))
            }
            let work = try await bench.found()
            var random = SplitMix(seed: 7)
            for _ in 0..<60 {
                let from = (19_990 + random.below(150)) * day
                let to = from + (1 + random.below(40)) * day
                let component: CalendarComponent? = [nil, .event, .task][random.below(3)]
                let page = 1 + random.below(9)
                var (found, last) = ([String](), String?.none)
                while true {
                    let some = try await bench.own.resources(
                        of: work, component: component, span: from..<to, after: last, limit: page)
                    #expect(some.count <= page)
                    found += some.map(\.member.name)
                    guard some.count == page else { break }
                    last = some.last?.member.name
                }
                #expect(found.map { ByteString($0) } == found.map { ByteString($0) }.sorted())
                let names = Set(found.map { ByteString($0) })
                #expect(names.count == found.count)
                for span in spans where component == nil || (component == .task) == span.isTask {
                    let isIn = span.first < to && span.last > from
                    if isIn { #expect(names.contains(ByteString(span.name)), "\(span) in \(from)..<\(to)") }
                    // What is far away is not read.
                    if span.last < from - 3 * day || span.first > to + 3 * day {
                        #expect(!names.contains(ByteString(span.name)), "\(span) in \(from)..<\(to)")
                    }
                }
            }
            let all = try await bench.own.resources(of: work, component: nil, span: nil, after: nil, limit: 100)
            #expect(all.count == 40)
        }
    }
}
