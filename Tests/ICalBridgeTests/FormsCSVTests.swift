// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ICalBridge

@Suite("CSV (RFC 4180)")
struct FormsCSVTests {
    private static let header =
        "uid,recurrenceId,summary,start,end,allDay,timeZone,"
        + "location,description,status,rrule,categories,sequence,lastModified"

    private func cells(_ lines: [String], _ count: Int = 1) throws -> [String] {
        let table = try CSVTable(Forms.calendar(Reading.event(lines)).csv())
        return table.rows[count].cells
    }

    @Test("The header names the columns, and rows end in CRLF")
    func header() throws {
        let text = Forms.text(Forms.calendar(Reading.event(["DTSTART;VALUE=DATE:20260105", "SUMMARY:x"])).csv())
        #expect(text == Self.header + "\r\none@example.org,,x,2026-01-05,,TRUE,,,,,,,0,\r\n")
    }

    @Test("Times stand on the clock of the row's zone")
    func times() throws {
        let zoned = try cells(["DTSTART;TZID=Europe/Berlin:20260105T090000", "DURATION:PT1H"])
        #expect(zoned[3...6] == ["2026-01-05T09:00:00", "2026-01-05T10:00:00", "FALSE", "Europe/Berlin"])
        let utc = try cells(["DTSTART:20260105T090000Z"])
        #expect(utc[3...6] == ["2026-01-05T09:00:00Z", "", "FALSE", "UTC"])
        let floating = try cells(["DTSTART:20260105T090000", "DTEND:20260105T100000"])
        #expect(floating[3...6] == ["2026-01-05T09:00:00", "2026-01-05T10:00:00", "FALSE", ""])
        let other = try cells([
            "DTSTART;TZID=Europe/Berlin:20260105T090000", "DTEND;TZID=America/New_York:20260105T043000",
        ])
        #expect(other[3...6] == ["2026-01-05T09:00:00", "2026-01-05T09:30:00Z", "FALSE", "Europe/Berlin"])
        // 02:30 in summer time; the end is 02:15 of the second pass of that hour.
        let fold = try cells(["DTSTART;TZID=Europe/Berlin:20261025T023000", "DURATION:PT45M"])
        #expect(fold[3...4] == ["2026-10-25T02:30:00", "2026-10-25T01:15:00Z"])
    }

