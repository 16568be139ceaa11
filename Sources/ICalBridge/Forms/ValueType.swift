// SPDX-License-Identifier: Apache-2.0

/// The type of a property's values, by its name in jCal and xCal (RFC 7265 section 3.6, RFC 6321 section 3.6).
struct ValueType: RawRepresentable, Hashable {
    /// The name in lower case.
    var rawValue: String

    static let binary = ValueType(rawValue: "binary")
    static let boolean = ValueType(rawValue: "boolean")
    static let calendarAddress = ValueType(rawValue: "cal-address")
    static let date = ValueType(rawValue: "date")
    static let dateTime = ValueType(rawValue: "date-time")
    static let duration = ValueType(rawValue: "duration")
    static let float = ValueType(rawValue: "float")
    static let integer = ValueType(rawValue: "integer")
    static let period = ValueType(rawValue: "period")
    static let recur = ValueType(rawValue: "recur")
    static let text = ValueType(rawValue: "text")
    static let time = ValueType(rawValue: "time")
    static let uri = ValueType(rawValue: "uri")
    static let utcOffset = ValueType(rawValue: "utc-offset")
    /// The value as it is written in iCalendar, with its escapes (RFC 7265 section 5, RFC 6321 section 5).
    static let unknown = ValueType(rawValue: "unknown")

    /// The type that a property has without VALUE; nil for a property that has no default or is not known.
    static func standard(of property: String) -> ValueType? { standards[property] }

    /// Default types from RFC 5545 section 3.8, RFC 7986 section 5, RFC 9073 and RFC 9074.
    private static let standards: [ByteString: ValueType] = {
        var types: [ByteString: ValueType] = [:]
        func add(_ type: ValueType, _ names: String) {
            for name in names.split(separator: " ") { types[String(name)] = type }
        }
        add(.text, "ACTION BUSYTYPE CALSCALE CATEGORIES CLASS COLOR COMMENT CONTACT DESCRIPTION LOCATION LOCATION-TYPE")
        add(.text, "METHOD NAME PARTICIPANT-TYPE PRODID PROXIMITY REFID RELATED-TO REQUEST-STATUS RESOURCE-TYPE")
        add(.text, "RESOURCES STATUS STYLED-DESCRIPTION SUMMARY TRANSP TZID TZID-ALIAS-OF TZNAME UID VERSION")
        add(.dateTime, "ACKNOWLEDGED COMPLETED CREATED DTEND DTSTAMP DTSTART DUE EXDATE LAST-MODIFIED RDATE")
        add(.dateTime, "RECURRENCE-ID TZUNTIL")
        add(.duration, "DURATION TRIGGER")
        add(.uri, "ATTACH CONCEPT TZURL URL")
        add(.calendarAddress, "ATTENDEE CALENDAR-ADDRESS ORGANIZER")
        add(.integer, "PERCENT-COMPLETE PRIORITY REPEAT SEQUENCE")
        add(.float, "GEO")
        add(.period, "FREEBUSY")
        add(.recur, "EXRULE RRULE")
        add(.utcOffset, "TZOFFSETFROM TZOFFSETTO")
        return types
    }()

    /// Text properties whose unescaped commas separate values.
    static let listed: Set<ByteString> = ["CATEGORIES", "RESOURCES"]
    /// Text properties without escapes: words of a fixed list.
    static let tokens: Set<ByteString> = ["ACTION", "CALSCALE", "CLASS", "METHOD", "STATUS", "TRANSP", "VERSION"]
    /// Properties whose unescaped semicolons separate parts (RFC 7265 section 3.4.1.3), with xCal's names for the
    /// parts.
    static let structured: [ByteString: [String]] = [
        "GEO": ["latitude", "longitude"],
        "REQUEST-STATUS": ["code", "description", "data"],
    ]

    /// The type of a parameter's values in xCal (RFC 6321 section 3.5).
    static func ofParameter(_ name: String) -> ValueType {
        switch name {
        case "ALTREP", "DIR": .uri
        case "DELEGATED-FROM", "DELEGATED-TO", "MEMBER", "SENT-BY": .calendarAddress
        case "RSVP": .boolean
        case "CN", "CUTYPE", "ENCODING", "FBTYPE", "FMTTYPE", "LANGUAGE", "PARTSTAT", "RANGE", "RELATED", "RELTYPE",
            "ROLE", "TZID":
            .text
        default: .unknown
        }
    }
}
