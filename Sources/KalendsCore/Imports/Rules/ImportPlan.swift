// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// What an import does with each event, decided by comparing the file with what is stored, some events at a time.
///
/// A preview shows the plan; a commit carries it out.
struct ImportPlan: Sendable {
    typealias Change = Imports.Item.Change

    struct Item: Sendable {
        var id: String
        var event: Event
        var line: Int
        var change: Change
        /// Whether everybody in the circle may know about the event.
        var isShared: Bool
        /// The reason, unless the event is clearly new or unchanged.
        var reason: Sentence?
        /// The UID of the stored event that this one is, if it is another.
        var storedUID: String?
        /// What is stored; nil unless the event is created or updated.
        var rows: Rows?
        /// The parts of the event that are not stored, by property.
        var leftOut: LeftOut = [:]
        /// Whether it is a to-do that becomes a task.
        var isTask = false

        /// The row to store, if the event is created or updated.
        var record: ImportedEventRecord? { rows?.record }
        /// The row of the same source that it replaces.
        var before: ImportedEventRecord? { rows?.before }
        /// The row of the same person's other source that is removed with it.
        var former: ImportedEventRecord? { rows?.former }
    }

    /// The rows of an item. Each has many texts, and counting the references to all of them whenever an item is passed on
    /// took longer than comparing the item.
    final class Rows: Sendable {
        let record: ImportedEventRecord
        let before: ImportedEventRecord?
        let former: ImportedEventRecord?

        init(_ record: ImportedEventRecord, before: ImportedEventRecord? = nil, former: ImportedEventRecord? = nil) {
            (self.record, self.before, self.former) = (record, before, former)
        }
    }

    /// The highest SEQUENCE of a file that is adopted; a higher one is ignored, because no program counts that far.
    private static let highestFollowed = 100_000

    let index: ImportIndex
    let zone: any TimeZoneRules
    let importedBy: String?
    let now: Int
    let limits: EventLimits
    /// What is stored with events in addition to what everybody may see: of a followed calendar nothing.
    let extras: Set<EventExtra>
    /// The steps that are left for finding out what exports show of stored events.
    private var agreeing = RecurrenceBudget(steps: SeriesWork.ofFile)
    var counts = ImportCounts()
    private(set) var owner: ImportOwner
    /// The tasks that are made or changed.
    var tasks = Usage()
    var twins = ImportDuplicates()
    /// The changed occurrences of the series that the file changes, with those that it brings.
    var occurrences: [ByteString: Usage] = [:]
    /// The items that the caller wants left out and that have not been found yet.
    private(set) var unmetExclusions: Set<ByteString>
    private let excluded: Set<ByteString>
    /// The series with exceptions of a followed calendar that a file has brought with the same exceptions.
    var broughtSeries: Set<ByteString> = []

    /// - Parameter owner: the owner of the events; its circle's zone applies to times that name none.
    init(
        _ owner: ImportOwner, limits: EventLimits, keeping extras: Set<EventExtra> = [],
        excluded: Set<ByteString> = [], now: Int
    ) throws {
        self.owner = owner
        self.extras = owner.isSubscription ? [] : extras.union([.reminders])
        index = owner.index
        zone = try owner.circle.zone.rules
        importedBy = owner.user
        self.limits = limits
        self.excluded = excluded
        unmetExclusions = excluded
        self.now = now
    }

    /// Whether a stored event was matched with an event that has another UID.
    func isMatched(_ key: ImportedEventRecord.Key) -> Bool { twins.isMatched(key) }

    /// - Parameter first: the position of the first of these events in the file.
    mutating func decide(
        _ drafts: [ImportDraft], first: Int, _ store: any Store
    ) async throws -> [Item] {
        var items = drafts.enumerated().map { position, draft in
            Item(
                id: index.keys[first + position].text, event: draft.event, line: draft.line, change: .created,
                isShared: !index.isPrivate(draft.event.uid))
        }
        let own = try await ownUIDs(of: items.map(\.event), store)
        for position in items.indices {
            if !index.isNewest(first + position) {
                items[position].id += "-\(first + position)"
                items[position].skip(.newerInFile, "The file holds a newer version of the same event.")
            } else if own.contains(ByteString(items[position].event.uid)) {
                items[position].skip(
                    .ownSchedule, "This is an event of the schedule itself; it is not imported into the schedule again."
                )
            } else if EventMark.isOn(uid: items[position].event.uid, url: items[position].event.url) {
                items[position].skip(
                    .ownWriting, "Kalends wrote this event into a calendar; it is not imported from there.")
            } else if owner.hasLeft, index.isPrivate(items[position].event.uid) {
                // Nobody would see it: its user was erased or has left the circle, and the calendar goes on for the others.
                items[position].skip(
                    .privateUnseen, "It is marked private and no user imported it, so no feed shows it.")
            }
        }
        try await compare(&items, drafts, first: first, store)
        for position in items.indices where excluded.contains(ByteString(items[position].id)) {
            unmetExclusions.remove(ByteString(items[position].id))
            items[position].skip(.excluded, "It was excluded.")
        }
        for item in items { counts.add(item, zone) }
        return items
    }

