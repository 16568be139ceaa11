// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays
import PhoneTexts
import TestSupport
import Testing

@testable import KalendsCompanion

@Suite("Companion: what it reads from JSON")
struct FileDecodingTests {
    private static func check<Value: Codable & Equatable>(_ samples: [Value]) throws {
        let outcome = try DecodingOracle.compare(samples)
        #expect(outcome.differences == [])
        #expect(outcome.read >= samples.count && outcome.refused > 0)
    }

    @Test("Foundation's decoder reads the same files, and refuses the same changes of them")
    func files() throws {
        let day = Day(daysSinceEpoch: 20_000)
        let timed = EventUnit(
            EventContent(
                title: "T \"x\"",
                span: .timed(start: WallTime(day, second: 1), end: WallTime(day, second: 2), zone: nil),
                recurrence: EventRecurrence(rule: nil, exceptions: [.instant(-1)], additions: [.day(day)])))
        let allDay = EventUnit(EventContent(title: "", span: .allDay(first: day, last: day), notes: "\n"))
        let key = EventKey(calendarID: "c", localID: "l", externalID: "e")
        var link = Link(number: 1, origin: .server)
        (link.key, link.local, link.remote, link.sentAs, link.missingSince) = (key, timed, allDay, ["a"], 5)
        link.refused = Link.Refused(unit: timed, reasons: ["r"])
        var remote = RemoteEvent(id: "i", title: "t", date: "2026-01-01", updatedAt: 7)
        remote.recurrence = RemoteRecurrence(rrule: "FREQ=DAILY", exdates: ["2026-01-02"])
        var state = EngineState()
        (state.events, state.links, state.deletions) = ([remote], [link, Link(number: 2, origin: .calendar)], [1, 2])
        state.journal = [JournalEntry(at: 1, link: 1, action: .putBack, before: timed, after: nil)]
        (state.calendarTitles["c"], state.calendarAliases["ë/~"]) = ("Home", "c")
        try Self.check([state, EngineState()])
        var offices = PhoneOfficeState(log: OfficeLog(seed: "s"), calendarID: "c")
        let placed = PhoneOfficeState.Placed(
            key: key, unit: timed, meant: allDay, uid: "u", isBusy: true, missingSince: nil)
        (offices.placed[day], offices.leaving) = (placed, [placed])
        try Self.check([offices])
        var status = SyncStatus()
        (status.lastSyncAt, status.lastSyncStatus, status.lastError, status.pause) = (1, .partial, .someFailed, .held)
        try Self.check([status, SyncStatus()])
        try Self.check([ConnectorRecord(installation: "i", read: true, write: false)])
        try Self.check([[ByteString("api"): 3, ByteString("é"): 4]])
        try Self.check(["an-installation"])
        try Self.check([try ServerAddress("https://calendar.example.org/base")])
    }

    @Test("Foundation's decoder reads the same answers of a server, and refuses the same changes of them")
    func answers() throws {
        var event = RemoteEvent(id: "i", title: "t", date: "2026-01-01", updatedAt: 7)
        (event.allDay, event.turn, event.deletedAt, event.description) = (true, 2, 3, "\u{1}é")
        try Self.check([ChangePage(events: [event], serverTime: 9, nextSince: 7, hasMore: true)])
        try Self.check([
            UpsertAnswer(
                created: 1, updated: 2, unchanged: 3,
                rejected: [.init(index: 0, externalId: nil, errors: [.init(pointer: "/x", code: nil)])],
                events: [.init(index: 1, id: "i", updatedAt: 4)], serverTime: 5)
        ])
        try Self.check([RegisteredDevice(deviceToken: "t", device: .init(id: "i", deviceId: "d"))])
        try Self.check([ServiceStatus(user: "u", serverTime: 1, capabilities: ["x"])])
    }
}
