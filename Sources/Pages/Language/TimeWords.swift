// SPDX-License-Identifier: Apache-2.0

import Calendar

/// Times in everyday words, in the reader's language and zone, with the exact time as an attribute.
public struct TimeWords: Sendable {
    let words: Words
    let zone: PageZone
    /// Milliseconds since 1970.
    let now: Int

    var today: CivilDate { zone.local(now).day }

    // MARK: Instants

    /// An instant relative to now, for the template `time`.
    func moment(_ instant: Int) -> Node { node(instant, relative(instant)) }

    /// An instant by its day and hour, independent of the current time.
    func exactly(_ instant: Int) -> Node {
        let local = zone.local(instant)
        return node(instant, dayAndClock(local))
    }

    func dayNode(_ day: CivilDate) -> Node {
        ["iso": .text(day.description), "title": .text(fullDate(day)), "text": .text(date(day))]
    }

    private func node(_ instant: Int, _ text: String) -> Node {
        let local = zone.local(instant)
        let title = words(
            "timeExact", ["day": fullDate(local.day), "clock": clock(local), "zone": zone.name])
        return ["iso": .text(local.iso), "title": .text(title), "text": .text(text)]
    }

    /// A text such as "around 9 pm" and "tomorrow around 9 am", to the hour or half hour, for an expected time.
    func about(_ instant: Int) -> Node {
        let half = 1_800_000
        if abs(instant - now) < 2 * half { return moment(instant) }
        let local = zone.local((instant + half / 2) / half * half)
        let clock = local.minute == 0 ? clock(local, "clockHour") : clock(local)
        let around = words("clockAround", count: local.hour, ["clock": clock])
        let text =
            switch local.day.daysSinceEpoch - today.daysSinceEpoch {
            case 0: around
            case 1: words("timeAboutTomorrow", ["around": around])
            default: words("timeAboutOnDay", ["day": weekdayDate(local.day), "around": around])
            }
        return node(instant, text)
    }

    /// A text such as "5 minutes ago", "today at 3:15 pm", "on Thursday at 9:00 am", "on January 21 at 9:00 am".
    func relative(_ instant: Int) -> String {
        let seconds = (now - instant) / 1000
        if abs(seconds) < 60 { return words[seconds >= 0 ? "timeJustNow" : "timeInAMoment"] }
        let minutes = (abs(seconds) + 30) / 60
        if minutes < 60 { return words(seconds > 0 ? "timeMinutesAgo" : "timeInMinutes", count: minutes) }
        let local = zone.local(instant)
        let at = atClock(local)
        switch local.day.daysSinceEpoch - today.daysSinceEpoch {
        case 0: return words("timeToday", ["at": at])
        case -1: return words("timeYesterday", ["at": at])
        case 1: return words("timeTomorrow", ["at": at])
        case 2...6, -6 ... -2:
            return words(
                "timeWeekday", ["weekday": words.choice("weekdaysOn", local.day.mondayBasedWeekday), "at": at])
        default: return words("timeOnDay", ["day": date(local.day), "at": at])
        }
    }

    // MARK: Hours

    /// A text such as "9:00 am" and "9:00 Uhr".
    func clock(_ local: LocalTime) -> String { clock(local, "clock") }

    /// A text such as "at 9:00 am", whose first word depends on the hour in some languages.
    private func atClock(_ local: LocalTime) -> String {
        words("clockAt", count: local.hour, ["clock": clock(local)])
    }

    /// A text such as "January 21 at 9:00 am".
    func dayAndClock(_ local: LocalTime) -> String {
        words("timeDayAndClock", ["day": date(local.day), "at": atClock(local)])
    }

    /// A text such as "9:00 am – 10:30 am" and "9:00–10:30 Uhr".
    func clocks(_ from: LocalTime, _ to: LocalTime) -> String {
        words("clockRange", ["from": clock(from, "clockFirst"), "to": clock(to, "clock")])
    }

    private func clock(_ local: LocalTime, _ key: String) -> String {
        words(
            key,
            [
                "hour24": String(local.hour), "hour00": Self.twoDigits(local.hour),
                "hour12": String((local.hour + 11) % 12 + 1), "minute": Self.twoDigits(local.minute),
                "half": words.choice("clockHalves", local.hour < 12 ? 0 : 1),
            ])
    }

    // MARK: Days

    /// A text such as "January 21" and "21. Januar", with the year if it is not the current one.
    func date(_ day: CivilDate) -> String {
        words(day.year == today.year ? "dayAndMonth" : "dayMonthYear", names(of: day))
    }

    /// A text such as "Wednesday, January 21" and "Mittwoch, 21. Januar".
    func weekdayDate(_ day: CivilDate) -> String {
        words("weekdayAndDate", ["weekday": words.choice("weekdays", day.mondayBasedWeekday), "date": date(day)])
    }

    /// A day with its weekday and year.
    func fullDate(_ day: CivilDate) -> String {
        words(
            "weekdayAndDate",
            [
                "weekday": words.choice("weekdays", day.mondayBasedWeekday),
                "date": words("dayMonthYear", names(of: day)),
            ])
    }

    /// A text such as "1/21" and "21.1.".
    func shortDate(_ day: CivilDate) -> String {
        words(
            "dayShort",
            [
                "day": String(day.day), "day00": Self.twoDigits(day.day), "month": String(day.month),
                "month00": Self.twoDigits(day.month),
            ])
    }

    /// A text such as "January 2026", as it is within a sentence.
    func month(_ day: CivilDate) -> String { words("monthAndYear", names(of: day, "months")) }

    /// The same as a heading: languages that write months in small letters begin a heading with a capital, too.
    func monthTitle(_ day: CivilDate) -> String { Self.title(month(day)) }

    /// "Today", "Tomorrow", "Yesterday", or the day with its weekday, as a heading.
    func nearDate(_ day: CivilDate) -> String {
        switch day.daysSinceEpoch - today.daysSinceEpoch {
        case 0: words["dayToday"]
        case 1: words["dayTomorrow"]
        case -1: words["dayYesterday"]
        default: Self.title(weekdayDate(day))
        }
    }

    /// - Parameter months: the names of the months, which have other endings behind a day in some languages.
    private func names(of day: CivilDate, _ months: String = "monthsOfDays") -> [String: String] {
        [
            "day": String(day.day), "month": words.choice(months, day.month - 1), "year": String(day.year),
        ]
    }

    /// A text as the beginning of a heading.
    static func title(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