    /// Returns the UIDs that belong to the circle's own items; a to-do's UID counts only if an existing item of the
    /// circle has it that is not a task which this import changes.
    private func ownUIDs(of events: [Event], _ store: any Store) async throws -> Set<ByteString> {
        let todos = events.filter { $0.kind == .toDo }.map(\.uid)
        let others = events.filter { $0.kind != .toDo }.map(\.uid)
        return try await store.read { [circle = owner.circle.id, choice = owner.todos] transaction in
            var own = try transaction.ownedUIDs(others, in: circle)
            guard !todos.isEmpty else { return own }
            for item in try transaction.itemsEverKnown(uids: todos, in: circle) where item.deletedAt == nil {
                if choice == .keep || !item.id.isSameText(as: ImportedTask.id(item.uid)) {
                    own.insert(ByteString(item.uid))
                }
            }
            if choice == .keep { own.formUnion(try transaction.importedTasks(todos, in: circle).keys) }
            return own
        }
    }

    private mutating func compare(
        _ items: inout [Item], _ drafts: [ImportDraft], first: Int, _ store: any Store
    ) async throws {
        let positions = items.indices.filter { items[$0].change != .skipped }
        try await owner.look(positions.map { items[$0].event.uid }, store)
        let keys = positions.map { (items[$0].event.uid, drafts[$0].recurrenceID) }
        // A source without any events so far need not be looked up.
        let sources = owner.known.filter { owner.sources[$0] != nil }
        let todos =
            owner.todos == .tasks ? positions.map { items[$0].event }.filter { $0.kind == .toDo }.map(\.uid) : []
        let changing = positions.filter { !drafts[$0].recurrenceID.isEmpty }.map { ByteString(items[$0].event.uid) }
        let series = Set(changing).filter { occurrences[$0] == nil }
        let (stored, known, changed) = try await store.read { [circle = owner.circle] in
            (
                try $0.importedVersions(keys, of: sources, in: circle),
                try $0.importedTasks(todos, in: circle.id),
                try $0.importedOccurrences(of: series.map(\.string), from: sources, in: circle)
            )
        }
        for uid in series { occurrences[uid] = changed[uid] ?? Usage() }
        let zone = try owner.circle.zone
        var fresh: [(position: Int, record: ImportedEventRecord)] = []
        for index in positions {
            let task = known[ByteString(drafts[index].event.uid)]
            let home = home(of: drafts[index], &items[index], isTask: task != nil, in: zone)
            var record = record(drafts[index], home)
            items[index].isShared = record.visibleTo == nil
            items[index].leftOut = drafts[index].leftOut
            if record.content.utf8.count > limits.event {
                // Rather than the event, its people and files are left out.
                (record.content, items[index].leftOut) = drafts[index].event.stored(keeping: [.reminders])
            }
            guard record.content.utf8.count <= limits.event else {
                items[index].skip(.eventTooLarge, "The event is larger than \(limits.event >> 10, .count) KiB.")
                continue
            }
            let before = stored[record.key].flatMap { $0.isLive ? $0 : nil }
            var former = home.former.flatMap { source -> ImportedEventRecord? in
                let key = ImportedEventRecord.Key(source, uid: record.uid, recurrenceID: record.recurrenceID)
                return stored[key].flatMap { $0.isLive ? $0 : nil }
            }
            guard drafts[index].recurrenceID.isEmpty || takesOccurrence(record, insteadOf: before ?? former) else {
                items[index].skip(
                    .seriesTooLong,
                    "Its series would have more than \(limits.occurrences.count, .count) changed occurrences, or more than \(limits.occurrences.bytes, .size) bytes of them."
                )
                continue
            }
            if var old = before ?? former {
                if old.source == .tasks, let task {
                    old = try old.saying(task, in: zone)
                    // People's later changes of the task stay, also when it becomes a to-do again, or after an undo.
                    if before == nil { former = old }
                }
                if drafts[index].isSettled, !owner.isSubscription, old.startsAt != record.startsAt {
                    items[index].skip(
                        .changesOtherSeries, "It only changes a part of its series, which is already in the circle.")
                    continue
                }
                try keepExtras(of: old, &record, &items[index])
                if record.source == .tasks, let before, task == nil {
                    items[index].change = .updated
                    items[index].reason = Sentence(.taskDeleted, "Its task was deleted, and is made again.")
                    items[index].rows = Rows(next(record, after: old), before: before, former: former)
                } else if try isExported(record, of: old)
                    // The file's earlier content was taken over, whatever happened to the task since.
                    || record.source == .tasks && StoredEvent.isSame(before?.content, record.content)
                {
                    items[index].change = .unchanged
                } else if let updated = items[index].compare(record, with: old, self) {
                    items[index].rows = Rows(updated, before: before, former: former)
                } else if let former, former.source == .shared || record.visibleTo != nil {
                    // All components of an event become private, also those that the file does not change; and a to-do
                    // becomes a task.
                    var hidden = old
                    (hidden.source, hidden.visibleTo) = (record.source, record.visibleTo)
                    items[index].change = .updated
                    items[index].reason =
                        record.visibleTo == nil ? nil : Sentence(.privateNow, "It is private now.")
                    items[index].rows = Rows(next(hidden, after: old), before: before, former: former)
                }
                items[index].reportIfShared(record, owner)
                if task != nil, items[index].rows != nil, items[index].isTask || former?.source == .tasks,
                    !takesTask(record.content)
                {
                    items[index].skip(
                        .taskLeft,
                        "The next import of the file changes its task: one import changes at most \(ImportedTask.most, .count) tasks."
                    )
                }
            } else {
                fresh.append((index, record))
            }
        }
        let brought = try await broughtByFiles(fresh.map(\.record), stored, store)
        var unknown: [Int] = []
        for (index, record) in fresh {
            if brought.contains(record.key.uid) {
                items[index].change = .unchanged
            } else {
                items[index].rows = Rows(new(record, after: stored[record.key]))
                items[index].reportIfShared(record, owner)
                unknown.append(index)
            }
        }
        try await match(unknown, &items, decided: first + drafts.count, store)
    }

