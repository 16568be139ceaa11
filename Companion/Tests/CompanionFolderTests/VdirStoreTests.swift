// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import CompanionFolder
import Foundation
import KalendsCompanion
import OfficeDays
import Testing

@Suite("Companion: a folder of .ics files as a store")
struct VdirStoreTests {
    /// A folder with a calendar `home`, for one test.
    private final class Folder {
        let root = FileManager.default.temporaryDirectory.appending(path: "vdir-\(UUID().uuidString)")
        let zones = Zones(device: { "Europe/Rome" })
        let store: VdirStore

        init() throws {
            try FileManager.default.createDirectory(
                at: root.appending(path: "home"), withIntermediateDirectories: true)
            store = VdirStore(root: root, zones: zones, clock: { 1_769_040_000 })
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        func url(_ name: String) -> URL { root.appending(path: "home").appending(path: name) }

        func put(_ name: String, _ lines: String...) throws {
            let text = (["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//x//y//EN"] + lines + ["END:VCALENDAR", ""])
                .joined(separator: "\r\n")
            try Data(text.utf8).write(to: url(name))
        }

        func text(_ name: String) throws -> String {
            try String(contentsOf: url(name), encoding: .utf8).replacing("\r\n ", with: "")
        }

        func all() async throws -> [StoreEvent] {
            try await store.events(in: VdirStoreTests.year, calendars: ["home"]).sorted {
                $0.unit.content.title < $1.unit.content.title
            }
        }
    }

    /// The year 2026.
    private static let year = TimeRange(seconds: 1_767_225_600..<1_798_761_600)

    private static func day(_ text: String) throws -> Day { try #require(Day(iso: text)) }

    private static func timed(
        _ day: String, _ from: Int, _ to: Int, _ zone: String? = "Europe/Rome"
    ) throws -> EventSpan {
        .timed(
            start: WallTime(try self.day(day), second: from * 60), end: WallTime(try self.day(day), second: to * 60),
            zone: zone)
    }

    @Test("Times come as they are: on a zone's clock, on the wall's, in UTC, and as days whose last one is included")
    func times() async throws {
        let folder = try Folder()
        try folder.put(
            "a.ics", "BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART;TZID=Europe/Rome:20260310T100000",
            "DURATION:PT90M", "LOCATION:Via Roma\\, 1", "END:VEVENT")
        try folder.put("b.ics", "BEGIN:VEVENT", "UID:b", "SUMMARY:B", "DTSTART:20260310T100000", "END:VEVENT")
        try folder.put(
            "c.ics", "BEGIN:VEVENT", "UID:c", "SUMMARY:C", "DTSTART:20260310T100000Z", "DTEND:20260310T110000Z",
            "END:VEVENT")
        try folder.put("d.ics", "BEGIN:VEVENT", "UID:d", "SUMMARY:D", "DTSTART;VALUE=DATE:20260310", "END:VEVENT")
        try folder.put(
            "e.ics", "BEGIN:VEVENT", "UID:e", "SUMMARY:E", "DTSTART;VALUE=DATE:20260310", "DTEND;VALUE=DATE:20260312",
            "END:VEVENT")
        let events = try await folder.all()
        #expect(
            events.map(\.unit.content.span) == [
                try Self.timed("2026-03-10", 600, 690), try Self.timed("2026-03-10", 600, 600, nil),
                try Self.timed("2026-03-10", 600, 660, "UTC"),
                .allDay(first: try Self.day("2026-03-10"), last: try Self.day("2026-03-10")),
                .allDay(first: try Self.day("2026-03-10"), last: try Self.day("2026-03-11")),
            ])
        #expect(events[0].unit.content.location == "Via Roma, 1")
        #expect(events[0].key == EventKey(calendarID: "home", localID: "home/a.ics", externalID: "a"))
    }

