// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays
import Storage

/// A user's stored office days, within one transaction: only the needed part of the log is read, and changes are
/// stored.
struct OfficeBook {
    private(set) var profile: OfficeProfile
    private(set) var settings: OfficeSettings

    /// - Parameter seed: random text for a user who has no office days yet.
    init(of user: String, seed: String, now: Int, in transaction: any ReadTransaction) throws {
        if let stored = try transaction.officeProfile(of: user) {
            (profile, settings) = (stored, try OfficeStored.read(stored.settings))
        } else {
            settings = OfficeSettings()
            profile = OfficeProfile(userID: user, settings: try storedText(settings), seed: seed, now: now)
        }
    }

    var user: String { profile.userID }

    /// The problem that prevents events from being written.
    var problem: OfficeProblem? { profile.problem.flatMap { OfficeProblem(text: $0) } }

    /// Returns the time zones, and the holidays of a span.
    func context(
        _ span: ClosedRange<CivilDate>, in transaction: any ReadTransaction, for other: OfficeSettings? = nil
    ) throws -> OfficeContext {
        .system(
            fallbackZone: try Self.zone(of: user, in: transaction),
            holidays: try (other ?? settings).followedHolidays(of: user, in: span, transaction))
    }

    /// Returns the time zone of a user whose settings do not name one.
    private static func zone(of user: String, in transaction: any ReadTransaction) throws -> String {
        try transaction.user(user)?.timeZone ?? "UTC"
    }

    /// Returns the UTC date of a time in milliseconds since 1970; anybody's local date differs by at most one day.
    static func date(_ now: Int) -> CivilDate { CivilDate(daysSinceEpoch: now.floorDivided(by: 86_400_000)) }

    /// Returns the part of the log that covers the months of a span.
    ///
    /// - Parameter isOpen: whether everything after the span is included too.
    func log(
        _ span: ClosedRange<CivilDate>, isOpen: Bool = false, in transaction: any ReadTransaction
    ) throws -> OfficeLog {
        let first = span.lowerBound.startOfMonth
        let last = isOpen ? CivilDate(daysSinceEpoch: 1_000_000) : span.upperBound.endOfMonth
        let visits = try transaction.officeVisits(
            of: user, from: (first.daysSinceEpoch - 2) * 86_400_000, to: (last.daysSinceEpoch + 3) * 86_400_000,
            longest: Visit.longest * 1000, limit: Self.mostVisits)
        var words: [CivilDate: DayStatus] = [:]
        var days: [CivilDate: DecidedDay] = [:]
        for row in try transaction.officeDays(of: user, from: first.daysSinceEpoch, through: last.daysSinceEpoch) {
            let date = CivilDate(daysSinceEpoch: row.day)
            words[date] = try row.word.map(OfficeStored.status)
            days[date] = try row.decision.map { try OfficeStored.read($0) }
        }
        return OfficeLog(
            settings: settings, countsFrom: profile.countsFrom.map(CivilDate.init(daysSinceEpoch:)),
            nightsThrough: profile.nightsThrough.map(CivilDate.init(daysSinceEpoch:)),
            visits: Visits(visits.compactMap(Visit.init)), words: words, days: days, seed: profile.seed)
    }

    /// The maximum number of visits of a user that are kept.
    static let mostVisits = 50_000
    /// The maximum number of visits that start within 40 days of another: storing one reads all visits of its months again.
    static let mostVisitsNearby = 2_000
    /// The span of `mostVisitsNearby` in milliseconds.
    static let nearby = 40 * 86_400_000

    /// Decides the nights that are over in a separate step, so that the next step needs only its own months.
    mutating func decideNights(now: Int, in transaction: any WriteTransaction) throws {
        guard let due = profile.nextNightAt, due <= now, let through = profile.nightsThrough else { return }
        let span =
            CivilDate(daysSinceEpoch: through)...max(CivilDate(daysSinceEpoch: through), Self.date(now).adding(days: 2))
        var log = try log(span, in: transaction)
        let writes = log.advance(to: now / 1000, try context(span, in: transaction))
        try keep(log, writes, now: now, in: transaction)
    }