    /// Keeps the people and files that are stored with an event, if the file has them too: an import that does not ask for them
    /// takes none away.
    private func keepExtras(
        of old: ImportedEventRecord, _ record: inout ImportedEventRecord, _ item: inout Item
    ) throws {
        guard !item.leftOut.isEmpty, !owner.isSubscription, !StoredEvent.isSame(old.content, record.content) else {
            return
        }
        let had = try StoredEvent.event(old.content).extras
        guard !had.isSubset(of: extras) else { return }
        let kept = item.event.stored(keeping: extras.union(had))
        if kept.content.utf8.count <= limits.event { (record.content, item.leftOut) = kept }
    }

    /// Whether the file's event is the stored one as an export of the circle shows it: with a zone for every time, and
    /// with its dates as all programs understand them.
    private mutating func isExported(
        _ new: ImportedEventRecord, of old: ImportedEventRecord
    ) throws -> Bool {
        guard !owner.isSubscription, old.source == new.source,
            !StoredEvent.isSame(old.content, new.content), agreeing.left > 0
        else { return false }
        // The row's key names the replaced occurrence.
        func plain(_ event: Event) -> Event {
            var event = event.importable(keeping: Set(EventExtra.allCases))
            event.recurrenceID = nil
            return event
        }
        let stored = try StoredEvent.event(old.content).anchored(in: try owner.circle.zone)
        let shown = plain(stored.agreed(within: &agreeing))
        let found = plain(try StoredEvent.event(new.content))
        // Whether a zone is written as a known one depends on the whole series.
        func texts(_ event: Event) -> [[UInt8]] { [true, false].map { event.serialized(inKnownZones: $0) } }
        let known = texts(found)
        return texts(shown).contains { known.contains($0) }
    }

