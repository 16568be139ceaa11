// SPDX-License-Identifier: Apache-2.0

/// A format in which a calendar can be written.
public enum CalendarForm: String, Hashable, Sendable, Codable, CaseIterable {
    /// iCalendar text (RFC 5545).
    case iCalendar = "ics"
    /// iCalendar as JSON (RFC 7265).
    case jCal = "jcal"
    /// iCalendar as XML (RFC 6321).
    case xCal = "xcal"
    /// A table for spreadsheets (RFC 4180), with one row for each component.
    case csv

    /// The media type without parameters, in lower case.
    public var mediaType: String {
        switch self {
        case .iCalendar: "text/calendar"
        case .jCal: "application/calendar+json"
        case .xCal: "application/calendar+xml"
        case .csv: "text/csv"
        }
    }

    /// The value of a Content-Type header.
    public var contentType: String {
        switch self {
        case .iCalendar: "text/calendar; charset=utf-8"
        // Both are UTF-8 by definition and have no charset parameter.
        case .jCal, .xCal: mediaType
        case .csv: "text/csv; charset=utf-8; header=present"
        }
    }
}

extension ICalendar {
    /// Writes the calendar in a form, in UTF-8; equal calendars give equal bytes.
    ///
    /// - Parameter coverage: as for `serialized(coverage:)`; a CSV has no zones to cover.
    public func bytes(as form: CalendarForm, coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        switch form {
        case .iCalendar: serialized(coverage: coverage)
        case .jCal: jCal(coverage: coverage)
        case .xCal: xCal(coverage: coverage)
        case .csv: csv()
        }
    }
}
