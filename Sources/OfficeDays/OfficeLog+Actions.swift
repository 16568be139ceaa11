// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// The actions on a log. `now` is in seconds since 1970 and never goes back.
extension OfficeLog {
    /// Decides every date whose last minute has begun since the last action, including nights that were missed.
    public mutating func advance(to now: Int, _ context: OfficeContext) -> OfficeWrites {
        guard settings.enabled, let through = nightsThrough else { return OfficeWrites() }
        let zone = timeZone(context)
        let clock = context.clockOrUTC(zone)
        let today = clock.date(at: now)
        let last = now >= clock.lastMinute(of: today) ? today : today.adding(days: -1)
        guard last > through else { return OfficeWrites() }
        nightsThrough = last
        let over = Set(through.adding(days: 1)...last)
        for date in over {
            // A date without a status is stored, too: a visit that arrives late can then still count.
            let none = DecidedDay(status: .none, source: nil, zone: zone, counts: true, look: DayLook(settings))
            days[date, default: none].counts = true
        }
        var writes = judge(over, now, context)
        writes.dates.formUnion(over)
        return writes
    }

    /// Adds a visit, or replaces the one with the same id.
    public mutating func put(_ visit: Visit, now: Int, _ context: OfficeContext) -> OfficeWrites {
        var writes = advance(to: now, context)
        let old = visits.put(visit)
        guard old != visit else { return writes }
        writes += judge(touched(by: [visit] + (old.map { [$0] } ?? []), context), now, context)
        return writes
    }

    /// Removes a visit; does nothing when no visit has that id.
    public mutating func removeVisit(_ id: String, now: Int, _ context: OfficeContext) -> OfficeWrites {
        var writes = advance(to: now, context)
        guard let old = visits.remove(id) else { return writes }
        writes += judge(touched(by: [old], context), now, context)
        return writes
    }

    /// Records the status that a person gives a day, which overrides its visits; nil withdraws it.
    public mutating func say(
        _ status: DayStatus?, on date: CivilDate, now: Int, _ context: OfficeContext
    ) -> OfficeWrites {
        var writes = advance(to: now, context)
        guard words[date] != status else { return writes }
        words[date] = status
        writes += judge([date], now, context)
        return writes
    }

    /// Changes the settings: events dated today or later are written again, past ones stay. Switching off leaves every
    /// event; days count from the date of switching on.
    public mutating func change(to new: OfficeSettings, now: Int, _ context: OfficeContext) -> OfficeWrites {
        var writes = advance(to: now, context)
        let wasEnabled = settings.enabled
        guard new != settings else { return writes }
        settings = new
        guard settings.enabled else { return writes }
        let today = today(now, context)
        if !wasEnabled {
            countsFrom = today
            nightsThrough = today.adding(days: -1)
        }
        var open = touched(by: visits.all, context)
        open.formUnion(days.keys)
        open.formUnion(words.keys)
        writes += judge(open.filter { $0 >= today }, now, context, isRewriting: true)
        writes += advance(to: now, context)
        return writes
    }

    /// Makes sure that the events of a range of dates are written: a second call writes nothing.
    public mutating func upsert(
        _ dates: ClosedRange<CivilDate>, now: Int, _ context: OfficeContext
    ) -> OfficeWrites {
        var writes = advance(to: now, context)
        writes += judge(Set(dates), now, context)
        return writes
    }

    /// Records that a person edited the event of a date in the calendar: it is never written again.
    public mutating func wasEdited(_ date: CivilDate) -> OfficeWrites { mark(date, .unmanaged, from: [.managed]) }

    /// Records that a person deleted the event of a date in the calendar: it is not created again.
    public mutating func wasDeleted(_ date: CivilDate) -> OfficeWrites {
        mark(date, .removed, from: [.managed, .unmanaged])
    }

    /// Deletes every managed event. Events that a person edited stay, and so do the days themselves.
    public mutating func cleanUp() -> OfficeWrites {
        var writes = OfficeWrites()
        for date in days.keys.sorted() {
            guard let event = days[date]?.event, event.state == .managed else { continue }
            days[date]?.event = nil
            writes.writes.append(OfficeWrite(kind: .delete, target: event.target, event: event))
            writes.dates.insert(date)
        }
        return writes
    }

    /// The next `count` days from today, if nobody comes to the office; also works while switched off.
    public func preview(_ count: Int = 14, now: Int, _ context: OfficeContext) -> [OfficeDay] {
        guard count > 0 else { return [] }
        var copy = self
        let today = today(now, context)
        if !settings.enabled {
            var enabled = settings
            enabled.enabled = true
            _ = copy.change(to: enabled, now: now, context)
        }
        let last = today.adding(days: count - 1)
        let clock = context.clockOrUTC(timeZone(context))
        _ = copy.advance(to: max(now, clock.lastMinute(of: last)), context)
        return (today...last).map { copy.day($0, context) }
    }

    private mutating func mark(
        _ date: CivilDate, _ state: OfficeEvent.State, from states: [OfficeEvent.State]
    ) -> OfficeWrites {
        var writes = OfficeWrites()
        guard let event = days[date]?.event, states.contains(event.state) else { return writes }
        days[date]?.event?.state = state
        writes.dates.insert(date)
        return writes
    }

    /// The dates that visits overlap, each by its own zone.
    private func touched(by visits: [Visit], _ context: OfficeContext) -> Set<CivilDate> {
        let zone = timeZone(context)
        let clock = context.clockOrUTC(zone)
        var dates: Set<CivilDate> = []
        for visit in visits {
            // The dates on two zones' clocks differ by at most two.
            let around = clock.date(at: visit.start).adding(days: -2)...clock.date(at: visit.end).adding(days: 2)
            for date in around {
                let own = days[date].map { $0.zone == zone ? clock : context.clockOrUTC($0.zone) } ?? clock
                if own.start(of: date) < visit.end, visit.start < own.start(of: date.adding(days: 1)) {
                    dates.insert(date)
                }
            }
        }
        return dates
    }
}
