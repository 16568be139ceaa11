// SPDX-License-Identifier: Apache-2.0

/// How the name of a zone in a file was understood.
public struct TimeZoneResolution: Hashable, Sendable, Codable {
    public enum How: String, Hashable, Sendable, Codable, CaseIterable {
        /// The name is the IANA id.
        case exact
        /// From the file's own VTIMEZONE, or an IANA zone that has the same offsets.
        case vtimezone
        /// From the Windows name.
        case windows
        /// The name is an IANA id with different case, or with a prefix from the program that wrote it.
        case alias
        /// From the offset in the name; daylight saving changes are not known.
        case offset
        /// From the calendar's X-WR-TIMEZONE, for times without a zone.
        case calendar = "x-wr"
        /// The file gives no zone; the reader assumed one.
        case assumed
    }

    /// The zone's name in the file; for X-WR-TIMEZONE, its value.
    public var tzid: String
    /// The IANA id, the file's own TZID when its VTIMEZONE is used, or nil when the times stay floating.
    public var resolvedTo: String?
    public var how: How

    public init(tzid: String, resolvedTo: String?, how: How) {
        (self.tzid, self.resolvedTo, self.how) = (tzid, resolvedTo, how)
    }
}
