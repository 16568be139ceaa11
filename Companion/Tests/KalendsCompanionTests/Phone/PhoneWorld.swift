// SPDX-License-Identifier: Apache-2.0

import Calendar
import EventKitStandIn
import Foundation
import KalendsEventKit
import OfficeDays
import Testing

@testable import KalendsCompanion

/// A phone, a server, and a person at both, who remembers what they wrote.
final class PhoneWorld {
    static let zone = "Europe/Berlin"
    static let start = 1_780_000_000

    let clock = Shared(start * 1000)
    let device = StandInDevice()
    let server: ModelServer
    let states = MemoryStateStore()
    var store: EventKitStore
    var engine: SyncEngine
    let zones: Zones
    var dice: Dice
    let home: String
    let work: String
    let mirror: String
    let hidden: String
    var trace: [String] = []
    /// Texts that the person wrote and did not remove themselves.
    var texts: Set<String> = []
    private var made = 0

    init(_ seed: Int) {
        dice = Dice(seed)
        device.start(Dice(seed &+ 77))
        device.now = Self.start
        device.zone = Self.zone
        let device = device
        zones = Zones(device: { device.zone })
        home = device.addCalendar("Home")
        work = device.addCalendar("Work", type: seed % 3 == 0 ? .local : .calDAV)
        mirror = device.addCalendar("Kalends")
        hidden = device.addCalendar("Private")
        let names = StandInDevice.ChangedNames.allCases
        for id in [home, work, mirror, hidden] {
            device.change(calendar: id) { $0.changedNames = names[seed % names.count] }
        }
        device.authorization = .fullAccess
        server = ModelServer(clock)
        store = StandInDevice.$current.withValue(device) { [zones] in EventKitStore(zones: zones) }
        let clock = clock
        var settings = CompanionSettings(deviceID: "phone", serverURL: "https://kalends.example")
        settings.ownCalendars = [home, work]
        settings.mirrorCalendar = mirror
        settings.batch = 3
        engine = SyncEngine(
            store: store, service: server, states: states, settings: settings, zones: zones, clock: { clock.now })
    }

    func sync() async -> SyncReport {
        let before = strangers()
        let report = await StandInDevice.$current.withValue(device) { [engine] in await engine.sync() }
        #expect(strangers() == before, "An event without our mark was touched")
        return report
    }

    /// Returns everything that is not ours.
    private func strangers() -> [Int: StandInDevice.Fields] {
        device.events.filter { EventMark(url: $0.value.fields.url) == nil }.mapValues(\.fields)
    }

    func wait(_ seconds: Int) {
        clock.with { $0 += seconds * 1000 }
        device.now = clock.now / 1000
    }

    /// Returns a text that is used nowhere else.
    func text() -> String {
        made += 1
        let text = "t\(made)"
        texts.insert(text)
        return text
    }

    /// Records that the person removed these texts or replaced them.
    func retire(_ old: [String?]) { for case let text? in old { texts.remove(text) } }

    // MARK: Values

    func fields(_ title: String) -> StandInDevice.Fields {
        let day = Self.start / 86_400 + dice.pick(40) - 5
        if dice.isOne(in: 4) {
            return .init(title: title, when: .allDay(first: day, last: day + dice.pick(3)))
        }
        let start = day * 86_400 + (6 + dice.pick(10)) * 3600
        return .init(title: title, when: .timed(start: start, end: start + 3600, zone: Self.zone))
    }

    func rule() -> [EKRecurrenceRule] {
        guard dice.isOne(in: 4) else { return [] }
        let frequency: EKRecurrenceFrequency = dice.isOne(in: 2) ? .daily : .weekly
        return [
            EKRecurrenceRule(
                recurrenceWith: frequency, interval: 1 + dice.pick(2), daysOfTheWeek: nil, daysOfTheMonth: nil,
                monthsOfTheYear: nil, weeksOfTheYear: nil, daysOfTheYear: nil, setPositions: nil,
                end: EKRecurrenceEnd(occurrenceCount: 3 + dice.pick(6)))
        ]
    }

    func fill(_ event: inout RemoteEvent, _ title: String, isSeries: Bool) {
        event.title = title
        let day = Day(daysSinceEpoch: Self.start / 86_400 + dice.pick(40) - 5)
        event.date = day.description
        event.endDate = nil
        if dice.isOne(in: 4) {
            (event.startTime, event.endTime, event.allDay) = (nil, nil, true)
        } else {
            let hour = 6 + dice.pick(10)
            event.startTime = OfficeHours.text(hour * 60)
            event.endTime = OfficeHours.text(hour * 60 + 45)
            event.timeZone = Self.zone
            event.allDay = false
        }
        if isSeries {
            event.recurrence = RemoteRecurrence(
                rrule: "FREQ=WEEKLY;COUNT=\(3 + dice.pick(4))", exdates: [], rdates: [])
        }
    }
}
