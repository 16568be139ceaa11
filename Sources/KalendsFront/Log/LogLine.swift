// SPDX-License-Identifier: Apache-2.0

import ICalBridge
package import KalendsCore
import Synchronization

/// One line of the log: time, level, message, and named values.
///
/// Whatever a value contains, it stays within the line and its own field: a name that a stranger chose can neither
/// begin a new line nor control the reader's terminal.
package struct LogLine {
    package typealias Form = LogForm

    private let form: Form
    private(set) var bytes: [UInt8] = []

    /// - Parameter milliseconds: the time of the line, in milliseconds since 1970.
    init(_ form: Form, at milliseconds: Int, _ level: String, _ message: String) {
        self.init(form, at: milliseconds, LogLine(withoutTime: form, level, message))
    }

    /// A line that continues as another one that has no time.
    init(_ form: Form, at milliseconds: Int, _ rest: LogLine) {
        self.form = form
        bytes.reserveCapacity(256)
        if form == .json { bytes += Self.beginning }
        addTime(milliseconds)
        bytes += rest.bytes
    }

    /// The part of a line behind its time, which many lines may have in common.
    init(withoutTime form: Form, _ level: String, _ message: String) {
        self.form = form
        switch form {
        case .text:
            bytes.append(UInt8(ascii: " "))
            bytes += level.utf8
            bytes.append(UInt8(ascii: " "))
            escape(message, quotes: false)
        case .json:
            bytes += #"","level":""#.utf8
            bytes += level.utf8
            bytes += #"","message":""#.utf8
            escape(message, quotes: true)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    private static let beginning = Array(#"{"time":""#.utf8)

    /// Adds a value.
    ///
    /// - Parameter name: a name that our own code chose.
    mutating func add(_ name: String, _ value: String) {
        addName(name)
        if form == .text, Self.isPlain(value) {
            bytes += value.utf8
        } else {
            bytes.append(UInt8(ascii: "\""))
            escape(value, quotes: true)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    mutating func add(_ name: String, _ value: Int) {
        addName(name)
        addNumber(value)
    }

    mutating func end() {
        if form == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Adds the name of a value, which comes next.
    mutating func addName(_ name: String) {
        switch form {
        case .text:
            bytes.append(UInt8(ascii: " "))
            escape(name, quotes: false)
            bytes.append(UInt8(ascii: "="))
        case .json:
            bytes += #",""#.utf8
            escape(name, quotes: true)
            bytes += #"":"#.utf8
        }
    }

    /// Adds a number whose name was just added.
    mutating func addNumber(_ value: Int) {
        // Most numbers are microseconds of a poll; those are written without a text in between.
        guard (0..<10_000).contains(value) else {
            bytes += String(value).utf8
            return
        }
        if value >= 1000 { bytes.append(UInt8(ascii: "0") + UInt8(value / 1000)) }
        if value >= 100 { bytes.append(UInt8(ascii: "0") + UInt8(value / 100 % 10)) }
        if value >= 10 { bytes.append(UInt8(ascii: "0") + UInt8(value / 10 % 10)) }
        bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
    }

    /// The text of the latest second, formatted once for all its lines.
    private static let latest = Mutex((second: Int.min, text: [UInt8]()))

    private mutating func addTime(_ milliseconds: Int) {
        let second = milliseconds.floorDivided(by: 1000)
        bytes += Self.latest.withLock { latest in
            // Everything except the final Z.
            if latest.second != second {
                latest = (second, Instant(seconds: second).rfc3339(offset: 0).utf8.dropLast())
            }
            return latest.text
        }
        let part = milliseconds - second * 1000
        bytes.append(UInt8(ascii: "."))
        for digit in [part / 100, part / 10 % 10, part % 10] { bytes.append(UInt8(ascii: "0") + UInt8(digit)) }
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Whether a value can be written without quotation marks.
    private static func isPlain(_ value: String) -> Bool {
        !value.isEmpty
            && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    private mutating func escape(_ text: String, quotes: Bool) {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes += text.utf8
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"" where quotes: bytes += #"\""#.utf8
            case "\\" where quotes: bytes += #"\\"#.utf8
            case "\n": bytes += #"\n"#.utf8
            case "\t": bytes += #"\t"#.utf8
            default:
                if Self.isShown(scalar) { bytes += String(scalar).utf8 } else { escape(scalar) }
            }
        }
    }

    /// False for control characters, line ends, and characters that reverse text or are invisible; they are written as
    /// numbers.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
        default: true
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        for unit in String(scalar).utf16 {
            bytes += #"\u"#.utf8
            for shift in [12, 8, 4, 0] { bytes.append(Array("0123456789abcdef".utf8)[Int(unit >> UInt16(shift) & 15)]) }
        }
    }
}
