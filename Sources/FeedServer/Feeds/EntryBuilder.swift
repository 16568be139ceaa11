// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Makes one item into what a feed shows of it, or says why it does not.
struct EntryBuilder {
    let live: LiveFeedParts
    let window: FeedWindow
    let names: CircleNames

    func entry(_ item: ScheduleItem, occurrences: [ChangedOccurrence]) throws -> FeedContents.Entry {
        var entry = FeedContents.Entry(collection: item.collection.rawValue, id: item.id, events: [])
        let content = try ItemContent(item)
        let zone = content.timeZone.flatMap { TimeZoneReference($0) } ?? live.zone
        let isOwn = content.ownerID == live.feed.userID
        let revision = revision(
            uid: item.uid, sequence: item.sequence, createdAt: item.createdAt, updatedAt: item.updatedAt)
        let master = content.careItem(names: names, in: zone).event(revision, in: zone, style: live.style, isOwn: isOwn)
        entry.events = [master]
        if case .appointment(let series) = content {
            for occurrence in occurrences {
                guard let original = Instant(basic: occurrence.originalStart) else { continue }
                let changed = series.appointment(
                    try OccurrenceContent(occurrence), originalStart: original, names: names, in: zone)
                entry.events.append(CareItem.appointment(changed).event(revision, in: zone, style: live.style))
            }
        }
        if live.configuration.level == .full, let link = live.link(item.collection.rawValue, item.id) {
            for index in entry.events.indices { entry.events[index].url = link }
        }
        entry.exclusion = exclusion(of: content, item.collection) ?? exclusion(byTimeOf: entry.events)
        return entry
    }

    /// An imported event, or a series with its changed occurrences.
    func entry(imported group: [ImportedEvent]) -> FeedContents.Entry {
        let id = group.first?.uid ?? ""
        var entry = FeedContents.Entry(collection: "imported", id: id, events: [])
        entry.events = group.map { imported in
            var event = imported.event
            let revision = revision(
                uid: event.uid, sequence: imported.sequence, createdAt: imported.createdAt,
                updatedAt: imported.updatedAt)
            event.sequence = revision.sequence
            event.timestamp = revision.updatedAt
            event.lastModified = revision.updatedAt
            return event.publishable.anchored(in: live.zone).reduced(to: live.style)
        }
        if !live.configuration.includeImported {
            entry.exclusion = .kind
        } else if live.configuration.patientIds != nil {
            entry.exclusion = .patient
        } else if group.contains(where: { $0.event.isPrivate && $0.record.importedBy != live.feed.userID }) {
            entry.exclusion = .privateEvent
        } else {
            entry.exclusion = exclusion(byTimeOf: entry.events)
        }
        return entry
    }

    private func revision(uid: String, sequence: Int, createdAt: Int, updatedAt: Int) -> Revision {
        Revision(
            uid: uid, sequence: sequence + live.feed.sequenceOffset, createdAt: Instant(milliseconds: createdAt),
            updatedAt: Instant(milliseconds: max(updatedAt, live.feed.shownChangedAt)))
    }

    private func exclusion(
        of content: ItemContent, _ collection: ScheduleItem.Collection
    ) -> FeedContents.Exclusion? {
        let configuration = live.configuration
        let isIncluded =
            switch collection {
            case .tasks: configuration.includeTasks
            case .shifts: configuration.includeShifts
            case .appointments: configuration.includeAppointments
            case .followUps: configuration.includeFollowUps
            }
        if !isIncluded { return .kind }
        if let patients = configuration.patientIds, !(content.patientID.map(patients.contains) ?? false) {
            return .patient
        }
        if case .task(let task) = content, task.status == CareTask.Status.completed.rawValue,
            configuration.completedTasks == .remove
        {
            return .completed
        }
        return nil
    }

    private func exclusion(byTimeOf events: [Event]) -> FeedContents.Exclusion? {
        guard let first = events.first, events.count > 1 || !first.recurrence.isEmpty else {
            guard let event = events.first, let end = event.effectiveEnd else { return .window }
            // A to-do is where it is due.
            let start = event.start ?? end
            return window.shows(start: start, end: end, zone: live.zone) ? nil : .window
        }
        // A series is there as a whole as soon as one occurrence is in the window.
        return Series.group(events).contains {
            $0.hasOccurrence(from: window.from, to: window.to, floatingIn: live.zone.rules)
        } ? nil : .window
    }
}

extension Instant {
    /// Reads `YYYYMMDDTHHMMSSZ`.
    init?(basic text: String) {
        guard text.hasSuffix("Z"), let utc = CivilDateTime(basic: text.dropLast()) else { return nil }
        self.init(utc: utc)
    }
}
