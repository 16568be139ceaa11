// SPDX-License-Identifier: Apache-2.0

import EventKitStandIn
import KalendsEventKit
import OfficeDays
import Testing

@testable import KalendsCompanion

@Suite("Companion: occurrences that a person changed") struct ChangedOccurrenceTests {
    typealias Phone = EventKitStoreTests.Phone

    private static let first = PhoneWorld.start / 86_400 * 86_400 + 36_000

    /// A phone with visits at 10 UTC on five days; the third is an hour later, and the fourth is left out.
    private static func phone(_ names: StandInDevice.ChangedNames) -> Phone {
        let phone = Phone()
        phone.device.change(calendar: phone.calendar) { $0.changedNames = names }
        let when = StandInDevice.When.timed(start: first, end: first + 3600, zone: "UTC")
        let visits = phone.device.add(.init(title: "Visit", when: when), to: phone.calendar, rules: [rule])
        let moment = first + 2 * 86_400
        phone.device.change(visits) { row in
            row.detached[moment] = .init(
                title: "Visit, later", when: .timed(start: moment + 3600, end: moment + 7200, zone: "UTC"))
            row.leftOut = [moment + 86_400]
        }
        return phone
    }

    private static var rule: EKRecurrenceRule {
        EKRecurrenceRule(
            recurrenceWith: .daily, interval: 1, daysOfTheWeek: nil, daysOfTheMonth: nil, monthsOfTheYear: nil,
            weeksOfTheYear: nil, daysOfTheYear: nil, setPositions: nil, end: EKRecurrenceEnd(occurrenceCount: 5))
    }

    private static func isExpected(_ event: StoreEvent, _ zones: Zones) -> Bool {
        let moment = first + 2 * 86_400
        let moved = event.unit.changed[.instant(moment)]
        return event.unit.changed.count == 1 && moved?.title == "Visit, later"
            && moved.map { zones.window(of: $0.span) } == TimeRange(seconds: moment + 3600..<moment + 7200)
            && event.unit.content.recurrence?.exceptions == [.instant(moment + 86_400)]
    }

    @Test(
        "A moved occurrence is moved and not deleted, however its account names it",
        arguments: StandInDevice.ChangedNames.allCases)
    func moved(_ names: StandInDevice.ChangedNames) async throws {
        let phone = Self.phone(names)
        let found = try await phone.call { store in
            try await store.events(in: EventKitStoreTests.window, calendars: [phone.calendar])
        }
        let event = try #require(found.first)
        #expect(found.count == 1 && Self.isExpected(event, phone.zones), "\(found)")
        let (named, local) = try await phone.call { store in
            (
                try await store.events(externalID: event.key.externalID),
                try await store.event(localID: event.key.localID)
            )
        }
        #expect(named.map(\.unit) == [event.unit])
        #expect(local?.unit == event.unit)
    }

    @Test(
        "A window in which only the moved occurrence is shows the series, once",
        arguments: StandInDevice.ChangedNames.allCases)
    func alone(_ names: StandInDevice.ChangedNames) async throws {
        let phone = Self.phone(names)
        let start = Self.first + 2 * 86_400
        let window = TimeRange(seconds: start..<start + 7200)
        let found = try await phone.call { try await $0.events(in: window, calendars: [phone.calendar]) }
        #expect(found.map(\.unit.content.title) == ["Visit"])
        #expect(found.first?.unit.changed[.instant(start)]?.title == "Visit, later")
    }

    @Test(
        "Of a series that is in a calendar twice, each has its own changed occurrences",
        arguments: [StandInDevice.ChangedNames.shared, .other])
    func twice(_ names: StandInDevice.ChangedNames) async throws {
        let phone = Self.phone(names)
        let visits = try #require(phone.device.events.keys.first)
        let copy = try #require(phone.device.duplicate(visits, into: phone.calendar))
        phone.device.change(copy) { $0.detached = [:] }
        let found = try await phone.call { store in
            try await store.events(in: EventKitStoreTests.window, calendars: [phone.calendar])
        }
        #expect(found.map(\.unit.changed.count).sorted() == [0, 1])
    }

    @Test(
        "A moved occurrence is moved at the server, and nothing of its series is left out there",
        arguments: StandInDevice.ChangedNames.allCases)
    func synced(_ names: StandInDevice.ChangedNames) async throws {
        let world = PhoneWorld(5)
        for calendar in world.device.calendars {
            world.device.change(calendar: calendar.id) { $0.changedNames = names }
        }
        let when = StandInDevice.When.timed(start: Self.first, end: Self.first + 3600, zone: "UTC")
        let visits = world.device.add(.init(title: "Visit", when: when), to: world.home, rules: [Self.rule])
        _ = await world.sync()
        let moment = Self.first + 2 * 86_400
        world.device.change(visits) { row in
            row.detached[moment] = .init(
                title: "Visit, later", when: .timed(start: moment + 3600, end: moment + 7200, zone: "UTC"))
        }
        for _ in 0..<3 {
            world.wait(600)
            _ = await world.sync()
        }
        let living = world.server.all.map(\.event).filter { !$0.isDeleted }
        #expect(living.map(\.title).sorted() == ["Visit", "Visit, later"])
        #expect(living.allSatisfy { $0.recurrence?.exdates?.isEmpty ?? true })
        await world.check(5)
    }
}
