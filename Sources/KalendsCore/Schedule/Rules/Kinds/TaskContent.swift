// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// A task: something to do, at a time or at any.
package struct TaskContent: DueContent {
    package var title = ""
    package var dueAt: Instant?
    package var durationMinutes = 30
    package var timeZone: String?
    package var patientID: String?
    package var ownerID: String?
    package var status = DueStatus.open
    package var reminders: [Int] = []
    package var notes: String?

    package init() {}

    package static let parts: [ItemPart<TaskContent>] = [
        .required("title", \.title, .text),
        .required("dueAt", \.dueAt, .instantOrNull.described("Null for a task without a date, which no feed shows.")),
        .given("durationMinutes", \.durationMinutes, .minutes(usual: 30)), .timeZone,
        .optional("patientId", \.patientID, .identifier), .optional("ownerId", \.ownerID, .identifier),
        .given("status", \.status, .choice), .given("reminders", \.reminders, .reminders),
        .optional("notes", \.notes, .notes),
    ]

    package static let collection: ScheduleItem.Collection = "tasks"
    package static let name = "Task"
    package static let resource = Refusal.Resource("task", .taskNotFound)
    package static let example: JSONValue = [
        "title": "Refill prescriptions", "dueAt": "2026-01-21T09:00:00-08:00", "reminders": [60],
    ]

    package static let mayBeUndated = true

    package var due: Instant? { dueAt }
    package mutating func setDue(_ due: Instant?) { dueAt = due }

    package func title(_ names: CircleNames) -> String { title }

    package func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem {
        var item = dueItem(category: "Task", label: nil, title: title, in: zone)
        item.isToDo = true
        return item
    }

    package mutating func rename(_ title: String, _ names: CircleNames) throws {
        self.title = title.removingPrefix("✓ ")
    }
}
