// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// A follow-up: something that a handoff left to be done.
package struct FollowUpContent: DueContent {
    package var description = ""
    package var dueAt = Instant(seconds: 0)
    package var durationMinutes = 30
    package var timeZone: String?
    package var patientID: String?
    package var ownerID: String?
    package var status = DueStatus.open
    package var reminders: [Int] = []
    package var notes: String?

    package init() {}

    package static let parts: [ItemPart<FollowUpContent>] = [
        .required("description", \.description, .text), .required("dueAt", \.dueAt, .instant),
        .given("durationMinutes", \.durationMinutes, .minutes(usual: 30)), .timeZone,
        .optional("patientId", \.patientID, .identifier), .optional("ownerId", \.ownerID, .identifier),
        .given("status", \.status, .choice), .given("reminders", \.reminders, .reminders),
        .optional("notes", \.notes, .notes),
    ]

    package static let collection: ScheduleItem.Collection = "follow-ups"
    package static let name = "FollowUp"
    package static let resource = Refusal.Resource("follow-up", .followUpNotFound)
    package static let example: JSONValue = [
        "description": "Call the pharmacy", "dueAt": "2026-01-23T15:00:00-08:00",
    ]

    package static let mayBeUndated = false

    package var due: Instant? { dueAt }
    package mutating func setDue(_ due: Instant?) { if let due { dueAt = due } }

    package func title(_ names: CircleNames) -> String { description }

    package func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem {
        var item = dueItem(category: "Follow-up", label: "Follow-up", title: description, in: zone)
        item.isHandoff = true
        return item
    }

    package mutating func rename(_ title: String, _ names: CircleNames) throws {
        description = title.removingPrefix("✓ ")
    }
}
