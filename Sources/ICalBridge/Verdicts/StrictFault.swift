// SPDX-License-Identifier: Apache-2.0

/// One thing for which python's ical, by which Home Assistant reads remote calendars, refuses a whole file.
struct StrictFault: Hashable, Sendable {
    enum Kind: Hashable, Sendable, CaseIterable {
        /// The line is not a property.
        case line
        /// The line ends a component that did not begin last.
        case nesting
        /// A second calendar begins.
        case calendar
        /// A property that is allowed only once occurs again.
        case repeated
        case value
        /// A component lacks a property or a part.
        case missing
        /// A zone that is neither in the file nor in tzdata.
        case zone
        /// A part of a zone begins at a time that is not local.
        case zoneStart
        /// A part of a zone by which a time is meant cannot be expanded.
        case zonePart
        /// Only one of two times is on the clock of a zone.
        case clocks
        /// The duration of an event of whole days has hours or is negative, or a to-do has a DURATION together with a property
        /// that excludes it.
        case duration
        /// A series by rule has periods as further times.
        case periods
    }

    var kind: Kind
    var line: Int
    /// The name of the property or of the zone.
    var text = ""
    /// The component that lacks the property.
    var component = ""
}
