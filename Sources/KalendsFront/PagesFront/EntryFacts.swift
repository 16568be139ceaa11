// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import KalendsCore
import Pages
import Storage

// What calendars hold, as pages show it.

extension CircleDays.Entry {
    /// Whether a filter of the page leaves it in, its kind apart.
    func isWanted(_ filter: CalendarPage.Filter) -> Bool {
        if let person = filter.person, content?.ownerID.map({ $0 == person }) != true { return false }
        if let patient = filter.patient, content?.patientID.map({ $0 == patient }) != true { return false }
        return true
    }
}

extension PageEntry {
    init(_ entry: CircleDays.Entry, in circle: String, _ names: CircleNames, _ zone: TimeZoneReference) {
        let event = entry.occurrence.event
        self.init(
            kind: EntryKind(entry.collection),
            path: entry.collection.map { Self.path($0, entry.id, in: circle) },
            title: entry.content?.title(names) ?? event.summary ?? "", span: Pages.EntrySpan(entry.occurrence, zone),
            isCancelled: entry.occurrence.isCancelled || entry.content?.isCancelled == true)
    }

    init(_ entry: FeedContents.Entry, _ occurrence: Occurrence, in circle: String, _ zone: TimeZoneReference) {
        let collection = ScheduleItem.Collection(text: entry.collection)
        let kind: EntryKind =
            switch entry.collection {
            case "personal": .personal
            case "planned": .planned
            case "office-days", "office": .office
            default: EntryKind(collection)
            }
        self.init(
            kind: kind, path: collection.map { Self.path($0, entry.id, in: circle) },
            title: occurrence.event.summary ?? "", span: Pages.EntrySpan(occurrence, zone),
            isCancelled: occurrence.isCancelled)
    }

    fileprivate static func path(_ collection: ScheduleItem.Collection, _ id: String, in circle: String) -> String {
        "/app/circles/\(circle.pathSegment)/\(collection.rawValue)/\(id.pathSegment)"
    }
}

extension EntryKind {
    /// - Parameter collection: nil for an imported event.
    init(_ collection: ScheduleItem.Collection?) {
        self =
            switch collection {
            case .tasks: .task
            case .shifts: .shift
            case .appointments: .appointment
            case .followUps: .followUp
            case nil: .imported
            }
    }
}

extension Pages.EntrySpan {
    init(_ occurrence: Occurrence, _ zone: TimeZoneReference) {
        if occurrence.start.isDate {
            let first = CivilDay(number: occurrence.start.civilDate.daysSinceEpoch)
            let last = CivilDay(number: occurrence.end.civilDate.daysSinceEpoch - 1)
            self = .days(first, max(first, last))
        } else {
            self = .timed(
                from: occurrence.start.instant(floatingIn: zone.rules).milliseconds,
                to: occurrence.end.instant(floatingIn: zone.rules).milliseconds)
        }
    }
}

extension ItemContent {
    /// What people call it, without what calendars put before.
    func title(_ names: CircleNames) -> String {
        switch self {
        case .task(let task): task.title
        case .shift(let shift):
            [shift.ownerId.map { names.members[ByteString($0)] ?? $0 }, names.patient(shift.patientId)]
                .compactMap(\.self).joined(separator: " – ")
        case .appointment(let appointment): appointment.provider
        case .followUp(let followUp): followUp.description
        }
    }

    fileprivate func span() -> Pages.EntrySpan {
        func minutes(_ start: Instant, _ count: Int) -> Pages.EntrySpan {
            .timed(from: start.milliseconds, to: start.adding(seconds: count * 60).milliseconds)
        }
        switch self {
        case .task(let task): return minutes(task.dueAt, task.durationMinutes)
        case .followUp(let followUp): return minutes(followUp.dueAt, followUp.durationMinutes)
        case .appointment(let own): return .timed(from: own.startAt.milliseconds, to: own.endAt.milliseconds)
        case .shift(let shift):
            switch shift.span {
            case .days(let first, let last):
                return .days(CivilDay(number: first.daysSinceEpoch), CivilDay(number: last.daysSinceEpoch))
            case .timed(let start, let end): return .timed(from: start.milliseconds, to: end.milliseconds)
            }
        }
    }
}

extension CircleNames {
    func patient(_ id: String) -> String { patients[ByteString(id)] ?? id }
    func member(_ id: String) -> String { members[ByteString(id)] ?? id }
}

extension ItemPage {
    /// - Parameter reader: the zone that times are shown in.
    init(
        _ item: ScheduleItem, _ content: ItemContent, _ names: CircleNames, _ circle: Circle, reader: TimeZoneReference
    ) {
        var page = ItemPage(
            entry: PageEntry(
                kind: EntryKind(item.collection), title: content.title(names), span: content.span(),
                isCancelled: content.isCancelled),
            person: content.ownerID.map(names.member), patient: content.patientID.map(names.patient),
            createdAt: item.createdAt, updatedAt: item.updatedAt)
        let own = content.timeZone ?? circle.timeZone
        page.zone = own == reader.identifier ? nil : own
        switch content {
        case .task(let task):
            (page.status, page.notes, page.reminders) = (Status(text: task.status.rawValue), task.notes, task.reminders)
        case .shift(let shift): page.notes = shift.notes
        case .followUp(let followUp): (page.notes, page.reminders) = (followUp.notes, followUp.reminders)
        case .appointment(let own):
            (page.status, page.place, page.notes) = (Status(text: own.status.rawValue), own.location, own.notes)
            (page.reminders, page.repeats) = (own.reminders, own.recurrence != nil)
        }
        self = page
    }
}

extension ItemReach {
    init(_ shown: Reach.Shown) {
        let readers = shown.readers.map { reader in
            Calendar(
                name: reader.client.rawValue, label: reader.feed?.label, isOthers: reader.feed == nil,
                hasIt: reader.hasIt, seenAt: reader.fetchedAt, expectedAt: reader.expectedAt)
        }
        let connections = shown.connections.map { held in
            Calendar(
                name: held.provider.name, isOthers: held.connectionID == nil, hasIt: held.hasIt, seenAt: held.syncedAt)
        }
        self.init(isNew: shown.change.kind == .created, calendars: readers + connections)
    }
}