    private func record(_ draft: ImportDraft, _ home: ImportOwner.Home) -> ImportedEventRecord {
        let event = draft.event
        var record = ImportedEventRecord(
            circleID: owner.circle.id, source: home.source, uid: event.uid, recurrenceID: draft.recurrenceID,
            startsAt: draft.span.start, endsAt: draft.span.end, fingerprint: draft.fingerprint,
            content: draft.content, fileSequence: max(0, event.sequence),
            fileModifiedAt: event.lastModified?.milliseconds,
            importedBy: importedBy, now: now)
        record.visibleTo = home.visibleTo
        return record
    }

    /// Returns a row that is stored for the first time, with a revision above those of deleted events of its source.
    private func new(_ record: ImportedEventRecord, after gone: ImportedEventRecord?) -> ImportedEventRecord {
        var record = record
        let floor = owner.sources[record.source]?.sequenceFloor ?? 0
        record.sequence = max(floor, gone.map { $0.sequence + 1 } ?? 0, Self.followed(record))
        if owner.isTaken(record.uid) { record.shownUID = StoredEvent.derivedUID(record.uid, of: record.source) }
        return record
    }

    /// Returns a row that replaces another.
    fileprivate func next(_ record: ImportedEventRecord, after old: ImportedEventRecord) -> ImportedEventRecord {
        var record = record
        record.createdAt = old.createdAt
        record.sequence = max(old.sequence + 1, Self.followed(record))
        record.shownUID = old.shownUID
        // To people who did not see it before, it must not appear as an update of somebody else's event.
        if old.shownUID == nil, old.visibleTo != record.visibleTo, owner.isTaken(record.uid) {
            record.shownUID = StoredEvent.derivedUID(record.uid, of: record.source)
        }
        return record
    }

    private static func followed(_ record: ImportedEventRecord) -> Int {
        record.fileSequence <= highestFollowed ? record.fileSequence : 0
    }
}

extension ImportPlan.Item {
    fileprivate mutating func skip(_ code: Sentence.Code, _ text: Sentence.Text) {
        change = .skipped
        reason = Sentence(code, text)
        rows = nil
    }

    /// Gives a private event a reason if everybody sees it as an earlier import brought it.
    fileprivate mutating func reportIfShared(_ record: ImportedEventRecord, _ owner: ImportOwner) {
        guard reason == nil, record.visibleTo != nil, owner.isStillShared(record.uid) else { return }
        reason = Sentence(
            .privateButShared, "It is private now, but others still see it as an earlier import brought it.")
    }

    /// Decides between the stored event and the one in the file; returns the row to store, if the event is updated.
    mutating func compare(
        _ new: ImportedEventRecord, with old: ImportedEventRecord, _ plan: ImportPlan
    ) -> ImportedEventRecord? {
        if old.source == new.source, old.visibleTo == new.visibleTo, StoredEvent.isSame(old.content, new.content) {
            change = .unchanged
        } else if !new.source.isSubscription, Self.isOlder(new, than: old) {
            change = .unchanged
            reason = Sentence(.storedNewer, "The stored event is newer than the file's.")
        } else {
            change = .updated
            if reason == nil { reason = Self.replacement(of: old, by: event, new) }
            return plan.next(new, after: old)
        }
        return nil
    }

    /// Says what an event replaces that has only the UID in common with it: some programs number the events of each file
    /// from 0 on.
    private static func replacement(
        of old: ImportedEventRecord, by event: Event, _ new: ImportedEventRecord
    ) -> Sentence? {
        // If it comes from another source, not everybody who sees the reason may know about it.
        guard old.source == new.source, !new.source.isSubscription, old.startsAt != new.startsAt,
            let stored = try? StoredEvent.event(old.content), let title = stored.summary, let start = stored.start,
            event.summary?.isSameText(as: title) != true
        else { return nil }
        return Sentence(
            .replacesOther,
            "It has the UID of \(title.prefix(100), .value) on \(start.civilDate.description, .name), and replaces it.")
    }

    private static func isOlder(_ new: ImportedEventRecord, than old: ImportedEventRecord) -> Bool {
        if new.fileSequence != old.fileSequence { return new.fileSequence < old.fileSequence }
        guard let newTime = new.fileModifiedAt, let oldTime = old.fileModifiedAt else { return false }
        return newTime < oldTime
    }
}
