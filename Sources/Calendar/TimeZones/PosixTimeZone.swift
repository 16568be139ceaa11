// SPDX-License-Identifier: Apache-2.0

/// The rule at the end of a TZif file, which applies to all later years (POSIX TZ string, RFC 9636 section 3.3).
struct PosixTimeZone: Hashable, Sendable {
    /// `Mm.w.d/time`: a weekday of a month; no zone uses the other two forms, and they are not read.
    struct Onset: Hashable, Sendable {
        var month: Int
        /// The week of the month: 1 to 4, or 5 for the last one.
        var week: Int
        /// The weekday; Sunday is 0.
        var weekday: Int
        /// Seconds after midnight on the wall clock before the change; may be negative or beyond a day.
        var time: Int
    }

    struct Daylight: Hashable, Sendable {
        var name: String
        /// Seconds east of UTC.
        var offset: Int
        var begins: Onset
        var ends: Onset
    }

    var name: String
    /// Seconds east of UTC.
    var offset: Int
    var daylight: Daylight?

    init?(_ text: String) {
        var scanner = Scanner(bytes: Array(text.utf8)[...])
        guard let name = scanner.name(), let west = scanner.time() else { return nil }
        self.name = name
        self.offset = -west
        guard !scanner.bytes.isEmpty else { return }
        guard let other = scanner.name() else { return nil }
        var otherOffset = offset + 3600
        if scanner.bytes.first != 44 {
            guard let west = scanner.time() else { return nil }
            otherOffset = -west
        }
        guard let begins = scanner.onset(), let ends = scanner.onset(), scanner.bytes.isEmpty else { return nil }
        daylight = Daylight(name: other, offset: otherOffset, begins: begins, ends: ends)
    }

    /// The two changes of a year in order of time; empty without daylight saving time.
    func transitions(in year: Int) -> [OffsetTransition] {
        guard let daylight else { return [] }
        let begin = OffsetTransition(
            at: Instant(seconds: daylight.begins.wall(in: year).wallSeconds - offset),
            offsetBefore: offset, offsetAfter: daylight.offset, abbreviation: daylight.name)
        let end = OffsetTransition(
            at: Instant(seconds: daylight.ends.wall(in: year).wallSeconds - daylight.offset),
            offsetBefore: daylight.offset, offsetAfter: offset, abbreviation: name)
        return begin.at < end.at ? [begin, end] : [end, begin]
    }
}

extension PosixTimeZone.Onset {
    /// The wall-clock time of the onset in a year.
    func wall(in year: Int) -> CivilDateTime {
        let first = CivilDate(uncheckedYear: year, month: month, day: 1)
        var day = 1 + (weekday - first.weekday + 7) % 7 + (week - 1) * 7
        while day > CivilDate.daysInMonth(month, year: year) { day -= 7 }
        return CivilDateTime(
            wallSeconds: CivilDate(uncheckedYear: year, month: month, day: day).daysSinceEpoch * 86_400 + time)
    }

    /// The onset as a yearly rule; nil when a shift by days leads out of the month.
    ///
    /// For example `M3.4.4/50`, 50 hours into the fourth Thursday, is the Saturday from the 24th to the 30th.
    var rule: RecurrenceRule? {
        var rule = RecurrenceRule(.yearly)
        rule.byMonth = [month]
        let shift = time >= 0 ? time / 86_400 : (time - 86_399) / 86_400
        let day = RecurrenceRule.Weekday.allCases[((weekday + shift) % 7 + 7) % 7]
        if shift == 0 {
            rule.byDay = [RecurrenceRule.WeekdayNumber(day, ordinal: week == 5 ? -1 : week)]
            return rule
        }
        // The days of the last week are fixed only in a month whose length never changes.
        if week == 5, month == 2 { return nil }
        let length = CivilDate.daysInMonth(month, year: 2001)
        let firstDay = (week == 5 ? length - 6 : (week - 1) * 7 + 1) + shift
        guard firstDay >= 1, firstDay + 6 <= (month == 2 ? 28 : length) else { return nil }
        rule.byDay = [RecurrenceRule.WeekdayNumber(day)]
        rule.byMonthDay = Array(firstDay...firstDay + 6)
        return rule
    }
}

private struct Scanner {
    var bytes: ArraySlice<UInt8>

    mutating func name() -> String? {
        if bytes.first == UInt8(ascii: "<") {
            let inner = bytes.dropFirst().prefix { $0 != UInt8(ascii: ">") }
            bytes = bytes.dropFirst(inner.count + 2)
            return inner.isEmpty ? nil : String(decoding: inner, as: UTF8.self)
        }
        let letters = bytes.prefix { ($0 | 0x20) >= 97 && ($0 | 0x20) <= 122 }
        bytes = bytes.dropFirst(letters.count)
        return letters.count >= 3 ? String(decoding: letters, as: UTF8.self) : nil
    }

    mutating func number() -> Int? {
        let run = bytes.prefix { $0 >= 48 && $0 <= 57 }
        guard !run.isEmpty, run.count <= 4 else { return nil }
        bytes = bytes.dropFirst(run.count)
        return digits(run)
    }

    /// Reads `[+-]hh[:mm[:ss]]` as seconds.
    mutating func time() -> Int? {
        var sign = 1
        if bytes.first == 45 || bytes.first == 43 {
            sign = bytes.first == 45 ? -1 : 1
            bytes = bytes.dropFirst()
        }
        guard let hours = number() else { return nil }
        var seconds = hours * 3600
        for unit in [60, 1] where bytes.first == 58 {
            bytes = bytes.dropFirst()
            guard let part = number() else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    /// Reads `,Mm.w.d[/time]`.
    mutating func onset() -> PosixTimeZone.Onset? {
        guard bytes.starts(with: [44, 77]) else { return nil }
        bytes = bytes.dropFirst(2)
        var parts: [Int] = []
        for index in 0..<3 {
            guard let part = number() else { return nil }
            parts.append(part)
            if index < 2 {
                guard bytes.first == 46 else { return nil }
                bytes = bytes.dropFirst()
            }
        }
        var time = 7200
        if bytes.first == 47 {
            bytes = bytes.dropFirst()
            guard let own = self.time() else { return nil }
            time = own
        }
        guard (1...12).contains(parts[0]), (1...5).contains(parts[1]), (0...6).contains(parts[2]) else { return nil }
        return PosixTimeZone.Onset(month: parts[0], week: parts[1], weekday: parts[2], time: time)
    }
}
