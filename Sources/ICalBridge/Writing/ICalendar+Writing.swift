// SPDX-License-Identifier: Apache-2.0

extension ICalendar {
    /// The PRODID of everything that Kalends writes (RFC 5545 section 3.7.3).
    public static let kalendsProductID = "-//Kalends//Kalends//EN"

    /// The calendar as strict iCalendar in UTF-8.
    ///
    /// Lines end in CRLF and have at most 75 octets; there is one VTIMEZONE for each zone used; the order follows only
    /// from the content, so equal calendars give equal bytes.
    ///
    /// - Parameter coverage: the time span in which occurrences of series have to be right. A birthday of 1958 then
    ///   does not bring the zone's history with it. Without it, the span begins with the start of each series (1970 at
    ///   the earliest) and ends five years later. Single events are always covered.
    public func serialized(coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        // Growing step by step would take up to three times the memory of a calendar with long descriptions.
        let long = events.reduce(0) { $0 + ($1.description?.utf8.count ?? 0) }
        var text: [UInt8] = []
        write(coverage: coverage, inPartsOf: .max, reserving: 1024 + events.count * 512 + long / 16 * 17) { text = $0 }
        return text
    }

    /// Passes on the text of `serialized(coverage:)` in parts. A part ends with the component that brings it to `size`
    /// bytes; the last may be shorter.
    package func write(
        coverage: ClosedRange<Instant>? = nil, inPartsOf size: Int, reserving: Int = 1024,
        _ give: ([UInt8]) throws -> Void
    ) rethrows {
        var writer = ContentLineWriter(reserving: reserving)
        let events = events.inKnownZones
        var times = coverage.map { TimeZoneUse(covering: $0) } ?? TimeZoneUse()
        for event in events { times.add(event, seriesAreCovered: coverage != nil) }
        writeHead(to: &writer, times.definitions)
        for event in events {
            if writer.bytes.count >= size {
                try give(writer.bytes)
                writer = ContentLineWriter(reserving: size)
            }
            event.write(to: &writer)
        }
        writer.line("END", "VCALENDAR")
        try give(writer.bytes)
    }

    /// Writes what comes before the components.
    func writeHead(to writer: inout ContentLineWriter, _ timeZones: [TimeZoneDefinition]) {
        writer.line("BEGIN", "VCALENDAR")
        writer.line("VERSION", "2.0")
        writer.text("PRODID", productID ?? Self.kalendsProductID)
        writer.line("CALSCALE", "GREGORIAN")
        if let method { writer.line("METHOD", method) }
        if let name {
            // Google reads only the X- form, and shows the URL with its secret when that is missing.
            writer.text("NAME", name)
            writer.text("X-WR-CALNAME", name)
        }
        if let description {
            writer.text("DESCRIPTION", description)
            writer.text("X-WR-CALDESC", description)
        }
        if let refreshInterval {
            writer.line("REFRESH-INTERVAL;VALUE=DURATION", refreshInterval.description)
            writer.line("X-PUBLISHED-TTL", refreshInterval.description)
        }
        if let color = color.flatMap({ CSSColor($0) }) {
            writer.line("COLOR", color.name)
            writer.line("X-APPLE-CALENDAR-COLOR", color.hex)
        }
        for line in otherProperties { writer.line(line) }
        for definition in timeZones { definition.write(to: &writer) }
    }
}
