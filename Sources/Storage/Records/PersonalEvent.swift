// SPDX-License-Identifier: Apache-2.0

/// An event of a user's own calendar, with the identity that a device knows.
public struct PersonalEvent: Hashable, Sendable {
    /// The part of an event that people see; times are on the clock of `timeZone`, or of the user's zone.
    public struct Content: Hashable, Sendable, Codable {
        public var title: String
        /// YYYY-MM-DD.
        public var date: String
        /// HH:MM or HH:MM:SS; nil for whole days.
        public var startTime: String?
        public var endTime: String?
        /// The last day, included; nil when the event ends on the day of its start.
        public var endDate: String?
        /// The IANA id of its zone.
        public var timeZone: String?
        public var description: String?
        public var location: String?
        /// The recurrence as JSON, which this module does not interpret.
        public var recurrence: String?

        public init(title: String, date: String) { (self.title, self.date) = (title, date) }
    }

    /// The part of an event that only devices change.
    public struct Mapping: Hashable, Sendable {
        /// The state with respect to the calendar on the device; a deleted event keeps its last state.
        public enum State: String, Hashable, Sendable, CaseIterable {
            case linked, pending, conflict, ignored
        }

        public var provider: String
        public var externalID: String?
        /// The original start of a changed occurrence, as the device wrote it.
        public var instanceID: String?
        /// The original start in one uniform form; empty for anything but a changed occurrence.
        public var instanceKey: String
        public var calendarID: String?
        public var state: State
        public var lastSyncedAt: Int?
        public var sourceDevice: String?

        /// The mapping of an event that no device has seen.
        public static let none = Mapping(provider: "manual", instanceKey: "", state: .pending)

        public init(provider: String, externalID: String? = nil, instanceKey: String, state: State) {
            (self.provider, self.externalID) = (provider, externalID)
            (self.instanceKey, self.state) = (instanceKey, state)
        }
    }

    /// The item that an event shows, and the device that it is for.
    public struct Tie: Hashable, Sendable {
        /// The connection's id, or `PhoneCarrier.officeDays`.
        public var source: String
        /// Nil for office days without a connection.
        public var circleID: String?
        public var collection: String
        public var itemID: String
        /// A number that rises when an item's event has to be created again.
        public var generation: Int
        /// The id of the device; nil while no registered device carries the source.
        public var carrier: String?
        /// The carrier's fencing number.
        public var turn: Int
        /// The `updatedAt` of the last change by a device.
        public var sentAt: Int?
        /// The content that a device may still have, as JSON, which this module does not interpret.
        public var earlier: String?

        public init(
            source: String, circleID: String?, collection: String, itemID: String, generation: Int,
            carrier: String?, turn: Int
        ) {
            (self.source, self.circleID, self.collection, self.itemID) = (source, circleID, collection, itemID)
            (self.generation, self.carrier, self.turn) = (generation, carrier, turn)
        }
    }

    public var userID: String
    public var id: String
    /// The UID, created once; a changed occurrence is shown under the UID of its series.
    public var uid: String
    public var sequence: Int
    public var content: Content
    public var mapping: Mapping
    /// The days that it touches, since 1970-01-01; `lastDay` is nil for a series.
    public var firstDay: Int
    public var lastDay: Int?
    public var createdAt: Int
    /// When it last changed; unique and rising for each user, so it may be ahead of the clock.
    public var updatedAt: Int
    /// When its content last changed, by the clock of whoever changed it.
    public var changedAt: Int
    public var deletedAt: Int?
    /// Nil for one of the person's own events.
    public var tie: Tie?
    /// The bytes of its stored texts; 0 for an event that is not stored yet.
    public private(set) var storedBytes = 0

    /// The bytes of its texts, which are limited for each user.
    public var bytes: Int {
        [
            content.title, content.description, content.location, content.recurrence, mapping.externalID,
            mapping.instanceID, mapping.calendarID, mapping.sourceDevice, tie?.earlier,
        ].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }

    /// Records that the database has stored the event in its current form.
    public mutating func noteStored() { storedBytes = bytes }

    public init(
        userID: String, id: String, uid: String, content: Content, mapping: Mapping, firstDay: Int, lastDay: Int?,
        createdAt: Int
    ) {
        (self.userID, self.id, self.uid, self.sequence) = (userID, id, uid, 0)
        (self.content, self.mapping, self.firstDay, self.lastDay) = (content, mapping, firstDay, lastDay)
        (self.createdAt, self.updatedAt, self.changedAt) = (createdAt, createdAt, createdAt)
    }

    init(_ row: SQLRow) throws {
        userID = try row.text(required: "user_id")
        id = try row.text(required: "id")
        uid = try row.text(required: "uid")
        sequence = try row.integer(required: "sequence")
        content = Content(title: try row.text(required: "title"), date: try row.text(required: "date"))
        content.startTime = row.text("start_time")
        content.endTime = row.text("end_time")
        content.endDate = row.text("end_date")
        content.timeZone = row.text("time_zone")
        content.description = row.text("description")
        content.location = row.text("location")
        content.recurrence = row.text("recurrence")
        guard let state = Mapping.State(rawValue: try row.text(required: "sync_state")) else {
            throw StorageError.unexpectedResult("A personal event is in an unknown state.")
        }
        mapping = Mapping(
            provider: try row.text(required: "provider"), externalID: row.text("external_id"),
            instanceKey: try row.text(required: "instance_key"), state: state)
        mapping.instanceID = row.text("external_instance_id")
        mapping.calendarID = row.text("external_calendar_id")
        mapping.lastSyncedAt = row.integer("last_synced_at")
        mapping.sourceDevice = row.text("source_device")
        firstDay = try row.integer(required: "first_day")
        lastDay = row.integer("last_day")
        createdAt = try row.integer(required: "created_at")
        updatedAt = try row.integer(required: "updated_at")
        changedAt = try row.integer(required: "changed_at")
        deletedAt = row.integer("deleted_at")
        if let source = row.text("connection_id") {
            var tie = Tie(
                source: source, circleID: row.text("circle_id"), collection: try row.text(required: "collection"),
                itemID: try row.text(required: "item_id"), generation: try row.integer(required: "generation"),
                carrier: row.text("carrier"), turn: try row.integer(required: "turn"))
            (tie.sentAt, tie.earlier) = (row.integer("sent_at"), row.text("earlier"))
            self.tie = tie
        }
        noteStored()
    }
}