    /// Stores what an action changed.
    ///
    /// - Parameter words: dates that a person said something about.
    mutating func keep(
        _ log: OfficeLog, _ writes: OfficeWrites, words: Set<CivilDate> = [], now: Int,
        in transaction: any WriteTransaction
    ) throws {
        if log.settings != settings {
            if log.settings.enabled != settings.enabled {
                profile.enabledAt = log.settings.enabled ? now : nil
                profile.firstEnabledAt = profile.firstEnabledAt ?? profile.enabledAt
            }
            // The problem belonged to the previous calendar.
            if log.settings.target != settings.target { profile.problem = nil }
            settings = log.settings
            profile.settings = try storedText(settings)
            profile.updatedAt = now
        }
        profile.countsFrom = log.countsFrom?.daysSinceEpoch
        profile.nightsThrough = log.nightsThrough?.daysSinceEpoch
        profile.nextNightAt = nil
        if settings.enabled, let through = log.nightsThrough {
            let zones = OfficeContext.system(fallbackZone: try Self.zone(of: user, in: transaction))
            let clock = zones.clock(of: settings.timeZone(fallback: zones.fallbackZone))
            // This is later than now, whatever a zone's clock does, so that the same night does not become due again
            // and again.
            profile.nextNightAt = max(clock.lastMinute(of: through.adding(days: 1)) * 1000, now + 1)
        }
        for date in writes.dates.union(words) {
            let day = log.days[date]
            try transaction.putOfficeDay(
                OfficeDayRecord(
                    userID: user, day: date.daysSinceEpoch, word: log.words[date]?.rawValue,
                    decision: try day.map(storedText), status: day?.status.rawValue,
                    eventState: day?.event?.state.rawValue, eventTarget: day?.event?.target.name, now: now))
        }
        // In a feed, an event is written when it is stored; elsewhere, the writer reports it.
        let carriedOut = writes.writes.count { $0.target == .feed }
        if carriedOut > 0 {
            note(written: carriedOut, failed: 0, now: now)
            try transaction.touchOwnFeeds(of: user, now: now)
        }
        try transaction.putOfficeProfile(profile)
        if settings.enabled, settings.target == .device { try OfficePhone.prepare(user, in: transaction) }
        try OfficePhone.carryOut(writes.writes, of: user, now: now, in: transaction)
        try Self.bringSoon(writes.writes, now: now, in: transaction)
    }

    /// Makes those connections due that have something to write.
    private static func bringSoon(_ writes: [OfficeWrite], now: Int, in transaction: any WriteTransaction) throws {
        let ids = Set(
            writes.compactMap { write -> ByteString? in
                if case .connection(let id) = write.target { ByteString(id) } else { nil }
            })
        for id in ids {
            guard var own = try transaction.connection(id.string) else { continue }
            own.comeSoon(now: now)
            try transaction.recordConnection(own)
        }
    }

    /// Counts successful and failed writes.
    private mutating func note(written: Int, failed: Int, now: Int) {
        profile.writes += written
        profile.errors += failed
        profile.lastSyncAt = now
        profile.lastSync = failed == 0 ? .success : written == 0 ? .failed : .partial
    }

    /// Stores what a writer of events elsewhere reports about its writes.
    mutating func report(
        written: Int, failed: Int, problem: OfficeProblem?, now: Int, in transaction: any WriteTransaction
    ) throws {
        note(written: written, failed: failed, now: now)
        profile.problem = problem?.rawValue
        try transaction.putOfficeProfile(profile)
    }
}

/// Reads the stored values of office days.
enum OfficeStored {
    /// Reads a stored value; throws `StorageError` for one that this version does not understand.
    static func read<Content: Decodable>(_ text: String) throws -> Content {
        do {
            return try Content(decodingJSON: text.utf8)
        } catch let fault as JSONFault {
            throw StorageError.unexpectedResult(
                "Office days hold something that this version does not understand\(fault.whereabouts).")
        }
    }

    static func status(_ text: String) throws -> DayStatus {
        guard let status = DayStatus(text: text) else {
            throw StorageError.unexpectedResult("Office days hold a status that this version does not understand.")
        }
        return status
    }
}

extension OfficeSettings.Target {
    /// The stored text by which events are looked up: `feed`, `device`, or `connection:` with its id.
    var name: String {
        switch self {
        case .feed: "feed"
        case .device: "device"
        case .connection(let id): "connection:" + id
        }
    }
}

extension Visit {
    init?(_ stored: OfficeVisit) {
        self.init(id: stored.id, start: stored.startsAt / 1000, end: stored.endsAt / 1000)
    }
}
