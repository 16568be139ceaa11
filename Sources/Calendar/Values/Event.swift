// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.

/// A calendar component with a place in time: an event, a to-do, a journal entry or a free/busy block.
public struct Event: Hashable, Sendable, Codable {
    /// The component's name in iCalendar (RFC 5545 sections 3.6.1 to 3.6.4).
    public enum Kind: String, Hashable, Sendable, Codable {
        case event = "VEVENT"
        case toDo = "VTODO"
        case journal = "VJOURNAL"
        case freeBusy = "VFREEBUSY"
    }

    /// How a component gives its end.
    public enum End: Hashable, Sendable, Codable {
        /// DTEND (exclusive), or DUE for a to-do.
        case time(EventTime)
        case duration(ICalDuration)
    }

    private var box: Box

    public init(
        kind: Kind = .event, uid: String, recurrenceID: EventTime? = nil, start: EventTime?, end: End? = nil,
        summary: String? = nil
    ) {
        box = Box(
            Fields(
                kind: kind, uid: uid, recurrenceID: recurrenceID, appliesToFuture: false, start: start, end: end,
                summary: summary, sequence: 0, categories: [], recurrence: Recurrence(), alarms: [],
                otherProperties: []))
    }

    private var fields: Fields {
        _read { yield box.fields }
        _modify {
            // Another event may hold them, too.
            if !isKnownUniquelyReferenced(&box) { box = Box(box.fields) }
            yield &box.fields
        }
    }

    public var kind: Kind {
        _read { yield fields.kind }
        _modify { yield &fields.kind }
    }
    public var uid: String {
        _read { yield fields.uid }
        _modify { yield &fields.uid }
    }
    /// The original start of the occurrence that this component replaces; nil for a whole event or series.
    public var recurrenceID: EventTime? {
        _read { yield fields.recurrenceID }
        _modify { yield &fields.recurrenceID }
    }
    /// Whether the replacement applies to all later occurrences too (RANGE=THISANDFUTURE).
    public var appliesToFuture: Bool {
        _read { yield fields.appliesToFuture }
        _modify { yield &fields.appliesToFuture }
    }
    /// The start, which every event has; a to-do may have none.
    public var start: EventTime? {
        _read { yield fields.start }
        _modify { yield &fields.start }
    }
    public var end: End? {
        _read { yield fields.end }
        _modify { yield &fields.end }
    }
    public var summary: String? {
        _read { yield fields.summary }
        _modify { yield &fields.summary }
    }
    public var description: String? {
        _read { yield fields.description }
        _modify { yield &fields.description }
    }
    public var location: String? {
        _read { yield fields.location }
        _modify { yield &fields.location }
    }
    /// STATUS in upper case: `CONFIRMED`, `TENTATIVE`, `CANCELLED`, or a value for to-dos or journals.
    public var status: String? {
        _read { yield fields.status }
        _modify { yield &fields.status }
    }
    /// TRANSP: true for `TRANSPARENT`, false for `OPAQUE`, nil when it is missing (which means opaque).
    public var isTransparent: Bool? {
        _read { yield fields.isTransparent }
        _modify { yield &fields.isTransparent }
    }
    /// CLASS in upper case: `PUBLIC`, `PRIVATE`, `CONFIDENTIAL`, or an extension.
    public var classification: String? {
        _read { yield fields.classification }
        _modify { yield &fields.classification }
    }
    /// The revision number of RFC 5545 section 3.8.7.4; 0 when it is missing.
    public var sequence: Int {
        _read { yield fields.sequence }
        _modify { yield &fields.sequence }
    }
    public var timestamp: Instant? {
        _read { yield fields.timestamp }
        _modify { yield &fields.timestamp }
    }
    public var created: Instant? {
        _read { yield fields.created }
        _modify { yield &fields.created }
    }
    public var lastModified: Instant? {
        _read { yield fields.lastModified }
        _modify { yield &fields.lastModified }
    }
    public var categories: [String] {
        _read { yield fields.categories }
        _modify { yield &fields.categories }
    }
    public var url: String? {
        _read { yield fields.url }
        _modify { yield &fields.url }
    }
    public var recurrence: Recurrence {
        _read { yield fields.recurrence }
        _modify { yield &fields.recurrence }
    }
    public var alarms: [Alarm] {
        _read { yield fields.alarms }
        _modify { yield &fields.alarms }
    }
    /// Parameters of SUMMARY, DESCRIPTION and LOCATION, such as LANGUAGE and ALTREP; nil when there are none.
    public var textParameters: [ByteString: [ContentLine.Parameter]]? {
        _read { yield fields.textParameters }
        _modify { yield &fields.textParameters }
    }
    /// Properties that have no field here, in the order of the file.
    public var otherProperties: [ContentLine] {
        _read { yield fields.otherProperties }
        _modify { yield &fields.otherProperties }
    }
}

extension Event {
    public static func == (a: Event, b: Event) -> Bool { a.box === b.box || a.box.fields == b.box.fields }

    public func hash(into hasher: inout Hasher) { hasher.combine(box.fields) }

    public init(from decoder: any Decoder) throws { box = Box(try Fields(from: decoder)) }

    public func encode(to encoder: any Encoder) throws { try box.fields.encode(to: encoder) }
}

extension Event: CustomReflectable {
    /// Reflects the fields, not the box that stores them.
    public var customMirror: Mirror { Mirror(reflecting: box.fields) }
}

extension Event {
    public var isAllDay: Bool { start?.isDate ?? false }
    public var isCancelled: Bool { status == "CANCELLED" }

    /// The end of the component: from DTEND, else DURATION, else the RFC's default (section 3.6.1).
    ///
    /// A date without an end lasts that day; a time without an end has no length. The end is exclusive, in the form and
    /// zone of the start unless DTEND has its own. Nil only when there is neither start nor end.
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
    /// The time `duration` later: its days are added on the wall clock, its seconds on the time line.
    public func adding(_ duration: ICalDuration) -> EventTime {
        switch self {
        case .date(let date):
            // A date cannot hold the hours of a duration; only its whole days count.
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
