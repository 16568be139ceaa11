// SPDX-License-Identifier: Apache-2.0

/// Writes content lines as RFC 5545 section 3.1 requires: CRLF, at most 75 octets a line, folds between characters.
struct ContentLineWriter {
    private(set) var bytes: [UInt8] = []
    private var lineStart = 0

    private let keepsHiddenCharacters: Bool

    /// - Parameter keepsHiddenCharacters: true for a text that is only read again here, where these characters are
    ///   reported.
    init(reserving capacity: Int = 0, keepsHiddenCharacters: Bool = false) {
        self.keepsHiddenCharacters = keepsHiddenCharacters
        bytes.reserveCapacity(capacity)
    }

    private func shown(_ text: String) -> String { keepsHiddenCharacters ? text : text.withoutHiddenCharacters }

    /// Writes a line from parts that need no escaping.
    mutating func line(_ name: String, _ value: String) {
        append(name)
        bytes.append(UInt8(ascii: ":"))
        append(value)
        endLine()
    }

    /// Writes a line with a time in UTC.
    mutating func line(_ name: String, _ instant: Instant) {
        append(name)
        bytes.append(UInt8(ascii: ":"))
        append(instant)
        endLine()
    }

    /// Writes a line with a date or a time: its zone or VALUE=DATE is put between the name and `parameters`.
    mutating func time(_ name: String, _ time: EventTime, parameters: String = "") {
        append(name)
        append(time.isDate ? ";VALUE=DATE" : time.tzidParameter)
        append(parameters)
        bytes.append(UInt8(ascii: ":"))
        switch time {
        case .date(let date): bytes += date.basic.utf8
        case .floating(let wall), .zoned(let wall, _): bytes += wall.basic.utf8
        case .utc(let instant): append(instant)
        }
        endLine()
    }

    /// Writes a line with a TEXT value (section 3.3.11), which is escaped here, without its `HiddenCharacters`.
    mutating func text(_ name: String, _ value: String, parameters: [ContentLine.Parameter] = []) {
        append(name)
        append(parameters)
        bytes.append(UInt8(ascii: ":"))
        appendEscaped(shown(value))
        endLine()
    }

    /// Writes a line with a TEXT value that no person reads, such as a UID: every character of it counts.
    mutating func identifier(_ name: String, _ value: String) {
        append(name)
        bytes.append(UInt8(ascii: ":"))
        appendEscaped(value)
        endLine()
    }

    /// Writes a line whose value is a list of TEXT.
    mutating func textList(_ name: String, _ values: [String]) {
        append(name)
        bytes.append(UInt8(ascii: ":"))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            appendEscaped(shown(value))
        }
        endLine()
    }

    /// Writes a line as it was read, with its escapes, but without `HiddenCharacters` and what could break the line.
    mutating func line(_ line: ContentLine) {
        append(line.name)
        append(line.parameters)
        bytes.append(UInt8(ascii: ":"))
        append(line.name == "RELATED-TO" ? line.value : shown(line.value))
        endLine()
    }

    private mutating func append(_ parameters: [ContentLine.Parameter]) {
        for parameter in parameters {
            bytes.append(UInt8(ascii: ";"))
            append(parameter.name)
            bytes.append(UInt8(ascii: "="))
            for (index, value) in parameter.values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                appendParameter(shown(value))
            }
        }
    }

    private mutating func append(_ instant: Instant) {
        // A text of 16 bytes would be allocated; one of 15 is not.
        bytes += instant.utc.basic.utf8
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Appends text as it is, without control characters.
    private mutating func append(_ text: String) {
        guard text.utf8.span.holdsControls else { return bytes.append(contentsOf: text.utf8) }
        for byte in text.utf8 where byte >= 32 && byte != 127 || byte == 9 { bytes.append(byte) }
    }

    private mutating func appendEscaped(_ text: String) {
        guard text.utf8.span.needsEscapes else { return bytes.append(contentsOf: text.utf8) }
        var previous: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: ";"), UInt8(ascii: ","):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 13, 10:
                // CRLF is one line break, so its LF adds nothing.
                if !(byte == 10 && previous == 13) {
                    bytes.append(UInt8(ascii: "\\"))
                    bytes.append(UInt8(ascii: "n"))
                }
            case 9: bytes.append(byte)
            case 0..<32, 127: break
            default: bytes.append(byte)
            }
            previous = byte
        }
    }

    /// Appends a parameter value, quoted where necessary, with `"` and line breaks escaped as in RFC 6868.
    private mutating func appendParameter(_ value: String) {
        let needsQuotes = value.utf8.contains { $0 == 58 || $0 == 59 || $0 == 44 }
        if needsQuotes { bytes.append(34) }
        for byte in value.utf8 {
            switch byte {
            case 34: bytes += [94, 39]
            case 94: bytes += [94, 94]
            case 10: bytes += [94, 110]
            case 9: bytes.append(byte)
            case 0..<32, 127: break
            default: bytes.append(byte)
            }
        }
        if needsQuotes { bytes.append(34) }
    }

    private mutating func endLine() {
        if bytes.count - lineStart > 75 { fold() }
        bytes.append(13)
        bytes.append(10)
        lineStart = bytes.count
    }

    private mutating func fold() {
        let line = Array(bytes[lineStart...])
        bytes.removeLast(line.count)
        ContentLine.fold(line, to: &bytes)
    }
}

extension ContentLine {
    /// Writes a line without its end, folded at 75 bytes (RFC 5545 section 3.1).
    package static func fold(_ line: [UInt8], to bytes: inout [UInt8]) {
        var from = 0
        var room = 75
        while line.count - from > room {
            var end = from + room
            // A continuation byte (10xxxxxx) belongs to the character before it.
            while end > from + 1, line[end] & 0xC0 == 0x80 { end -= 1 }
            bytes += line[from..<end]
            bytes += [13, 10, 32]
            from = end
            room = 74
        }
        bytes += line[from...]
    }
}

extension Span<UInt8> {
    /// Whether a byte is a control character other than a tab. Without an early exit the compiler checks many at once.
    fileprivate var holdsControls: Bool {
        var found: UInt8 = 0
        for index in indices { found |= Self.isControl(self[index]) }
        return found != 0
    }

    /// Whether a TEXT value that holds these bytes is written in another way than they are.
    fileprivate var needsEscapes: Bool {
        var found: UInt8 = 0
        for index in indices {
            let byte = self[index]
            let isBackslash: UInt8 = byte == 92 ? 1 : 0
            let isSemicolon: UInt8 = byte == 59 ? 1 : 0
            let isComma: UInt8 = byte == 44 ? 1 : 0
            found |= Self.isControl(byte) | isBackslash | isSemicolon | isComma
        }
        return found != 0
    }

    @inline(__always)
    private static func isControl(_ byte: UInt8) -> UInt8 {
        let isLow: UInt8 = byte < 32 ? 1 : 0
        let isTab: UInt8 = byte == 9 ? 1 : 0
        let isDelete: UInt8 = byte == 127 ? 1 : 0
        return isLow ^ isTab | isDelete
    }
}
