// SPDX-License-Identifier: Apache-2.0

package import Calendar
package import OfficeDays
package import Storage

/// A user's office days: the settings, the visits, the user's own statements, and the results.
package struct OfficeDiary: Sendable {
    let acts: Acts

    /// A day with the zone in which it is shown.
    package struct ShownDay: Sendable {
        package let day: OfficeDay
        package let clock: any OfficeClock
    }

    /// A visit with the clock by which it is shown.
    package struct ShownVisit: Sendable {
        package let visit: OfficeVisit
        package let clock: any OfficeClock
    }

    /// The state of a user's office days.
    package struct Status: Sendable {
        package let state: OfficeState
        package let banner: OfficeBanner?
        package let profile: OfficeProfile
        package let goal: Int
        package let counts: OfficeDayCounts
    }

    /// The maximum number of days in a list.
    static let longestSpan = 3660

    package func settings(of user: String, for caller: Caller) async throws -> OfficeSettings {
        try await read(user, caller) { $0.book.settings }
    }

    /// Returns the visits that overlap dates in the person's zone, in order of start.
    package func visits(
        of user: String, _ dates: ClosedRange<CivilDate>?, after: (start: Int, id: String)?, limit: Int,
        for caller: Caller
    ) async throws -> [ShownVisit] {
        try await read(user, caller) { office in
            let (book, transaction, today) = (office.book, office.transaction, OfficeBook.date(office.now))
            let context = try book.context(today...today, in: transaction)
            let clock = context.clock(of: book.settings.timeZone(fallback: context.fallbackZone))
            let from = dates.map { clock.start(of: $0.lowerBound) * 1000 } ?? Int.min / 4
            let to = dates.map { clock.start(of: $0.upperBound.adding(days: 1)) * 1000 } ?? Int.max / 4
            return try transaction.officeVisits(
                of: user, from: from, to: to, longest: Visit.longest * 1000, after: after, limit: limit
            ).map { ShownVisit(visit: $0, clock: clock) }
        }
    }

    /// Returns one visit.
    package func visit(_ id: String, of user: String, for caller: Caller) async throws -> ShownVisit {
        try await read(user, caller) { office in
            guard let visit = try office.transaction.officeVisit(id, of: user) else { throw Refusal.missing(.visit) }
            return try Self.shown(visit, office.book, office.transaction)
        }
    }

    /// Returns one date, even if nothing is known about it.
    package func day(_ date: CivilDate, of user: String, for caller: Caller) async throws -> ShownDay {
        try await read(user, caller) { try $0.days(date...date)[0] }
    }

    /// Returns every date of a span, both ends included; without a span, every date of the current month.
    ///
    /// - Parameters:
    ///   - after: the last date of the previous page.
    ///   - limit: the most dates to return.
    package func days(
        of user: String, from: CivilDate?, to: CivilDate?, after: CivilDate?, limit: Int, for caller: Caller
    ) async throws -> [ShownDay] {
        try await read(user, caller) { office in
            let today = try office.today
            let first = from ?? to.map { min($0.startOfMonth, $0) } ?? today.startOfMonth
            let last = to ?? max(first, from ?? today).endOfMonth
            guard first <= last else {
                throw Refusal.invalid("/query/to", code: .order, "This must not be before `from`.")
            }
            guard last.daysSinceEpoch - first.daysSinceEpoch < Self.longestSpan else {
                throw Refusal.invalid(
                    "/query/to", code: .outOfRange, "A list has at most \(Self.longestSpan) days.")
            }
            let start = max(first, after.map { $0.adding(days: 1) } ?? first)
            guard start <= last else { return [] }
            return try office.days(start...min(last, start.adding(days: limit - 1)))
        }
    }

    /// Returns the next two weeks as they will be without further visits.
    package func preview(of user: String, for caller: Caller) async throws -> [ShownDay] {
        try await read(user, caller) { try $0.preview }
    }

    package func status(of user: String, for caller: Caller) async throws -> Status {
        try await read(user, caller) { try $0.status }
    }

    /// Returns the days whose events a clean-up would remove, or removed, in order of date.
    package func managedDays(of user: String, for caller: Caller) async throws -> [ShownDay] {
        try await read(user, caller) { try Self.managed($0.book, $0.transaction) }
    }

    /// Returns a span of dates as they are shown.
    static func shown(
        _ span: ClosedRange<CivilDate>, in log: OfficeLog, _ book: OfficeBook, _ transaction: any ReadTransaction
    ) throws -> [ShownDay] {
        let context = try book.context(span, in: transaction)
        let zone = book.settings.timeZone(fallback: context.fallbackZone)
        return span.map {
            ShownDay(day: log.day($0, context), clock: context.clock(of: log.days[$0]?.zone ?? zone))
        }
    }

    /// Returns the days that have a managed event.
    static func managed(_ book: OfficeBook, _ transaction: any ReadTransaction) throws -> [ShownDay] {
        let rows = try transaction.officeDaysWithEvent(
            of: book.user, state: OfficeEvent.State.managed.rawValue, limit: longestSpan * 10)
        guard let first = rows.first?.day, let last = rows.last?.day else { return [] }
        let log = try book.log(CivilDate(daysSinceEpoch: first)...CivilDate(daysSinceEpoch: last), in: transaction)
        return try shown(rows.map { CivilDate(daysSinceEpoch: $0.day) }, in: log, book, transaction)
    }

    /// Returns those of the dates that are decided, as they are shown.
    static func shown(
        _ dates: [CivilDate], in log: OfficeLog, _ book: OfficeBook, _ transaction: any ReadTransaction
    ) throws -> [ShownDay] {
        guard let last = dates.last else { return [] }
        let context = try book.context(last...last, in: transaction)
        return dates.compactMap { date in
            log.days[date].map { ShownDay(day: log.day(date, context), clock: context.clock(of: $0.zone)) }
        }
    }

    /// Reads a user's own office days; throws 404 for another user's.
    private func read<Value: Sendable>(
        _ user: String, _ caller: Caller, _ body: @escaping @Sendable (OfficeReading) throws -> Value
    ) async throws -> Value {
        let now = acts.now()
        return try await acts.store.read {
            try body(try Rights.own(of: user, for: caller.identity, in: $0).officeDays(now: now))
        }
    }
}

