// SPDX-License-Identifier: Apache-2.0

/// Strings and numbers.
extension JSONParser {
    /// Reads a string; its runs of marks are bounded, as `String(fromOutside:)` says.
    mutating func string() throws(JSONFault) -> String {
        position += 1
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 32 { position += 1 }
        if next == UInt8(ascii: "\"") {
            defer { position += 1 }
            return String(fromOutside: bytes[start..<position])
        }
        var text = Array(bytes[start..<position])
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(fromOutside: text)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<32: throw controlCharacter()
            default: text.append(byte)
            }
        }
        throw fault("The document ends within a text.")
    }

    /// Skips a string, and checks that it is valid.
    mutating func skipString() throws(JSONFault) {
        position += 1
        var passed: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                try escape(into: &passed)
                passed.removeAll(keepingCapacity: true)
            case 0..<32: throw controlCharacter()
            default: break
            }
        }
        throw fault("The document ends within a text.")
    }

    private func controlCharacter() -> JSONFault {
        fault("Control characters in a text are written as \\u00XX.", at: position - 1)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
        let letter = next
        position += 1
        switch letter {
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "\"")?, UInt8(ascii: "\\")?, UInt8(ascii: "/")?: text.append(letter ?? 0)
        case UInt8(ascii: "u"):
            let scalar = try escapedScalar()
            text += Array(String(Character(scalar)).utf8)
        default: throw fault("A backslash may be followed only by \" \\ / b f n r t u.", at: position - 1)
        }
    }

    /// Reads a character from four hexadecimal digits, or from two groups of four for one beyond U+FFFF.
    private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
        let start = position
        var code = try hexadecimal()
        if code & 0xFC00 == 0xD800, next == UInt8(ascii: "\\"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "u")
        {
            let end = position
            position += 2
            let low = try hexadecimal()
            if low & 0xFC00 == 0xDC00 { code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF) } else { position = end }
        }
        if let scalar = Unicode.Scalar(code) { return scalar }
        guard replacesHalves else {
            throw fault("This text holds half of a surrogate pair, which is not a character.", at: start)
        }
        return "\u{FFFD}"
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
        let digits = bytes[position..<min(position + 4, bytes.count)]
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(fromOutside: digits), radix: 16)
        else { throw fault("\\u must be followed by four hexadecimal digits.") }
        position += 4
        return code
    }

    /// Reads a number, and returns its range and whether it has neither a fraction nor an exponent.
    mutating func number() throws(JSONFault) -> (digits: Range<Int>, isPlain: Bool) {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let first = next
        let whole = digits()
        guard whole > 0 else { throw unexpected("a value", at: start) }
        guard first != UInt8(ascii: "0") || whole == 1 else {
            throw fault("A number must not begin with a 0 before other digits.", at: start)
        }
        var isPlain = true
        if next == UInt8(ascii: ".") {
            position += 1
            isPlain = false
            guard digits() > 0 else { throw unexpected("a digit") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            isPlain = false
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            guard digits() > 0 else { throw unexpected("a digit") }
        }
        return (start..<position, isPlain)
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, byte >= 48, byte <= 57 { position += 1 }
        return position - start
    }
}
