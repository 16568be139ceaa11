// SPDX-License-Identifier: Apache-2.0

import Calendar

/// How a day gets its status, and what is written as a result.
extension OfficeLog {
    /// The time in the office that makes a day an office day, in seconds.
    public static let officeSeconds = 3600

    /// Decides dates again and writes what changes: their events, and the counts in later events of the month.
    ///
    /// - Parameter isRewriting: whether the settings changed: decided dates keep their status, and get the current
    ///   zone.
    mutating func judge(
        _ dates: Set<CivilDate>, _ now: Int, _ context: OfficeContext, isRewriting: Bool = false
    ) -> OfficeWrites {
        let zone = timeZone(context)
        let clock = context.clockOrUTC(zone)
        let today = clock.date(at: now)
        let look = DayLook(settings)
        var fresh: [CivilDate: Bool] = [:]
        var recounted: Set<CivilDate> = []
        var writes = OfficeWrites()
        for date in dates {
            let before = days[date]
            var day = DecidedDay(
                status: .none, source: nil, zone: isRewriting ? zone : before?.zone ?? zone, counts: counts(date),
                look: look, event: before?.event, revision: before?.revision ?? 0)
            let isKept = isRewriting && words[date] == nil && before.map { $0.status != .none } == true
            if isKept, let before {
                (day.status, day.source) = (before.status, before.source)
            } else {
                (day.status, day.source) = status(
                    date, day.zone == zone ? clock : context.clockOrUTC(day.zone), now, context)
            }
            let isNew = before?.status != day.status
            // A day whose status changes gets the current zone, unless its status would be different in that zone.
            if isNew, day.zone != zone, status(date, clock, now, context).status == day.status { day.zone = zone }
            let isFresh = isNew || date >= today
            fresh[date] = isFresh
            if !isFresh, let before { day.look = before.look }
            if (before?.status == .inOffice) != (day.status == .inOffice) { recounted.insert(date) }
            days[date] = day.saysNothing ? nil : day
            if before != days[date] { writes.dates.insert(date) }
        }
        guard settings.enabled else { return writes }
        // Events are made once all dates are decided, so that each is written once, with its final count.
        for (date, isFresh) in fresh.sorted(by: { $0.key < $1.key }) where isFresh || days[date]?.event != nil {
            write(date, isRewriting: isFresh && date >= today, isFresh: isFresh, now, context, &writes)
        }
        for date in later(than: recounted, besides: fresh) {
            write(date, isRewriting: false, isFresh: false, now, context, &writes)
        }
        writes.writes.sort { ($0.event.date, $0.kind == .delete ? 1 : 0) < ($1.event.date, $1.kind == .delete ? 1 : 0) }
        return writes
    }

    /// Whether visits and the end of the day decide a date's status.
    private func counts(_ date: CivilDate) -> Bool {
        if days[date]?.counts == true { return true }
        return settings.enabled && countsFrom.map { date >= $0 } == true
    }

    /// The status of a date, from what the person said, from its visits, or because it has ended.
    private func status(
        _ date: CivilDate, _ clock: any OfficeClock, _ now: Int, _ context: OfficeContext
    ) -> (status: DayStatus, source: DaySource?) {
        if let word = words[date] { return (word, .person) }
        guard counts(date) else { return (.none, nil) }
        let (start, end) = (clock.start(of: date), clock.start(of: date.adding(days: 1)))
        if visits.seconds(from: start, to: end) >= Self.officeSeconds { return (.inOffice, .visits) }
        if now >= end - 60, settings.isTracked(date, besides: context.holidays) { return (.remote, .endOfDay) }
        return (.none, nil)
    }

    /// The dates with an event whose count depends on earlier dates of their month.
    private func later(than recounted: Set<CivilDate>, besides others: [CivilDate: Bool]) -> [CivilDate] {
        var found: Set<CivilDate> = []
        for (_, dates) in Dictionary(grouping: recounted, by: \.startOfMonth) {
            guard let first = dates.min() else { continue }
            found.formUnion((first...first.endOfMonth).filter { others[$0] == nil && days[$0]?.event != nil })
        }
        return found.sorted()
    }

    /// Creates, updates or deletes the event of a date, as its status requires.
    ///
    /// - Parameters:
    ///   - isRewriting: whether the date is today or later, so that its event follows the settings to another calendar.
    ///   - isFresh: whether the date was decided again, or is today or later: then the current settings say whether
    ///     it has an event.
    private mutating func write(
        _ date: CivilDate, isRewriting: Bool, isFresh: Bool, _ now: Int, _ context: OfficeContext,
        _ writes: inout OfficeWrites
    ) {
        guard let day = days[date] else { return }
        let old = day.event
        guard old.map({ $0.state == .managed }) ?? true else { return }
        let isWanted = !isFresh || day.status != .remote || settings.createRemoteEvents
        let target = isRewriting ? settings.target : old?.target ?? settings.target
        var new: OfficeEvent?
        if isWanted {
            new = OfficeEvent(
                day, on: date, officeDays: officeDays(upTo: date), clock: context.clockOrUTC(day.zone),
                identity: old?.identity ?? identity(of: date), target: target)
            new?.revision = day.revision + 1
            new?.changedAt = now
        }
        switch (old, new) {
        case (nil, nil): return
        case (let old?, nil):
            writes.writes.append(OfficeWrite(kind: .delete, target: old.target, event: old))
        case (nil, let made?):
            writes.writes.append(OfficeWrite(kind: .create, target: target, event: made))
        case (let old?, let made?):
            if old.target == target, old.looksLike(made) {
                writes.unchanged += 1
                return
            }
            let isMoving = old.target != target
            writes.writes.append(OfficeWrite(kind: isMoving ? .create : .update, target: target, event: made))
            if isMoving { writes.writes.append(OfficeWrite(kind: .delete, target: old.target, event: old)) }
        }
        writes.dates.insert(date)
        days[date]?.event = new
        days[date]?.revision += 1
        if days[date]?.saysNothing == true { days[date] = nil }
    }
}
