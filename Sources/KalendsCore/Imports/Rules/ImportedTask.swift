// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Crypto
import FeedTokens
import ICalBridge
import Storage

/// A to-do of a file that a circle has as a task.
///
/// What the file says is stored beside the task, so that an export gives back what a task cannot say, and a later file
/// changes the task only where it is newer.
enum ImportedTask {
    /// The maximum number of tasks that an import makes or changes, all of them in the transaction that publishes it.
    static let most = 2000
    /// The maximum size in bytes of their to-dos as they are stored.
    static let mostBytes = 4 << 20
    /// The longest UID of a task, in bytes.
    static let longestUID = 255

    /// Returns the id of the task that is made from the to-do with a UID; it is always the same.
    static func id(_ uid: String) -> String {
        "todo-" + ContentHash(of: SHA256.hash(data: Array(uid.utf8))).text
    }
}

extension TaskContent {
    /// Makes a task from a to-do; nil for one that a task cannot express.
    init?(of event: Event, in zone: TimeZoneReference) {
        guard event.recurrenceID == nil, event.recurrence.isEmpty, !event.isPublishedAsPrivate else { return nil }
        self.init()
        take(event, in: zone)
        guard ItemDraft(self, in: zone).faults.isEmpty else { return nil }
    }

    /// Takes what a to-do says; what only a task has stays.
    mutating func take(_ event: Event, in zone: TimeZoneReference) {
        let said = ClientResource.Task(event, zone.rules)
        (title, dueAt, status) = (said.title, said.due, DueStatus(said.progress))
        notes = said.notes.isEmpty ? nil : said.notes
    }

    /// Whether the task is as the to-do made it.
    func says(_ event: Event, in zone: TimeZoneReference) -> Bool {
        var other = self
        other.take(event, in: zone)
        return other.title.isSameText(as: title) && other.dueAt == dueAt && other.status == status
            && StoredEvent.isSame(other.notes, notes)
    }
}

extension Event {
    /// Returns the to-do with what its task says now, and with all else that the file said.
    fileprivate func saying(_ task: TaskContent, changed: Instant, in zone: TimeZoneReference) -> Event {
        var said = TaskContent()
        said.take(self, in: zone)
        var event = self
        if !said.title.isSameText(as: task.title) { event.summary = task.title }
        if !StoredEvent.isSame(said.notes, task.notes) { event.description = task.notes }
        if said.dueAt != task.dueAt {
            event.end = task.dueAt.map { .time(.zoned(zone.rules.civil(at: $0), zone)) }
            // DUE has to be later than DTSTART (RFC 5545 section 3.8.2.3).
            event.start = nil
        }
        if said.status != task.status {
            event.otherProperties.removeAll { $0.name == "COMPLETED" || $0.name == "PERCENT-COMPLETE" }
            switch task.status {
            case .open: event.status = "NEEDS-ACTION"
            case .cancelled: event.status = "CANCELLED"
            case .completed:
                event.status = "COMPLETED"
                event.otherProperties.append(ContentLine(name: "COMPLETED", value: changed.basic))
            }
        }
        return event
    }
}

extension ImportedEventRecord {
    /// Returns the row with what its task says now.
    func saying(_ item: ScheduleItem, in zone: TimeZoneReference) throws -> ImportedEventRecord {
        var record = self
        let (event, task) = (try StoredEvent.event(content), try TaskContent(stored: item.content))
        record.content = StoredEvent.text(
            event.saying(task, changed: Instant(milliseconds: item.updatedAt), in: zone))
        return record
    }
}

extension ReadTransaction {
    /// Returns the living tasks that a circle has of to-dos with some UIDs, by the UIDs of the to-dos.
    func importedTasks(_ uids: [String], in circle: String) throws -> [ByteString: ScheduleItem] {
        let ids = Dictionary(uids.map { (ByteString(ImportedTask.id($0)), ByteString($0)) }) { $1 }
        let found = try itemsEverKnown(ids.keys.map(\.string), TaskContent.collection, in: circle)
        return found.reduce(into: [:]) { tasks, item in
            if item.deletedAt == nil, let uid = ids[ByteString(item.id)] { tasks[uid] = item }
        }
    }
}

extension ScheduleWriter {
    /// Makes, changes and deletes the tasks that come from to-dos.
    ///
    /// - Parameter todos: their UIDs with their stored forms; nil for one that is no longer a task.
    mutating func putTasks(of todos: [(uid: String, content: String?)]) throws {
        let uids = todos.map(\.uid)
        let known = try transaction.importedTasks(uids, in: circle.id)
        let taken = try transaction.ownedUIDs(uids, in: circle.id)
        let patients = try transaction.patientsEverKnown(in: circle.id).filter { $0.removedAt == nil }
        try lookUp(uids.map { (ImportedTask.id($0), TaskContent.collection) })
        for (uid, content) in todos {
            let id = ImportedTask.id(uid)
            guard let content else {
                _ = try delete(id, TaskContent.collection)
                continue
            }
            let event = try StoredEvent.event(content)
            var task = TaskContent()
            if let before = known[ByteString(uid)] {
                task = try TaskContent(stored: before.content)
            } else {
                task.patientID = patients.named(in: event.categories).first?.id
            }
            task.take(event, in: zone)
            let isFree = uid.utf8.count <= ImportedTask.longestUID && !taken.contains(ByteString(uid))
            _ = try putLater(id, ItemDraft(task, in: zone), uid: isFree ? uid : nil)
        }
        try finish()
    }
}
