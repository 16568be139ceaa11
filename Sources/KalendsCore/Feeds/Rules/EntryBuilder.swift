// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Everything that the text of an entry depends on besides the item: feeds with the same look have the same text.
struct FeedRenderKey: Hashable, Sendable {
    let style: CareStyle
    /// The circle's zone, which applies to items without their own.
    let zone: TimeZoneReference
    /// The number that this feed's configuration adds to each revision.
    let sequenceOffset: Int
    let shownChangedAt: Int
    let linkTemplate: String?
    /// The people and files of imported events that are shown.
    var extras: Set<EventExtra> = []
    /// Whether it is an export, which shows files at all addresses, and imported components of all kinds.
    var isExport = false

    /// Returns the address at which the host application shows an item; nil if it is missing or must not be shown.
    func link(_ item: ScheduleItem) -> String? {
        guard style.detail == .full else { return nil }
        return linkTemplate?.replacing("{circle}", with: pathComponent(item.circleID))
            .replacing("{collection}", with: item.collection.rawValue).replacing("{id}", with: pathComponent(item.id))
    }

    func revision(uid: String, sequence: Int, createdAt: Int, updatedAt: Int) -> Revision {
        Revision(
            uid: uid, sequence: min(sequence + sequenceOffset, Int(Int32.max)),
            createdAt: Instant(milliseconds: createdAt),
            updatedAt: Instant(milliseconds: max(updatedAt, shownChangedAt)))
    }
}

/// Turns one item or one imported series into the components that a feed shows of it.
struct EntryBuilder: Sendable {
    let look: FeedRenderKey
    let names: CircleNames
    let kinds: ItemKinds
    /// The year around which the dates of EXRULEs are listed; nil for the one in which each event was last changed.
    var year: Int?
    /// Whether somebody reads the text, and not only the times, for which no EXRULE has to be listed.
    var writesText = true

    /// - Parameter isOwn: whether the item is the reader's own, so that they are busy while it lasts.
    func events(
        of item: ScheduleItem, _ content: any ItemContent, occurrences: [ChangedOccurrence], isOwn: Bool
    ) throws -> [Event] {
        let zone = content.zone(or: look.zone)
        let revision = look.revision(
            uid: item.uid, sequence: item.sequence, createdAt: item.createdAt, updatedAt: item.updatedAt)
        var events = [
            content.careItem(names, in: zone).event(revision, in: zone, style: look.style, isOwn: isOwn)
        ]
        if let series = content as? AppointmentContent {
            for occurrence in occurrences {
                guard let original = Instant(basic: occurrence.originalStart) else { continue }
                let changed = series.careItem(
                    try OccurrenceContent(occurrence), originalStart: original, names, in: zone)
                events.append(changed.event(revision, in: zone, style: look.style))
            }
        }
        if let link = look.link(item) {
            for index in events.indices { events[index].url = link }
        }
        return events.map(\.agreed)
    }

    /// Returns the components of an imported event, or of a series with its changed occurrences.
    func events(of series: ImportedSeries) -> [Event] {
        let events = series.events.map { imported in
            var event = imported.event
            event.uid = series.shownUID
            let revision = look.revision(
                uid: event.uid, sequence: imported.sequence, createdAt: imported.createdAt,
                updatedAt: imported.updatedAt)
            event.take(revision)
            let shown = event.publishable(with: look.extras)
            return look.isExport ? shown : shown.withAddressesForFeeds
        }
        let anchored = Self.anchored(events, in: look.zone, isExport: look.isExport)
        return anchored.map { event in
            let reduced = event.reduced(to: look.style)
            guard !look.isExport, writesText else { return reduced.agreed }
            return reduced.listingExclusions(around: year ?? changedIn(series)).agreed
        }
    }

    private func changedIn(_ series: ImportedSeries) -> Int {
        Instant(milliseconds: series.events.map(\.updatedAt).max() ?? 0).utc.date.year
    }

    /// Returns the components of one series of another program with a zone for every time, the series itself first.
    ///
    /// - Parameter isExport: whether the dates of the series stay as they were, so that an import of an export changes
    ///   nothing; otherwise they get the form that most readers understand.
    static func anchored(_ events: [Event], in zone: TimeZoneReference, isExport: Bool = false) -> [Event] {
        guard let master = events.first(where: { $0.recurrenceID == nil }) else {
            // No program correctly shows a repeating component that replaces occurrences of a missing series.
            return Series.settled(events.map { $0.anchored(in: zone) }).flatMap(\.self)
        }
        let series = master.anchored(in: zone)
        let overrides = events.filter { $0.recurrenceID != nil }
            .map { $0.anchored(in: zone, replacingIn: series) }
        if isExport { return [series] + Series(master: series, overrides: overrides).overrides }
        return series.settled(with: overrides, in: zone)
    }
}

extension EntryTraits {
    init(_ item: ScheduleItem, _ content: any ItemContent) {
        collection = item.collection
        patientID = content.patientID
        isCompletedTask = content.isCompleted
    }

    init(_ series: ImportedSeries) {
        privateTo = series.privateTo
        isRepeated = series.isRepeated
        kind = series.kind
        isCompletedTask = kind == .toDo && series.events.allSatisfy(\.event.isDone)
    }
}

extension Event {
    /// Whether a to-do is completed; many programs say when, and nothing else.
    fileprivate var isDone: Bool {
        status.map { $0 == "COMPLETED" } ?? otherProperties.contains { $0.name == "COMPLETED" }
    }
}
