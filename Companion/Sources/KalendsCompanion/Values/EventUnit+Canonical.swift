// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays

extension EventContent {
    /// Returns the occurrence of this series that starts at a moment, as the series has it.
    public func occurrence(at moment: EventMoment, _ zones: Zones) -> EventContent {
        var content = self
        content.recurrence = nil
        switch (span, moment) {
        case (.allDay(let first, let last), .day(let day)):
            content.span = .allDay(first: day, last: day.adding(days: last.daysSinceEpoch - first.daysSinceEpoch))
        case (.timed(let start, let end, let zone), .instant(let instant)):
            let wall = zones.wall(instant, in: zone)
            content.span = .timed(start: wall, end: WallTime(total: wall.total + end.total - start.total), zone: zone)
        default: break
        }
        return content
    }
}

extension EventUnit {
    /// Returns the same unit in the form in which units are compared.
    func canonical(_ zones: Zones) -> EventUnit {
        var unit = self
        if let recurrence = content.recurrence, recurrence.rule == nil, recurrence.additions.isEmpty {
            unit.content.recurrence = nil
        }
        guard let recurrence = unit.content.recurrence else {
            unit.changed = [:]
            return unit
        }
        for (moment, content) in changed {
            let isLeftOut = recurrence.exceptions.contains(moment)
            if isLeftOut || content == unit.content.occurrence(at: moment, zones) { unit.changed[moment] = nil }
            unit.changed[moment]?.recurrence = nil
        }
        return unit
    }

    /// Returns this unit with the occurrences outside a span as an earlier look showed them.
    func completed(by old: EventUnit?, outside known: TimeRange?, _ zones: Zones) -> EventUnit {
        guard let known, let old, let before = old.content.recurrence, content.recurrence != nil else { return self }
        // The state that the series itself shows is complete; a different rule has different occurrences.
        guard before.rule == content.recurrence?.rule, old.content.span == content.span else { return self }
        func isOutside(_ moment: EventMoment) -> Bool {
            !known.overlaps(zones.window(of: old.content.occurrence(at: moment, zones).span))
        }
        var unit = self
        for moment in before.exceptions where isOutside(moment) { unit.content.recurrence?.exceptions.insert(moment) }
        for (moment, content) in old.changed where isOutside(moment) {
            if unit.changed[moment] == nil { unit.changed[moment] = content }
        }
        return unit
    }
}
