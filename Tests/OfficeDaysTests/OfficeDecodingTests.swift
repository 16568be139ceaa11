// SPDX-License-Identifier: Apache-2.0

import Calendar
import TestSupport
import Testing

@testable import OfficeDays

@Suite("Office days, read from JSON")
struct OfficeDecodingTests {
    @Test("Foundation's decoder reads the same settings, days and logs, and refuses the same changes of them")
    func same() throws {
        var settings = OfficeSettings()
        settings.target = .connection("c")
        (settings.deviceTimeZone, settings.officeAddress) = ("Europe/Vienna", "1 \"A\"")
        settings.holidays = [CivilDate(daysSinceEpoch: 20_000)]
        settings.trackedDays = [.sun]
        settings.eventType = .allDay
        var device = OfficeSettings()
        device.target = .device
        var day = DecidedDay(
            status: .inOffice, source: .visits, zone: "UTC", counts: true, look: DayLook(device), revision: 3)
        day.event = OfficeEvent(
            uid: "u", identity: "i", date: CivilDate(daysSinceEpoch: 1), title: "t",
            span: .timed(start: -1, end: 2, zone: "UTC"), availability: .busy, location: nil, notes: "", target: .feed)
        var other = day
        other.event?.span = .allDay(CivilDate(daysSinceEpoch: 2))
        other.look = DayLook(settings)
        let visit = try #require(Visit(id: "v", start: 1, end: 2))
        let log = OfficeLog(
            settings: settings, countsFrom: CivilDate(daysSinceEpoch: 1), nightsThrough: nil, visits: Visits([visit]),
            words: [CivilDate(daysSinceEpoch: 3): .remote, CivilDate(daysSinceEpoch: 4): .none],
            days: [CivilDate(daysSinceEpoch: 5): day, CivilDate(daysSinceEpoch: -5): other], seed: "s")
        for outcome in [
            try DecodingOracle.compare([settings, device, OfficeSettings()]), try DecodingOracle.compare([day, other]),
            try DecodingOracle.compare([log], changes: 1000),
        ] {
            #expect(outcome.differences == [])
            #expect(outcome.read > 0 && outcome.refused > 0)
        }
    }
}
