// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// A time of an event as `parse` and reports write it: with its zone and the instant, floating, or a date.
package struct ShownTime: JSONFormed {
    /// The time on the clock, such as 2026-01-21T09:00:00; nil for a date.
    package private(set) var wall: String?
    package private(set) var zone: String?
    package private(set) var utc: String?
    package private(set) var isFloating: Bool?
    package private(set) var date: CivilDate?

    package init() {}

    package init(_ time: EventTime) {
        switch time {
        case .date(let day): date = day
        case .floating(let time): (wall, isFloating) = (time.description, true)
        case .utc(let instant): (wall, zone, utc) = (instant.utc.description, "UTC", instant.description)
        case .zoned(let time, let place):
            (wall, zone, utc) = (time.description, place.identifier, place.rules.instant(of: time).description)
        }
    }

    package static let form = JSONForm<Self>([
        .optional("dateTime", \.wall).described("The local time, such as 2026-01-21T09:00:00."),
        .optional("timeZone", \.zone), .optional("utc", \.utc), .optional("floating", \.isFloating),
        .optional("date", \.date),
    ])

    /// The instant, with a floating time as one of a zone; nil for a date.
    package func instant(floatingIn zone: any TimeZoneRules) -> Instant? {
        if let utc { return Instant(rfc3339: utc) }
        return wall.flatMap { Instant(rfc3339: $0 + "Z") }.map { zone.instant(of: $0.utc) }
    }
}

extension EventTime {
    package var json: JSONValue { ShownTime(self).json }
}

extension JSONSchema {
    package static let eventTime = either(.named("EventTime"), JSONSchema(["type": "null"]))
}
