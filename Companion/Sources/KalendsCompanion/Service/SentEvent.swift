// SPDX-License-Identifier: Apache-2.0

/// An event as a device sends it. A nil member is not sent and leaves the server's value; an empty text clears the
/// value.
public struct SentEvent: Hashable, Sendable, Codable {
    public var externalId: String
    public var title: String
    /// YYYY-MM-DD.
    public var date: String
    /// The server's id, if the device knows it.
    public var id: String?
    public var externalCalendarId: String?
    public var externalInstanceId: String?
    public var startTime: String?
    public var endTime: String?
    public var endDate: String?
    public var timeZone: String?
    public var allDay: Bool?
    public var description: String?
    public var location: String?
    /// A value without rule and dates ends the repetition.
    public var recurrence: RemoteRecurrence?
    /// `linked`, `pending`, `conflict`, `deleted` or `ignored`.
    public var syncState: String?
    /// Milliseconds since 1970.
    public var lastModified: Int?
    public var lastSyncedAt: Int?
    /// The same as `RemoteEvent.turn`.
    public var turn: Int?
    /// The version of the server's event on which the device's change is based.
    public var updatedAt: Int?

    public init(externalId: String, title: String, date: String) {
        self.externalId = externalId
        self.title = title
        self.date = date
    }
}

public struct UpsertBody: Hashable, Sendable, Codable {
    public var sourceDevice: String?
    public var events: [SentEvent]
    /// What prevents the device from using its calendars: `permissionRevoked`, `calendarGone`, `calendarReadOnly`; or
    /// what the person did in the app: `switchedOff`, `disconnected`.
    public var problem: String?

    public init(sourceDevice: String?, events: [SentEvent], problem: String? = nil) {
        self.sourceDevice = sourceDevice
        self.events = events
        self.problem = problem
    }
}

public struct UpsertAnswer: Hashable, Sendable, Codable {
    public struct Accepted: Hashable, Sendable, Codable {
        public var index: Int
        public var id: String
        public var updatedAt: Int
        /// For an item: `conflict` when a person has to decide which side is right.
        public var syncState: String?

        public init(index: Int, id: String, updatedAt: Int) {
            self.index = index
            self.id = id
            self.updatedAt = updatedAt
        }
    }

    /// A fault of an event; its message is for people.
    public struct FieldError: Hashable, Sendable, Codable {
        public var pointer: String?
        public var code: String?
        public var message: String?

        public init(pointer: String?, code: String?, message: String? = nil) {
            self.pointer = pointer
            self.code = code
            self.message = message
        }
    }

    public struct Rejected: Hashable, Sendable, Codable {
        public var index: Int
        public var externalId: String?
        public var errors: [FieldError]

        public init(index: Int, externalId: String?, errors: [FieldError]) {
            self.index = index
            self.externalId = externalId
            self.errors = errors
        }
    }

    public var upserted: Int
    public var created: Int
    public var updated: Int
    public var unchanged: Int
    public var rejected: [Rejected]
    public var events: [Accepted]
    public var serverTime: Int

    public init(
        created: Int, updated: Int, unchanged: Int, rejected: [Rejected], events: [Accepted], serverTime: Int
    ) {
        upserted = created + updated
        self.created = created
        self.updated = updated
        self.unchanged = unchanged
        self.rejected = rejected
        self.events = events
        self.serverTime = serverTime
    }
}
