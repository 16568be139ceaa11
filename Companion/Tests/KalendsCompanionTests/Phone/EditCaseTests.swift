// SPDX-License-Identifier: Apache-2.0

import Calendar
import TestSupport
import Testing

@testable import KalendsCompanion

@Suite("Companion: an edit is decided as on the server") struct EditCaseTests {
    private static let base = unit("Before", hour: 10)

    private static func unit(_ title: String, hour: Int) -> EventUnit {
        let day = Day(daysSinceEpoch: 20_000)
        let (start, end) = (WallTime(day, second: hour * 3600), WallTime(day, second: (hour + 1) * 3600))
        return EventUnit(EventContent(title: title, span: .timed(start: start, end: end, zone: "UTC")))
    }

    private static func merged(_ edit: EditCase, isItem: Bool, here: EventUnit, there: EventUnit) -> UnitMerge {
        var event = RemoteEvent(id: "e", title: "Before", date: "2024-10-04", updatedAt: (edit.here ?? 0) * 1000)
        if isItem { (event.circleId, event.collection, event.itemId) = ("c", "appointments", "a") }
        let (calendar, server) = (edit.there == nil ? base : there, edit.here == nil ? base : here)
        let rule = UnitMerge.Rule(
            Link(number: 1, origin: .server), RemoteView(main: event), edited: edit.there.map { $0 * 1000 })
        return UnitMerge(calendar: calendar, was: base, server: server, was: base, rule: rule)
    }

    @Test("One of the person's own events: the later edit counts on both sides", arguments: EditCase.own)
    func own(edit: EditCase) {
        let (here, there) = (Self.unit("Here", hour: 12), Self.unit("There", hour: 14))
        let merged = Self.merged(edit, isItem: false, here: here, there: there)
        let kept = edit.keepsCalendar ? there : here
        #expect(merged.toCalendar == kept && merged.toServer == kept)
        let isBoth = edit.here != nil && edit.there != nil
        #expect(merged.losesCalendar == (isBoth && !edit.keepsCalendar))
        #expect(merged.losesServer == (isBoth && edit.keepsCalendar))
    }

    @Test(
        "An item: a move there reaches the server, which decides; a move here reaches the calendar",
        arguments: EditCase.moves)
    func moves(edit: EditCase) {
        let (here, there) = (Self.unit("Before", hour: 12), Self.unit("Before", hour: 14))
        let merged = Self.merged(edit, isItem: true, here: here, there: there)
        #expect(merged.toServer == (edit.there == nil ? here : there))
        #expect(merged.toCalendar == (edit.there == nil ? here : there))
        #expect(!merged.losesCalendar)
    }

    @Test("An item's words are Kalends' where both sides wrote", arguments: EditCase.own)
    func words(edit: EditCase) {
        let (here, there) = (Self.unit("Here", hour: 10), Self.unit("There", hour: 10))
        let merged = Self.merged(edit, isItem: true, here: here, there: there)
        #expect(merged.toCalendar == (edit.here == nil ? there : here))
        #expect(merged.toServer == (edit.here == nil ? there : here))
    }
}
