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
        public enum State: String, Hashable, Sendable, CaseIterable, ColumnValue {
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
    public struct ItemAndDevice: Hashable, Sendable {
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

    public var userID = ""
    public var id = ""
    /// The UID, created once; a changed occurrence is shown under the UID of its series.
    public var uid = ""
    public var sequence = 0
    public var content = Content(title: "", date: "")
    public var mapping = Mapping.none
    /// The days that it touches, since 1970-01-01; `lastDay` is nil for a series.
    public var firstDay = 0
    public var lastDay: Int?
    public var createdAt = 0
    /// When it last changed; unique and rising for each user, so it may be ahead of the clock.
    public var updatedAt = 0
    /// When its content last changed, by the clock of whoever changed it.
    public var changedAt = 0
    public var deletedAt: Int?
    /// Nil for one of the person's own events.
    public var tie: ItemAndDevice?
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
}

extension PersonalEvent: StoredRow {
    public init(
        userID: String, id: String, uid: String, content: Content, mapping: Mapping, firstDay: Int, lastDay: Int?,
        createdAt: Int
    ) {
        self.init(
            userID: userID, id: id, uid: uid, content: content, mapping: mapping, firstDay: firstDay, lastDay: lastDay,
            createdAt: createdAt, updatedAt: createdAt, changedAt: createdAt)
    }

    /// The source to which the event is tied; only rows with a tie have one.
    private var source: String? {
        get { tie?.source }
        set {
            tie = newValue.map {
                ItemAndDevice(
                    source: $0, circleID: nil, collection: "", itemID: "", generation: 0, carrier: nil, turn: 0)
            }
        }
    }

    static let table = RecordTable<PersonalEvent>(
        "personal_events",
        [
            .init("user_id", \.userID), .init("id", \.id), .once("uid", \.uid),
            .init("sequence", \.sequence, in: ColumnRules.sequences),
            .init("title", \.content.title), .init("date", \.content.date), .init("start_time", \.content.startTime),
            .init("end_time", \.content.endTime), .init("end_date", \.content.endDate),
            .init("time_zone", \.content.timeZone), .init("description", \.content.description),
            .init("location", \.content.location), .init("recurrence", \.content.recurrence),
            .init("first_day", \.firstDay), .init("last_day", \.lastDay), .init("provider", \.mapping.provider),
            .init("external_id", \.mapping.externalID), .init("external_instance_id", \.mapping.instanceID),
            .init("instance_key", \.mapping.instanceKey), .init("external_calendar_id", \.mapping.calendarID),
            .init("sync_state", \.mapping.state), .init("last_synced_at", \.mapping.lastSyncedAt),
            .init("source_device", \.mapping.sourceDevice), .once("created_at", \.createdAt),
            .init("updated_at", \.updatedAt), .init("changed_at", \.changedAt), .init("deleted_at", \.deletedAt),
            .once("connection_id", \.source), .part("circle_id", \.tie, \.circleID, isOnce: true),
            .part("collection", \.tie, \.collection, isOnce: true), .part("item_id", \.tie, \.itemID, isOnce: true),
            .part("generation", \.tie, \.generation, isOnce: true), .part("carrier", \.tie, \.carrier),
            .part("turn", \.tie, \.turn), .part("sent_at", \.tie, \.sentAt), .part("earlier", \.tie, \.earlier),
        ])
}
