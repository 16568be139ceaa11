// SPDX-License-Identifier: Apache-2.0

extension Event {
    /// The stored properties of an event.
    struct Fields: Hashable, Sendable, Codable {
        var kind: Kind
        var uid: String
        var recurrenceID: EventTime?
        var appliesToFuture: Bool
        var start: EventTime?
        var end: End?
        var summary: String?
        var description: String?
        var location: String?
        var status: String?
        var isTransparent: Bool?
        var classification: String?
        var sequence: Int
        var timestamp: Instant?
        var created: Instant?
        var lastModified: Instant?
        var categories: [String]
        var url: String?
        var recurrence: Recurrence
        var alarms: [Alarm]
        var textParameters: [ByteString: [ContentLine.Parameter]]?
        var otherProperties: [ContentLine]
    }

    /// The storage of the fields: an event is passed on and held by its occurrences as one reference to them.
    ///
    /// An event copies its box before a change unless it is the only holder, so a box that several threads hold is only
    /// read.
    final class Box: @unchecked Sendable {
        @exclusivity(unchecked) private var stored: Fields

        /// To check each access to a field for exclusivity while the program runs takes a twentieth of reading a file.
        ///
        /// Proof: every access goes through an event, whose own exclusivity is checked, and a change is made only while
        /// that event is the only holder.
        var fields: Fields {
            _read { yield unsafe stored }
            _modify { yield unsafe &stored }
        }

        init(_ fields: Fields) { unsafe stored = fields }
    }
}
