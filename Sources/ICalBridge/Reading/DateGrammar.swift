// SPDX-License-Identifier: Apache-2.0

/// A date or a time as it is in a file, checked against the calendar (RFC 5545 sections 3.3.4 and 3.3.5).
struct WrittenTime {
    enum Zone: Hashable {
        /// No zone is written: a local or floating time.
        case none
        case utc
        /// An offset in seconds east of UTC, which RFC 5545 does not allow but some apps write.
        case offset(Int)
    }

    var date: CivilDate
    /// The time; nil for a date without a time.
    var time: CivilDateTime?
    var zone: Zone
    /// Whether it was written in the form that the RFC requires.
    var isCanonical: Bool

    /// Why a text is not a valid time.
    enum Failure: Error {
        /// It has the form of a time, but no such date or time exists.
        case impossible
        case unreadable
    }

    /// Reads `YYYYMMDD`, `YYYYMMDDTHHMM[SS][Z]`, and the same with `-` and `:`.
    ///
    /// 31 February is refused, and never read as 3 March.
    init(_ text: some Sequence<UInt8>) throws(Failure) {
        var trimmed = Array(text)[...].trimmingSpaces
        // The closing quote of one that was opened in the parameters.
        if trimmed.last == 34 { trimmed = trimmed.dropLast() }
        var reader = Reader(bytes: trimmed)
        guard let year = reader.number(4) else { throw .unreadable }
        let dashed = reader.skip(45)
        guard let month = reader.number(2), !dashed || reader.skip(45), let day = reader.number(2) else {
            throw .unreadable
        }
        var canonical = !dashed
        guard let date = CivilDate(year: year, month: month, day: day) else { throw .impossible }
        self.date = date
        zone = .none
        if reader.isAtEnd {
            isCanonical = canonical
            return
        }
        if !reader.skip(84) {
            guard reader.skip(116) || reader.skip(32) else { throw .unreadable }
            canonical = false
        }
        guard let hour = reader.number(2) else { throw .unreadable }
        let colon = reader.skip(58)
        guard let minute = reader.number(2) else { throw .unreadable }
        var second = 0
        if colon { canonical = false }
        if !colon || reader.skip(58), let written = reader.number(2) {
            second = written
        } else {
            canonical = false
        }
        if reader.skip(46) || reader.skip(44) {
            canonical = false
            reader.skipDigits()
        }
        if reader.skip(90) {
            zone = .utc
        } else if reader.skip(122) {
            (zone, canonical) = (.utc, false)
        } else if let offset = reader.offset() {
            (zone, canonical) = (.offset(offset), false)
        }
        guard reader.isAtEnd else { throw .unreadable }
        if hour == 24, minute == 0, second == 0 {
            // 24:00:00, which is ISO 8601's end of the day.
            time = CivilDateTime(startOf: date.adding(days: 1))
            self.date = date.adding(days: 1)
            canonical = false
        } else {
            guard let time = CivilDateTime(date: date, hour: hour, minute: minute, second: second) else {
                throw .impossible
            }
            self.time = time
        }
        isCanonical = canonical
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>
        var isAtEnd: Bool { bytes.isEmpty }

        mutating func number(_ length: Int) -> Int? {
            guard bytes.count >= length, let value = digits(bytes.prefix(length)) else { return nil }
            bytes = bytes.dropFirst(length)
            return value
        }

        mutating func skip(_ byte: UInt8) -> Bool {
            guard bytes.first == byte else { return false }
            bytes = bytes.dropFirst()
            return true
        }

        mutating func skipDigits() {
            while let byte = bytes.first, byte >= 48, byte <= 57 { bytes = bytes.dropFirst() }
        }

        /// Reads an offset such as `+01:00` or `-0500`.
        mutating func offset() -> Int? {
            let before = bytes
            let sign = skip(43) ? 1 : skip(45) ? -1 : 0
            guard sign != 0, let hours = number(2) else {
                bytes = before
                return nil
            }
            _ = skip(58)
            let minutes = number(2) ?? 0
            guard hours <= 15, minutes <= 59 else {
                bytes = before
                return nil
            }
            return sign * (hours * 3600 + minutes * 60)
        }
    }
}
