// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import Foundation
import OfficeDays
import Testing

@Suite("Office days: settings")
struct OfficeSettingsTests {
    private func faults(_ change: (inout OfficeSettings) -> Void) -> [String] {
        var settings = OfficeSettings()
        change(&settings)
        return settings.trimmed().faults { FoundationClock(identifier: $0) != nil }.map(\.pointer)
    }

    @Test("Settings as they come are the defaults, and are good")
    func usual() {
        let settings = OfficeSettings()
        #expect(!settings.enabled)
        #expect(settings.officeTitle == "Office Day")
        #expect(settings.remoteTitle == "Remote Work")
        #expect(settings.availability == .free)
        #expect(settings.eventType == .timed)
        #expect(settings.officeHours.spelled == "09:00-17:00")
        #expect(settings.trackedDays == [.mon, .tue, .wed, .thu, .fri])
        #expect(settings.monthlyGoal == 15)
        #expect(settings.createRemoteEvents)
        #expect(faults { _ in } == [])
    }

    @Test("A title has 1 to 50 characters as a person counts them, trimmed")
    func titles() {
        let family = "👨‍👩‍👧‍👦"
        #expect(faults { $0.officeTitle = String(repeating: family, count: 50) } == [])
        #expect(faults { $0.officeTitle = String(repeating: family, count: 51) } == ["/officeTitle"])
        #expect(faults { $0.remoteTitle = String(repeating: "e\u{301}", count: 50) } == [])
        #expect(faults { $0.remoteTitle = "  " + String(repeating: "x", count: 50) + "\n " } == [])
        #expect(faults { $0.remoteTitle = " \u{3000}\t " } == ["/remoteTitle"])
        var settings = OfficeSettings()
        settings.officeTitle = "  At the office \n"
        #expect(settings.trimmed().officeTitle == "At the office")
    }

    @Test("A zone is one that is known, and the home office's is needed in its mode")
    func zones() {
        #expect(faults { $0.deviceTimeZone = "Mars/Olympus" } == ["/deviceTimeZone"])
        #expect(faults { $0.homeOfficeTimeZone = "Nowhere" } == ["/homeOfficeTimeZone"])
        #expect(faults { $0.timeZoneMode = .homeOffice } == ["/homeOfficeTimeZone"])
    }

    @Test(
        "Coordinates are not an address",
        arguments: [
            "47.3769, 8.5417", "47.3769,8.5417", " -33.8688 151.2093 ", "47.3769° N, 8.5417° E", "geo:47.3,8.5",
        ])
    func coordinates(text: String) { #expect(faults { $0.officeAddress = text } == ["/officeAddress"]) }

    @Test(
        "Words and house numbers are an address",
        arguments: ["1 Main Street", "12, 14", "Suite 4.5, Main Street 3", ""])
    func addresses(text: String) { #expect(faults { $0.officeAddress = text } == []) }

    @Test("Hours are on a clock, and end later than they start on the same day")
    func hours() {
        #expect(OfficeHours.minutes("09:00") == 540)
        for text in ["9:00", "24:00", "09:60", "0900", "09:00 ", "٠٩:٠٠", ""] {
            #expect(OfficeHours.minutes(text) == nil, "\(text)")
        }
        #expect(OfficeHours(start: 540, end: 540) == nil)
        #expect(OfficeHours(start: 540, end: 1440) == nil)
    }

    @Test("A log that was encoded and read again is the same log")
    func coding() throws {
        var person = Person(from: date("2026-03-02")) {
            $0.target = .connection("c")
            $0.holidays = [date("2026-12-25")]
        }
        _ = person.nights(through: date("2026-03-20"))
        _ = person.log.say(
            .remote, on: date("2026-03-21"), now: person.clock.second(date("2026-03-21"), "10:00"),
            person.context)
        let read = try JSONDecoder().decode(OfficeLog.self, from: JSONEncoder().encode(person.log))
        #expect(read == person.log)
    }

    @Test("Dates are those of the calendar, there and back")
    func dates() throws {
        for number in stride(from: -800_000, through: 2_900_000, by: 997) {
            let date = CivilDate(daysSinceEpoch: number)
            if (1...9999).contains(date.year) { #expect(CivilDate(iso: date.description) == date) }
        }
        #expect(CivilDate(iso: "2026-02-29") == nil)
        #expect(CivilDate(iso: "2024-02-29")?.dayOfWeek == .thu)
        #expect(CivilDate(iso: "2024-02-10")?.endOfMonth.description == "2024-02-29")
        for text in ["2026-1-01", "20260101", "2026-00-01", "0000-01-01", "2026-01-01T", ""] {
            #expect(CivilDate(iso: text[...]) == nil, "\(text)")
        }
    }

    @Test("A banner says what is wrong and has an action, and nothing is active beside it")
    func banners() {
        let revoked = OfficeBanner(.permissionRevoked)
        #expect(revoked.text == "Calendar sync paused — permission revoked. Fix")
        #expect(revoked.action == .openSettings)
        #expect(OfficeBanner(.calendarGone).action == .chooseCalendar)
        #expect(OfficeBanner(.calendarReadOnly).action == .chooseCalendar)
        #expect(
            Set(OfficeProblem.allCases.map { ByteString(OfficeBanner($0).text) }).count == OfficeProblem.allCases.count)
        var settings = OfficeSettings()
        #expect(OfficeState(settings, problem: .calendarGone) == .off)
        settings.enabled = true
        #expect(OfficeState(settings, problem: .calendarGone) == .paused)
        #expect(OfficeState(settings, problem: nil) == .active)
    }
}
