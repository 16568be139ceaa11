// SPDX-License-Identifier: Apache-2.0

/// A calendar component with a place in time: an event, a to-do, a journal entry or a free/busy block.
public struct Event: Hashable, Sendable, Codable {
    /// The component's name in iCalendar (RFC 5545 sections 3.6.1 to 3.6.4).
    public enum Kind: String, Hashable, Sendable, Codable {
        case event = "VEVENT"
        case toDo = "VTODO"
        case journal = "VJOURNAL"
        case freeBusy = "VFREEBUSY"
    }

    /// How a component says when it ends.
    public enum End: Hashable, Sendable, Codable {
        /// DTEND (exclusive), or DUE for a to-do.
        case time(EventTime)
        case duration(ICalDuration)
    }

    public var kind: Kind
    public var uid: String
    /// The original start of the occurrence this component replaces, nil for a whole event or series.
    public var recurrenceID: EventTime?
    /// Whether the replacement holds for all later occurrences too (RANGE=THISANDFUTURE).
    public var appliesToFuture: Bool
    /// Always there for an event; a to-do may have none.
    public var start: EventTime?
    public var end: End?
    public var summary: String?
    public var description: String?
    public var location: String?
    /// STATUS in upper case: `CONFIRMED`, `TENTATIVE`, `CANCELLED`, or a to-do's or journal's own.
    public var status: String?
    /// TRANSP: true for `TRANSPARENT`, false for `OPAQUE`, nil when it is not said (which means opaque).
    public var isTransparent: Bool?
    /// CLASS in upper case: `PUBLIC`, `PRIVATE`, `CONFIDENTIAL`, or an extension.
    public var classification: String?
    /// Revision number of RFC 5545 section 3.8.7.4, 0 when it is not said.
    public var sequence: Int
    public var timestamp: Instant?
    public var created: Instant?
    public var lastModified: Instant?
    public var categories: [String]
    public var url: String?
    public var recurrence: Recurrence
    public var alarms: [Alarm]
    /// Parameters of SUMMARY, DESCRIPTION and LOCATION, such as LANGUAGE and ALTREP; nil when there are none.
    public var textParameters: [ByteString: [ContentLine.Parameter]]?
    /// Properties without a field here, in the order of the file.
    public var otherProperties: [ContentLine]

    public init(
        kind: Kind = .event, uid: String, recurrenceID: EventTime? = nil, start: EventTime?, end: End? = nil,
        summary: String? = nil
    ) {
        self.kind = kind
        self.uid = uid
        self.recurrenceID = recurrenceID
        self.appliesToFuture = false
        self.start = start
        self.end = end
        self.summary = summary
        self.sequence = 0
        self.categories = []
        self.recurrence = Recurrence()
        self.alarms = []
        self.otherProperties = []
    }
}

extension Event {
    public var isAllDay: Bool { start?.isDate ?? false }
    public var isCancelled: Bool { status == "CANCELLED" }

    /// When it ends: from DTEND, else DURATION, else the RFC's default (section 3.6.1).
    ///
    /// A day without an end lasts that day, a time without an end takes no time. Exclusive, in the form and zone of
    /// the start unless DTEND has its own. Nil only when there is neither start nor end.
    public var effectiveEnd: EventTime? {
        switch end {
        case .time(let time): time
        case .duration(let duration): start.map { $0.adding(duration) }
        case nil:
            switch start {
            case .date(let date) where kind == .event: .date(date.adding(days: 1))
            default: start
            }
        }
    }
}

extension EventTime {
    /// The time `duration` later: its days on the wall clock, its seconds on the time line.
    public func adding(_ duration: ICalDuration) -> EventTime {
        switch self {
        case .date(let date):
            // A duration with hours has no place on a date; whole days of it count.
            .date(date.adding(days: duration.nominalSeconds / 86_400))
        case .floating(let wall):
            .floating(wall.adding(seconds: duration.nominalSeconds))
        case .utc(let instant):
            .utc(instant.adding(seconds: duration.nominalSeconds))
        case .zoned(let wall, let zone):
            if duration.seconds == 0 {
                .zoned(wall.adding(seconds: duration.days * 86_400), zone)
            } else {
                .zoned(
                    zone.rules.civil(
                        at: zone.rules.instant(of: wall.adding(seconds: duration.days * 86_400))
                            .adding(seconds: duration.seconds)), zone)
            }
        }
    }
}
