// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import OfficeDays
import Testing

@Suite("Office days: what a day is")
struct OfficeDayTests {
    private let monday = date("2026-03-02")

    @Test("An hour of visits in all makes an office day; a second less does not")
    func anHour() throws {
        var person = Person(from: monday)
        _ = try person.visit("a", monday, "10:00", "10:40")
        #expect(person[monday].status == .none)
        let start = person.clock.second(monday, "13:00")
        _ = person.log.put(
            try #require(Visit(id: "b", start: start, end: start + 1199)), now: start + 1199, person.context)
        #expect(person[monday].status == .none)
        #expect(person[monday].officeMinutes == 59)
        let writes = person.log.put(
            try #require(Visit(id: "b", start: start, end: start + 1200)), now: start + 1200, person.context)
        #expect(writes.writes.map(\.kind) == [.create])
        #expect(person[monday].status == .inOffice)
        #expect(person[monday].source == .visits)
        #expect(person[monday].officeMinutes == 60)
    }

    @Test("Visits that overlap count once, and one over midnight counts to each day its part")
    func parts() throws {
        var person = Person(from: monday)
        _ = try person.visit("a", monday, "10:00", "10:50")
        _ = try person.visit("b", monday, "10:20", "10:55")
        #expect(person[monday].officeMinutes == 55)
        let tuesday = monday.adding(days: 1)
        let visit = try #require(
            Visit(id: "n", start: person.clock.second(monday, "23:58"), end: person.clock.second(tuesday, "01:30")))
        _ = person.log.put(visit, now: visit.end, person.context)
        #expect(person[monday].officeMinutes == 57)
        #expect(person[tuesday].officeMinutes == 90)
        #expect(person[monday].status == .remote)
        #expect(person[tuesday].status == .inOffice)
    }

    @Test("At 23:59 a tracked day without an office day becomes remote, and not a second earlier")
    func endOfDay() {
        var person = Person(from: monday)
        let minute = person.clock.second(monday, "23:59")
        #expect(person.log.advance(to: minute - 1, person.context).isEmpty)
        #expect(person.log.advance(to: minute, person.context).writes.map(\.kind) == [.create])
        #expect(person[monday].status == .remote)
        #expect(person[monday].source == .endOfDay)
    }

    @Test("Weekends and holidays do not become remote days, and an hour of visits makes them office days")
    func untracked() throws {
        let holiday = date("2026-03-04")
        let saturday = date("2026-03-07")
        var person = Person(from: monday) { $0.holidays = [holiday] }
        _ = try person.visit("s", saturday, "10:00", "12:00")
        _ = person.nights(through: date("2026-03-08"))
        let found = (monday...date("2026-03-08")).map { person[$0].status }
        #expect(found == [.remote, .remote, .none, .remote, .remote, .inOffice, .none])
        _ = try person.visit(
            "h", holiday, "10:00", "12:00", now: person.clock.second(date("2026-03-09"), "08:00"))
        #expect(person[holiday].status == .inOffice)
    }

    @Test("Nights that were missed are made up when the log is asked again")
    func missedNights() {
        var person = Person(from: monday)
        let writes = person.nights(through: date("2026-03-13"))
        #expect(writes.writes.count == 10)
        #expect(writes.writes.map(\.event.date) == writes.writes.map(\.event.date).sorted())
    }

    @Test("A visit that comes late swaps remote for office in the same event, and its going swaps back")
    func lateVisit() throws {
        var person = Person(from: monday)
        _ = person.nights(through: monday)
        let remote = try #require(person[monday].event)
        #expect(remote.title == "Remote Work")
        let later = person.clock.second(date("2026-03-03"), "08:00")
        let writes = try person.visit("a", monday, "10:00", "12:00", now: later)
        #expect(writes.writes.map(\.kind) == [.update])
        let office = try #require(person[monday].event)
        #expect(office.title == "Office Day")
        #expect(office.identity == remote.identity)
        #expect(office.uid != remote.uid)
        #expect(office.revision > remote.revision)
        _ = person.log.removeVisit("a", now: later + 60, person.context)
        #expect(person[monday].status == .remote)
    }

    @Test("A person's word is over the visits, on any date, until they take it back")
    func word() throws {
        var person = Person(from: monday)
        _ = try person.visit("a", monday, "10:00", "12:00")
        let now = person.clock.second(monday, "13:00")
        for status in [DayStatus.remote, .none, .inOffice] {
            _ = person.log.say(status, on: monday, now: now, person.context)
            #expect(person[monday].status == status)
            #expect(person[monday].source == .person)
            #expect((person[monday].event == nil) == (status == .none))
        }
        _ = person.log.say(.remote, on: monday, now: now, person.context)
        _ = person.log.say(nil, on: monday, now: now, person.context)
        #expect(person[monday].status == .inOffice)
        #expect(person[monday].source == .visits)
        let before = date("2026-02-20")
        _ = person.log.say(.inOffice, on: before, now: now, person.context)
        #expect(person[before].event?.notes.contains("1/15") == true)
        _ = person.log.say(nil, on: before, now: now, person.context)
        #expect(person[before] == OfficeDay(date: before, status: .none, source: nil, officeMinutes: 0, event: nil))
    }

    @Test("Days count from the one on which office days were switched on")
    func counting() throws {
        var person = Person(from: monday)
        let before = date("2026-02-27")
        let writes = try person.visit("a", before, "09:00", "17:00", now: person.clock.second(monday, "10:00"))
        #expect(writes.isEmpty)
        #expect(person[before].status == .none)
        #expect(person[before].officeMinutes == 480)
    }

    @Test("A day is as long as its zone makes it: 23 hours, 25 hours, without midnight")
    func daylightSaving() throws {
        for (zone, text, hours) in [
            ("America/New_York", "2026-03-08", 23), ("America/New_York", "2026-11-01", 25),
            ("America/Havana", "2026-03-08", 23), ("America/Santiago", "2026-09-06", 23),
            ("Australia/Lord_Howe", "2026-04-05", 24), ("America/Nuuk", "2025-03-29", 23),
        ] {
            let date = try #require(CivilDate(iso: text))
            var person = Person(zone, from: date.adding(days: -3))
            let now = person.clock.start(of: date.adding(days: 2))
            let visit = try #require(
                Visit(id: "all", start: person.clock.start(of: date.adding(days: -1)), end: now))
            _ = person.log.put(visit, now: now, person.context)
            let expected = hours == 24 ? 24 * 60 + 30 : hours * 60
            #expect(person[date].officeMinutes == expected, "\(zone) \(date)")
            #expect(person[date].status == .inOffice)
        }
    }

