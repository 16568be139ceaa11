// SPDX-License-Identifier: Apache-2.0

import Calendar
import EventKitStandIn
import Foundation
import KalendsCompanion
import KalendsEventKit
import OfficeDays
import Testing

@Suite("Companion: office days on a phone by itself") struct PhoneOfficeDayTests {
    actor Memory: PhoneOfficeMemory {
        private var state: PhoneOfficeState?

        func load() -> PhoneOfficeState? { state }
        func save(_ state: PhoneOfficeState) { self.state = state }
        func forgetPlaces() { state = state.map { PhoneOfficeState(log: $0.log, calendarID: $0.calendarID) } }
    }

    /// A phone on Monday, 2026-06-01, at eight in the morning in Berlin.
    struct Phone {
        let device = StandInDevice()
        let clock = Shared(1_780_293_600)
        let memory = Memory()
        let calendar: String
        let other: String
        let days: PhoneOfficeDays

        init(memory: (any PhoneOfficeMemory)? = nil) {
            device.zone = "Europe/Berlin"
            device.authorization = .fullAccess
            calendar = device.addCalendar("Work")
            other = device.addCalendar("Other")
            let (device, clock) = (device, clock)
            let zones = Zones(device: { device.zone })
            let store = StandInDevice.$current.withValue(device) { EventKitStore(zones: zones) }
            days = PhoneOfficeDays(
                store: store, memory: memory ?? self.memory, zones: zones, seed: "s", clock: { clock.now })
        }

        func call<Value: Sendable>(_ body: @Sendable (PhoneOfficeDays) async throws -> Value) async throws -> Value {
            device.now = clock.now
            return try await StandInDevice.$current.withValue(device) { try await body(days) }
        }

        func start() async throws {
            _ = try await call { try await $0.choose(calendar: calendar) }
            var settings = OfficeSettings()
            settings.enabled = true
            _ = try await call { [settings] in try await $0.change(settings) }
        }

        /// Returns a visit of some hours from nine on, some days after the start.
        func visit(_ day: Int, hours: Int = 3) throws -> Visit {
            let start = 1_780_297_200 + day * 86_400
            return try #require(Visit(id: "v\(day)", start: start, end: start + hours * 3600))
        }

        var titles: [String] { device.events.sorted { $0.key < $1.key }.map(\.value.fields.title) }
    }

    @Test("What was chosen, decided and written outlives the app, in a file of its owner's")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "office-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: url) }
        let phone = Phone(memory: FilePhoneOfficeMemory(url))
        try await phone.start()
        for day in 0..<5 { _ = try await phone.call { try await $0.put(phone.visit(day)) } }
        phone.clock.with { $0 += 30 * 86_400 }
        _ = try await phone.call { try await $0.advance() }
        let before = phone.device.events.mapValues(\.fields)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(before.count > 15 && mode == 0o600)
        // The app starts again, with nothing but the file.
        let (device, clock) = (phone.device, phone.clock)
        let zones = Zones(device: { device.zone })
        func again() async throws -> PhoneOfficeReport {
            try await StandInDevice.$current.withValue(device) {
                let days = PhoneOfficeDays(
                    store: EventKitStore(zones: zones), memory: FilePhoneOfficeMemory(url), zones: zones, seed: "t",
                    clock: { clock.now })
                return try await days.advance()
            }
        }
        let report = try await again()
        #expect(report.writes == 0 && report.unchanged == before.count)
        #expect(device.events.mapValues(\.fields) == before)
        // A file that differs from what was written is no reason to start over, which would create duplicates.
        try Data("{".utf8).write(to: url)
        await #expect(throws: (any Error).self) { try await again() }
        #expect(device.events.mapValues(\.fields) == before)
        try await FilePhoneOfficeMemory(url).clear()
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test("A visit of an hour makes an event, nights make remote days, and a second time writes nothing")
    func ninetyDays() async throws {
        let phone = Phone()
        try await phone.start()
        for day in stride(from: 0, to: 90, by: 3) { _ = try await phone.call { try await $0.put(phone.visit(day)) } }
        phone.clock.with { $0 += 90 * 86_400 }
        _ = try await phone.call { try await $0.advance() }
        let count = phone.device.events.count
        let inOffice = phone.titles.count { $0 == "Office Day" }
        #expect(inOffice == 30)
        #expect(phone.titles.count { $0 == "Remote Work" } > 30)
        let again = try await phone.call { try await $0.advance() }
        #expect(again.writes == 0 && again.unchanged == count && again.problem == nil)
        let uids = phone.device.events.values.compactMap { OfficeEvent.uid(inNotes: $0.fields.notes ?? "") }
        #expect(Set(uids).count == count && uids.count == count)
        #expect(phone.device.events.values.allSatisfy { $0.fields.isFree })
    }

