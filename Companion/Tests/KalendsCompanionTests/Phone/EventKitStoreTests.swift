// SPDX-License-Identifier: Apache-2.0

import Calendar
import EventKitStandIn
import Foundation
import KalendsCompanion
import KalendsEventKit
import OfficeDays
import Testing

@Suite("Companion: EventKit's manners") struct EventKitStoreTests {
    /// A phone in Berlin on 2026-05-28 with one calendar.
    struct Phone {
        let device = StandInDevice()
        let calendar: String
        let store: EventKitStore
        let zones: Zones

        init() {
            device.zone = "Europe/Berlin"
            device.authorization = .fullAccess
            device.now = PhoneWorld.start
            calendar = device.addCalendar("Home")
            let device = device
            let zones = Zones(device: { device.zone })
            self.zones = zones
            store = StandInDevice.$current.withValue(device) { EventKitStore(zones: zones) }
        }

        func call<Value: Sendable>(_ body: @Sendable (EventKitStore) async throws -> Value) async rethrows -> Value {
            try await StandInDevice.$current.withValue(device) { try await body(store) }
        }
    }

    static let window = TimeRange(seconds: PhoneWorld.start - 90 * 86_400..<PhoneWorld.start + 270 * 86_400)

    @Test(
        "Without full access nothing is read or written, and an answer is no empty calendar", arguments: [0, 1, 2, 4])
    func permission(raw: Int) async throws {
        let phone = Phone()
        phone.device.authorization = EKAuthorizationStatus(rawValue: raw) ?? .denied
        #expect(await phone.call { await $0.authorization() } != .fullAccess)
        await #expect(throws: StoreFailure.notAuthorized) {
            _ = try await phone.call { try await $0.events(in: Self.window, calendars: [phone.calendar]) }
        }
        await #expect(throws: StoreFailure.notAuthorized) { _ = try await phone.call { try await $0.calendars() } }
    }

    @Test("Asking gives what the person answers")
    func asking() async {
        let phone = Phone()
        phone.device.authorization = .notDetermined
        phone.device.willAnswer = .denied
        #expect(await phone.call { await $0.requestAccess() } == .denied)
    }

    @Test("A window of more than four years is looked at whole, in pieces")
    func fourYears() async throws {
        let phone = Phone()
        let day = PhoneWorld.start / 86_400
        for year in 0..<6 {
            phone.device.add(
                .init(title: "y\(year)", when: .allDay(first: day + year * 365, last: day + year * 365)),
                to: phone.calendar)
        }
        let six = TimeRange(seconds: PhoneWorld.start - 86_400..<PhoneWorld.start + 6 * 366 * 86_400)
        let atOnce = try await phone.call { try await $0.events(in: six, calendars: [phone.calendar]) }
        var inPieces: Set<EventKey> = []
        for piece in six.years {
            let found = try await phone.call { try await $0.events(in: piece, calendars: [phone.calendar]) }
            inPieces.formUnion(found.map(\.key))
        }
        #expect(atOnce.count < 6)
        #expect(inPieces.count == 6)
    }

    @Test("Whole days keep their dates when the device goes to another zone", arguments: [1, 2, 5])
    func zoneChange(days: Int) async throws {
        let phone = Phone()
        let first = PhoneWorld.start / 86_400
        phone.device.add(.init(title: "Fair", when: .allDay(first: first, last: first + days - 1)), to: phone.calendar)
        var spans: Set<EventSpan> = []
        for zone in ["Europe/Berlin", "Pacific/Auckland", "America/Los_Angeles", "Asia/Kathmandu"] {
            phone.device.zone = zone
            let found = try await phone.call { try await $0.events(in: Self.window, calendars: [phone.calendar]) }
            spans.formUnion(found.map(\.unit.content.span))
        }
        let day = Day(daysSinceEpoch: first)
        #expect(spans == [.allDay(first: day, last: day.adding(days: days - 1))])
    }

    @Test("A series goes in and comes back with what was changed and left out, and an occurrence can come back")
    func series() async throws {
        let phone = Phone()
        let day = Day(daysSinceEpoch: PhoneWorld.start / 86_400)
        let span = EventSpan.timed(
            start: WallTime(day, second: 36_000), end: WallTime(day, second: 39_600), zone: "Europe/Berlin")
        func moment(_ week: Int) -> EventMoment {
            .instant(phone.zones.instant(WallTime(day.adding(days: 7 * week), second: 36_000), in: "Europe/Berlin"))
        }
        var unit = EventUnit(
            EventContent(
                title: "Choir", span: span,
                recurrence: EventRecurrence(rule: "FREQ=WEEKLY;COUNT=6", exceptions: [moment(2)])))
        var moved = EventContent(title: "Choir, late", span: span)
        moved.span = .timed(
            start: WallTime(day.adding(days: 8), second: 40_000), end: WallTime(day.adding(days: 8), second: 43_600),
            zone: "Europe/Berlin")
        unit.changed[moment(1)] = moved
        let draft = EventDraft(key: nil, calendarID: phone.calendar, unit: unit, url: "https://x.example/")
        let saved = try await phone.call { store in
            let ticket = try await store.save(draft)
            return try await store.commit()[ticket]?.get()
        }
        #expect(saved?.unit == unit)
        let key = try #require(saved?.key)
        unit.content.recurrence?.exceptions = [moment(4)]
        unit.content.title = "Choir again"
        let other = EventDraft(key: key, calendarID: phone.calendar, unit: unit, url: nil)
        let changed = try await phone.call { store in
            let ticket = try await store.save(other)
            return try await store.commit()[ticket]?.get()
        }
        #expect(changed?.unit == unit)
        #expect(changed?.url == "https://x.example/")
        let all = try await phone.call { try await $0.events(in: Self.window, calendars: [phone.calendar]) }
        #expect(all.map(\.unit) == [unit])
    }

    @Test("A new series that fails while it gets its occurrences is removed, and the others of its commit are saved")
    func failingSeries() async throws {
        let phone = Phone()
        let day = Day(daysSinceEpoch: PhoneWorld.start / 86_400)
        let span = EventSpan.allDay(first: day, last: day)
        let series = EventContent(
            title: "S", span: span,
            recurrence: EventRecurrence(rule: "FREQ=DAILY;COUNT=4", exceptions: [.day(day.adding(days: 1))]))
        // The first commit stores all three, and the second one the occurrences of the series.
        phone.device.failCommit(2)
        let contents = [EventContent(title: "A", span: span), series, EventContent(title: "B", span: span)]
        let saved = try await phone.call { store in
            var tickets: [SaveTicket] = []
            for content in contents {
                tickets.append(
                    try await store.save(
                        EventDraft(key: nil, calendarID: phone.calendar, unit: EventUnit(content), url: nil)))
            }
            let saved = try await store.commit()
            return tickets.map { saved[$0] }
        }
        #expect(try saved[0]?.get().unit == EventUnit(contents[0]))
        #expect(throws: StoreFailure.temporary("eventKit")) { try saved[1]?.get() }
        #expect(try saved[2]?.get().unit == EventUnit(contents[2]))
        #expect(phone.device.events.values.map(\.fields.title).sorted() == ["A", "B"])
    }

    @Test("What somebody deleted is not made again by saving it, and what is not committed is not seen")
    func gone() async throws {
        let phone = Phone()
        let day = Day(daysSinceEpoch: PhoneWorld.start / 86_400)
        let unit = EventUnit(EventContent(title: "A", span: .allDay(first: day, last: day)))
        let draft = EventDraft(key: nil, calendarID: phone.calendar, unit: unit, url: nil)
        _ = try await phone.call { try await $0.save(draft) }
        let unseen = try await phone.call { try await $0.events(in: Self.window, calendars: [phone.calendar]) }
        #expect(unseen.isEmpty)
        _ = try await phone.call { try await $0.commit() }
        let seen = try await phone.call { try await $0.events(in: Self.window, calendars: [phone.calendar]) }
        let key = try #require(seen.first?.key)
        for number in phone.device.events.keys { phone.device.delete(number) }
        let late = EventDraft(key: key, calendarID: phone.calendar, unit: unit, url: nil)
        await #expect(throws: StoreFailure.eventGone) { _ = try await phone.call { try await $0.save(late) } }
        #expect(phone.device.events.isEmpty)
    }

    @Test("What is planned goes out as titles and times, each occurrence once, and nothing of ours")
    func planned() async throws {
        let phone = Phone()
        let start = PhoneWorld.start / 3600 * 3600
        let rule = EKRecurrenceRule(
            recurrenceWith: .daily, interval: 1, daysOfTheWeek: nil, daysOfTheMonth: nil, monthsOfTheYear: nil,
            weeksOfTheYear: nil, daysOfTheYear: nil, setPositions: nil, end: EKRecurrenceEnd(occurrenceCount: 3))
        phone.device.add(
            .init(
                title: "Standup", location: "Room 7", notes: "secret",
                when: .timed(start: start, end: start + 900, zone: "Europe/Berlin")), to: phone.calendar, rules: [rule])
        phone.device.add(
            .init(
                title: "Ours", url: "https://k.example/app/#kalends-event/u/e/0",
                when: .timed(start: start, end: start + 900, zone: "UTC")), to: phone.calendar)
        phone.device.add(
            .init(title: "  ", when: .allDay(first: start / 86_400, last: start / 86_400)), to: phone.calendar)
        phone.device.add(
            .init(title: "Far", when: .allDay(first: start / 86_400 + 32, last: start / 86_400 + 32)),
            to: phone.calendar)
        let service = PlannedService()
        let upload = PlannedUpload(store: phone.store, service: service, zones: phone.zones)
        _ = try await phone.call { _ in try await upload.run(calendars: [phone.calendar], now: start * 1000) }
        let body = try #require(service.bodies.now.first)
        #expect(body.events.map(\.title).sorted() == ["Planned", "Standup", "Standup", "Standup"])
        #expect(body.events.allSatisfy { $0.sourceCalendarName == "Home" && $0.startAt.hasSuffix("+02:00") })
        let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("Room 7") && !text.contains("Ours"))
        phone.device.change(calendar: phone.calendar) { $0.isHidden = true }
        await #expect(throws: PlannedFailure.self) {
            _ = try await phone.call { _ in try await upload.run(calendars: [phone.calendar], now: start * 1000) }
        }
        #expect(service.bodies.now.count == 1)
    }
}
