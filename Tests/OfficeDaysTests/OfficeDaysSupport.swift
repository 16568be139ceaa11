// SPDX-License-Identifier: Apache-2.0

import Calendar
import Foundation
import OfficeDays
import TestSupport
import Testing

extension OfficeContext {
    /// A context with Foundation's zones.
    static let foundation = OfficeContext { FoundationClock(identifier: $0) }
}

extension SplitMix {
    mutating func one<Value>(of values: [Value]) -> Value { values[Int.random(in: values.indices, using: &self)] }
}

/// Unwraps a literal of a test, which must be valid.
func needed<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("A test's own value is not valid.") }
    return value
}

func date(_ text: String) -> CivilDate { needed(CivilDate(iso: text)) }
func hours(_ start: Int, _ end: Int) -> OfficeHours { needed(OfficeHours(start: start, end: end)) }

extension OfficeClock {
    /// Returns a second by its date and its time of day, such as `09:30`.
    func second(_ date: CivilDate, _ time: String) -> Int {
        second(of: date, minute: needed(OfficeHours.minutes(time)))
    }
}

/// A person in a zone, with settings that are switched on at nine o'clock on a date.
struct Person {
    let clock: FoundationClock
    var log: OfficeLog
    let context = OfficeContext.foundation

    init(
        _ zone: String = "America/New_York", from date: CivilDate, _ change: (inout OfficeSettings) -> Void = { _ in }
    ) {
        clock = needed(FoundationClock(identifier: zone))
        log = OfficeLog(seed: "a person")
        var settings = OfficeSettings()
        settings.deviceTimeZone = zone
        settings.enabled = true
        change(&settings)
        _ = log.change(to: settings, now: clock.second(date, "09:00"), context)
    }

    subscript(date: CivilDate) -> OfficeDay { log.day(date, context) }

    mutating func nights(through date: CivilDate) -> OfficeWrites {
        log.advance(to: clock.lastMinute(of: date), context)
    }

    mutating func visit(
        _ id: String, _ date: CivilDate, _ start: String, _ end: String, now: Int? = nil
    ) throws -> OfficeWrites {
        let visit = try #require(Visit(id: id, start: clock.second(date, start), end: clock.second(date, end)))
        return log.put(visit, now: now ?? visit.end, context)
    }

    mutating func change(at now: Int, _ change: (inout OfficeSettings) -> Void) -> OfficeWrites {
        var settings = log.settings
        change(&settings)
        return log.change(to: settings, now: now, context)
    }
}
