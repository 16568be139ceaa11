// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

extension ItemContent {
    /// The item as the API shows it: times with the offset of its zone, or of `zone`, the circle's.
    package func json(_ item: ScheduleItem, zone: TimeZoneReference) -> JSONValue {
        let own = timeZone.flatMap { TimeZoneReference($0) } ?? zone
        func time(_ instant: Instant?) -> JSONValue {
            guard let instant else { return .null }
            return .string(instant.rfc3339(offset: own.rules.offset(at: instant)))
        }
        func list(_ numbers: [Int]) -> JSONValue { .array(numbers.map(JSONValue.integer)) }
        var members: [ByteString: JSONValue] = [
            "id": .string(item.id), "circleId": .string(item.circleID), "uid": .string(item.uid),
            "sequence": .integer(item.sequence), "createdAt": JSONValue(milliseconds: item.createdAt),
            "updatedAt": JSONValue(milliseconds: item.updatedAt), "timeZone": JSONValue(timeZone),
        ]
        switch self {
        case .task(let content):
            members["title"] = .string(content.title)
            members["dueAt"] = time(content.dueAt)
            members["durationMinutes"] = .integer(content.durationMinutes)
            members["patientId"] = JSONValue(content.patientId)
            members["ownerId"] = JSONValue(content.ownerId)
            members["status"] = .string(content.status.rawValue)
            members["reminders"] = list(content.reminders)
            members["notes"] = JSONValue(content.notes)
        case .shift(let content):
            members["patientId"] = .string(content.patientId)
            members["ownerId"] = JSONValue(content.ownerId)
            if content.startDate != nil {
                members["startDate"] = JSONValue(content.startDate?.description)
                members["endDate"] = JSONValue(content.endDate?.description)
            } else {
                members["startAt"] = time(content.startAt)
                members["endAt"] = time(content.endAt)
            }
            members["notes"] = JSONValue(content.notes)
        case .appointment(let content):
            members["patientId"] = .string(content.patientId)
            members["provider"] = .string(content.provider)
            members["startAt"] = time(content.startAt)
            members["endAt"] = time(content.endAt)
            members["location"] = JSONValue(content.location)
            members["notes"] = JSONValue(content.notes)
            members["status"] = .string(content.status.rawValue)
            members["reminders"] = list(content.reminders)
            members["recurrence"] =
                content.recurrence.map { recurrence in
                    [
                        "rrule": JSONValue(recurrence.rrule), "exdates": .array(recurrence.exdates.map(time)),
                        "rdates": .array(recurrence.rdates.map(time)),
                    ]
                } ?? .null
        case .followUp(let content):
            members["description"] = .string(content.description)
            members["dueAt"] = time(content.dueAt)
            members["durationMinutes"] = .integer(content.durationMinutes)
            members["patientId"] = JSONValue(content.patientId)
            members["ownerId"] = JSONValue(content.ownerId)
            members["reminders"] = list(content.reminders)
            members["notes"] = JSONValue(content.notes)
        }
        return .object(members)
    }
}
