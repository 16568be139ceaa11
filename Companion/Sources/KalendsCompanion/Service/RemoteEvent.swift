// SPDX-License-Identifier: Apache-2.0

/// The repetition of an event as it is transmitted.
public struct RemoteRecurrence: Hashable, Sendable, Codable {
    public var rrule: String?
    /// RFC 3339, or YYYY-MM-DD for whole days.
    public var exdates: [String]?
    public var rdates: [String]?

    public init(rrule: String?, exdates: [String]? = nil, rdates: [String]? = nil) {
        self.rrule = rrule
        self.exdates = exdates
        self.rdates = rdates
    }
}

/// An event of `…/changes`. Times of day are HH:MM or HH:MM:SS; other times are milliseconds since 1970.
public struct RemoteEvent: Hashable, Sendable, Codable {
    public var id: String
    public var title: String
    /// YYYY-MM-DD.
    public var date: String
    public var startTime: String?
    public var endTime: String?
    /// The last day, inclusive.
    public var endDate: String?
    public var timeZone: String?
    public var allDay: Bool?
    public var description: String?
    public var location: String?
    public var provider: String?
    public var externalId: String?
    public var externalCalendarId: String?
    public var externalInstanceId: String?
    public var recurrence: RemoteRecurrence?
    public var syncState: String?
    public var sourceDevice: String?
    /// The fields of a circle's item; nil for a person's own event.
    public var circleId: String?
    public var collection: String?
    public var itemId: String?
    public var connectionId: String?
    /// The device's turn as the item's carrier; the device sends it back with its reports about the item.
    public var turn: Int?
    /// The mark of the item's event in a calendar.
    public var mark: String?
    public var updatedAt: Int
    public var deletedAt: Int?

    public init(id: String, title: String, date: String, updatedAt: Int) {
        self.id = id
        self.title = title
        self.date = date
        self.updatedAt = updatedAt
    }

    /// The original start of a changed occurrence.
    var instance: EventMoment? {
        externalInstanceId.flatMap { EventMoment($0) } ?? EventMark(url: mark)?.occurrence
    }

    public var isDeleted: Bool { syncState.map { $0 == "deleted" } ?? (deletedAt != nil) }
}

/// One page of changes.
public struct ChangePage: Hashable, Sendable, Codable {
    public var events: [RemoteEvent]
    public var serverTime: Int
    public var nextSince: Int
    public var hasMore: Bool
    /// `disconnected` after the connection was ended on the server; otherwise nil.
    public var connector: ConnectorThere.State?

    public init(
        events: [RemoteEvent], serverTime: Int, nextSince: Int, hasMore: Bool, connector: ConnectorThere.State? = nil
    ) {
        self.events = events
        self.serverTime = serverTime
        self.nextSince = nextSince
        self.hasMore = hasMore
        self.connector = connector
    }
}
