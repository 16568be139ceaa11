// SPDX-License-Identifier: Apache-2.0

import FeedTokens
package import ICalBridge
package import OfficeDays
import Storage

extension OfficeDiary {
    /// Changes the settings, and writes the events of today and later again.
    ///
    /// - Parameters:
    ///   - change: makes the new settings from the current ones, and returns the faults of the request.
    ///   - condition: what the current settings must be.
    package func change(
        of user: String, if condition: Precondition<OfficeSettings>, for caller: Caller,
        _ change: @escaping @Sendable (inout OfficeSettings) -> [Fault]
    ) async throws -> OfficeSettings {
        try await act(user, caller) { act, book in
            let old = book.settings
            try condition.check(old)
            var new = old
            let faults = change(&new)
            new = new.trimmed()
            try Self.check(new, faults, instead: old, of: user, in: act.transaction)
            guard new != old else { return .unchanged(old) }
            let span = OfficeBook.date(act.now).adding(days: -2)...OfficeBook.date(act.now).adding(days: 2)
            var log = try book.log(span, isOpen: true, in: act.transaction)
            let context = try book.context(span, in: act.transaction, for: new)
            let writes = log.change(to: new, now: act.now / 1000, context)
            try book.keep(log, writes, now: act.now, in: act.transaction)
            return .changed(new, noting: AuditNote(.officeDaysChanged, user, changed: old.differences(from: new)))
        }
    }

    /// Stores a visit; throws 409 when the user has the maximum number of visits.
    package func putVisit(
        _ id: String, from start: Instant, to end: Instant, of user: String, for caller: Caller
    ) async throws -> (ShownVisit, isNew: Bool) {
        guard start < end else {
            throw Refusal.invalid("/endAt", code: .order, "This must be later than `startAt`.")
        }
        guard let visit = Visit(id: id, start: start.seconds, end: end.seconds) else {
            throw Refusal.invalid("/endAt", code: .outOfRange, "A visit takes at most 31 days.")
        }
        return try await act(user, caller) { act, book in
            let transaction = act.transaction
            let old = try transaction.officeVisit(id, of: user)
            if old == nil, try transaction.officeVisitCount(of: user) >= OfficeBook.mostVisits {
                throw Refusal.quota("A user has", OfficeBook.mostVisits, "visits")
            }
            let near = try transaction.officeVisitCount(
                of: user, from: start.milliseconds - OfficeBook.nearby, to: start.milliseconds + OfficeBook.nearby)
            let isThere = old.map { abs($0.startsAt - start.milliseconds) < OfficeBook.nearby } ?? false
            if !isThere, near >= OfficeBook.mostVisitsNearby {
                throw Refusal.quota("A user has", OfficeBook.mostVisitsNearby, "visits within 40 days of another")
            }
            var stored = OfficeVisit(
                userID: user, id: id, startsAt: start.milliseconds, endsAt: end.milliseconds, now: act.now)
            if let old { stored.createdAt = old.createdAt }
            let known = old.flatMap(Visit.init)
            guard known != visit else {
                return .unchanged((try Self.shown(old ?? stored, book, transaction), false))
            }
            try Self.judge(&book, act, [visit] + (known.map { [$0] } ?? [])) { log, now, context in
                log.put(visit, now: now, context)
            }
            try transaction.putOfficeVisit(stored)
            let shown = try Self.shown(stored, book, transaction)
            return .unnoted("Nobody may read in a trail when a person was where.", (shown, old == nil))
        }
    }

    /// Deletes a visit.
    package func deleteVisit(_ id: String, of user: String, for caller: Caller) async throws {
        try await act(user, caller) { act, book in
            guard let old = try act.transaction.officeVisit(id, of: user) else { throw Refusal.missing(.visit) }
            if let known = Visit(old) {
                try Self.judge(&book, act, [known]) { log, now, context in
                    log.removeVisit(id, now: now, context)
                }
            }
            _ = try act.transaction.deleteOfficeVisit(id, of: user)
            return .unnoted("Nobody may read in a trail when a person was where.", ())
        }
    }

    /// Records a person's own statement about a date; nil removes it.
    package func say(
        _ status: DayStatus?, on date: CivilDate, of user: String, for caller: Caller
    ) async throws -> ShownDay {
        try await act(user, caller) { act, book in
            let span = date...date
            var log = try book.log(span, in: act.transaction)
            let writes = log.say(status, on: date, now: act.now / 1000, try book.context(span, in: act.transaction))
            try book.keep(log, writes, words: [date], now: act.now, in: act.transaction)
            let shown = try Self.shown(span, in: log, book, act.transaction)[0]
            return .unnoted("Nobody may read in a trail where a person worked.", shown)
        }
    }

    /// Removes all managed events in several transactions, so that other writers do not wait for long.
    ///
    /// - Returns: the days whose events were removed.
    package func cleanUp(of user: String, for caller: Caller) async throws -> [ShownDay] {
        var all: [ShownDay] = []
        while true {
            let some = try await cleanUpSome(of: user, for: caller)
            if some.isEmpty { return all }
            all += some
        }
    }

    private static let cleanedAtOnce = 700