    @Test("The zone is the device's, or the home office's when the settings say so")
    func zoneModes() throws {
        var person = Person("Asia/Tokyo", from: monday) {
            $0.timeZoneMode = .homeOffice
            $0.homeOfficeTimeZone = "America/New_York"
        }
        // Nine in the evening in New York is the next day in Tokyo.
        let newYork = try #require(FoundationClock(identifier: "America/New_York"))
        let start = newYork.second(date("2026-03-03"), "21:00")
        _ = person.log.put(
            try #require(Visit(id: "a", start: start, end: start + 7200)), now: start + 7200, person.context)
        #expect(person[date("2026-03-03")].status == .inOffice)
        let event = try #require(person[date("2026-03-03")].event)
        #expect(
            event.span
                == .timed(
                    start: newYork.second(date("2026-03-03"), "09:00"),
                    end: newYork.second(date("2026-03-03"), "17:00"), zone: "America/New_York"))
    }

    @Test("A decided day keeps its zone and its hours when the settings change afterwards")
    func decidedDays() throws {
        var person = Person(from: monday)
        _ = try person.visit("a", monday, "10:00", "12:00")
        let before = try #require(person[monday].event)
        let writes = person.change(at: person.clock.second(date("2026-03-04"), "08:00")) {
            $0.officeTitle = "HQ"
            $0.deviceTimeZone = "Europe/Berlin"
            $0.officeHours = hours(480, 960)
        }
        #expect(writes.writes.allSatisfy { $0.event.date > monday })
        #expect(person[monday].event == before)
        #expect(person[monday].officeMinutes == 120)
    }
}
