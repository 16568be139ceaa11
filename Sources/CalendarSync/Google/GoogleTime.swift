// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Why an event cannot be expressed as an entry, in a sentence for people.
struct GoogleNotExpressible: Error {
    var sentence: String
    init(_ sentence: String) { self.sentence = sentence }

    /// Google repeats whole days, too; the items of a circle repeat at times.
    static let wholeDays = GoogleNotExpressible("It repeats on whole days, which no item of a circle does.")
}

/// The value of `start`, `end` or `originalStartTime`.
enum GoogleTime: Hashable {
    case date(CivilDate)
    /// An instant and its zone; the zone is nil when the event names none.
    case instant(Instant, zone: String?)

    init(_ json: JSONValue?) throws(GoogleNotExpressible) {
        let isPresent = { (name: String) in json?[name].map { $0 != .null } ?? false }
        switch (isPresent("date"), isPresent("dateTime")) {
        case (true, false):
            guard let date = json?["date"]?.string.flatMap({ CivilDate(iso: $0) }) else {
                throw GoogleNotExpressible("Its date cannot be read.")
            }
            self = .date(date)
        case (false, true):
            let zone = json?["timeZone"]?.string
            guard let text = json?["dateTime"]?.string, let instant = Self.instant(text, zone: zone) else {
                throw GoogleNotExpressible("Its time cannot be read.")
            }
            self = .instant(instant, zone: zone)
        default: throw GoogleNotExpressible("It has no start or end that can be read.")
        }
    }

    /// Reads RFC 3339; a time without an offset is local time in the zone beside it.
    private static func instant(_ text: String, zone: String?) -> Instant? {
        if let instant = Instant(rfc3339: text) { return instant }
        guard let zone, let reference = TimeZoneReference(zone), let asUTC = Instant(rfc3339: text + "Z") else {
            return nil
        }
        return reference.rules.instant(of: asUTC.utc)
    }

    /// Returns the form for an event. The other form's fields are null, so that a change of form does not leave both.
    static func json(_ instant: Instant, zone: String) -> JSONValue {
        let offset = TimeZoneReference(zone)?.rules.offset(at: instant) ?? 0
        return [
            "dateTime": .string(instant.rfc3339(offset: offset)), "timeZone": .string(zone), "date": .null,
        ]
    }

    static func json(_ date: CivilDate) -> JSONValue {
        ["date": .string(date.description), "dateTime": .null, "timeZone": .null]
    }
}

extension TimeSpan {
    /// Reads the `start` and `end` of an event.
    init(google json: JSONValue) throws(GoogleNotExpressible) {
        let start = try GoogleTime(json["start"])
        let end = try GoogleTime(json["end"])
        switch (start, end) {
        case (.date(let first), .date(let until)):
            // An event that ends on the day on which it begins lasts one day (RFC 5545 section 3.6.1).
            self = .days(first: first, until: max(until, first.adding(days: 1)))
        case (.instant(let start, let zone), .instant(let end, _)):
            guard end >= start else { throw GoogleNotExpressible("It ends before it begins.") }
            // With a zone that this machine does not know, the instant stays the same.
            let known = zone.flatMap { TimeZoneReference($0) }?.identifier
            self = .timed(start: start, end: end, zone: known ?? "UTC")
        default: throw GoogleNotExpressible("It begins with a day and ends with a time.")
        }
    }

    var google: (start: JSONValue, end: JSONValue) {
        switch self {
        case .timed(let start, let end, let zone):
            (GoogleTime.json(start, zone: zone), GoogleTime.json(end, zone: zone))
        case .days(let first, let until): (GoogleTime.json(first), GoogleTime.json(until))
        }
    }
}
