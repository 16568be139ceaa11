// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// A write that is wanted at a provider.
public struct WriteRequest: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Makes an event under an identity that follows from the mark only, and never a second one.
        case create(Entry)
        /// Changes the fields in which `to` differs from `from`, if the event is still what `etag` names. Fields that
        /// we do not own are left as they are.
        ///
        /// - Parameter from: what both sides last agreed is there, as the provider answered it.
        case update(id: String, etag: String?, from: Entry, to: Entry)
        /// Removes an event, if it is still what `etag` names.
        case delete(id: String, etag: String?)
    }

    /// The operation's own key, stored before the request leaves; the same when it is sent again.
    public var key: String
    public var mark: Mark
    public var kind: Kind

    public init(key: String, mark: Mark, kind: Kind) {
        self.key = key
        self.mark = mark
        self.kind = kind
    }
}

/// What became of a write.
public enum WriteAnswer: Hashable, Sendable {
    /// It is done, and this is the event as the provider has it now, rewritten or not.
    case written(RemoteEvent)
    case deleted
    /// The event has changed since (412): it must be looked at again.
    case mismatch
    /// Create: the identity is taken, by this event; nil when it cannot be read (the tombstone of a deleted one).
    case taken(RemoteEvent?)
    /// Update: the event is gone.
    case gone
    /// Not done. Of the kind `unanswered`: perhaps done. A transient failure is tried again later; any other keeps
    /// this event back, with its reason, and no other event.
    case failed(ProviderFailure)
}

/// What a provider cannot keep of an entry.
public struct Limitation: Hashable, Sendable {
    /// The field of the entry: `reminders`, `recurrence`, …
    public var field: String
    /// A sentence for people.
    public var message: String
    /// Whether the entry cannot be kept there at all: `write` refuses it with the same sentence, before anything is sent.
    public var preventsWriting: Bool

    public init(field: String, message: String, preventsWriting: Bool = false) {
        self.field = field
        self.message = message
        self.preventsWriting = preventsWriting
    }
}

/// A registered request for notifications of changes.
public struct WatchChannel: Hashable, Sendable, Codable {
    public var id: String
    /// Google's resource id; empty elsewhere.
    public var resourceID: String
    public var expiresAt: Instant

    public init(id: String, resourceID: String = "", expiresAt: Instant) {
        self.id = id
        self.resourceID = resourceID
        self.expiresAt = expiresAt
    }
}

/// One account of a provider, as the engine needs it. Every function is one conversation; none keeps state.
public protocol CalendarProvider: Sendable {
    /// Whether `changes` reads each event that it reports from where it is kept, after it was said to have changed. Where
    /// an index answers instead, it may be older than the last write.
    var readsEvents: Bool { get }

    /// The account's calendars that can hold events.
    func calendars() async throws(ProviderFailure) -> [RemoteCalendar]

    /// Makes a calendar that carries our sign.
    func createCalendar(named name: String, timeZone: String) async throws(ProviderFailure) -> RemoteCalendar

    /// What `entry` becomes at this provider, and what of it is lost. Comparisons use the result: what a provider
    /// cannot keep is not an edit.
    func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation])

    /// All that changed since `cursor`, or a full listing of the window without one, or when `cursor` is dead.
    ///
    /// The cursor is bound to the window in which it began where the provider binds it (Graph).
    func changes(
        in calendar: String, since cursor: String?, window: SyncWindow
    ) async throws(ProviderFailure) -> ChangeSet

    /// As `changes(in:since:window:)`, and may leave out events whose etag is the one in `known`.
    ///
    /// A CalDAV server lists names and etags, and contents cost further requests: what this side wrote itself and
    /// knows by its etag need not be fetched again. A full listing names every event nevertheless.
    ///
    /// - Parameter known: the etags that both sides last agreed on, by the event's id.
    func changes(
        in calendar: String, since cursor: String?, window: SyncWindow, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet

    /// Looks at events by their ids. Each id that is asked for has a look in the result, or the call fails.
    func look(at ids: [String], in calendar: String) async throws(ProviderFailure) -> [(id: String, look: RemoteLook)]

    /// Reads events one by one for the time of their last change, which a listing may leave out. An event whose time the server
    /// does not state here either is not in the result.
    func stamped(_ ids: [String], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent]

    /// The events that carry one of these marks, after an answer was lost or a database restored.
    func find(_ marks: [Mark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent]

    /// Sends writes, in as few requests as the provider allows; answers come in the order of the requests.
    func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer]

    /// Asks to be notified of changes; nil where the provider cannot do that.
    ///
    /// - Parameters:
    ///   - address: where notifications go, https but on loopback.
    ///   - secret: comes back with each notification.
    func watch(_ calendar: String, address: String, secret: String) async throws(ProviderFailure) -> WatchChannel?

    /// Ends a channel; one that is unknown is ended already.
    func unwatch(_ channel: WatchChannel) async throws(ProviderFailure)
}

extension CalendarProvider {
    public var readsEvents: Bool { false }

    public func stamped(_ ids: [String], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] { [] }

    public func changes(
        in calendar: String, since cursor: String?, window: SyncWindow, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        try await changes(in: calendar, since: cursor, window: window)
    }
}
