// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import OfficeDays
import Testing

@Suite("Office days: what is written")
struct OfficeEventTests {
    private let monday = date("2025-11-03")
    private let wednesday = date("2025-11-05")

    @Test("An office day's event, to the letter")
    func officeEvent() throws {
        var person = Person(from: monday) { $0.officeAddress = "1 Main Street" }
        _ = try person.visit("a", monday, "10:00", "12:00")
        _ = try person.visit("b", wednesday, "10:00", "12:00")
        let event = try #require(person[wednesday].event)
        // `printf 09:00-17:00 | sha256sum` begins with these digits.
        #expect(event.uid == "iod-2025-11-05-inOffice-\(Self.usualHash)")
        #expect(
            event.notes == """
                Status: In Office
                Office Hours: 9:00 AM – 5:00 PM
                Total Office Days This Month: 2/15
                UID: iod-2025-11-05-inOffice-\(Self.usualHash)
                """)
        #expect(event.title == "Office Day")
        #expect(event.location == "1 Main Street")
        #expect(event.availability == .free)
        #expect(!event.isAllDay)
    }

    @Test("A remote day's event says its work hours and has no place; an all-day one says no hours")
    func remoteEvent() throws {
        var person = Person(from: wednesday) {
            $0.officeAddress = "1 Main Street"
            $0.availability = .busy
        }
        _ = person.nights(through: wednesday)
        let event = try #require(person[wednesday].event)
        #expect(
            event.notes == """
                Status: Remote
                Work Hours: 9:00 AM – 5:00 PM
                Total Office Days This Month: 0/15
                UID: iod-2025-11-05-remote-\(Self.usualHash)
                """)
        #expect(event.location == nil)
        #expect(event.availability == .busy)
        let writes = person.change(at: person.clock.second(wednesday, "23:59") + 10) { $0.eventType = .allDay }
        #expect(writes.writes.map(\.kind) == [.update])
        let allDay = try #require(person[wednesday].event)
        #expect(allDay.identity == event.identity)
        #expect(allDay.span == .allDay(wednesday))
        #expect(
            allDay.notes == """
                Status: Remote
                Total Office Days This Month: 0/15
                UID: iod-2025-11-05-remote-\(Self.allDayHash)
                """)
    }

    // From coreutils' sha256sum.
    private static let usualHash = "61587c4c"
    private static let allDayHash = "282edca1"

    @Test(
        "Hours are shown on a clock of twelve hours",
        arguments: [
            (0, 720, "12:00 AM – 12:00 PM"), (1, 721, "12:01 AM – 12:01 PM"), (570, 1439, "9:30 AM – 11:59 PM"),
            (779, 780, "12:59 PM – 1:00 PM"),
        ])
    func faces(start: Int, end: Int, shown: String) throws {
        #expect(try #require(OfficeHours(start: start, end: end)).shown == shown)
    }

    @Test("A UID is found again in the notes of an event, and nowhere else")
    func uidInNotes() throws {
        let uid = OfficeEvent.uid(date: wednesday, status: .inOffice, hours: .usual)
        #expect(OfficeEvent.uid(inNotes: "Status: In Office\r\nUID: \(uid)\r\n") == uid)
        #expect(OfficeEvent.uid(inNotes: "UID: iod-2025-13-05-inOffice-12345678") == nil)
        #expect(OfficeEvent.uid(inNotes: "UID: iod-2025-11-05-office-12345678") == nil)
        #expect(OfficeEvent.uid(inNotes: "see \(uid)") == nil)
    }

    @Test("A window of ninety days that is upserted twice writes nothing the second time")
    func twice() throws {
        let clock = try #require(FoundationClock(identifier: "Europe/Berlin"))
        let last = monday.adding(days: 89)
        let visits = try stride(from: monday, through: last, by: 3).map { date in
            try #require(Visit(id: "\(date)", start: clock.second(date, "09:00"), end: clock.second(date, "16:00")))
        }
        var log = OfficeLog(visits: Visits(visits), seed: "a phone")
        var settings = OfficeSettings()
        settings.enabled = true
        settings.deviceTimeZone = "Europe/Berlin"
        _ = log.change(to: settings, now: clock.start(of: monday), .foundation)
        let now = clock.lastMinute(of: last)
        _ = log.upsert(monday...last, now: now, .foundation)
        let events = (monday...last).compactMap { log.day($0, .foundation).event }
        // Thirty office days on every weekday, and the weekdays between them.
        #expect(
            events.count == 30
                + (monday...last).count {
                    $0.dayOfWeek != .sat && $0.dayOfWeek != .sun && ($0.daysSinceEpoch - monday.daysSinceEpoch) % 3 != 0
                })
        let second = log.upsert(monday...last, now: now, .foundation)
        #expect(second.isEmpty)
        #expect(second.dates.isEmpty)
        #expect(second.unchanged == events.count)
    }

    @Test("An earlier office day that comes late raises the counts of the month's later days, and of no other month's")
    func counts() throws {
        let december = date("2025-12-01")
        var person = Person(from: monday)
        _ = try person.visit("a", monday.adding(days: 2), "09:00", "12:00")
        _ = try person.visit("b", december, "09:00", "12:00")
        let writes = try person.visit("c", monday, "09:00", "12:00", now: person.clock.second(december, "13:00"))
        #expect(writes.writes.allSatisfy { $0.event.date < december })
        #expect(person[monday].event?.notes.contains("Month: 1/15") == true)
        #expect(person[monday.adding(days: 1)].event?.notes.contains("Month: 1/15") == true)
        #expect(person[monday.adding(days: 2)].event?.notes.contains("Month: 2/15") == true)
        #expect(person[december].event?.notes.contains("Month: 1/15") == true)
        // The count alone is new: what the past looks like stays.
        #expect(writes.writes.filter { $0.event.date > monday }.allSatisfy { $0.kind == .update })
    }

    @Test("An event that a person edited is never written again, and one that they deleted stays away")
    func hands() throws {
        var person = Person(from: monday)
        _ = person.nights(through: monday.adding(days: 1))
        let tuesday = monday.adding(days: 1)
        _ = person.log.wasEdited(monday)
        _ = person.log.wasDeleted(tuesday)
        let edited = person[monday].event
        let now = person.clock.second(wednesday, "12:00")
        var writes = try person.visit("a", monday, "09:00", "12:00", now: now).writes
        writes += try person.visit("b", tuesday, "09:00", "12:00", now: now).writes
        writes += person.log.say(.remote, on: monday, now: now, person.context).writes
        writes += person.log.upsert(monday...tuesday, now: now, person.context).writes
        #expect(writes.isEmpty)
        #expect(person[monday].event == edited)
        #expect(person[tuesday].event?.state == .removed)
        #expect(person[tuesday].status == .inOffice)
        #expect(person.log.cleanUp().writes.isEmpty)
    }

    @Test("Changed settings re-write from today on, and the past stays")
    func changedSettings() throws {
        var person = Person(from: monday)
        _ = person.nights(through: monday)
        let tuesday = monday.adding(days: 1)
        _ = try person.visit("a", tuesday, "09:00", "12:00")
        _ = person.log.say(.inOffice, on: wednesday, now: person.clock.second(tuesday, "12:30"), person.context)
        let past = person[monday].event
        let writes = person.change(at: person.clock.second(tuesday, "13:00")) {
            $0.officeTitle = "HQ"
            $0.remoteTitle = "Home"
        }
        #expect(writes.writes.map(\.event.date) == [tuesday, wednesday])
        #expect(writes.writes.allSatisfy { $0.kind == .update && $0.event.title == "HQ" })
        #expect(person[monday].event == past)
    }

    @Test("A changed calendar moves what is dated today or later: the new event comes before the old one goes")
    func changedCalendar() throws {
        var person = Person(from: monday) { $0.target = .connection("c1") }
        _ = person.nights(through: monday)
        let tuesday = monday.adding(days: 1)
        _ = try person.visit("a", tuesday, "09:00", "12:00")
        let writes = person.change(at: person.clock.second(tuesday, "13:00")) { $0.target = .connection("c2") }
        #expect(writes.writes.map(\.kind) == [.create, .delete])
        #expect(writes.writes.map(\.target) == [.connection("c2"), .connection("c1")])
        #expect(writes.writes[0].event.identity == writes.writes[1].event.identity)
        #expect(person[monday].event?.target == .connection("c1"))
        // What is past is written where it is.
        let late = try person.visit("b", monday, "09:00", "12:00", now: person.clock.second(tuesday, "14:00"))
        #expect(late.writes.map(\.target) == [.connection("c1"), .connection("c2")])
    }

    @Test("Switching off leaves every event and writes nothing; switching on counts from that day")
    func switchedOff() throws {
        var person = Person(from: monday)
        _ = person.nights(through: monday)
        let off = person.change(at: person.clock.second(wednesday, "08:00")) { $0.enabled = false }
        #expect(off.writes.map(\.event.date) == [monday.adding(days: 1)])
        #expect(person.nights(through: monday.adding(days: 10)).isEmpty)
        #expect(try person.visit("a", wednesday, "09:00", "12:00").isEmpty)
        #expect(person[monday].event?.state == .managed)
        let on = person.change(at: person.clock.second(monday.adding(days: 14), "08:00")) { $0.enabled = true }
        #expect(on.isEmpty)
        _ = person.nights(through: monday.adding(days: 14))
        #expect(person[wednesday].status == .none)
        #expect(person[monday.adding(days: 14)].status == .remote)
    }

    @Test("Without remote events a remote day has its status and no event")
    func noRemoteEvents() throws {
        var person = Person(from: monday) { $0.createRemoteEvents = false }
        #expect(person.nights(through: wednesday).isEmpty)
        #expect(person[wednesday].status == .remote)
        #expect(person[wednesday].event == nil)
        let writes = person.change(at: person.clock.lastMinute(of: wednesday) + 1) { $0.createRemoteEvents = true }
        #expect(writes.writes.map(\.event.date) == [wednesday])
    }

    @Test("A clean-up takes every managed event away and leaves the days")
    func cleanup() throws {
        var person = Person(from: monday)
        _ = person.nights(through: wednesday)
        _ = person.log.wasEdited(wednesday)
        let writes = person.log.cleanUp()
        #expect(writes.writes.map(\.kind) == [.delete, .delete])
        #expect(person[monday].status == .remote)
        #expect(person[monday].event == nil)
        #expect(person[wednesday].event?.state == .unmanaged)
    }

    @Test("A preview shows two weeks as they become when nobody comes, and changes nothing")
    func preview() throws {
        var person = Person(from: monday)
        let visited = try person.visit("a", monday, "09:00", "12:00")
        #expect(visited.writes.count == 1)
        let log = person.log
        let days = person.log.preview(now: person.clock.second(monday, "13:00"), person.context)
        #expect(days.count == 14)
        #expect(days[0].status == .inOffice)
        #expect(
            days.dropFirst().map(\.status) == [
                .remote, .remote, .remote, .remote, .none, .none, .remote, .remote, .remote, .remote, .remote, .none,
                .none,
            ])
        #expect(days[1].event?.title == "Remote Work")
        #expect(days[1].event?.notes.contains("1/15") == true)
        #expect(person.log == log)
        let off = OfficeLog(seed: "x").preview(now: person.clock.second(monday, "13:00"), person.context)
        #expect(off.count { $0.event != nil } == 10)
    }
}
