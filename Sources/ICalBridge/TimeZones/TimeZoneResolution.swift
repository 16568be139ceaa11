// SPDX-License-Identifier: Apache-2.0

/// What a zone's name in a file was taken to mean.
public struct TimeZoneResolution: Hashable, Sendable, Codable {
    public enum How: String, Hashable, Sendable, Codable {
        /// It is the IANA id.
        case exact
        /// By the file's own VTIMEZONE, by itself or with an IANA zone that keeps the same offsets.
        case vtimezone
        /// By Windows' name.
        case windows
        /// It is an IANA id in other letters, or with a prefix of its writer.
        case alias
        /// By the offset that the name speaks of; changes of the clock are not known.
        case offset
        /// By the calendar's X-WR-TIMEZONE, for times without a zone.
        case calendar = "x-wr"
        /// Not given; the reader chooses.
        case assumed
    }

    /// As the file names it; for X-WR-TIMEZONE its value.
    public var tzid: String
    /// The IANA id, the file's own TZID when its VTIMEZONE is kept, or nil when the times were left floating.
    public var resolvedTo: String?
    public var how: How

    public init(tzid: String, resolvedTo: String?, how: How) {
        self.tzid = tzid
        self.resolvedTo = resolvedTo
        self.how = how
    }
}
