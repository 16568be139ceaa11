// SPDX-License-Identifier: Apache-2.0

/// What is known about one event that is on both sides, or should be.
public struct Link: Hashable, Sendable, Codable {
    public enum Origin: String, Hashable, Sendable, Codable {
        /// A person made it in a calendar: it has no mark, and nothing here ever writes it.
        case calendar
        /// The server had it first: it has our mark.
        case server
    }

    public enum State: String, Hashable, Sendable, Codable {
        case linked
        /// A person deleted the event of ours: it stays away until the server's event changes.
        case away
        /// The server's copy of a calendar's event was deleted there: it stays away until the calendar's changes.
        case withheld
        /// A person took the mark off: the event is theirs now.
        case released
        /// Another device carries the item now.
        case stale
    }

    public var number: Int
    public var origin: Origin
    public var state = State.linked
    /// The server's id, nil until the server answered.
    public var serverID: String?
    /// What marks the event in a calendar, without its generation; nil for one that a person made.
    public var mark: String?
    /// Where the event is in the calendar, nil when it is not there.
    public var key: EventKey?
    /// The event as calendar and server last agreed on it, in the form in which each of them shows it. Nil when there
    /// was no agreement yet.
    public var local: EventUnit?
    public var remote: EventUnit?
    /// External ids under which this device sent the event, newest last.
    public var sentAs: [String] = []
    /// When the event was first not found, in milliseconds since 1970.
    public var missingSince: Int?
    /// What the server did not take, by the codes of its faults; the event is sent again when it changes.
    public var refused: Refused?
    /// What the calendar did not take.
    public var unwritable: Refused?
    /// What was put back last, so that two forms of one text are not put back forever.
    public var putBack: Refused?
    public var generation = 0
    /// The version of the server's event at which another device took the item over.
    public var staleAt: Int?
    /// Whether the server waits for a person's word about it.
    public var isInConflict = false

    /// A unit that was not taken, and why.
    public struct Refused: Hashable, Sendable, Codable {
        public var unit: EventUnit
        public var reasons: [String]
    }

    public init(number: Int, origin: Origin) {
        self.number = number
        self.origin = origin
    }
}