    @Test("A lost list of events makes no doubles, and neither does a full sync")
    func lost() async throws {
        let phone = Phone()
        try await phone.start()
        for day in 0..<5 { _ = try await phone.call { try await $0.put(phone.visit(day)) } }
        let before = phone.device.events.mapValues(\.fields)
        await phone.memory.forgetPlaces()
        phone.device.fullSync()
        _ = try await phone.call { try await $0.advance() }
        #expect(phone.device.events.mapValues(\.fields) == before)
        phone.device.fullSync()
        let report = try await phone.call { try await $0.advance() }
        #expect(report.writes == 0 && phone.device.events.count == 5)
    }

    @Test("What a person edited is never written again, and what they deleted stays away")
    func unmanaged() async throws {
        let phone = Phone()
        try await phone.start()
        for day in 0..<3 { _ = try await phone.call { try await $0.put(phone.visit(day)) } }
        let numbers = phone.device.events.keys.sorted()
        phone.device.change(numbers[0]) { $0.fields.title = "With Anna" }
        phone.device.delete(numbers[1])
        _ = try await phone.call { try await $0.advance() }
        phone.clock.with { $0 += 400 }
        _ = try await phone.call { try await $0.advance() }
        var settings = OfficeSettings()
        settings.enabled = true
        settings.officeTitle = "At the office"
        _ = try await phone.call { [settings] in try await $0.change(settings) }
        #expect(phone.titles == ["With Anna", "At the office"])
        let first = try #require(CivilDate(iso: "2026-06-01"))
        let dates = first...first.adding(days: 2)
        let states = try await phone.call { try await $0.days(dates).map { $0.event?.state } }
        #expect(states == [.unmanaged, .removed, .managed])
    }

    @Test("Another calendar gets the future, the past stays, and cleaning up takes managed events only")
    func anotherCalendar() async throws {
        let phone = Phone()
        try await phone.start()
        for day in 0..<4 { _ = try await phone.call { try await $0.put(phone.visit(day)) } }
        phone.clock.with { $0 += 2 * 86_400 }
        let report = try await phone.call { try await $0.choose(calendar: phone.other) }
        #expect(report.created == 2 && report.deleted == 2)
        let calendars = phone.device.events.values.map(\.calendar)
        #expect(calendars.count { $0 == phone.calendar } == 2 && calendars.count { $0 == phone.other } == 2)
        let stranger = phone.device.add(
            .init(title: "Dentist", when: .timed(start: 1_780_300_000, end: 1_780_303_600, zone: "UTC")),
            to: phone.other)
        _ = try await phone.call { try await $0.cleanUp() }
        #expect(phone.device.events.keys.sorted() == [stranger])
    }

    @Test("Without permission, calendar or the right to write nothing is written or taken for deleted")
    func paused() async throws {
        let phone = Phone()
        try await phone.start()
        _ = try await phone.call { try await $0.put(phone.visit(0)) }
        phone.device.authorization = .writeOnly
        let revoked = try await phone.call { try await $0.put(phone.visit(1)) }
        #expect(revoked.problem == .permissionRevoked)
        phone.device.authorization = .fullAccess
        phone.device.change(calendar: phone.calendar) { $0.isHidden = true }
        for _ in 0..<3 {
            phone.clock.with { $0 += 1000 }
            let gone = try await phone.call { try await $0.advance() }
            #expect(gone.problem == .calendarGone)
        }
        phone.device.change(calendar: phone.calendar) { ($0.isHidden, $0.canWrite) = (false, false) }
        let readOnly = try await phone.call { try await $0.advance() }
        #expect(readOnly.problem == .calendarReadOnly)
        phone.device.change(calendar: phone.calendar) { $0.canWrite = true }
        phone.device.failingCommits = 1
        let report = try await phone.call { try await $0.advance() }
        #expect(report.problem == nil)
        _ = try await phone.call { try await $0.advance() }
        #expect(phone.titles == ["Office Day", "Office Day"])
    }
}