/// A user's office days within one read.
package struct OfficeReading {
    fileprivate let book: OfficeBook
    fileprivate let transaction: any ReadTransaction
    fileprivate let now: Int

    package var settings: OfficeSettings { book.settings }

    package func days(_ span: ClosedRange<CivilDate>) throws -> [OfficeDiary.ShownDay] {
        try OfficeDiary.shown(span, in: try book.log(span, in: transaction), book, transaction)
    }

    /// The next two weeks as they will be without further visits.
    package var preview: [OfficeDiary.ShownDay] {
        get throws {
            let span = OfficeBook.date(now).adding(days: -2)...OfficeBook.date(now).adding(days: 18)
            let context = try book.context(span, in: transaction)
            let log = try book.log(span, in: transaction)
            let zone = book.settings.timeZone(fallback: context.fallbackZone)
            return log.preview(now: now / 1000, context).map {
                OfficeDiary.ShownDay(day: $0, clock: context.clock(of: log.days[$0.date]?.zone ?? zone))
            }
        }
    }

    package var status: OfficeDiary.Status {
        get throws {
            let today = try today
            let problem = book.settings.enabled ? try OfficeReaders.problem(book, in: transaction) : nil
            return OfficeDiary.Status(
                state: OfficeState(book.settings, problem: problem), banner: problem.map(OfficeBanner.init),
                profile: book.profile, goal: book.settings.monthlyGoal,
                counts: try transaction.officeDayCounts(
                    of: book.user, from: today.startOfMonth.daysSinceEpoch, through: today.endOfMonth.daysSinceEpoch))
        }
    }

    fileprivate var today: CivilDate {
        get throws {
            let date = OfficeBook.date(now)
            let context = try book.context(date...date, in: transaction)
            return context.clock(of: book.settings.timeZone(fallback: context.fallbackZone)).date(at: now / 1000)
        }
    }
}

extension AuthorizedUser {
    /// - Parameter now: milliseconds since 1970.
    package func officeDays(now: Int) throws -> OfficeReading {
        OfficeReading(
            book: try OfficeBook(of: id, seed: "", now: now, in: transaction), transaction: transaction, now: now)
    }
}
