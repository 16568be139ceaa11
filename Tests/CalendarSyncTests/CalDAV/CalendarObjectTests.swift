// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

@testable import CalendarSync

@Suite struct CalendarObjectTests {
    private let mark = CalDAVRoom.mark("a")

    private func stamp(_ sequence: Int = 0) -> ObjectStamp {
        ObjectStamp(uid: CalDAVIdentity.uid(mark), mark: mark, now: Instant(seconds: 1_800_000_000), sequence: sequence)
    }

    private func text(_ entry: Entry) -> String {
        String(decoding: entry.calendar(stamp()).serialized(), as: UTF8.self)
    }

    private func object(_ text: String) throws -> CalendarObject {
        try CalendarObject(
            Array(text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\n", with: "\r\n").utf8),
            floatingZone: "Europe/Berlin")
    }

    private func event(_ lines: String) -> String {
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:u\nDTSTAMP:20260101T000000Z\n\(lines)\nEND:VEVENT\n"
            + "END:VCALENDAR\n"
    }

    @Test("What is written is read back, and is plain", arguments: CalDAVSamples.all)
    func roundTrip(_ entry: Entry) throws {
        let object = try object(text(entry))
        #expect(try object.entry.get() == entry)
        #expect(object.seen == .plain(sequence: 0))
        #expect(object.tree.text == Array(text(entry).utf8))
        #expect(CalDAVIdentity.mark(property: object.property, uid: object.uid, resource: "x") == mark)
    }

    @Test("Entries that cannot be written whole are named with what is lost")
    func limitations() throws {
        let provider = try CalDAVCalendar(
            account: CalDAVAccount(
                principal: "https://x.test/", homes: ["https://x.test/"], entrance: "https://x.test/"),
            username: "a", password: "b", calendarKey: "k", objects: DirectObjects(), http: ScriptedHTTP([]),
            clock: { 0 })
        var unknown = CalDAVSamples.single(zone: "Mars/Olympus")
        #expect(provider.expressible(unknown).limitations.map(\.field) == [.times])
        unknown.span = CalDAVSamples.single(zone: "UTC").span
        #expect(provider.expressible(unknown).entry == unknown)
        var days = CalDAVSamples.days
        days.repetition = Repetition(rrule: "FREQ=DAILY")
        #expect(provider.expressible(days).entry == CalDAVSamples.days)
        #expect(provider.expressible(days).limitations.map(\.field) == [.recurrence])
        var cancelled = CalDAVSamples.series
        let start = CalDAVSamples.start.adding(seconds: 21 * 86_400)
        cancelled.occurrences[start] = .cancelled
        let kept = provider.expressible(cancelled).entry
        #expect(kept.occurrences[start] == nil && kept.repetition?.exdates.contains(start) == true)
        for entry in CalDAVSamples.all { #expect(provider.expressible(entry).entry == entry) }
    }

    @Test("The second of two equal times of day is written so that it is not the first")
    func ambiguous() throws {
        // 2026-10-25 02:30 in Berlin, first and second.
        for seconds in [1_792_888_200, 1_792_891_800] {
            let entry = CalDAVSamples.single(start: Instant(seconds: seconds))
            let read = try object(text(entry)).entry.get()
            guard case .timed(let start, let end, _) = read.span, case .timed(_, let until, _) = entry.span else {
                Issue.record("It has no times.")
                return
            }
            #expect(start.seconds == seconds && end == until)
        }
    }

    @Test("Floating times, zones of other names, dates in exceptions and cancelled occurrences are understood")
    func others() throws {
        let floating = try object(event("DTSTART:20261203T090000\nDTEND:20261203T100000\nSUMMARY:x")).entry.get()
        #expect(floating.span == CalDAVSamples.single().span)
        let windows = try object(
            event("DTSTART;TZID=W. Europe Standard Time:20261203T090000\nDURATION:PT1H\nSUMMARY:x")
        ).entry.get()
        #expect(windows.span == CalDAVSamples.single().span)
        let series = try object(
            event(
                "DTSTART;TZID=Europe/Berlin:20261203T090000\nDTEND;TZID=Europe/Berlin:20261203T100000\n"
                    + "RRULE:FREQ=WEEKLY;COUNT=5\nEXDATE;VALUE=DATE:20261210\nEXDATE:20261217T080000Z\nEND:VEVENT\n"
                    + "BEGIN:VEVENT\nUID:u\nDTSTAMP:20260101T000000Z\nRECURRENCE-ID:20261224T080000Z\n"
                    + "DTSTART:20261224T080000Z\nSTATUS:CANCELLED")
        ).entry.get()
        let week = 7 * 86_400
        #expect(series.repetition?.exdates == [1, 2, 3].map { CalDAVSamples.start.adding(seconds: $0 * week) })
        #expect(series.occurrences.isEmpty)
    }

    @Test(
        "What an entry cannot say is unreadable, never another event",
        arguments: [
            "DTSTART;VALUE=DATE:20261203\nRRULE:FREQ=YEARLY",
            "DTSTART:20261203T090000Z\nRRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY",
            "DTSTART:20261203T090000Z\nRRULE:FREQ=SOMETIMES",
            "DTSTART:20261203T090000Z\nRRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY;INTERVAL=2",
            "DTSTART:20261203T090000Z\nRRULE:FREQ=DAILY;COUNT=3\nEND:VEVENT\nBEGIN:VEVENT\nUID:u\n"
                + "DTSTAMP:20260101T000000Z\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261204T090000Z\nDTSTART:20261204T100000Z",
            "DTSTART:20261203T090000Z\nEND:VEVENT\nBEGIN:VEVENT\nUID:other\nDTSTAMP:20260101T000000Z\nDTSTART:20261203T090000Z",
            "RECURRENCE-ID:20261203T090000Z\nDTSTART:20261203T090000Z",
            "SUMMARY:no start",
        ])
    func unreadable(_ lines: String) throws {
        let object = try object(event(lines))
        #expect(throws: CalendarObject.Unreadable.self) { try object.entry.get() }
    }

    @Test("Bytes that are not a calendar object are refused, whatever they are")
    func noise() throws {
        for text in [
            "", "x", "BEGIN:VCALENDAR", "BEGIN:VCALENDAR\nEND:VEVENT", "BEGIN:VEVENT\nEND:VEVENT\n",
            event("DTSTART:20261203T090000Z") + event("DTSTART:20261203T090000Z"),
            String(repeating: "BEGIN:X\n", count: 50_000),
            "BEGIN:VCALENDAR\n" + String(repeating: "X:y\n", count: 60_000),
        ] {
            #expect(throws: CalendarObject.Unreadable.self) { try self.object(text) }
        }
        // A name that is not UTF-8 would be written with three bytes for one.
        let name = [UInt8](repeating: 0xFF, count: 30)
        #expect(ObjectTree(Array(event("BEGIN:?\nEND:?").utf8.map { $0 == 63 ? name : [$0] }.joined())) == nil)
        let whole = Array(text(CalDAVSamples.series).utf8)
        for end in stride(from: 0, to: whole.count, by: 7) {
            _ = try? CalendarObject(Array(whole[..<end]), floatingZone: "UTC")
        }
    }

    @Test("Alarms that are not our reminders are not counted, and stay")
    func alarms() throws {
        let alarm = { (lines: String) in "BEGIN:VALARM\n\(lines)\nEND:VALARM\n" }
        let text = event(
            "DTSTART:20261203T090000Z\nDTEND:20261203T100000Z\nSUMMARY:x\n"
                + alarm("ACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER:-PT15M") + alarm("ACTION:AUDIO\nTRIGGER:-P1D")
                + alarm("ACTION:EMAIL\nATTENDEE:mailto:a@b\nSUMMARY:x\nDESCRIPTION:x\nTRIGGER:-PT5M")
                + alarm("ACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER;VALUE=DATE-TIME:20261203T080000Z")
                + alarm("ACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER:PT5M")
                + alarm("ACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER:-PT30M\nX-APPLE-DEFAULT-ALARM:TRUE")
                + "X-AFTER:1")
        let theirs = try object(text)
        let from = try theirs.entry.get()
        #expect(from.reminders == [15, 1440])
        #expect(theirs.seen == .more)
        var to = from
        to.reminders = [60]
        let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(1))
        let edited = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
        #expect(try edited.entry.get() == to)
        #expect(edited.tree.events[0].components.count == 5)
        #expect(edited.tree.events[0].line("X-AFTER") != nil)
    }

    @Test("An edit changes the lines of what differs, and no other")
    func edits() throws {
        let others =
            "X-ONE;X-P=\"q;r\":kept\nX-ALT-DESC;FMTTYPE=text/html:<b>old</b>\nGEO:1;2\nCATEGORIES:A,B\nCOLOR:red\n"
        for from in CalDAVSamples.all {
            let source = text(from).replacingOccurrences(of: "\r\n", with: "\n")
                .replacingOccurrences(of: "SEQUENCE:0\n", with: "SEQUENCE:4\n" + others)
            let theirs = try object(source)
            #expect(try theirs.entry.get() == from && theirs.seen == .more)
            var renamed = from
            renamed.title = "Renamed"
            var moved = from
            if case .timed(let start, let end, _) = from.span {
                moved.span = .timed(
                    start: start.adding(seconds: 3600), end: end.adding(seconds: 5400), zone: "America/New_York")
                moved.occurrences = [:]
            }
            var both = moved
            both.notes = ""
            both.location = "New place"
            both.status = .tentative
            both.availability = .free
            both.reminders = []
            for to in [renamed, moved, both, from] {
                let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(theirs.sequence + 1))
                let edited = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
                #expect(try edited.entry.get() == to)
                #expect(edited.sequence == 5)
                let lines = edited.tree.events[0].lines.map { String(decoding: $0.bytes, as: UTF8.self) }
                for kept in ["X-ONE;X-P=\"q;r\":kept", "CATEGORIES:A,B", "COLOR:red"] { #expect(lines.contains(kept)) }
                // Forms of a text that is now another one go with it.
                #expect(lines.contains("X-ALT-DESC;FMTTYPE=text/html:<b>old</b>") == (to.notes == from.notes))
                #expect(lines.contains("GEO:1;2") == (to.location == from.location))
            }
        }
    }

    @Test("What a carriage return by itself separates is a line of its own, and outlives an edit of the one before")
    func loneReturns() throws {
        let theirs = try object(event("SUMMARY:Visit\rDTSTART;VALUE=DATE:20261203\rX-ONE:1"))
        let from = try theirs.entry.get()
        var to = from
        to.title = "Other"
        let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(1))
        let edited = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
        #expect(try edited.entry.get() == to)
        #expect(edited.tree.events[0].line("X-ONE") != nil)
    }