    @Test("A series comes with what is left out, added and changed, by the original starts")
    func series() async throws {
        let folder = try Folder()
        try Self.putSeries(in: folder)
        let event = try #require(try await folder.all().first)
        let recurrence = try #require(event.unit.content.recurrence)
        #expect(recurrence.rule == "FREQ=WEEKLY;COUNT=4")
        #expect(try recurrence.exceptions == [Self.moment("2026-04-01"), Self.moment("2026-04-15")])
        #expect(try event.unit.changed[Self.moment("2026-04-08")]?.span == Self.timed("2026-04-08", 720, 780))
        // Summer time began on 29 March: the first occurrence is an hour later in UTC.
        let occurrences = try await folder.store.occurrences(in: Self.year, calendars: ["home"])
        #expect(occurrences.map(\.title) == ["S", "Later"])
        #expect(occurrences.map(\.range.from.seconds) == [1_774_429_200, 1_775_642_400])
    }

    @Test("An occurrence that an override cancels stays cancelled through other changes, until it is wanted again")
    func cancelledOverride() async throws {
        let folder = try Folder()
        try Self.putSeries(in: folder)
        func save(_ change: (inout EventUnit) throws -> Void) async throws -> String {
            let event = try #require(try await folder.all().first)
            var unit = event.unit
            try change(&unit)
            let ticket = try await folder.store.save(
                EventDraft(key: event.key, calendarID: "home", unit: unit, url: nil))
            #expect(try await folder.store.commit()[ticket]?.get().unit == unit)
            return try folder.text("s.ics")
        }
        // The form of the file stays, whether only a title changes or also what is left out.
        for text in [
            try await save { $0.content.title = "T" },
            try await save { _ = $0.content.recurrence?.exceptions.remove(try Self.moment("2026-04-01")) },
        ] { #expect(text.contains("STATUS:CANCELLED")) }
        #expect(try await folder.all().first?.unit.content.recurrence?.exceptions == [Self.moment("2026-04-15")])
        let text = try await save { unit in
            unit.content.recurrence?.exceptions = []
            unit.changed[try Self.moment("2026-04-15")] = EventContent(
                title: "Back", span: try Self.timed("2026-04-15", 720, 780))
        }
        #expect(!text.contains("STATUS:CANCELLED"))
        let occurrences = try await folder.store.occurrences(in: Self.year, calendars: ["home"])
        #expect(occurrences.map(\.title) == ["T", "T", "Later", "Back"])
    }

    private static func moment(_ day: String) throws -> EventMoment { try #require(EventMoment("\(day)T08:00:00Z")) }

    /// Writes a series with one occurrence that EXDATE leaves out, one that is changed, and one that is cancelled.
    private static func putSeries(in folder: Folder) throws {
        try folder.put(
            "s.ics", "BEGIN:VEVENT", "UID:s", "SUMMARY:S", "DTSTART;TZID=Europe/Rome:20260325T100000",
            "DTEND;TZID=Europe/Rome:20260325T110000", "RRULE:FREQ=WEEKLY;COUNT=4",
            "EXDATE;TZID=Europe/Rome:20260401T100000", "END:VEVENT", "BEGIN:VEVENT", "UID:s", "SUMMARY:Later",
            "RECURRENCE-ID;TZID=Europe/Rome:20260408T100000", "DTSTART;TZID=Europe/Rome:20260408T120000",
            "DTEND;TZID=Europe/Rome:20260408T130000", "END:VEVENT", "BEGIN:VEVENT", "UID:s", "STATUS:CANCELLED",
            "RECURRENCE-ID;TZID=Europe/Rome:20260415T100000", "DTSTART;TZID=Europe/Rome:20260415T100000", "END:VEVENT")
    }

    @Test(
        "A zone of which a file brings along one year is tzdata's zone of that name; times of others are in UTC, and what repeats on such a clock is not read"
    )
    func partOfZone() async throws {
        let folder = try Folder()
        func zone(_ name: String) -> [String] {
            [
                "BEGIN:VTIMEZONE", "TZID:\(name)", "BEGIN:STANDARD", "DTSTART:20251026T020000", "TZNAME:CET",
                "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "END:STANDARD", "BEGIN:DAYLIGHT", "DTSTART:20260329T030000",
                "TZNAME:CEST", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "END:DAYLIGHT", "END:VTIMEZONE",
            ]
        }
        let repeated = "RRULE:FREQ=MONTHLY;COUNT=10"
        for (file, name, rule) in [
            ("a.ics", "Europe/Rome", repeated), ("b.ics", "Office clock", "CLASS:PUBLIC"),
            ("c.ics", "Office clock", repeated),
        ] {
            let lines =
                zone(name) + [
                    "BEGIN:VEVENT", "UID:\(file)", "SUMMARY:\(file)", "DTSTART;TZID=\(name):20260310T100000",
                    "DTEND;TZID=\(name):20260310T110000", rule, "END:VEVENT",
                ]
            try folder.put(file, lines.joined(separator: "\r\n"))
        }
        let events = try await folder.all()
        #expect(
            events.map(\.unit.content.span) == [
                try Self.timed("2026-03-10", 600, 660), try Self.timed("2026-03-10", 540, 600, "UTC"),
            ])
        // In November the clock of Rome is back at +01:00.
        let november = TimeRange(seconds: 1_793_491_200..<1_796_083_200)
        let found = try await folder.store.occurrences(in: november, calendars: ["home"]).filter { $0.title == "a.ics" }
        #expect(found.map(\.range.from.seconds) == [1_794_301_200])
    }

    @Test("A new event is a file of its own that reads back the same, and one with a mark is never made twice")
    func new() async throws {
        let folder = try Folder()
        let url = EventMark.url(of: "e1", user: "ann", generation: 0, at: "https://example.org")
        var unit = EventUnit(
            EventContent(
                title: "Choir; \"all\" of us", span: try Self.timed("2026-03-10", 600, 690),
                location: "Town hall, left",
                notes: "First line\nsecond line",
                recurrence: EventRecurrence(
                    rule: "FREQ=WEEKLY;COUNT=3", exceptions: [try #require(EventMoment("2026-03-17T09:00:00Z"))])))
        unit.changed[try #require(EventMoment("2026-03-24T09:00:00Z"))] = EventContent(
            title: "Concert", span: try Self.timed("2026-03-24", 1_200, 1_300))
        let draft = EventDraft(key: nil, calendarID: "home", unit: unit, url: url, isBusy: false)
        for _ in 1...2 {
            let ticket = try await folder.store.save(draft)
            #expect(try await folder.store.commit()[ticket]?.get().unit == unit)
        }
        let events = try await folder.all()
        #expect(events.count == 1)
        #expect(events.first?.unit == unit)
        #expect(EventMark(url: events.first?.url)?.identity == EventMark(url: url)?.identity)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.root.appending(path: "home").path)
        #expect(files.count == 1)
        let text = try folder.text(files[0])
        #expect(text.contains("TRANSP:TRANSPARENT") && text.contains("BEGIN:VTIMEZONE"))
        let found = try await folder.store.events(externalID: try #require(events.first?.key.externalID))
        #expect(found.map(\.key) == events.map(\.key))
    }

    @Test("Nobody sees uncommitted changes, and a rollback discards them")
    func uncommitted() async throws {
        let folder = try Folder()
        let unit = EventUnit(EventContent(title: "A", span: try Self.timed("2026-03-10", 600, 690)))
        _ = try await folder.store.save(EventDraft(key: nil, calendarID: "home", unit: unit, url: nil))
        #expect(try await folder.all().isEmpty)
        await folder.store.rollback()
        #expect(try await folder.store.commit().isEmpty)
        #expect(try await folder.all().isEmpty)
    }

    @Test("A change leaves what it does not touch: alarms, categories, properties of others, and the form of times")
    func preserved() async throws {
        let folder = try Folder()
        try folder.put(
            "a.ics", "BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART;TZID=Europe/Rome:20260310T100000",
            "DURATION:PT90M", "CATEGORIES:Work,Travel", "X-OTHER;X-P=1:kept", "CLASS:PRIVATE", "SEQUENCE:4",
            "ATTACH;ENCODING=BASE64;VALUE=BINARY:AAEC", "BEGIN:VALARM",
            "ACTION:DISPLAY", "DESCRIPTION:Go", "TRIGGER:-PT15M", "END:VALARM", "END:VEVENT")
        let event = try #require(try await folder.all().first)
        var unit = event.unit
        unit.content.title = "B"
        let ticket = try await folder.store.save(
            EventDraft(key: event.key, calendarID: "home", unit: unit, url: nil))
        #expect(try await folder.store.commit()[ticket]?.get().unit == unit)
        let text = try folder.text("a.ics")
        for kept in [
            "SUMMARY:B", "DURATION:PT1H30M", "CATEGORIES:Work,Travel", "X-OTHER;X-P=1:kept", "CLASS:PRIVATE",
            "SEQUENCE:5", "TRIGGER:-PT15M", "UID:a", "AAEC",
        ] { #expect(text.contains(kept), "\(kept) in \(text)") }
    }

    @Test("An event that somebody removed is not created again, and one that is now a different event is not changed")
    func gone() async throws {
        let folder = try Folder()
        try folder.put(
            "a.ics", "BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART:20260310T100000Z", "END:VEVENT")
        let event = try #require(try await folder.all().first)
        let draft = EventDraft(key: event.key, calendarID: "home", unit: event.unit, url: nil)
        _ = try await folder.store.save(draft)
        try FileManager.default.removeItem(at: folder.url("a.ics"))
        await #expect(throws: StoreFailure.eventGone) { _ = try await folder.store.commit() }
        await #expect(throws: StoreFailure.eventGone) { _ = try await folder.store.save(draft) }
        await #expect(throws: StoreFailure.eventGone) { try await folder.store.remove(event.key) }
        try folder.put(
            "a.ics", "BEGIN:VEVENT", "UID:other", "SUMMARY:A", "DTSTART:20260310T100000Z", "END:VEVENT")
        await #expect(throws: StoreFailure.eventGone) { _ = try await folder.store.save(draft) }
        #expect(try await folder.all().map(\.key.externalID) == ["other"])
    }

    @Test("A removal takes the file, and nothing but it")
    func removal() async throws {
        let folder = try Folder()
        for name in ["a", "b"] {
            try folder.put(
                "\(name).ics", "BEGIN:VEVENT", "UID:\(name)", "SUMMARY:\(name)", "DTSTART:20260310T100000Z",
                "END:VEVENT")
        }
        let events = try await folder.all()
        try await folder.store.remove(events[0].key)
        #expect(try await folder.all().count == 2)
        _ = try await folder.store.commit()
        #expect(try await folder.all().map(\.key) == [events[1].key])
    }

    @Test("A file that cannot be read is never a deletion: a look leaves it out, and asking for it is an error")
    func unreadable() async throws {
        let folder = try Folder()
        try folder.put("a.ics", "BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART:20260310T100000Z", "END:VEVENT")
        #expect(try await folder.all().count == 1)
        let whole = try Data(contentsOf: folder.url("a.ics"))
        // Half written, empty, with two events, and with a rule that has no place in a unit.
        let two = "BEGIN:VEVENT\r\nUID:b\r\nDTSTART:20260310T100000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
        let doubled = String(decoding: whole, as: UTF8.self).replacing("END:VCALENDAR\r\n", with: two)
        let ruled = String(decoding: whole, as: UTF8.self)
            .replacing("END:VEVENT", with: "RRULE:FREQ=DAILY\r\nEXRULE:FREQ=WEEKLY\r\nEND:VEVENT")
        for bytes in [whole.prefix(70), Data(), Data(doubled.utf8), Data(ruled.utf8)] {
            try bytes.write(to: folder.url("a.ics"))
            #expect(try await folder.all().isEmpty)
            #expect(try await folder.store.unreadable(in: "home") == ["a.ics"])
            await #expect(throws: StoreFailure.self) { _ = try await folder.store.event(localID: "home/a.ics") }
            // Who asks by another name is not kept waiting by it.
            #expect(try await folder.store.events(externalID: "elsewhere").isEmpty)
        }
        await #expect(throws: StoreFailure.self) { _ = try await folder.store.events(externalID: "a") }
        try FileManager.default.removeItem(at: folder.url("a.ics"))
        #expect(try await folder.store.event(localID: "home/a.ics") == nil)
        #expect(try await folder.store.events(externalID: "a").isEmpty)
    }

    @Test("Tasks and cancelled events are not there; guests are seen")
    func others() async throws {
        let folder = try Folder()
        try folder.put("t.ics", "BEGIN:VTODO", "UID:t", "SUMMARY:T", "DUE:20260310T100000Z", "END:VTODO")
        try folder.put(
            "c.ics", "BEGIN:VEVENT", "UID:c", "STATUS:CANCELLED", "DTSTART:20260310T100000Z", "END:VEVENT")
        try folder.put(
            "g.ics", "BEGIN:VEVENT", "UID:g", "SUMMARY:G", "DTSTART:20260310T100000Z",
            "ATTENDEE:mailto:bob@example.com", "END:VEVENT")
        let events = try await folder.all()
        #expect(events.map(\.key.externalID) == ["g"])
        #expect(events.first?.hasAttendees == true)
        #expect(try await folder.store.event(localID: "home/t.ics") == nil)
    }

    @Test("Calendars have names and colours, and a missing folder is reported as missing, not as empty")
    func calendars() async throws {
        let folder = try Folder()
        try Data("My home\n".utf8).write(to: folder.url("displayname"))
        try Data("#00FF00".utf8).write(to: folder.url("color"))
        let made = try await folder.store.makeCalendar(titled: "Rossi family/../..")
        #expect(made.id == "rossi-family------")
        let calendars = try await folder.store.calendars()
        #expect(calendars.map(\.title) == ["My home", "Rossi family/../.."])
        #expect(calendars.first?.color == "#00FF00")
        for id in ["gone", "..", "../home", ".", "", "home/../home"] {
            await #expect(throws: StoreFailure.calendarGone(id)) {
                _ = try await folder.store.events(in: Self.year, calendars: [id])
            }
        }
        #expect(try await folder.store.event(localID: "../home/a.ics") == nil)
    }

    @Test("A missing folder of calendars is not forbidden, and asking for anything in it is an error")
    func away() async throws {
        let folder = try Folder()
        try folder.put("a.ics", "BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART:20260310T100000Z", "END:VEVENT")
        let elsewhere = folder.root.appendingPathExtension("away")
        defer { try? FileManager.default.removeItem(at: elsewhere) }
        try FileManager.default.moveItem(at: folder.root, to: elsewhere)
        #expect(await folder.store.authorization() == .fullAccess)
        let gone = StoreFailure.calendarGone(folder.root.lastPathComponent)
        await #expect(throws: gone) { _ = try await folder.store.calendars() }
        await #expect(throws: gone) { _ = try await folder.store.events(in: Self.year, calendars: ["home"]) }
        // What nobody can look at is not gone.
        await #expect(throws: gone) { _ = try await folder.store.events(externalID: "a") }
        await #expect(throws: gone) { _ = try await folder.store.event(localID: "home/a.ics") }
        await #expect(throws: gone) { _ = try await folder.store.makeCalendar(titled: "New") }
        try FileManager.default.moveItem(at: elsewhere, to: folder.root)
        #expect(try await folder.all().map(\.key.externalID) == ["a"])
    }

    @Test("A change of a file is noticed from the call on")
    func notices() async throws {
        let folder = try Folder()
        let notices = await folder.store.changeNotices()
        try folder.put(
            "a.ics", "BEGIN:VEVENT", "UID:a", "SUMMARY:A", "DTSTART:20260310T100000Z", "END:VEVENT")
        var seen = notices.makeAsyncIterator()
        #expect(await seen.next() != nil)
    }
}
