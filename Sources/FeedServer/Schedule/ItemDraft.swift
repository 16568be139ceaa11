// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// An item as it was sent: its content if every field is right, the faults of those that are not.
///
/// What a patient or an owner names is looked up later, and told together with these.
struct ItemDraft: Sendable {
    let content: ItemContent?
    let faults: [Fault]
    let patientID: String?
    let ownerID: String?

    init(_ collection: ScheduleItem.Collection, _ id: String, in circle: String, from value: JSONValue) {
        var fields = FieldReader(value)
        for (name, own) in [("id", id), ("circleId", circle)] {
            if let given = fields.value(name), given.string != own {
                fields.fault(name, "This is not what the path names.")
            }
        }
        let content = ItemContent.read(collection, &fields)
        fields.finish(ignoring: ItemContent.readOnly)
        faults = fields.faults
        self.content = fields.faults.isEmpty ? content : nil
        patientID = value["patientId"]?.string
        ownerID = collection == .appointments ? nil : value["ownerId"]?.string
    }
}