    @Test("A name that only resembles a known one is kept as it is, with what it holds")
    func resemblingNames() throws {
        let unknown = "VAL\u{2028}ARM"
        let theirs = try object(
            event(
                "SUMMARY:Visit\nDTSTART;VALUE=DATE:20261203\n\u{17F}UMMARY:kept\nBEGIN:\(unknown)\nTRIGGER:-PT15M\n"
                    + "END:\(unknown)"))
        let from = try theirs.entry.get()
        #expect(from.reminders.isEmpty)
        var to = from
        to.title = "Other"
        let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(1))
        let edited = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
        #expect(try edited.entry.get() == to)
        #expect(edited.tree.events[0].components.map(\.name) == [unknown])
        #expect(edited.tree.events[0].line("\u{17F}UMMARY")?.value == "kept")
    }

    /// Nested, `BEGIN;:` and names above 64 bytes: the reader of calendars ends what is open, or takes the lines of the inner
    /// component for the outer one's. An edit writes the lines first and the components after them.
    @Test(
        "An object whose components are not where every program finds them is refused, and never edited",
        arguments: [
            "BEGIN;:VALARM\nTRIGGER:-PT15M\nEND:VALARM", "BEGIN:VALARM\nTRIGGER:-PT15M\nEND;X=1:VALARM",
            "BEGIN:VALARM\nBEGIN:VALARM\nTRIGGER:-PT15M\nEND:VALARM\nEND:VALARM",
            "BEGIN:VTIMEZONE\nTZID:Here\nEND:VTIMEZONE", "BEGIN:X-A\nBEGIN:VTODO\nUID:t\nEND:VTODO\nEND:X-A",
            "BEGIN:VCALENDAR\nEND:VCALENDAR", "BEGIN:VEVENT\nUID:u\nEND:VEVENT",
        ])
    func doubtfulComponents(_ lines: String) throws {
        #expect(throws: CalendarObject.Unreadable(message: "The event is not iCalendar.")) {
            try object(event("SUMMARY:Visit\nDTSTART;VALUE=DATE:20261203\n" + lines))
        }
    }

    @Test("Lines that only resemble delimiters are properties, which an edit keeps where they are")
    func resemblingDelimiters() throws {
        let long = String(repeating: "X", count: 65)
        // The upper case of `\u{131}` is I; a zone would end the event.
        let zone = "BEGIN:VT\u{131}MEZONE\nTZID:Here\nEND:VT\u{131}MEZONE\nX-TWO:2"
        let zoned = try object(event("SUMMARY:Visit\n\(zone)\nDTSTART;VALUE=DATE:20261203"))
        #expect(try zoned.entry.get().title == "Visit")
        for lines in ["BEGIN;:X-A\nX-ONE:1\nEND;:X-A", "BEGIN:\(long)\nX-ONE:1\nEND:\(long)", "BEGINS:X-A\nX-ONE:1"] {
            let theirs = try object(
                event("SUMMARY:Visit\nDTSTART;VALUE=DATE:20261203\nBEGIN:X-B\nEND:X-B\n\(lines)"))
            let from = try theirs.entry.get()
            var to = from
            to.title = "Other"
            let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(1))
            let text = String(decoding: try #require(edit.text()), as: UTF8.self)
            #expect(try object(text).entry.get() == to)
            #expect(text.contains("\(lines)\n".replacingOccurrences(of: "\n", with: "\r\n")), "\(text)")
        }
        // Spaces before the colon and around the name are no part of either.
        let spaced = try object(
            event(
                "SUMMARY:Visit\nDTSTART;VALUE=DATE:20261203\nbegin : VALARM\nACTION:DISPLAY\nTRIGGER:-PT15M\n"
                    + "End:valarm "))
        #expect(try spaced.entry.get().reminders.count == 1)
        #expect(spaced.tree.events[0].components.map(\.name) == ["VALARM"])
    }

    @Test("Occurrences are changed, cancelled and brought back in the series' own object")
    func occurrences() throws {
        let from = CalDAVSamples.series
        let week = 7 * 86_400
        let second = CalDAVSamples.start.adding(seconds: week)
        let source = text(from).replacingOccurrences(
            of: "SUMMARY:Visit\\, later\r\n", with: "SUMMARY:Visit\\, later\r\nX-OWN:1\r\n")
        let theirs = try object(source)
        func edited(_ to: Entry) throws -> CalendarObject {
            let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(1))
            let object = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
            #expect(try object.entry.get() == to)
            return object
        }
        var renamed = from
        renamed.occurrences[second] = .changed(
            Entry(title: "Other", notes: "n", location: "", span: from.span, status: .tentative))
        #expect(try edited(renamed).tree.events[1].line("X-OWN") != nil)
        var back = from
        back.occurrences = [:]
        #expect(try edited(back).tree.events.count == 1)
        var more = from
        let fifth = CalDAVSamples.start.adding(seconds: 4 * week)
        more.occurrences[fifth] = renamed.occurrences[second]
        #expect(try edited(more).tree.events.count == 3)
        var cancelled = from
        cancelled.occurrences = [:]
        cancelled.repetition?.exdates = [second, CalDAVSamples.start.adding(seconds: 2 * week)]
        #expect(try edited(cancelled).tree.events.count == 1)
        var uncancelled = from
        uncancelled.repetition?.exdates = []
        #expect(try edited(uncancelled).tree.events[1].line("X-OWN") != nil)
        var single = from
        (single.repetition, single.occurrences) = (nil, [:])
        _ = try edited(single)
    }

    @Test("An occurrence that equals the series changes with it, and keeps what its person gave it")
    func followingOccurrences() throws {
        var from = CalDAVSamples.series
        let second = CalDAVSamples.start.adding(seconds: 7 * 86_400)
        from.occurrences = [second: .changed(from.plain(at: second))]
        func theirs(_ lines: String) throws -> CalendarObject {
            let source = text(from)
            let end = try #require(source.range(of: "END:VEVENT", options: .backwards))
            return try object(source.replacingCharacters(in: end, with: lines + "END:VEVENT"))
        }
        func edited(_ theirs: CalendarObject, _ to: Entry, count: Int = 2) throws -> CalendarObject {
            let edit = ObjectEdit(theirs: theirs, from: from.canonical, to: to, stamp: stamp(theirs.sequence + 1))
            let object = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
            #expect(try object.entry.get().canonical == to)
            #expect(object.tree.events.count == count)
            return object
        }
        let alarm = try theirs("BEGIN:VALARM\nACTION:DISPLAY\nDESCRIPTION:x\nTRIGGER:-PT45M\nEND:VALARM\n")
        #expect(try alarm.entry.get() == from && from.canonical.occurrences[second] == nil)
        var to = from.canonical
        (to.title, to.notes, to.location) = ("Renamed", "", "New place")
        to.status = .tentative
        to.availability = .free
        to.reminders = [60]
        var occurrence = try edited(alarm, to).tree.events[1]
        #expect(occurrence.components == alarm.tree.events[1].components && occurrence.components.count == 3)
        for (name, value) in [("SUMMARY", "Renamed"), ("LOCATION", "New place"), ("TRANSP", "TRANSPARENT")] {
            #expect(occurrence.line(name)?.value == value)
        }
        #expect(occurrence.line("SEQUENCE")?.value == "1")
        // The series' own reminders change with it too.
        let note = try theirs("X-OWN:1\n")
        let after = try edited(note, to)
        occurrence = after.tree.events[1]
        #expect(occurrence.line("X-OWN") != nil && occurrence.components.count == 1)
        #expect(occurrence.components == after.tree.events[0].components)
        // What changes elsewhere, or is cancelled, leaves it as it is.
        for (change, count) in [(Occurrence.changed(to.plain(at: second)), 3), (.cancelled, 2)] {
            var other = from.canonical
            other.occurrences[CalDAVSamples.start.adding(seconds: 21 * 86_400)] = change
            #expect(try edited(alarm, other, count: count).tree.events[1] == alarm.tree.events[1])
        }
    }

    @Test("A component that cancels an occurrence stays until the exceptions of its series are written")
    func cancellations() throws {
        let theirs = try object(
            event(
                "DTSTART:20261203T080000Z\nDTEND:20261203T090000Z\nSUMMARY:x\nRRULE:FREQ=WEEKLY;COUNT=5\nEND:VEVENT\n"
                    + "BEGIN:VEVENT\nUID:u\nDTSTAMP:20260101T000000Z\nRECURRENCE-ID:20261210T080000Z\n"
                    + "DTSTART:20261210T080000Z\nSTATUS:CANCELLED"))
        let from = try theirs.entry.get().canonical
        var to = from
        for count in [2, 1] {
            to.title += " 2"
            let edit = ObjectEdit(theirs: theirs, from: from, to: to, stamp: stamp(1))
            let edited = try object(String(decoding: try #require(edit.text()), as: UTF8.self))
            #expect(try edited.entry.get().canonical == to)
            #expect(edited.tree.events.count == count)
            to.occurrences[CalDAVSamples.start.adding(seconds: 14 * 86_400)] = .cancelled
        }
    }

    @Test("A mark survives as text, and long ones have a short name")
    func marks() {
        for id in ["a", "", "ü/ \u{0}", String(repeating: "x", count: 500)] {
            let mark = CalDAVRoom.mark(id, generation: 3)
            #expect(CalDAVIdentity.mark(CalDAVIdentity.text(mark)) == mark)
            #expect(CalDAVIdentity.uid(mark).utf8.count <= 200)
            #expect(CalDAVIdentity.resource(mark).utf8.count == 52)
            #expect(
                CalDAVIdentity.mark(property: CalDAVIdentity.text(mark), uid: CalDAVIdentity.uid(mark), resource: "")
                    == mark)
            #expect(CalDAVIdentity.mark(property: CalDAVIdentity.text(mark), uid: "copy", resource: "copy.ics") == nil)
            #expect(CalDAVIdentity.resource(mark) != CalDAVIdentity.resource(CalDAVRoom.mark(id, generation: 4)))
        }
        #expect(CalDAVIdentity.mark("AAAA") == nil)
        let name = CalDAVIdentity.calendar("k", attempt: 2)
        #expect(CalDAVIdentity.isOurs(name: name, description: nil))
        #expect(CalDAVIdentity.isOurs(name: "renamed", description: "Kept in step by Kalends (\(name))"))
        #expect(!CalDAVIdentity.isOurs(name: "kalends-test", description: "kalends-"))
    }

    @Test("A version is read as it was written, and a bare etag is one that was not looked at")
    func versions() {
        for seen: CalDAVVersion.Seen in [.plain(sequence: 12), .written(sequence: 3), .more, .guests, .unknown] {
            for etag in ["\"a\"", "W/\"b c\"", "\"p1 x\""] {
                let version = CalDAVVersion(etag: etag, seen: seen)
                #expect(CalDAVVersion(version.text) == version)
            }
        }
        #expect(CalDAVVersion("W/\"x\"").condition == "\"x\"")
        #expect(CalDAVVersion.etag("abc") == "abc" && CalDAVVersion.etag("a\r\nb") == nil)
    }
}
