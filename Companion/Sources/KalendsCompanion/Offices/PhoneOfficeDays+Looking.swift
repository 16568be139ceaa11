// SPDX-License-Identifier: Apache-2.0

import OfficeDays

extension PhoneOfficeDays {
    func calendar(_ state: PhoneOfficeState) async throws(StoreFailure) -> StoreCalendar? {
        guard await store.authorization().canSync else { throw .notAuthorized }
        guard let id = state.calendarID else { return nil }
        guard let calendar = try await store.calendars().first(where: { $0.id == id }) else { throw .calendarGone(id) }
        return calendar
    }

    /// Detects what a person did with the events: an edited event becomes the person's, and a deleted one is not made
    /// again.
    func look(_ state: inout PhoneOfficeState) async throws(StoreFailure) {
        guard try await calendar(state) != nil else { return }
        var seen = state
        for date in state.placed.keys.sorted() {
            guard var placed = state.placed[date] else { continue }
            if let event = try await find(placed) {
                placed.missingSince = nil
                placed.key = event.key
                seen.placed[date] = placed
                guard event.unit.canonical(zones) != placed.unit else { continue }
                seen.placed[date] = nil
                _ = seen.log.wasEdited(date)
            } else if let since = placed.missingSince {
                guard clock() - since >= patience else { continue }
                seen.placed[date] = nil
                _ = seen.log.wasDeleted(date)
            } else {
                seen.placed[date]?.missingSince = clock()
            }
        }
        // A look without permission, or at a calendar that was removed in between, does not count.
        guard try await calendar(state) != nil else { return }
        state = seen
    }

    /// Finds an event by the id that all devices share, then by this device's own id, then by the UID in the notes of
    /// an event on its day.
    func find(_ placed: PhoneOfficeState.Placed) async throws(StoreFailure) -> StoreEvent? {
        let named = try await store.events(externalID: placed.key.externalID)
        if let event = named.first(where: { $0.key.calendarID == placed.key.calendarID }) ?? named.first {
            return event
        }
        if let event = try await store.event(localID: placed.key.localID) { return event }
        let calendars = try await store.calendars().map(\.id)
        guard calendars.contains(placed.key.calendarID) else { throw .calendarGone(placed.key.calendarID) }
        return try await find(placed.uid, like: placed.unit, in: placed.key.calendarID)
    }

    func find(_ uid: String, like unit: EventUnit, in calendar: String) async throws(StoreFailure) -> StoreEvent? {
        let day = zones.window(of: unit.content.span).widened(by: 86_400)
        return try await store.events(in: day, calendars: [calendar])
            .filter { OfficeEvent.uid(inNotes: $0.unit.content.notes) == uid }
            .min { $0.key.localID.isTextBefore($1.key.localID) }
    }
}
