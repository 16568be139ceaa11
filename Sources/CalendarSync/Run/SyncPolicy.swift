// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// What a run goes by.
public struct SyncPolicy: Hashable, Sendable {
    /// What a run is for.
    public enum Purpose: Hashable, Sendable {
        case sync
        /// The last run of a connection: removes the events of ours that end after this instant, all of them when nil.
        /// It includes those that left the window, those of earlier generations, and those that only their mark shows
        /// to be ours; what a person has changed in an event since it is no longer followed is theirs, and stays.
        ///
        /// A person asked for it, so that no brake holds it.
        case removal(from: Instant?)
    }

    var isRemoval: Bool { purpose != .sync }

    public var installation: String
    public var connection: String
    public var circle: String
    /// Connections of this circle and user that are gone: their events are adopted.
    public var formerConnections: Set<ByteString>
    public var fingerprint: Fingerprint
    /// Between which instants events are judged.
    public var window: SyncWindow
    public var twoWay: Bool
    public var purpose: Purpose
    public var brake: Brake
    /// Seconds between two edits within which neither is the later one.
    public var tie: Int
    /// How often an event is looked at and merged again in one run when it changes underneath.
    public var tries: Int
    /// Writes that are stored, sent and answered together.
    public var batch: Int
    /// Seconds after which an event that was held back is tried again.
    public var quarantine: Int

    public init(
        installation: String, connection: String, circle: String, formerConnections: Set<ByteString> = [],
        fingerprint: Fingerprint, window: SyncWindow, twoWay: Bool = true, purpose: Purpose = .sync,
        brake: Brake = Brake(), tie: Int = 300, tries: Int = 3, batch: Int = 200, quarantine: Int = 86_400
    ) {
        self.installation = installation
        self.connection = connection
        self.circle = circle
        self.formerConnections = formerConnections
        self.fingerprint = fingerprint
        self.window = window
        self.twoWay = twoWay
        self.purpose = purpose
        self.brake = brake
        self.tie = tie
        self.tries = tries
        self.batch = batch
        self.quarantine = quarantine
    }
}

/// What a listing has to have in common with the last one before an absence in it means anything.
public struct Fingerprint: Hashable, Sendable, Codable {
    public var account: String
    /// The calendar's id there.
    public var calendar: String
    /// The days of the window before and after today.
    public var pastDays: Int
    public var futureDays: Int
    /// A digest of the configuration that decides what is shown, and how.
    public var filter: String
    /// Rises when items become other entries than in the version before.
    public var mapping: Int

    public init(account: String, calendar: String, pastDays: Int, futureDays: Int, filter: String, mapping: Int) {
        self.account = account
        self.calendar = calendar
        self.pastDays = pastDays
        self.futureDays = futureDays
        self.filter = filter
        self.mapping = mapping
    }
}

/// How many deletions are let pass without a person: those that are not more than `events`, or not more than a fifth.
public struct Brake: Hashable, Sendable {
    public var events: Int
    /// One part in so many of what is linked.
    public var fraction: Int

    public init(events: Int = 10, fraction: Int = 5) {
        self.events = events
        self.fraction = fraction
    }

    /// Whether so many deletions within a day have to wait for a person.
    public func holds(_ deletions: Int, of linked: Int) -> Bool {
        deletions > events && deletions * fraction > linked
    }
}
