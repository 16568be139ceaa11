// SPDX-License-Identifier: Apache-2.0

/// Why nothing, or not everything, is done until a person acts.
public enum SyncPause: String, Hashable, Sendable, Codable, CaseIterable {
    /// The system does not permit it, or no longer does.
    case permissionMissing
    case calendarGone, calendarReadOnly
    /// The run would delete so many events that a person has to approve it.
    case held
    /// The calendar that shows the server's events drops their addresses, and with them the marks. Without its mark an
    /// event is not followed, so that changes would no longer arrive.
    case marksNotKept
    /// The person has not connected the calendar in the app, or disconnected it there.
    case notConnected
    /// The person switched reading or writing off in the app; the system still permits it.
    case switchedOff
    /// The person switched reading off on the server.
    case switchedOffThere
    /// The connection was ended on the server.
    case disconnectedThere
}

extension SyncPause {
    /// What a device reports to the server about it; nil when the server need not know, or knows.
    var problem: String? {
        switch self {
        case .permissionMissing: "permissionRevoked"
        case .calendarGone: "calendarGone"
        case .calendarReadOnly: "calendarReadOnly"
        case .switchedOff: "switchedOff"
        case .held, .marksNotKept, .notConnected, .switchedOffThere, .disconnectedThere: nil
        }
    }
}

/// The result of a run; it holds counts and no data of any event.
public struct SyncReport: Hashable, Sendable, Codable {
    public enum Status: String, Hashable, Sendable, Codable, CaseIterable { case success, partial, failed, paused }

    public struct Counts: Hashable, Sendable, Codable {
        /// Events of the server that were made, changed and removed in calendars.
        public var made = 0
        public var changed = 0
        public var removed = 0
        /// Events and deletions that the server accepted.
        public var sent = 0
        public var deletedThere = 0
        public var received = 0
        /// Events that one of the sides did not accept.
        public var failed = 0
        /// Changes that wait for the network or for the next run.
        public var queued = 0
        /// Events that are missing, and count as deleted if they stay missing.
        public var missing = 0
        public var conflicts = 0
        public var linked = 0

        public init() {}

        public var wroteNothing: Bool { made + changed + removed + sent + deletedThere == 0 }
    }

    public var status: Status
    public var pause: SyncPause?
    public var counts = Counts()
    /// Milliseconds since 1970.
    public var startedAt: Int
    public var endedAt: Int
    /// The kind of the error, without any data of an event.
    public var error: String?
    /// The failure of the network or the server, for the text of the screens and for back-off.
    public var failure: FailureKind?

    public enum FailureKind: String, Hashable, Sendable, Codable, CaseIterable {
        case offline, unauthorized, server, refused, cancelled, calendar
    }

    public init(status: Status, startedAt: Int, endedAt: Int) {
        self.status = status
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
}

extension CompanionFailure {
    public var kind: SyncReport.FailureKind {
        switch self {
        case .offline: .offline
        case .unauthorized, .forbidden: .unauthorized
        case .timedOut, .server, .tooManyRequests, .badAnswer: .server
        case .refused: .refused
        case .cancelled: .cancelled
        }
    }
}
