// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays

extension PhoneOfficeDays {
    private struct Step {
        var date: CivilDate
        /// Nil to remove the event.
        var draft: EventDraft?
        var uid: String
        var ticket: SaveTicket?
    }

    /// Writes the differences in batches; when events move, the new ones are written before the old ones are removed.
    func write(_ state: inout PhoneOfficeState, _ report: inout PhoneOfficeReport) async throws(StoreFailure) {
        guard let calendar = try await calendar(state) else { return }
        let steps = try await steps(state, calendar, &report)
        if !steps.isEmpty || !state.leaving.isEmpty, !calendar.canWrite { throw .readOnly }
        for first in stride(from: 0, to: steps.count, by: batch) {
            try await write(Array(steps[first..<min(first + batch, steps.count)]), &state, &report)
        }
        while !state.leaving.isEmpty {
            let some = state.leaving.prefix(batch)
            var gone = 0
            for placed in some {
                // Only an event that is still as it was written may be removed.
                guard let event = try await find(placed), event.unit.canonical(zones) == placed.unit else { continue }
                try await store.remove(event.key)
                gone += 1
            }
            _ = try await store.commit()
            report.deleted += gone
            state.leaving.removeFirst(some.count)
        }
    }

    private func steps(
        _ state: PhoneOfficeState, _ calendar: StoreCalendar, _ report: inout PhoneOfficeReport
    ) async throws(StoreFailure) -> [Step] {
        var steps: [Step] = []
        for date in Set(state.log.days.keys).union(state.placed.keys).sorted() {
            let event = state.log.days[date]?.event.flatMap { $0.state == .managed ? $0 : nil }
            let placed = state.placed[date]
            guard let event else {
                if let placed { steps.append(Step(date: date, uid: placed.uid)) }
                continue
            }
            let unit = EventUnit(content(of: event)).canonical(zones)
            let isBusy = event.availability == .busy
            if let placed, placed.uid == event.uid, placed.meant == unit, placed.isBusy == isBusy {
                report.unchanged += 1
                continue
            }
            guard placed?.missingSince == nil else { continue }
            var key = placed?.key
            // A lost list must not lead to a second event.
            if key == nil, let found = try await find(event.uid, like: unit, in: calendar.id) { key = found.key }
            let draft = EventDraft(key: key, calendarID: calendar.id, unit: unit, url: nil, isBusy: isBusy)
            steps.append(Step(date: date, draft: draft, uid: event.uid))
        }
        return steps
    }

    private func write(
        _ batch: [Step], _ state: inout PhoneOfficeState, _ report: inout PhoneOfficeReport
    ) async throws(StoreFailure) {
        var steps = batch
        do throws(StoreFailure) {
            for index in steps.indices {
                let placed = state.placed[steps[index].date]
                if let draft = steps[index].draft {
                    steps[index].ticket = try await store.save(draft)
                } else if let placed, let event = try await find(placed), event.unit.canonical(zones) == placed.unit {
                    try await store.remove(event.key)
                }
            }
            let saved = try await store.commit()
            for step in steps { note(step, saved, &state, &report) }
        } catch {
            await store.rollback()
            switch error {
            case .notAuthorized, .calendarGone, .readOnly, .cancelled: throw error
            default: break
            }
            // An event that fails does not keep the others from being written.
            guard batch.count > 1 else {
                report.failed += 1
                return
            }
            for step in batch { try await write([step], &state, &report) }
        }
    }

    private func note(
        _ step: Step, _ saved: [SaveTicket: Result<StoreEvent, StoreFailure>], _ state: inout PhoneOfficeState,
        _ report: inout PhoneOfficeReport
    ) {
        guard let draft = step.draft else {
            state.placed[step.date] = nil
            report.deleted += 1
            return
        }
        guard let result = step.ticket.flatMap({ saved[$0] }) else { return }
        guard case .success(let event) = result else {
            report.failed += 1
            return
        }
        if draft.key == nil { report.created += 1 } else { report.updated += 1 }
        state.placed[step.date] = PhoneOfficeState.Placed(
            key: event.key, unit: event.unit.canonical(zones), meant: draft.unit, uid: step.uid,
            isBusy: draft.isBusy == true)
    }

    private func content(of event: OfficeEvent) -> EventContent {
        let span: EventSpan
        switch event.span {
        case .allDay(let date): span = .allDay(first: date, last: date)
        case .timed(let start, let end, let zone):
            span = .timed(start: zones.wall(start, in: zone), end: zones.wall(end, in: zone), zone: zone)
        }
        return EventContent(title: event.title, span: span, location: event.location ?? "", notes: event.notes)
    }
}
