// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A calendar of an account.
public struct RemoteCalendar: Hashable, Sendable {
    public var id: String
    public var name: String
    /// `#RRGGBB`, nil where the provider says none.
    public var color: String?
    public var isPrimary: Bool
    public var canWrite: Bool
    /// An IANA name, nil where the provider says none.
    public var timeZone: String?
    /// Whether a Kalends made it: it carries our sign, whatever it is called now.
    public var isOurs: Bool

    public init(
        id: String, name: String, color: String? = nil, isPrimary: Bool = false, canWrite: Bool = true,
        timeZone: String? = nil, isOurs: Bool = false
    ) {
        self.id = id
        self.name = name
        self.color = color
        self.isPrimary = isPrimary
        self.canWrite = canWrite
        self.timeZone = timeZone
        self.isOurs = isOurs
    }
}

/// An event as a provider has it.
public struct RemoteEvent: Hashable, Sendable {
    /// What can be read of an event.
    public enum Content: Hashable, Sendable {
        /// The whole event, a series with all its changed occurrences.
        case entry(Entry)
        /// A series whose changed occurrences are not in this answer: those that were known remain.
        case master(Entry)
        /// Something that an entry cannot say, with the reason in a sentence. It is there, and is never "absent".
        case unreadable(String)
    }

    public var id: String
    /// ETag or changeKey, nil where the server gave none.
    public var etag: String?
    /// Nil for an event that is not ours.
    public var mark: Mark?
    public var content: Content
    /// The server's own stamp of the last change; nil where it has none.
    public var updatedAt: Instant?
    /// Whether a write of ours to the series was cut short before all occurrences were as they were sent: where they
    /// differ from ours, nobody has edited them. A creation or an update to what is wanted completes it.
    public var isUnfinished: Bool
    /// Whether the etag is still the one that answered our own write: any difference was made by the server.
    public var isAsWritten: Bool

    public init(
        id: String, etag: String?, mark: Mark?, content: Content, updatedAt: Instant? = nil, isUnfinished: Bool = false,
        isAsWritten: Bool = false
    ) {
        self.id = id
        self.etag = etag
        self.mark = mark
        self.content = content
        self.updatedAt = updatedAt
        self.isUnfinished = isUnfinished
        self.isAsWritten = isAsWritten
    }
}

/// One change that a listing reports.
public enum RemoteChange: Hashable, Sendable {
    case event(RemoteEvent)
    /// One occurrence of a series has changed, or (nil) is as the series again.
    case occurrence(
        seriesID: String, originalStart: Instant, Occurrence?, etag: String?, updatedAt: Instant?)
    /// The provider reports that the event is gone. It must be confirmed by `look` before it counts.
    case removed(id: String)
}

/// What a provider reports about a calendar since a cursor.
public struct ChangeSet: Sendable {
    public var changes: [RemoteChange]
    /// Whether this is a complete, authorised listing of the window: every page came, no event failed. Only then is
    /// an event that is not named absent.
    public var isFull: Bool
    /// Where the next look begins; nil when the provider has no cursor.
    public var cursor: String?

    public init(changes: [RemoteChange], isFull: Bool, cursor: String?) {
        self.changes = changes
        self.isFull = isFull
        self.cursor = cursor
    }
}

/// What a look at one event found.
public enum RemoteLook: Hashable, Sendable {
    case present(RemoteEvent)
    /// 404, 410 or cancelled: the event is gone.
    case gone
}

/// Between which instants events are judged. Providers list at least this.
public struct SyncWindow: Hashable, Sendable, Codable {
    public var from: Instant
    /// Not included.
    public var to: Instant

    public init(from: Instant, to: Instant) {
        self.from = from
        self.to = to
    }
}
