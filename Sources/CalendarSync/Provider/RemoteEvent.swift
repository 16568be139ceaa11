// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A calendar of an account.
public struct RemoteCalendar: Hashable, Sendable {
    public var id: String
    public var name: String
    /// `#RRGGBB`; nil where the provider gives none.
    public var color: String?
    public var isPrimary: Bool
    public var canWrite: Bool
    /// An IANA name; nil where the provider gives none.
    public var timeZone: String?
    /// Whether a Kalends created it: it carries our sign, whatever its name is now.
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

/// An event as a provider stores it.
public struct RemoteEvent: Hashable, Sendable {
    /// The content of an event that can be read.
    public enum Content: Hashable, Sendable {
        /// The whole event; a series includes all its changed occurrences.
        case entry(Entry)
        /// A series whose changed occurrences are not in this answer: the known ones are kept.
        case master(Entry)
        /// Something that cannot be expressed as an entry, with the reason in a sentence. The event exists, and never
        /// counts as absent.
        case unreadable(String)
    }

    public var id: String
    /// The ETag or changeKey; nil where the server gave none.
    public var etag: String?
    /// Our mark; nil for an event that is not ours.
    public var mark: EventMark?
    public var content: Content
    /// The server's own timestamp of the last change; nil where it has none.
    public var updatedAt: Instant?
    /// Whether one of our writes to the series was cut short before all occurrences were written: differences from our
    /// occurrences are then not anyone's edits. A create, or an update to the wanted state, completes it.
    public var isUnfinished: Bool
    /// Whether the etag is still the one from the answer to our own write: any difference was made by the server.
    public var isAsWritten: Bool
    /// Whether a person invited others to it; nil where the answer does not say.
    public var hasGuests: Bool?

    public init(
        id: String, etag: String?, mark: EventMark?, content: Content, updatedAt: Instant? = nil,
        isUnfinished: Bool = false,
        isAsWritten: Bool = false, hasGuests: Bool? = nil
    ) {
        self.id = id
        self.etag = etag
        self.mark = mark
        self.content = content
        self.updatedAt = updatedAt
        self.isUnfinished = isUnfinished
        self.isAsWritten = isAsWritten
        self.hasGuests = hasGuests
    }

    /// The approximate bytes of memory that it takes.
    var weight: Int {
        let content =
            switch content {
            case .entry(let entry), .master(let entry): entry.weight + 64 * entry.occurrences.count
            case .unreadable: 64
            }
        return 256 + id.utf8.count + (etag?.utf8.count ?? 0) + content
    }
}

/// One change that a listing reports.
public enum RemoteChange: Hashable, Sendable {
    case event(RemoteEvent)
    /// One occurrence of a series has changed or, when nil, equals the series again.
    case occurrence(
        seriesID: String, originalStart: Instant, Occurrence?, etag: String?, updatedAt: Instant?)
    /// The provider reports that the event is gone. This counts only once `look` confirms it.
    case removed(id: String)
}

/// What a provider reports about a calendar since a cursor.
public struct ChangeSet: Sendable {
    public var changes: [RemoteChange]
    /// Whether this is a complete, authorized listing of the window: every page arrived, and no event failed. Only then
    /// is an event that is not named absent.
    public var isFull: Bool
    /// Where the next listing begins; nil when the provider has no cursor.
    public var cursor: String?

    public init(changes: [RemoteChange], isFull: Bool, cursor: String?) {
        self.changes = changes
        self.isFull = isFull
        self.cursor = cursor
    }
}

/// The result of a look at one event.
public enum RemoteLookup: Hashable, Sendable {
    case present(RemoteEvent)
    /// 404, 410 or cancelled: the event is gone.
    case gone
}
