// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A write to be done at a provider.
public struct WriteRequest: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Creates an event under an id derived only from the mark, so that a repeated request makes no second event.
        case create(Entry)
        /// Changes the fields in which `to` differs from `from`, if the event still has the version `etag`. Fields that
        /// we do not own are not changed.
        ///
        /// - Parameter from: the event that both sides last agreed on, as the provider returned it.
        case update(id: String, etag: String?, from: Entry, to: Entry)
        /// Removes an event, if it still has the version `etag`.
        case delete(id: String, etag: String?)
    }

    /// The operation's own key, stored before the request is sent; the same when it is sent again.
    public var key: String
    public var mark: EventMark
    public var kind: Kind

    public init(key: String, mark: EventMark, kind: Kind) {
        self.key = key
        self.mark = mark
        self.kind = kind
    }
}

/// The outcome of a write.
public enum WriteAnswer: Hashable, Sendable {
    /// The write was done; this is the event as the provider now has it, rewritten or not.
    case written(RemoteEvent)
    case deleted
    /// The event has changed since (412), and must be looked at again.
    case mismatch
    /// Create: the identity is taken by this event; nil when the event cannot be read (the tombstone of a deleted one).
    case taken(RemoteEvent?)
    /// Update: the event is gone.
    case gone
    /// The write was not done; for the kind `unanswered`, it may have been done. A transient failure is tried again
    /// later; any other holds back this event, with its reason, and no other event.
    case failed(ProviderFailure)
}

/// A part of an entry that a provider cannot keep.
public struct Limitation: Hashable, Sendable {
    /// The field of the entry; nil where the sentence names several.
    public var field: EntryField?
    /// A sentence for people.
    public var message: String
    /// Whether the entry cannot be stored at all: `write` refuses it with the same sentence, before anything is sent.
    public var preventsWriting = false
    /// Whether this concerns the recurrence, and the occurrences can be stored as single events instead.
    public var isOfSeries = false
}

/// A registered request for notifications of changes.
public struct WatchChannel: Hashable, Sendable, Codable {
    public var id: String
    /// Google's resource id; empty elsewhere.
    public var resourceID = ""
    public var expiresAt: Instant
}

/// One account of a provider, as the engine needs it. The functions do not depend on each other; none keeps state.
public protocol CalendarProvider: Sendable {
    /// Whether `changes` reads each event from where it is stored, after its change was reported. An index that answers
    /// instead may be older than the last write.
    var readsEvents: Bool { get }

    /// The way to the provider; nil where nothing is sent.
    var http: (any ProviderHTTP)? { get }

    /// Returns the account's calendars that can hold events.
    func calendars() async throws(ProviderFailure) -> [RemoteCalendar]

    /// Creates a calendar that carries our sign.
    func createCalendar(named name: String, timeZone: String) async throws(ProviderFailure) -> RemoteCalendar

    /// Returns `entry` as this provider can store it, and what is lost of it. Comparisons use the result: what a
    /// provider cannot keep is not an edit.
    func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation])

    /// Returns all changes since `cursor`, or a full listing of the window when there is no cursor or it has expired.
    ///
    /// Where the provider binds a cursor to a window (Graph), this is the window in which the cursor began. A CalDAV
    /// server lists names and etags, and contents cost further requests: an event that this side wrote and knows by its
    /// etag need not be fetched again. A full listing still names every event.
    ///
    /// - Parameter known: the etags that both sides last agreed on, by the event's id; an event that still has its etag
    ///   may be left out.
    func changes(
        in calendar: String, since cursor: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet

    /// Looks at events by their ids. The result has a look for each id, or the call fails.
    func look(at ids: [String], in calendar: String) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)]

    /// Reads events one by one for the time of their last change, which a listing may leave out. An event whose time
    /// the server does not state here either is not in the result.
    func stamped(_ ids: [String], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent]

    /// Returns the events that carry one of these marks, after an answer was lost or a database was restored.
    func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent]

    /// Sends writes in as few requests as the provider allows; the answers are in the order of the requests.
    func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer]

    /// Asks to be notified of changes; returns nil where the provider cannot do that.
    ///
    /// - Parameters:
    ///   - address: where notifications are sent; https, except on loopback.
    ///   - secret: a text that each notification returns.
    func watch(_ calendar: String, address: String, secret: String) async throws(ProviderFailure) -> WatchChannel?

    /// Ends a channel; an unknown channel counts as ended.
    func unwatch(_ channel: WatchChannel) async throws(ProviderFailure)
}

extension CalendarProvider {
    public var readsEvents: Bool { false }

    public var http: (any ProviderHTTP)? { nil }

    /// Works on what the provider sent as `ProviderHTTP` does; here, if nothing is sent.
    func work<Value: Sendable>(
        on bytes: Int?, _ work: @escaping @Sendable () throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        guard let http else { return try work() }
        return try await http.work(on: bytes, work)
    }

    public func stamped(_ ids: [String], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] { [] }

    /// Returns the changes when nothing is known.
    package func changes(
        in calendar: String, since cursor: String?, window: TimeRange
    ) async throws(ProviderFailure) -> ChangeSet {
        try await changes(in: calendar, since: cursor, window: window, known: [:])
    }
}
