// SPDX-License-Identifier: Apache-2.0

/// The names that distinguish a property in lower case from a line of text (RFC 5545, 7986, 9073, 9074 and vCalendar
/// 1.0).
enum PropertyNames {
    /// Properties whose value is text that careless programs break over several lines.
    static let texts: Set<ByteString> = [
        "SUMMARY", "DESCRIPTION", "LOCATION", "COMMENT", "CONTACT", "NAME", "CATEGORIES", "RESOURCES",
        "STYLED-DESCRIPTION",
    ]

    static let others: Set<ByteString> = [
        "ACKNOWLEDGED", "ACTION", "ATTACH", "ATTENDEE", "CALSCALE", "CLASS", "COLOR", "COMPLETED", "CONFERENCE",
        "CREATED", "DTEND", "DTSTAMP", "DTSTART", "DUE", "DURATION", "EXDATE", "EXRULE", "FREEBUSY", "GEO", "IMAGE",
        "LAST-MODIFIED", "METHOD", "ORGANIZER", "PERCENT-COMPLETE", "PRIORITY", "PRODID", "RDATE", "RECURRENCE-ID",
        "REFRESH-INTERVAL", "RELATED-TO", "REPEAT", "REQUEST-STATUS", "RRULE", "SEQUENCE", "SOURCE", "STATUS",
        "TRANSP", "TRIGGER", "TZID", "TZNAME", "TZOFFSETFROM", "TZOFFSETTO", "TZURL", "UID", "URL", "VERSION",
        "AALARM", "DALARM", "MALARM", "PALARM", "DAYLIGHT", "TZ", "RNUM", "CALENDAR-ADDRESS", "CONCEPT", "LINK",
        "REFID", "LOCATION-TYPE", "PARTICIPANT-TYPE", "RESOURCE-TYPE", "STRUCTURED-DATA", "PROXIMITY", "BUSYTYPE",
    ]
}
