// SPDX-License-Identifier: Apache-2.0

import Storage

/// An event as a device sent it, with the faults of its fields.
package struct SentEvent: Sendable {
    /// The server's id, if the device knows it.
    var id: String?
    /// The provider's id; nil when it is not valid.
    package var externalID: String?
    /// The original start of a changed occurrence as it was sent, and its key.
    var instance: (text: String, key: String)?
    var calendarID = Edit<String>.keep
    /// Nil leaves the stored value.
    var state: PersonalEvent.Mapping.State?
    var isDeletion = false
    var lastSyncedAt: Int?
    /// Nil where the phone does not say it: a known event keeps its own.
    var sourceDevice: String?
    /// The device that sends it, for an event that is new.
    var sender: String?
    /// When the event was changed on the device, in milliseconds since 1970.
    var lastModified: Int?
    /// For an item's event: the fencing number that the device sent with it.
    var turn: Int?
    /// For an item's event: the `updatedAt` of the device's version before the change.
    var basedOn: Int?
    var edit = PersonalEdit()
    var faults = FaultList()

    /// The members that are read; no other member is parsed into a value.
    package static let shape = JSONShape.object([
        "id": .scalar, "title": .scalar, "date": .scalar, "startTime": .scalar, "endTime": .scalar,
        "endDate": .scalar, "timeZone": .scalar, "allDay": .scalar, "description": .scalar, "location": .scalar,
        "externalId": .scalar, "externalCalendarId": .scalar, "externalInstanceId": .scalar, "syncState": .scalar,
        "lastSyncedAt": .scalar, "sourceDevice": .scalar, "lastModified": .scalar, "turn": .scalar,
        "updatedAt": .scalar,
        "recurrence": .object([
            "rrule": .scalar, "exdates": .list(of: .scalar, most: PersonalRecurrence.mostDates),
            "rdates": .list(of: .scalar, most: PersonalRecurrence.mostDates),
        ]),
    ])

    /// Milliseconds from 1970 to the year 9999.
    package static let times = 0...253_402_300_799_999

    /// - Parameters:
    ///   - pointer: the event's place in the body.
    ///   - device: the device, if the event does not name one itself; nil where nobody names one.
    ///   - sender: the device that sends it.
    package init(_ body: JSONValue, at pointer: String, from device: String?, by sender: String?) {
        var fields = FieldReader(body, at: pointer)
        isDeletion = body["syncState"] == "deleted"
        if isDeletion {
            _ = fields.value("syncState")
        } else {
            state = fields.syncState()
        }
        externalID = fields.text("externalId", isRequired: true)
        // A deleted event needs only its id.
        if !isDeletion { edit = PersonalEdit(body, &fields, at: pointer, .device, needsAll: true) }
        if case .string(let text)? = fields.value("id") {
            id = Identifier.isValid(text) ? text : nil
        } else if fields.has("id") {
            fields.fault("id", code: .wrongType, "This must be text.")
        }
        if let text = fields.text("externalInstanceId") {
            if let moment = PersonalMoment(text) {
                instance = (text, moment.key)
            } else {
                fields.fault("externalInstanceId", code: .invalidTime, PersonalMoment.rule)
            }
        }
        let calendar = fields.text("externalCalendarId")
        calendarID = calendar.map(Edit.set) ?? (body["externalCalendarId"] == "" ? .clear : .keep)
        lastSyncedAt = fields.integer("lastSyncedAt", in: Self.times)
        lastModified = fields.integer("lastModified", in: Self.times)
        sourceDevice = fields.text("sourceDevice") ?? device
        self.sender = sender
        // For a person's own events these members are ignored.
        turn = body["turn"]?.integer
        basedOn = body["updatedAt"]?.integer
        faults = fields.faults
    }
}

extension FieldReader {
    /// Reads the states that a device may set; `deleted` was already read.
    fileprivate mutating func syncState() -> PersonalEvent.Mapping.State? {
        let before = faults.total
        let text = text("syncState")
        guard faults.total == before, let text else { return nil }
        if let state = PersonalEvent.Mapping.State(rawValue: text) { return state }
        let known = PersonalEvent.Mapping.State.allCases.map(\.rawValue) + ["deleted"]
        fault("syncState", code: .notAChoice, "This must be one of \(known.joined(separator: ", ")).")
        return nil
    }
}

extension PersonalEvent.Mapping {
    /// Returns the mapping with the fields that a device sent.
    func taking(_ sent: SentEvent) -> PersonalEvent.Mapping {
        var copy = self
        let isFirst = externalID == nil
        copy.provider = "apple"
        copy.externalID = sent.externalID ?? externalID
        if copy.externalID != externalID || (sent.instance?.key ?? "") != instanceKey {
            copy.instanceID = sent.instance?.text
            copy.instanceKey = sent.instance?.key ?? ""
        }
        copy.calendarID = sent.calendarID.applied(to: calendarID)
        copy.state = sent.state ?? (isFirst ? .linked : state)
        copy.lastSyncedAt = sent.lastSyncedAt ?? lastSyncedAt
        return copy
    }
}
