// SPDX-License-Identifier: Apache-2.0

@_exported public import Base  // Text is compared by its bytes in all of this module.
public import Calendar

/// A person's office days: settings, visits, the statuses they gave themselves, and what was decided and written.
///
/// A value without files, network or clock: each action takes the time as an argument, changes the value, and returns
/// what has to be written to a calendar. A log may hold only part of a person's history: every action looks only at the
/// months of the dates that it touches.
public struct OfficeLog: Hashable, Sendable, Codable {
    public internal(set) var settings: OfficeSettings
    /// The date of enabling; visits and nights before it decide nothing.
    public internal(set) var countsFrom: CivilDate?
    /// The last date whose night has been decided.
    public internal(set) var nightsThrough: CivilDate?
    public internal(set) var visits: Visits
    public internal(set) var words: [CivilDate: DayStatus]
    public internal(set) var days: [CivilDate: DecidedDay]
    /// The text from which events' identities are made: random, and the same for a person's whole history.
    public let seed: String

    /// Makes a new log, or part of a stored one. `seed` is random text, from which the ids of its days are derived.
    public init(
        settings: OfficeSettings = OfficeSettings(), countsFrom: CivilDate? = nil, nightsThrough: CivilDate? = nil,
        visits: Visits = Visits(), words: [CivilDate: DayStatus] = [:], days: [CivilDate: DecidedDay] = [:],
        seed: String
    ) {
        self.settings = settings
        self.countsFrom = countsFrom
        self.nightsThrough = nightsThrough
        self.visits = visits
        self.words = words
        self.days = days
        self.seed = seed
    }

    /// The zone that determines when days begin and end now.
    public func timeZone(_ context: OfficeContext) -> String { settings.timeZone(fallback: context.fallbackZone) }

    /// The date at `now` on the person's clock.
    public func today(_ now: Int, _ context: OfficeContext) -> CivilDate {
        context.clockOrUTC(timeZone(context)).date(at: now)
    }

    /// A date as a person sees it.
    public func day(_ date: CivilDate, _ context: OfficeContext) -> OfficeDay {
        let found = days[date]
        let clock = context.clockOrUTC(found?.zone ?? timeZone(context))
        let seconds = visits.seconds(from: clock.start(of: date), to: clock.start(of: date.adding(days: 1)))
        return OfficeDay(
            date: date, status: found?.status ?? .none, source: found?.source, officeMinutes: seconds / 60,
            event: found?.event)
    }

    /// The number of office days from the start of a date's month up to and including that date.
    public func officeDays(upTo date: CivilDate) -> Int {
        (date.startOfMonth...date).count { days[$0]?.status == .inOffice }
    }

    /// The identifier of a date's event in a calendar file: the same each time, and different for each person.
    func identity(of date: CivilDate) -> String {
        Hexadecimal.text(NameDigest.of("\(seed) \(date)").prefix(16))
    }
}
