// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

/// The rules that a run follows.
public struct SyncPolicy: Hashable, Sendable {
    /// The purpose of a run.
    public enum Purpose: Hashable, Sendable {
        case sync
        /// The last run of a connection: removes our events that end after this instant, or all of them when it is nil.
        /// This includes events that left the window, those of earlier generations, and those that only their mark
        /// identifies; an event that a person changed after it left the window stays.
        ///
        /// No brake holds it, because a person asked for it.
        case removal(from: Instant?)
    }

    var isRemoval: Bool { purpose != .sync }

    public var installation: String
    public var connection: String
    public var circle: String
    /// Former connections of this circle and user, whose events are adopted, and removed with the last run.
    public var formerConnections: Set<ByteString>
    /// The circle's other connections: their events are theirs. Events of a connection that is neither were made before
    /// the database was lost, or by a connection that has ended, and are adopted.
    public var otherConnections: Set<ByteString>
    /// Whether a person has said that another of these connections may write into the calendar, too.
    public var sharesIt: Bool
    public var fingerprint: Fingerprint
    /// The window within which events are judged. Providers list at least this window.
    public var window: TimeRange
    public var twoWay: Bool
    public var purpose: Purpose
    public var brake: DeletionLimit
    /// The number of seconds between two edits within which neither counts as the later one.
    public var tie: Int
    /// How often one run looks again at an event that changes while it is merged.
    public var tries: Int
    /// The number of writes that are stored, sent and answered together.
    public var batch: Int
    /// The number of seconds after which an event that was held back is tried again.
    public var quarantine: Int

    public init(
        installation: String, connection: String, circle: String, formerConnections: Set<ByteString> = [],
        otherConnections: Set<ByteString> = [], sharesIt: Bool = false, fingerprint: Fingerprint, window: TimeRange,
        twoWay: Bool = true,
        purpose: Purpose = .sync, brake: DeletionLimit = DeletionLimit(), tie: Int = 300, tries: Int = 3,
        batch: Int = 200,
        quarantine: Int = 86_400
    ) {
        self.installation = installation
        self.connection = connection
        self.circle = circle
        self.formerConnections = formerConnections
        self.otherConnections = otherConnections
        self.sharesIt = sharesIt
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

/// What two listings must have in common before the absence of an event from the later one means anything.
public struct Fingerprint: Hashable, Sendable, Codable {
    public var account: String
    /// The calendar's id at the provider.
    public var calendar: String
    /// The number of days of the window before and after today.
    public var pastDays: Int
    public var futureDays: Int
    /// A digest of the configuration that decides what is shown, and how.
    public var filter: String
    /// Increases when items become other entries than in the version before.
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

/// The number of deletions that need no approval: at most `events`, or at most one in `fraction` of the linked events.
public struct DeletionLimit: Hashable, Sendable {
    public var events: Int
    /// The divisor of the number of linked events.
    public var fraction: Int

    public init(events: Int = 10, fraction: Int = 5) {
        self.events = events
        self.fraction = fraction
    }

    /// Reports whether this number of deletions within a day has to wait for a person.
    public func holds(_ deletions: Int, of linked: Int) -> Bool {
        deletions > events && deletions * fraction > linked
    }
}
