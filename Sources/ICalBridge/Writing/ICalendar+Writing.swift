// SPDX-License-Identifier: Apache-2.0

extension ICalendar {
    /// PRODID of everything that Kalends writes (RFC 5545 section 3.7.3).
    public static let kalendsProductID = "-//Kalends//Kalends//EN"

    /// The calendar as strict iCalendar in UTF-8.
    ///
    /// Lines end in CRLF and have at most 75 octets; there is one VTIMEZONE for each zone used; the order follows from
    /// the content alone, so equal calendars are equal bytes.
    ///
    /// - Parameter coverage: the time in which occurrences of series are to be right. A birthday of 1958 then does not
    ///   bring the zone's history with it. Without it, from a series' start (1970 at the earliest) to five years
    ///   after. Single events are always covered.
    public func serialized(coverage: ClosedRange<Instant>? = nil) -> [UInt8] {
        var writer = ContentLineWriter(reserving: 1024 + events.count * 512)
        writer.line("BEGIN", "VCALENDAR")
        writer.line("VERSION", "2.0")
        writer.text("PRODID", productID ?? Self.kalendsProductID)
        writer.line("CALSCALE", "GREGORIAN")
        if let method { writer.line("METHOD", method) }
        if let name {
            // Google reads the X- form alone, and shows the URL with its secret where it is missing.
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
        for definition in timeZoneDefinitions(coverage: coverage) { definition.write(to: &writer) }
        for event in events { event.write(to: &writer) }
        writer.line("END", "VCALENDAR")
        return writer.bytes
    }

    /// The rules of each zone that an event uses, by name.
    func timeZoneDefinitions(coverage: ClosedRange<Instant>?) -> [TimeZoneDefinition] {
        var zones: [String: TimeZoneReference] = [:]
        var earliest = coverage?.lowerBound.seconds ?? Int.max
        var latest = coverage?.upperBound.seconds ?? Int.min
        for event in events {
            let isSeries = !event.recurrence.rules.isEmpty
            for time in event.times {
                if let zone = time.zone { zones[zone.identifier] = zone }
                let wall = time.civil.wallSeconds
                if isSeries, coverage != nil { continue }
                earliest = min(earliest, isSeries ? max(wall, 0) : wall)
                latest = max(latest, isSeries ? wall + 5 * 366 * 86_400 : wall)
            }
        }
        guard !zones.isEmpty else { return [] }
        let day = 86_400
        return zones.values.sorted { $0.identifier < $1.identifier }.map { zone in
            if let definition = zone.definition { return definition }
            guard let system = zone.rules as? SystemTimeZone else {
                return TimeZoneDefinition(identifier: zone.identifier, observances: [])
            }
            return system.definition(
                from: Instant(seconds: earliest - 2 * day), to: Instant(seconds: max(latest, earliest) + 2 * day))
        }
    }
}

extension Event {
    /// Every time that stands in the component.
    fileprivate var times: [EventTime] {
        var times = [start, recurrenceID].compactMap { $0 } + recurrence.exclusions
        if case .time(let time) = end { times.append(time) }
        for addition in recurrence.additions {
            times.append(addition.start)
            if case .time(let time) = addition.end { times.append(time) }
        }
        return times
    }
}
