// SPDX-License-Identifier: Apache-2.0

extension ICalendar {
    /// PRODID of everything that Kalends writes (RFC 5545 section 3.7.3).
    public static let kalendsProductID = "-//Kalends//Kalends//EN"

    /// The calendar as strict iCalendar in UTF-8.
    ///
    /// Lines end in CRLF and have at most 75 octets; there is one VTIMEZONE for each zone used, right for all times
    /// that occur and up to `horizon`; the order follows from the content alone, so equal calendars are equal bytes.
    ///
    /// - Parameter horizon: how far series without an end are to be right; five years after the last start if nil.
    public func serialized(horizon: Instant? = nil) -> [UInt8] {
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
        for line in otherProperties { writer.line(line) }
        for definition in timeZoneDefinitions(horizon: horizon) { definition.write(to: &writer) }
        for event in events { event.write(to: &writer) }
        writer.line("END", "VCALENDAR")
        return writer.bytes
    }

    /// The rules of each zone that an event uses, by name.
    func timeZoneDefinitions(horizon: Instant?) -> [TimeZoneDefinition] {
        var zones: [String: TimeZoneReference] = [:]
        var earliest = Int.max
        var latest = horizon?.seconds ?? Int.min
        for event in events {
            for time in event.times {
                if let zone = time.zone { zones[zone.identifier] = zone }
                let wall = time.civil.wallSeconds
                earliest = min(earliest, wall)
                latest = max(latest, wall)
            }
            if horizon == nil, !event.recurrence.rules.isEmpty, let start = event.start {
                latest = max(latest, start.civil.wallSeconds + 5 * 366 * 86_400)
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
