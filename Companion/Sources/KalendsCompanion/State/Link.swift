// SPDX-License-Identifier: Apache-2.0

/// The state of one event that is on both sides, or should be.
public struct Link: Hashable, Sendable, Codable {
    public enum Origin: String, Hashable, Sendable, Codable {
        /// A person made the event in a calendar: it has no mark and is never written here.
        case calendar
        /// The server had the event first: it has the mark.
        case server
    }

    public enum State: String, Hashable, Sendable, Codable {
        case linked
        /// A person deleted the server's event here: it is not made again until it changes at the server.
        case away
        /// The server's copy of a calendar's event was deleted there: it is not sent again until the calendar's event
        /// changes.
        case withheld
        /// A person removed the mark: the event is theirs now.
        case released
        /// Another device carries the item now.
        case stale
    }

    public var number: Int
    public var origin: Origin
    public var state = State.linked
    /// The server's id; nil until the server has responded.
    public var serverID: String?
    /// The event's mark in a calendar, without its generation; nil for an event that a person made.
    public var mark: String?
    /// Where the event is in the calendar; nil when it is not there.
    public var key: EventKey?
    /// The event as the calendar and the server last agreed on it, each in its own form. Nil before the first
    /// agreement.
    public var local: EventUnit?
    public var remote: EventUnit?
    /// The external ids under which this device sent the event, the newest last.
    public var sentAs: [String] = []
    /// When the event was first not found, in milliseconds since 1970.
    public var missingSince: Int?
    /// What the server did not accept, with the codes of its faults; the event is sent again when it changes.
    public var refused: Refused?
    /// What the calendar did not accept.
    public var unwritable: Refused?
    /// The value that was last put back, so that two forms of one text are not exchanged forever.
    public var putBack: Refused?
    public var generation = 0
    /// The version of the server's event at which another device took the item over.
    public var staleAt: Int?
    /// Whether the server waits for a person's decision about the event.
    public var isInConflict = false

    /// A unit that was not accepted, and why.
    public struct Refused: Hashable, Sendable, Codable {
        public var unit: EventUnit
        public var reasons: [String]
    }

    public init(number: Int, origin: Origin) {
        self.number = number
        self.origin = origin
    }
}
