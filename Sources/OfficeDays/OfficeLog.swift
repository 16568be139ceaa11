// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// A person's office days: settings, visits, what they said themselves, and what was decided and written.
///
/// A value without files, network or clock: each action takes the time as an argument, changes the value, and returns
/// what has to be written to a calendar. A log may hold a part of a person's history: every action looks only at the
/// months of the dates that it touches.
public struct OfficeLog: Hashable, Sendable, Codable {
    public internal(set) var settings: OfficeSettings
    /// The date of the enabling; visits and nights before it decide nothing.
    public internal(set) var countsFrom: OfficeDate?
    /// The last date whose night was decided.
    public internal(set) var nightsThrough: OfficeDate?
    public internal(set) var visits: Visits
    public internal(set) var words: [OfficeDate: DayStatus]
    public internal(set) var days: [OfficeDate: DecidedDay]
    /// What events' identities are made from: random, and the same for a person's whole history.
    public let seed: String

    /// A new log, or a part of a stored one. `seed` is random text that nobody else has.
    public init(
        settings: OfficeSettings = OfficeSettings(), countsFrom: OfficeDate? = nil, nightsThrough: OfficeDate? = nil,
        visits: Visits = Visits(), words: [OfficeDate: DayStatus] = [:], days: [OfficeDate: DecidedDay] = [:],
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

    /// The zone by which days begin and end now.
    public func timeZone(_ context: OfficeContext) -> String { settings.timeZone(fallback: context.fallbackZone) }

    /// The date of `now` by the person's clock.
    public func today(_ now: Int, _ context: OfficeContext) -> OfficeDate {
        context.clockOrUTC(timeZone(context)).date(at: now)
    }

    /// A date as a person sees it.
    public func day(_ date: OfficeDate, _ context: OfficeContext) -> OfficeDay {
        let found = days[date]
        let clock = context.clockOrUTC(found?.zone ?? timeZone(context))
        let seconds = visits.seconds(from: clock.start(of: date), to: clock.start(of: date.adding(days: 1)))
        return OfficeDay(
            date: date, status: found?.status ?? .none, source: found?.source, officeMinutes: seconds / 60,
            event: found?.event)
    }

    /// Office days of a date's month up to and including that date.
    public func officeDays(upTo date: OfficeDate) -> Int {
        (date.startOfMonth...date).count { days[$0]?.status == .inOffice }
    }

    /// What a date's event is called in a calendar file: the same each time, and different for each person.
    func identity(of date: OfficeDate) -> String {
        Hexadecimal.text(SHA256.hash(data: Array("\(seed) \(date)".utf8)).prefix(16))
    }
}
