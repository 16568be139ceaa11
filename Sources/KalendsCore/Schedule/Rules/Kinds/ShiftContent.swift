// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// A shift: who cares for whom, for some hours or for whole days.
package struct ShiftContent: ItemContent {
    package var patient = ""
    package var ownerID: String?
    package var timeZone: String?
    package var notes: String?
    var startAt: Instant?
    var endAt: Instant?
    var startDate: CivilDate?
    /// The last day, inclusive.
    var endDate: CivilDate?

    package init() {}

    package static let parts: [ItemPart<ShiftContent>] = [
        .required("patientId", \.patient, .identifier), .optional("ownerId", \.ownerID, .identifier), .timeZone,
        .optional("notes", \.notes, .notes), .times,
    ]

    package static let collection: ScheduleItem.Collection = "shifts"
    package static let name = "Shift"
    package static let resource = Refusal.Resource("shift", .shiftNotFound)
    package static let example: JSONValue = [
        "patientId": "mom", "startAt": "2026-01-21T09:00:00-08:00", "endAt": "2026-01-21T13:00:00-08:00",
    ]
    package static let inputNote: String? = "With `startAt` and `endAt`, or with `startDate` and `endDate`."
    package static let namesInTitles: Set<NameInTitle> = [.patient, .owner]
    package static let isOwnersTime = true

    package var patientID: String? { patient }

    package func title(_ names: CircleNames) -> String {
        [ownerID.map(names.member), names.patient(patient)].compactMap(\.self).joined(separator: " – ")
    }

    package func careItem(_ names: CircleNames, in zone: TimeZoneReference) -> CareItem {
        var item = CareItem(
            category: "Shift", label: "Shift",
            title: [names.patient(patient)] + (ownerID.map { [names.member($0)] } ?? []), span: span(in: zone),
            availability: .busyForOwner)
        item.notes = notes
        return item
    }

    private func span(in zone: TimeZoneReference) -> TimeSpan {
        if let startDate { return .days(first: startDate, until: (endDate ?? startDate).adding(days: 1)) }
        let start = startAt ?? Instant(seconds: 0)
        return .timed(start: start, end: endAt ?? start, zone: zone.identifier)
    }

    package mutating func move(to span: TimeSpan) throws {
        (startAt, endAt, startDate, endDate) = (nil, nil, nil, nil)
        switch span {
        case .timed(let start, let end, _): (startAt, endAt) = (start, end)
        case .days(let first, let until): (startDate, endDate) = (first, TimeSpan.last(from: first, until: until))
        }
    }

    package mutating func rename(_ title: String, _ names: CircleNames) throws {
        throw InboundRefusal("The title of a shift is made from its patient and its member, and cannot be changed.")
    }
}

extension ItemPart<ShiftContent> {
    /// `startAt` and `endAt`, or `startDate` and `endDate`.
    static var times: ItemPart {
        let instants: [ItemPart] = [.optional("startAt", \.startAt, .instant), .optional("endAt", \.endAt, .instant)]
        let days: [ItemPart] = [.optional("startDate", \.startDate, .day), .optional("endDate", \.endDate, .day)]
        var part = ItemPart(joining: instants + days)
        part.read = { fields, shift in
            let isDays = fields.has("startDate") || fields.has("endDate")
            if isDays, fields.has("startAt") || fields.has("endAt") {
                fields.fault(
                    "startAt", code: .contradiction,
                    "A shift must have either startAt and endAt or startDate and endDate.")
            }
            shift.startAt = fields.instant("startAt", isRequired: !isDays)
            shift.endAt = fields.instant("endAt", isRequired: !isDays)
            shift.startDate = fields.date("startDate", isRequired: isDays)
            shift.endDate = fields.date("endDate", isRequired: isDays)
            if let start = shift.startAt, let end = shift.endAt, end <= start {
                fields.fault("endAt", code: .order, "The end must be after the start.")
            }
            if let start = shift.startDate, let end = shift.endDate, end < start {
                fields.fault("endDate", code: .order, "The last day must not be before the first.")
            }
        }
        part.show = { shift, members, clock in
            for half in shift.startDate == nil ? instants : days { half.show(shift, &members, clock) }
        }
        part.output = [
            .optional("startAt", .instant), .optional("endAt", .instant), .optional("startDate", .date),
            .optional("endDate", .date.described("The last day, inclusive.")),
        ]
        return part
    }
}
