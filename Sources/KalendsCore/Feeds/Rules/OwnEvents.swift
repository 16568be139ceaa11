// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The stored form of the events of one resource of an own calendar, for the feeds that show them.
enum OwnEvents {
    /// Returns events without their people and files, which are in no feed of the person.
    static func packed(_ events: [Event]) -> [UInt8] {
        var writer = PackWriter()
        writer.write(events) { $0.write($1.publishable(with: [])) }
        return writer.bytes
    }

    /// Throws `PackError` for what `packed` has not made.
    static func events(_ bytes: [UInt8]) throws(PackError) -> [Event] {
        var reader = PackReader(bytes)
        let events = try reader.list { (reader) throws(PackError) in try reader.event() }
        guard reader.isAtEnd else { throw reader.failure() }
        return events
    }
}
