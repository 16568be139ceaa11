// SPDX-License-Identifier: Apache-2.0

/// Writes the digits of dates and times into one text of known length: every event of every file and feed has several,
/// and formatting them number by number took longer than everything else done for the event.
@safe struct StampText {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    private init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { unsafe self.bytes = bytes }

    /// Makes a text of ASCII; `body` must write exactly `length` bytes.
    static func text(_ length: Int, _ body: (inout StampText) -> Void) -> String {
        unsafe String(unsafeUninitializedCapacity: length) { bytes in
            var stamp = unsafe StampText(bytes)
            body(&stamp)
            return stamp.count
        }
    }

    mutating func write(_ letter: Unicode.Scalar) {
        unsafe bytes[count] = UInt8(ascii: letter)
        count += 1
    }

    /// Writes a number from 0 to 99 with two digits.
    mutating func two(_ number: Int) {
        unsafe bytes[count] = UInt8(48 + number / 10)
        unsafe bytes[count + 1] = UInt8(48 + number % 10)
        count += 2
    }

    /// Writes a number from 0 to 9999 with four digits.
    mutating func four(_ number: Int) {
        two(number / 100)
        two(number % 100)
    }

    /// Writes `20260121`.
    mutating func basic(_ date: CivilDate) {
        four(date.year)
        two(date.month)
        two(date.day)
    }

    /// Writes `2026-01-21`.
    mutating func extended(_ date: CivilDate) {
        four(date.year)
        write("-")
        two(date.month)
        write("-")
        two(date.day)
    }

    /// Writes `20260121T090000`.
    mutating func basic(_ time: CivilDateTime) {
        let (date, second) = time.parts
        basic(date)
        write("T")
        two(second / 3600)
        two(second % 3600 / 60)
        two(second % 60)
    }

    /// Writes `2026-01-21T09:00:00`.
    mutating func extended(_ time: CivilDateTime) {
        let (date, second) = time.parts
        extended(date)
        write("T")
        two(second / 3600)
        write(":")
        two(second % 3600 / 60)
        write(":")
        two(second % 60)
    }
}

extension CivilDate {
    /// Whether its year has four digits, and its month and day have two.
    var isOrdinary: Bool { (0...9999).contains(year) && (0...99).contains(month) && (0...99).contains(day) }
}

extension CivilDateTime {
    /// The first moment whose year has four digits, and the first one after those, in wall seconds.
    private static let first = CivilDate(uncheckedYear: 0, month: 1, day: 1).daysSinceEpoch * 86_400
    private static let end = CivilDate(uncheckedYear: 10_000, month: 1, day: 1).daysSinceEpoch * 86_400

    /// Whether its year has four digits.
    var isOrdinary: Bool { wallSeconds >= Self.first && wallSeconds < Self.end }
}