    /// Removes the first managed events with all others of their months; returns nothing when there are none left.
    private func cleanUpSome(of user: String, for caller: Caller) async throws -> [ShownDay] {
        try await act(user, caller) { act, book in
            let rows = try act.transaction.officeDaysWithEvent(
                of: user, state: OfficeEvent.State.managed.rawValue, limit: Self.cleanedAtOnce)
            guard let first = rows.first?.day, let last = rows.last?.day else { return .unchanged([]) }
            var log = try book.log(
                CivilDate(daysSinceEpoch: first)...CivilDate(daysSinceEpoch: last), in: act.transaction)
            let dates = log.days.filter { $0.value.event?.state == .managed }.keys.sorted()
            let days = try Self.shown(dates, in: log, book, act.transaction)
            let writes = log.cleanUp()
            try book.keep(log, writes, now: act.now, in: act.transaction)
            let note = AuditNote(.officeDaysCleanedUp, user, detail: ["events": .integer(writes.writes.count)])
            return ActResult(days, noting: note)
        }
    }

    /// Changes the log by visits, in the months that they touch.
    private static func judge(
        _ book: inout OfficeBook, _ act: Act<Void>, _ visits: [Visit],
        _ change: (inout OfficeLog, Int, OfficeContext) -> OfficeWrites
    ) throws {
        let first = visits.map(\.start).min().map { OfficeBook.date($0 * 1000) } ?? OfficeBook.date(act.now)
        let last = visits.map(\.end).max().map { OfficeBook.date($0 * 1000) } ?? first
        let span = first.adding(days: -2)...last.adding(days: 2)
        var log = try book.log(span, in: act.transaction)
        let writes = change(&log, act.now / 1000, try book.context(span, in: act.transaction))
        try book.keep(log, writes, now: act.now, in: act.transaction)
    }

    /// Returns a visit as it is shown.
    static func shown(
        _ visit: OfficeVisit, _ book: OfficeBook, _ transaction: any ReadTransaction
    ) throws -> ShownVisit {
        let date = OfficeBook.date(visit.startsAt)
        let context = try book.context(date...date, in: transaction)
        return ShownVisit(
            visit: visit, clock: context.clock(of: book.settings.timeZone(fallback: context.fallbackZone)))
    }

    /// Throws 422 with all faults of new settings.
    private static func check(
        _ new: OfficeSettings, _ faults: [Fault], instead old: OfficeSettings, of user: String,
        in transaction: any ReadTransaction
    ) throws {
        var all = faults
        all += new.faults { SystemTimeZones.shared.zone($0) != nil }.map(\.fault)
        if case .connection(let id) = new.target, old.target != new.target,
            try !OfficeReaders.hasConnection(id, user, in: transaction)
        {
            all.append(
                Fault(
                    pointer: "/target/connectionId", code: .unknownReference,
                    message: "The user has no such connection."))
        }
        if let calendar = new.holidayCalendar, old.holidayCalendar != calendar {
            let circle = try transaction.subscription(calendar)?.circleID
            if try circle.map({ try transaction.member(user, in: $0) == nil }) ?? true {
                all.append(
                    Fault(
                        pointer: "/holidayCalendar", code: .unknownReference,
                        message: "There is no such followed calendar in the user's circles."))
            }
        }
        // Only the first fault of each field is reported: a field that could not be read is not checked again.
        var seen: Set<ByteString> = []
        all = all.filter { seen.insert(ByteString($0.pointer)).inserted }
        if !all.isEmpty { throw Refusal.invalid(all) }
    }

    /// Runs an act on a user's own office days, after deciding the nights that are over.
    private func act<Value: Sendable>(
        _ user: String, _ caller: Caller,
        _ body: @escaping @Sendable (Act<Void>, inout OfficeBook) throws -> ActResult<Value>
    ) async throws -> Value {
        let seed = FeedLedger.makeID()
        return try await acts.act(on: .ownCalendar(of: user), for: caller) { act in
            var book = try OfficeBook(of: user, seed: seed, now: act.now, in: act.transaction)
            try book.decideNights(now: act.now, in: act.transaction)
            return try body(act, &book)
        }
    }
}

extension OfficeSettingsFault {
    fileprivate var fault: Fault {
        let code: Fault.Code =
            switch self.code {
            case .empty: .empty
            case .tooLong: .tooLong
            case .unknownZone: .invalidTimeZone
            case .required: .required
            case .outOfRange: .outOfRange
            case .coordinates: .invalid
            }
        return Fault(pointer: pointer, code: code, message: message)
    }
}

extension OfficeSettings {
    /// Returns which fields differ between two settings, by name.
    fileprivate func differences(from other: OfficeSettings) -> [ByteString: Bool] {
        [
            "enabled": enabled != other.enabled, "target": target != other.target,
            "officeTitle": officeTitle != other.officeTitle, "remoteTitle": remoteTitle != other.remoteTitle,
            "eventType": eventType != other.eventType, "availability": availability != other.availability,
            "timeZoneMode": timeZoneMode != other.timeZoneMode,
            "deviceTimeZone": deviceTimeZone != other.deviceTimeZone,
            "homeOfficeTimeZone": homeOfficeTimeZone != other.homeOfficeTimeZone,
            "officeHours": officeHours != other.officeHours, "trackedDays": trackedDays != other.trackedDays,
            "holidays": holidays != other.holidays, "holidayCalendar": holidayCalendar != other.holidayCalendar,
            "createRemoteEvents": createRemoteEvents != other.createRemoteEvents,
            "monthlyGoal": monthlyGoal != other.monthlyGoal, "officeAddress": officeAddress != other.officeAddress,
        ]
    }
}
