// SPDX-License-Identifier: Apache-2.0

import Calendar
import CalendarSync
import OfficeDays
import Storage

/// Office days that reach a person's phone without a connection, among the events that the phone fetches.
enum OfficePhone {
    private static let collection = "office-days"

    /// Queues those writes that are for a phone, which fetches them; the first one creates the row that records which
    /// phone carries them.
    static func carryOut(
        _ writes: [OfficeWrite], of user: String, now: Int, in transaction: any WriteTransaction
    ) throws {
        let own = writes.filter { $0.target == .device }
        if own.isEmpty { return }
        try prepare(user, in: transaction)
        var writer = try PhoneEventWriter(of: user, source: PhoneCarrier.officeDays, transaction: transaction, now: now)
        for write in own {
            let item = write.event.date.description
            let known = try transaction.phoneItems(of: PhoneCarrier.officeDays, of: user, collection, item)
            let living = known.last { $0.deletedAt == nil }
            switch write.kind {
            case .create, .update:
                let content = PhoneForm.content(Entry(write.event))
                if var event = living {
                    if event.content != content { try writer.write(&event, content) }
                } else {
                    let generation = (known.compactMap { $0.tie?.generation }.max() ?? -1) + 1
                    var event = writer.new(collection, item, generation: generation, in: nil, content)
                    try writer.write(&event, content)
                }
            case .delete:
                if var event = living { try writer.delete(&event) }
            }
        }
        try writer.finish()
    }

    /// Inserts the carrier's row unless it exists; the first device that asks becomes the carrier of office days.
    static func prepare(_ user: String, in transaction: any WriteTransaction) throws {
        guard try transaction.phoneCarrier(of: user, source: PhoneCarrier.officeDays) == nil else { return }
        try transaction.putPhoneCarrier(PhoneCarrier(of: user, source: PhoneCarrier.officeDays))
    }
}
