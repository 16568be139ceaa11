// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

/// Short ways to write times and series in tests of recurrence.
enum Recurring {
    static let utc = FixedOffset.utc

    /// `20260121` is a day, `20260121T090000Z` UTC, `20260121T090000` floating, or in a zone when one is named.
    static func time(_ text: String, _ zone: String? = nil) throws -> EventTime {
        if let date = CivilDate(basic: text) { return .date(date) }
        if text.hasSuffix("Z") { return .utc(Instant(utc: try #require(CivilDateTime(basic: text.dropLast())))) }
        let wall = try #require(CivilDateTime(basic: text))
        guard let zone else { return .floating(wall) }
        return .zoned(wall, try #require(TimeZoneReference(zone)))
    }

    static func event(
        _ start: String, _ zone: String? = nil, for duration: ICalDuration? = nil, rules: String..., uid: String = "one"
    ) throws -> Event {
        var event = Event(
            uid: uid, start: try time(start, zone), end: duration.map { .duration($0) }, summary: "master")
        event.recurrence.rules = try rules.map { try RecurrenceRule($0) }
        return event
    }

    /// Returns an override; a nil start leaves it where it was.
    static func override(
        _ recurrenceID: String, _ start: String?, _ zone: String? = nil, summary: String = "moved", future: Bool = false
    ) throws -> Event {
        var event = Event(
            uid: "one", recurrenceID: try time(recurrenceID, zone), start: try start.map { try time($0, zone) },
            summary: summary)
        event.appliesToFuture = future
        return event
    }

    /// Returns all occurrences from 1990 to 2050 as `start-end`, in UTC, or as days.
    static func all(_ series: Series, floatingIn zone: any TimeZoneRules = utc) -> [String] {
        window(series, "19900101T000000Z", "20500101T000000Z", floatingIn: zone)
    }

    static func window(
        _ series: Series, _ from: String, _ to: String, floatingIn zone: any TimeZoneRules = utc
    ) -> [String] {
        guard case .utc(let from)? = try? time(from), case .utc(let to)? = try? time(to) else { return [] }
        let expansion = series.occurrences(from: from, to: to, floatingIn: zone)
        #expect(expansion.isComplete)
        return expansion.occurrences.map { text($0, zone) }
    }

    /// Returns `20260121T090000Z/PT1H moved`: the start in UTC or as a day, the length, and the summary if it is not
    /// the master's.
    static func text(_ occurrence: Occurrence, _ zone: any TimeZoneRules) -> String {
        let name = (occurrence.event.summary ?? "master") == "master" ? "" : " " + (occurrence.event.summary ?? "")
        if case (.date(let start), .date(let end)) = (occurrence.start, occurrence.end) {
            return start.basic + "/\(ICalDuration(days: end.daysSinceEpoch - start.daysSinceEpoch))" + name
        }
        let start = occurrence.start.instant(floatingIn: zone)
        let end = occurrence.end.instant(floatingIn: zone)
        return start.basic + "/\(ICalDuration(seconds: end.seconds - start.seconds))" + name
    }
}