    @Test("The columns come back")
    func roundTrip() throws {
        let rich = Forms.rich
        let back = try ICalendar(csv: rich.csv())
        let written = rich.events.filter { $0.kind != .freeBusy }
        #expect(back.events.count == written.count)
        // A second trip adds and loses nothing.
        #expect(back.csv() == rich.csv())
        let utc = FixedOffset.utc
        for (a, b) in zip(back.events, written) {
            #expect(a.uid == b.uid)
            #expect(a.summary == b.summary)
            #expect(a.description == b.description)
            #expect(a.location == b.location)
            #expect(a.status == b.status)
            #expect(a.categories == b.categories)
            #expect(a.sequence == b.sequence)
            #expect(a.lastModified == b.lastModified)
            #expect(a.isAllDay == b.isAllDay)
            #expect(a.start?.instant(floatingIn: utc) == b.start?.instant(floatingIn: utc))
            // A row says nothing of its kind, and a journal entry's day has another end than an event's.
            guard a.kind == b.kind else { continue }
            #expect(a.effectiveEnd?.instant(floatingIn: utc) == b.effectiveEnd?.instant(floatingIn: utc))
            #expect(a.recurrenceID?.instant(floatingIn: utc) == b.recurrenceID?.instant(floatingIn: utc))
            #expect(a.recurrence == b.recurrence)
            if b.start?.zone?.definition == nil { #expect(a.start == b.start) }
        }
        #expect(back.events.map(\.kind) == [.event, .event, .event, .event, .toDo, .event])
    }

    @Test(
        "No cell begins as a formula, and the reader gives it back as it was",
        arguments: [
            "=1+1", "+49 30", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "'", "''", "'s-Hertogenbosch", "a=1", "",
            "＝1+1", "\n=1", "\"=1", "a\"b,c", " =1",
        ])
    func formulas(_ text: String) throws {
        let cell = FormulaGuard.guarded(text)
        #expect(FormulaGuard.unguarded(cell) == text)
        #expect(!["=", "+", "-", "@", "\t", "\r", "\n", "＝"].contains { cell.hasPrefix($0) })
        var out: [UInt8] = []
        CSVTable.write(["x", text], to: &out)
        #expect(try CSVTable(out).rows.first?.cells.last.map(FormulaGuard.unguarded) == text)
    }

    @Test("A title that begins as a formula comes back")
    func formulaTitle() throws {
        var event = Event(uid: "=HYPERLINK(\"x\")", start: .utc(Instant(seconds: 0)), summary: "=1+1")
        event.description = "-5\n+6"
        let calendar = ICalendar(events: [event])
        let text = Forms.text(calendar.csv())
        #expect(text.contains(",'=1+1,"))
        #expect(text.contains("\"'=HYPERLINK(\"\"x\"\")\""))
        let back = try ICalendar(csv: calendar.csv()).events.first
        #expect(back?.uid == event.uid)
        #expect(back?.summary == event.summary)
        #expect(back?.description == event.description)
    }

    @Test("Columns may stand in any order, with semicolons, LF and a byte order mark, as spreadsheets write them")
    func liberal() throws {
        let text = """
            \u{FEFF}Start;END;Summary;extra;timezone;allday
            2026-01-05 09:00;2026-01-05 10:00;"a; ""b""\nc";;Europe/Berlin;no
            2026-01-06;;;;;TRUE

            2026-01-07T09:00:00+01:00;;;;Europe/Berlin
            """
        let events = try ICalendar(csv: Array(text.utf8)).events
        #expect(events.count == 3)
        #expect(events[0].start?.zone?.identifier == "Europe/Berlin")
        #expect(events[0].summary == "a; \"b\"\nc")
        #expect(events[1].start == .date(Reading.day("20260106")))
        #expect(events[2].start == .utc(Instant(utc: Reading.wall("20260107T080000"))))
    }

    @Test("A row that cannot be read does not affect others, and is reported")
    func badRow() throws {
        let text = "start,summary\r\nsoon,a\r\n2026-02-31,b\r\n2026-01-05T09:00:00Z,c\r\n"
        let reading = CalendarReader().read(try CalendarReader.iCalendarText(fromCSV: Array(text.utf8)))
        #expect(reading.events.map(\.summary) == ["c"])
        #expect(reading.skipped == 2)
        #expect(reading.codes.contains("impossible-date"))
    }

    @Test("A cell cannot make a line of its own")
    func injection() throws {
        let text =
            "start,summary,timeZone,rrule,categories,status\r\n"
            + "2026-01-05T09:00:00,\"a\r\nEND:VEVENT\",\"X\r\nEND:VEVENT\","
            + "\"FREQ=DAILY;COUNT=2\nBEGIN:VEVENT\nEXDATE:20260106T090000,x\",\"a\r\nEND:VEVENT\",\"C\r\nEND:VEVENT\"\r\n"
        let out = Forms.text(try CalendarReader.iCalendarText(fromCSV: Array(text.utf8)))
        #expect(out.split(separator: "\r\n").count { $0.hasPrefix("BEGIN:") || $0.hasPrefix("END:") } == 4)
        #expect(try ICalendar(csv: Array(text.utf8)).events.count == 1)
    }

    @Test(
        "A text that is not such a table is refused with a reason",
        arguments: [
            ("", "header"), ("a,b\r\n1,2", "header"), ("start\r\n\"a", "quote"), ("start\r\nsoon", "could not be read"),
        ])
    func refusals(_ text: String, _ reason: String) throws {
        let error = try #require(throws: FormError.self, performing: { try ICalendar(csv: Array(text.utf8)) })
        #expect(error.message.contains(reason))
    }
}
