// SPDX-License-Identifier: Apache-2.0

/// Why a report cannot be answered, by the precondition of RFC 4791 that it fails.
package enum CalendarReportFault: Error, Hashable {
    /// `C:valid-filter`
    case invalidFilter
    /// `C:supported-filter`
    case unsupportedFilter
    /// `C:supported-collation`
    case unsupportedCollation
    /// `C:supported-calendar-data`
    case unsupportedCalendarData
    /// 400: the report's request for data cannot be read.
    case invalidRequest
    /// `DAV:number-of-matches-within-limits`: the answer would be longer than is made.
    case tooMuch
}

/// A span of time in a report (RFC 4791 section 9.9).
extension TimeRange {
    /// The beginning of the year 1 and the end of the year 9999.
    static let (first, last) = (Instant(seconds: -62_135_596_800), Instant(seconds: 253_402_300_800))

    /// Reads the attributes `start` and `end`; nil when one of them is not a time in UTC, or the end is not after the start.
    ///
    /// - Parameter isOpen: whether one of them may be missing.
    package init?(_ element: XMLElement, isOpen: Bool) {
        func bound(_ name: String, or missing: Instant) -> Instant? {
            guard let text = element.attribute(name) else { return isOpen ? missing : nil }
            return Instant(basic: text)
        }
        guard element.attribute("start") != nil || element.attribute("end") != nil,
            let start = bound("start", or: Self.first), let end = bound("end", or: Self.last), start < end
        else { return nil }
        self.init(from: start, to: end)
    }
}
