// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import KalendsCore
import Pages
import Storage

// Converts the entries of calendars for the pages.

extension CircleDays {
    /// The entries that the page's filter keeps, of all kinds.
    func pageEntries(_ filter: CalendarPage.Filter, in circle: String, _ zone: TimeZoneReference) -> [PageEntry] {
        entries.filter { $0.isWanted(filter) }.map { PageEntry($0, in: circle, names, zone) }
    }
}

extension CircleDays.Entry {
    /// Whether the page's filter keeps the entry, regardless of its kind.
    fileprivate func isWanted(_ filter: CalendarPage.Filter) -> Bool {
        if let person = filter.person, content?.ownerID.map({ $0 == person }) != true { return false }
        if let patient = filter.patient, content?.patientID.map({ $0 == patient }) != true { return false }
        return true
    }
}

extension PageEntry {
    fileprivate init(_ entry: CircleDays.Entry, in circle: String, _ names: CircleNames, _ zone: TimeZoneReference) {
        let event = entry.occurrence.event
        self.init(
            kind: entry.content.map { EntryKind(type(of: $0)) } ?? .imported,
            path: entry.content.map { Self.path(type(of: $0), entry.id, in: circle) },
            title: entry.content?.title(names) ?? event.summary ?? "", span: entry.occurrence.span(in: zone),
            isCancelled: entry.occurrence.isCancelled || entry.content?.isCancelled == true)
    }

    init(
        _ entry: FeedContents.Entry, _ occurrence: Occurrence, _ kinds: ItemKinds, in circle: String,
        _ zone: TimeZoneReference
    ) {
        let item = kinds[ScheduleItem.Collection(rawValue: entry.collection)]
        let kind: EntryKind =
            switch entry.collection {
            case "personal": .personal
            case "planned": .planned
            case "office-days", "office": .office
            default: item.map { EntryKind($0) } ?? .imported
            }
        self.init(
            kind: kind, path: item.map { Self.path($0, entry.id, in: circle) },
            title: occurrence.event.summary ?? "", span: occurrence.span(in: zone),
            isCancelled: occurrence.isCancelled)
    }

    fileprivate static func path(_ kind: any ItemContent.Type, _ id: String, in circle: String) -> String {
        "/app/circles/\(circle.pathSegment)/\(kind.collection.rawValue)/\(id.pathSegment)"
    }
}

extension EntryKind {
    /// Finds the kind by its name; a kind that pages have no words for is shown as imported.
    init(_ kind: any ItemContent.Type) {
        self = Self(text: kind.name.prefix(1).lowercased() + kind.name.dropFirst()) ?? .imported
    }
}

extension Occurrence {
    func span(in zone: TimeZoneReference) -> TimeSpan { TimeSpan(from: start, until: end, in: zone) }
}

extension ItemPage {
    /// - Parameter reader: the zone in which times are shown.
    init(
        _ item: ScheduleItem, _ content: any ItemContent, _ names: CircleNames, _ circle: Circle,
        reader: TimeZoneReference
    ) {
        let shown = content.careItem(names, in: content.zone(or: reader))
        var page = ItemPage(
            entry: PageEntry(
                kind: EntryKind(type(of: content)), title: content.title(names), span: shown.span,
                isCancelled: content.isCancelled),
            person: content.ownerID.map(names.member), patient: content.patientID.map(names.patient),
            createdAt: item.createdAt, updatedAt: item.updatedAt)
        let own = content.timeZone ?? circle.timeZone
        page.zone = own == reader.identifier ? nil : own
        page.status = content.statusWord.flatMap { Status(text: $0) }
        (page.place, page.notes, page.reminders) = (shown.location, content.notes, shown.reminders)
        page.repeats = !shown.recurrence.isEmpty
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
