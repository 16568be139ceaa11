// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// The day on which a person's weeks begin; the number is that of the weekday, and Monday is 0.
public enum WeekStart: Int, Sendable {
    case monday = 0
    case friday = 4
    case saturday = 5
    case sunday = 6

    // The regions whose weeks do not begin on Monday (CLDR 46, supplemental/weekData), each behind a space.
    private static let fridays = " MV"
    private static let saturdays = " AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY"
    private static let sundays =
        " AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ NI NP PA"
        + " PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW"

    /// The first day of the week in a language's region.
    ///
    /// - Parameter field: an `Accept-Language` field (RFC 9110, section 12.5.4), whose first tag of this language with a
    ///   region decides; without one the language's own words do.
    public init(_ language: Language, accepting field: String = "") {
        for range in field.utf8.prefix(1000).split(separator: UInt8(ascii: ",")).prefix(50) {
            let tag = range.split(separator: UInt8(ascii: ";")).first ?? range[...]
            let parts = String(decoding: tag, as: UTF8.self).filter { !$0.is(" ") }.pieces(separatedBy: "-")
            guard let primary = parts.first, String(primary).lowercased().isSameText(as: language.rawValue),
                let region = parts.dropFirst().first(where: { $0.utf8.count == 2 })
            else { continue }
            self.init(region: String(region).uppercased())
            return
        }
        self = Words.of(language)["weekBegins"].isSameText(as: "sunday") ? .sunday : .monday
    }

    /// - Parameter region: two letters.
    private init(region: String) {
        let known: [(WeekStart, String)] = [
            (.friday, Self.fridays), (.saturday, Self.saturdays), (.sunday, Self.sundays),
        ]
        self = known.first { $0.1.contains(" " + region) }?.0 ?? .monday
    }

    /// The first day of the week with a day in it.
    public func start(of day: CivilDate) -> CivilDate {
        day.adding(days: -((day.mondayBasedWeekday - rawValue + 7) % 7))
    }
}
