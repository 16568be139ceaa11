// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Times as Graph writes them: a local time and the name of its zone.
enum GraphTimes {
    /// Returns `{"dateTime": "2026-12-03T09:00:00", "timeZone": "W. Europe Standard Time"}`.
    static func json(_ wall: CivilDateTime, zone: String) -> JSONValue {
        ["dateTime": .string(wall.description), "timeZone": .string(zone)]
    }

    /// Returns the instant that a `dateTimeTimeZone` of an answer means; all are requested in UTC, but others are
    /// understood.
    static func instant(_ json: JSONValue?) throws(NotExpressible) -> Instant {
        guard let text = json?["dateTime"]?.string, text.utf8.count <= 40, let wall = wall(text) else {
            throw NotExpressible("The event has a time that cannot be read.")
        }
        let name = json?["timeZone"]?.string ?? "UTC"
        if name == "UTC" { return Instant(utc: wall) }
        guard let zone = GraphZones.identifier(of: name).flatMap({ SystemTimeZones.shared.zone($0) }) else {
            throw NotExpressible("The event has a time in a zone that is not known.")
        }
        return zone.instant(of: wall)
    }

    /// Reads `2026-12-03T08:00:00.0000000`, with or without the fraction and a `Z`.
    static func wall(_ text: String) -> CivilDateTime? {
        Instant(rfc3339: text.hasSuffix("Z") ? text : text + "Z")?.utc
    }

    /// Returns the days of an all-day event.
    ///
    /// Its times are midnights of the zone in which it was created, read in UTC: any other hour is midnight in that
    /// zone, and the day is the one that begins then.
    static func days(start: Instant, end: Instant, zone name: String?) throws(NotExpressible) -> TimeSpan {
        let zone = name.flatMap(GraphZones.identifier(of:)).flatMap { SystemTimeZones.shared.zone($0) }
        func day(_ instant: Instant) -> CivilDate {
            let utc = instant.utc
            if utc == CivilDateTime(startOf: utc.date) { return utc.date }
            if let zone {
                let wall = zone.civil(at: instant)
                if wall == CivilDateTime(startOf: wall.date) { return wall.date }
            }
            // In a custom zone, take the nearest midnight: except for a few in the Pacific, no zone is more than half a
            // day away.
            return instant.adding(seconds: 43_200).utc.date
        }
        let first = day(start)
        let until = day(end)
        guard first < until, until.daysSinceEpoch - first.daysSinceEpoch <= 3660 else {
            throw NotExpressible("The event lasts less than a day, or more than ten years.")
        }
        return .days(first: first, until: until)
    }
}
