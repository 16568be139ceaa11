// SPDX-License-Identifier: Apache-2.0

/// One property of a file: its head split into parts, its value as bytes (RFC 5545 section 3.1).
struct Property {
    var name: String
    var parameters: [ContentLine.Parameter] = []
    /// The value with its escapes; a line feed in it is one that the file left unescaped.
    var value: ArraySlice<UInt8>
    var line: Int
    /// Whether there are more parameters than are kept.
    var hasTooManyParameters = false

    static let parameterLimit = 128

    /// The first value of the parameter with this upper-case name.
    subscript(parameter name: String) -> String? {
        parameters.isEmpty ? nil : parameters.first { $0.name == name }?.values.first
    }

    var text: String { String(fromOutside: value) }

    /// The value without the spaces around it.
    var trimmed: String {
        String(fromOutside: value.trimmingSpaces)
    }

    var isQuotedPrintable: Bool {
        !parameters.isEmpty
            && (self[parameter: "ENCODING"]?.uppercased() == "QUOTED-PRINTABLE"
                || parameters.contains { $0.name == "QUOTED-PRINTABLE" })
    }

    var isEmpty: Bool { value.allSatisfy { $0 <= 32 } }

    /// The line that is kept for a property without a field.
    ///
    /// Quoted-printable is decoded: if it were written again, an `=` at the end of its line would join the next line to
    /// it.
    var contentLine: ContentLine {
        if isQuotedPrintable {
            let text = String(fromOutside: ComponentReader.plain(self).withLineFeedsEscaped)
            let written = ["ENCODING", "CHARSET", "QUOTED-PRINTABLE"]
            return ContentLine(name: name, parameters: parameters.filter { !written.contains($0.name) }, value: text)
        }
        let text = value.contains(10) ? String(fromOutside: value.withLineFeedsEscaped) : text
        return ContentLine(name: name, parameters: parameters, value: text)
    }

    /// Reads a line; nil when it does not begin with a property's name.
    init?(_ bytes: [UInt8], _ line: LogicalLine) {
        guard let nameEnd = Self.nameEnd(bytes, line.range) else { return nil }
        self.line = Int(line.number)
        name = String(
            fromOutside: bytes[Int(line.start)..<nameEnd.name].map { $0 >= 97 && $0 <= 122 ? $0 - 32 : $0 })
        value = []
        var scanner = ParameterScanner(bytes: bytes, position: nameEnd.separator, end: Int(line.end))
        if !scanner.read(into: &parameters, tooMany: &hasTooManyParameters) {
            // A quote that is closed too late hides the colon: `DTSTART;TZID="Europe/Berlin:20260101T090000"`.
            parameters = []
            scanner = ParameterScanner(bytes: bytes, position: nameEnd.separator, end: Int(line.end), mayQuote: false)
            guard scanner.read(into: &parameters, tooMany: &hasTooManyParameters) else { return nil }
        }
        value = bytes[scanner.position..<Int(line.end)]
    }

    /// The indices at which the name ends and at which its `:` or `;` is; nil when the line does not begin like a
    /// property.
    static func nameEnd(_ bytes: [UInt8], _ range: Range<Int>) -> (name: Int, separator: Int)? {
        var index = range.lowerBound
        while index < range.upperBound, index - range.lowerBound <= 64 {
            let byte = bytes[index]
            if byte == 58 || byte == 59 || byte == 32 { break }
            guard byte.isInPropertyNames else { return nil }
            index += 1
        }
        let end = index
        guard end > range.lowerBound, end - range.lowerBound <= 64 else { return nil }
        while index < range.upperBound, bytes[index] == 32 { index += 1 }
        guard index < range.upperBound, bytes[index] == 58 || bytes[index] == 59 else { return nil }
        return (end, index)
    }
}

/// Reads `;NAME=value,"value"` up to the colon before the value.
private struct ParameterScanner {
    let bytes: [UInt8]
    var position: Int
    let end: Int
    private var mayQuote: Bool

    init(bytes: [UInt8], position: Int, end: Int, mayQuote: Bool = true) {
        (self.bytes, self.position, self.end, self.mayQuote) = (bytes, position, end, mayQuote)
    }

    /// Moves `position` to after the colon; false when there is no colon.
    mutating func read(into parameters: inout [ContentLine.Parameter], tooMany: inout Bool) -> Bool {
        while position < end {
            if bytes[position] == 58 {
                position += 1
                return true
            }
            guard bytes[position] == 59 else { return false }
            position += 1
            let nameStart = position
            while position < end, ![58, 59, 61].contains(bytes[position]) { position += 1 }
            let name = Self.name(bytes[nameStart..<position])
            var values: [String] = []
            if position < end, bytes[position] == 61 {
                repeat {
                    position += 1
                    values.append(value())
                } while position < end && bytes[position] == 44
            }
            if parameters.count >= Property.parameterLimit {
                tooMany = true
            } else if !name.isEmpty {
                parameters.append(.init(name: name, values: values))
            }
        }
        return false
    }

    /// A name in upper case, without the control characters that are never written: one that a line break cuts in two has
    /// the meaning that it has when what was written is read again.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String {
        let holdsControls = bytes.contains { ($0 < 32 && $0 != 9) || $0 == 127 }
        let shown = holdsControls ? bytes.filter { ($0 >= 32 && $0 != 127) || $0 == 9 }[...] : bytes
        return String(fromOutside: shown.trimmingSpaces).uppercased()
    }

    private mutating func value() -> String {
        if position < end, bytes[position] == 34, mayQuote {
            if let close = ByteSearch.first(34, in: bytes, from: position + 1, to: end) {
                let inner = bytes[position + 1..<close]
                position = close + 1
                // Anything between a closing quote and the next separator is ignored.
                while position < end, ![58, 59, 44].contains(bytes[position]) { position += 1 }
                return Self.decode(inner)
            }
            mayQuote = false
        }
        let start = position
        while position < end, ![58, 59, 44].contains(bytes[position]) { position += 1 }
        return Self.decode(bytes[start..<position])
    }

    /// Decodes RFC 6868's `^n`, `^'` and `^^`.
    private static func decode(_ raw: ArraySlice<UInt8>) -> String {
        guard raw.contains(94) else { return String(fromOutside: raw) }
        var out: [UInt8] = []
        var index = raw.startIndex
        while index < raw.endIndex {
            let next = index + 1 < raw.endIndex ? raw[index + 1] : 0
            switch (raw[index], next) {
            case (94, 110): out.append(10)
            case (94, 39): out.append(34)
            case (94, 94): out.append(94)
            default:
                out.append(raw[index])
                index += 1
                continue
            }
            index += 2
        }
        return String(fromOutside: out)
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without spaces and control characters at both ends.
    package var trimmingSpaces: ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first <= 32 { slice = slice.dropFirst() }
        while let last = slice.last, last <= 32 { slice = slice.dropLast() }
        return slice
    }

    /// The text with `\n` in place of each line feed.
    var withLineFeedsEscaped: [UInt8] {
        var out: [UInt8] = []
        for byte in self {
            if byte == 10 { out += [92, 110] } else { out.append(byte) }
        }
        return out
    }
}

extension UInt8 {
    /// Whether the byte may be in a property name: letters, digits and `-`, and `_` and `.`, which other programs
    /// write.
    var isInPropertyNames: Bool {
        self | 0x20 >= 97 && self | 0x20 <= 122 || self >= 48 && self <= 57 || self == 45 || self == 95 || self == 46
    }
}
