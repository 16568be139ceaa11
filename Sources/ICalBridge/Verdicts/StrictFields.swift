// SPDX-License-Identifier: Apache-2.0

/// How python's ical reads the value of a property; the model of each component gives its properties a type.
struct StrictField {
    enum Kind: String {
        /// Anything is taken, except another type of VALUE.
        case text, uri
        /// A DATE or DATE-TIME, a DATE-TIME only, and what RDATE may be.
        case moment, instant, addition
        case duration, trigger, rule, status, integer, priority, offset, place, result, period
        /// Values whose parameters matter.
        case address, attachment, conference, relation
        /// Never refused.
        case any
    }

    var kind: Kind
    /// Whether the component may have more than one.
    var isList: Bool
    /// The place of this property among those of its component.
    var index: Int
}

/// The components that python's ical has a model for; it passes over others.
enum StrictComponent: Hashable, CaseIterable {
    case stream, calendar, event, toDo, journal, freeBusy, zone, observance, alarm, other

    /// The component of a name in lower case within this one.
    func child(_ name: String) -> StrictComponent {
        switch (self, name) {
        case (.stream, "vcalendar"): .calendar
        case (.calendar, "vevent"): .event
        case (.calendar, "vtodo"): .toDo
        case (.calendar, "vjournal"): .journal
        case (.calendar, "vfreebusy"): .freeBusy
        case (.calendar, "vtimezone"): .zone
        case (.zone, "standard"), (.zone, "daylight"): .observance
        case (.event, "valarm"), (.toDo, "valarm"): .alarm
        default: .other
        }
    }

    /// The property of a name in this component, if the library gives it a type.
    func field(_ name: PackedName) -> StrictField? { Self.fields[self]?[name] }

    /// The words that STATUS may have, in capitals only.
    var statuses: [String] {
        switch self {
        case .event: ["CONFIRMED", "TENTATIVE", "CANCELLED"]
        case .toDo: ["NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "CANCELLED"]
        default: ["DRAFT", "FINAL", "CANCELLED"]
        }
    }

    private static let fields: [StrictComponent: [PackedName: StrictField]] = Dictionary(
        uniqueKeysWithValues: allCases.map { component in
            let words = component.table.split(whereSeparator: { $0.isWhitespace })
            let rows = words.enumerated().compactMap { index, word -> (PackedName, StrictField)? in
                let parts = word.split(separator: ":")
                guard parts.count == 2, let kind = StrictField.Kind(rawValue: parts[1].filter { !$0.is("*") })
                else { return nil }
                let field = StrictField(kind: kind, isList: parts[1].utf8.last == 42, index: index)
                return (PackedName(String(parts[0])), field)
            }
            return (component, Dictionary(uniqueKeysWithValues: rows))
        })

    /// The properties of an event, a to-do and a journal entry.
    private static let common = """
        DTSTAMP:moment UID:text DTSTART:moment SUMMARY:text ATTENDEE:address* CATEGORIES:text* CLASS:any
        COMMENT:text* CONTACT:text* CREATED:instant DESCRIPTION:text LAST-MODIFIED:instant COLOR:text
        IMAGE:attachment* ORGANIZER:address RECURRENCE-ID:any RELATED-TO:relation* RRULE:rule RDATE:addition*
        EXDATE:moment* REQUEST-STATUS:result* SEQUENCE:integer STATUS:status URL:uri ATTACH:attachment*
        """
    private static let planned = """
        \(common) DURATION:duration GEO:place CONFERENCE:conference* LOCATION:text PRIORITY:priority
        """

    private var table: String {
        switch self {
        case .event: "\(Self.planned) DTEND:moment TRANSP:text RESOURCES:text* RELATED:text*"
        case .toDo: "\(Self.planned) DUE:moment COMPLETED:instant PERCENT:integer"
        case .journal: "\(Self.common) RELATED:text*"
        case .freeBusy:
            """
            DTSTAMP:moment UID:text ATTENDEE:address* COMMENT:text* CONTACT:text* DTSTART:moment DTEND:moment
            FREEBUSY:period* ORGANIZER:address REQUEST-STATUS:result* SEQUENCE:integer URL:uri
            """
        case .calendar:
            """
            CALSCALE:text METHOD:text PRODID:text VERSION:text X-WR-TIMEZONE:text NAME:text* DESCRIPTION:text* UID:text
            LAST-MODIFIED:instant URL:uri CATEGORIES:text* REFRESH-INTERVAL:duration SOURCE:uri COLOR:text
            IMAGE:attachment*
            """
        case .zone: "TZID:text TZURL:uri LAST-MODIFIED:instant"
        case .observance:
            "DTSTART:instant TZOFFSETTO:offset TZOFFSETFROM:offset RRULE:rule RDATE:moment* TZNAME:text* COMMENT:text*"
        case .alarm:
            """
            ACTION:text TRIGGER:trigger DURATION:duration REPEAT:integer DESCRIPTION:text SUMMARY:text
            ATTENDEE:address* ATTACH:attachment*
            """
        case .stream, .other: ""
        }
    }
}
