// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Pages
import Storage

/// Converts what happened in a circle for its page.
struct ActivityFacts: Sendable {
    let circle: Circle
    let names: CircleNames
    let mayUndo: Bool
    /// The zone in which times are shown.
    let reader: TimeZoneReference

    func entry(_ own: Activity.Entry) -> ActivityPage.Entry {
        let change = own.change
        var entry = ActivityPage.Entry(
            number: change.number, at: change.at, author: author(change.author),
            way: ActivityPage.Way(text: change.way.rawValue) ?? .server, subject: subject(own), change: kind(change),
            name: name(own), path: path(own), before: own.before.map(state), after: own.after.map(state))
        entry.isUndo = change.undoes != nil
        entry.isUndone = own.undoneBy != nil
        entry.isPart = own.partOf != nil
        entry.mayUndo = mayUndo && own.undoableUntil != nil
        return entry
    }

    private func author(_ name: String?) -> ActivityPage.Author {
        switch name.map({ ChangeAuthor.Who($0) }) {
        case .user(let id): .person(names.member(id))
        case .key: .application
        case .operatorAtHand: .operatorAtHand
        case nil: .server
        }
    }

    private func subject(_ own: Activity.Entry) -> ActivityPage.Subject {
        guard own.change.subject == .item else {
            return ActivityPage.Subject(text: own.change.subject.rawValue) ?? .item
        }
        let kind = own.change.collection.flatMap { ItemKinds.all[ScheduleItem.Collection(rawValue: $0)] }
        return kind.flatMap { ActivityPage.Subject(text: EntryKind($0).rawValue) } ?? .item
    }

    private func kind(_ change: CircleChange) -> ActivityPage.Change {
        switch (change.subject, change.kind) {
        case (.occurrence, .deleted): .reset
        case (.occurrence, _), (_, .updated): .updated
        case (_, .created): .created
        case (_, .deleted): .deleted
        }
    }

    /// The name of what was changed, as it was then if that is known.
    private func name(_ own: Activity.Entry) -> String? {
        switch own.change.subject {
        case .item, .occurrence:
            if case .item(let content)? = own.after ?? own.before { return content.title(names) }
            return own.item?.title(names)
        case .member: return own.change.id.map(names.member)
        case .patient: return own.change.id.map(names.patient)
        case .circle: return circle.name
        case .event:
            guard case .event(let components)? = own.after ?? own.before else { return nil }
            return components.first?.summary ?? ""
        case .feed, .subscription, .connection, .conflict, .fileImport: return nil
        }
    }

    private func path(_ own: Activity.Entry) -> String? {
        let start = "/app/circles/\(circle.id.pathSegment)"
        switch own.change.subject {
        case .item, .occurrence:
            // Only items that exist have a page, which shows in whose calendars they have arrived.
            guard own.isThere, let collection = own.change.collection, let id = own.change.id else { return nil }
            return "\(start)/\(collection.pathSegment)/\(id.pathSegment)"
        default: return nil
        }
    }

    private func state(_ content: PastContent) -> ActivityPage.State {
        switch content {
        case .item(let content):
            let shown = content.careItem(names, in: content.zone(or: reader))
            var state = ActivityPage.State(title: content.title(names), span: shown.span)
            state.status = content.statusWord.flatMap { ItemPage.Status(text: $0) }
            state.patient = content.patientID.map(names.patient)
            state.person = content.ownerID.map(names.member)
            (state.place, state.notes, state.zone) = (shown.location, content.notes, content.timeZone)
            state.rule = try? (content as? AppointmentContent)?.recurrence?.stored()
            state.reminders = shown.reminders.isEmpty ? nil : shown.reminders
            return state
        case .occurrence(let content):
            var state = ActivityPage.State(
                title: content.provider,
                span: .timed(start: content.startAt, end: content.endAt, zone: reader.identifier))
            state.status = ItemPage.Status(text: content.status.rawValue)
            (state.place, state.notes) = (content.location, content.notes)
            return state
        case .event(let components):
            let event = components.first
            let span = event?.start.flatMap { start in
                event?.effectiveEnd.map { TimeSpan(from: start, until: $0, in: reader) }
            }
            var state = ActivityPage.State(title: event?.summary, span: span)
            state.status = event?.status.flatMap { ItemPage.Status(text: $0.lowercased()) }
            (state.place, state.notes) = (event?.location, event?.description)
            // Other dates of a series, and single ones that differ, are another repetition to a reader.
            if let event, !event.recurrence.isEmpty || components.count > 1 {
                state.rule = "\(event.recurrence)\(components.dropFirst().map { $0 })"
            }
            return state
        }
    }

    func problem(_ refusal: Refusal) -> ActivityPage.Problem {
        switch (refusal.code, refusal.extra) {
        case (.changedSince, .changed(let by, let at, _)?): .changedSince(author(by), at: at)
        case (.changedSince, _): .changedSince(nil, at: nil)
        case (.changesForgotten, _): .notKept
        case (.undoState, .undone?): .undone
        default: .impossible
        }
    }
}
