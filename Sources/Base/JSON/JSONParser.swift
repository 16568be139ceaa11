// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no JSON document that can be taken at its word: where (RFC 6901), and what.
package struct JSONFault: Error {
    package var pointer = ""
    package var message: String

    package init(pointer: String = "", message: String) {
        self.pointer = pointer
        self.message = message
    }
}

/// Reads JSON by RFC 8259 to the letter.
///
/// Foundation's decoder takes the last of two members of one name and rounds numbers in silence; both change what was
/// asked for, so here they are faults. Nesting is limited, because each level takes a piece of the stack.
package struct JSONParser {
    package static let depth = 64

    let bytes: [UInt8]
    var place = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    package static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
        try parse(bytes) { parser throws(JSONFault) in try parser.value(level: 0) }
    }

    /// Reads a whole document, of which `read` takes the one value.
    static func parse(
        _ bytes: [UInt8], _ read: (inout JSONParser) throws(JSONFault) -> JSONValue
    ) throws(JSONFault) -> JSONValue {
        guard (try? UTF8Span(validating: bytes.span)) != nil else {
            throw JSONFault(message: "The document is not text in UTF-8.")
        }
        var parser = JSONParser(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.place = 3 }
        parser.skipSpace()
        let value = try read(&parser)
        parser.skipSpace()
        guard parser.place == bytes.count else { throw parser.unexpected("the end of the document") }
        return value
    }

    var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 32 || byte == 10 || byte == 13 || byte == 9 { place += 1 }
    }

    mutating func value(level: Int) throws(JSONFault) -> JSONValue {
        guard level <= Self.depth else {
            throw JSONFault(message: "This is nested more than \(Self.depth) levels deep.")
        }
        switch next {
        case UInt8(ascii: "{"): return try object(level)
        case UInt8(ascii: "["): return try array(level)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(_ level: Int) throws(JSONFault) -> JSONValue {
        var members: [ByteString: JSONValue] = [:]
        place += 1
        skipSpace()
        if next == UInt8(ascii: "}") {
            place += 1
            return .object(members)
        }
        while true {
            guard next == UInt8(ascii: "\"") else { throw unexpected("a member's name in quotes") }
            let name = try string()
            guard !name.hasLongRunOfMarks else {
                throw JSONFault(pointer: JSONPointer.step(name), message: "In a name: \(CombiningMarks.rule)")
            }
            skipSpace()
            try take(":")
            skipSpace()
            let value = try under(name) { parser throws(JSONFault) in try parser.value(level: level + 1) }
            guard members.updateValue(value, forKey: ByteString(name)) == nil else {
                throw JSONFault(pointer: JSONPointer.step(name), message: "This name stands here twice.")
            }
            skipSpace()
            if next == UInt8(ascii: ",") {
                place += 1
                skipSpace()
            } else {
                try take("}")
                return .object(members)
            }
        }
    }

    private mutating func array(_ level: Int) throws(JSONFault) -> JSONValue {
        var items: [JSONValue] = []
        place += 1
        skipSpace()
        if next == UInt8(ascii: "]") {
            place += 1
            return .array(items)
        }
        while true {
            items.append(
                try under(String(items.count)) { parser throws(JSONFault) in try parser.value(level: level + 1) })
            skipSpace()
            if next == UInt8(ascii: ",") {
                place += 1
                skipSpace()
            } else {
                try take("]")
                return .array(items)
            }
        }
    }

    mutating func string() throws(JSONFault) -> String {
        place += 1
        let start = place
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 32 { place += 1 }
        if next == UInt8(ascii: "\"") {
            defer { place += 1 }
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }
        var text = Array(bytes[start..<place])
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0..<32: throw JSONFault(message: "Control characters in a text are written as \\u00XX.")
            default: text.append(byte)
            }
        }
        throw JSONFault(message: "The document ends within a text.")
    }

    mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
        let letter = next
        place += 1
        switch letter {
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "b"): text.append(8)
        case UInt8(ascii: "f"): text.append(12)
        case UInt8(ascii: "\"")?, UInt8(ascii: "\\")?, UInt8(ascii: "/")?: text.append(letter ?? 0)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if code & 0xFC00 == 0xD800, next == UInt8(ascii: "\\"), place + 1 < bytes.count,
                bytes[place + 1] == UInt8(ascii: "u")
            {
                place += 2
                let low = try hexadecimal()
                if low & 0xFC00 == 0xDC00 { code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF) }
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw JSONFault(message: "This text holds half of a surrogate pair, which is no character.")
            }
            text += Array(String(Character(scalar)).utf8)
        default: throw JSONFault(message: "After a backslash only \" \\ / b f n r t u may stand.")
        }
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
        let digits = bytes[place..<min(place + 4, bytes.count)]
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw JSONFault(message: "After \\u stand four hexadecimal digits.") }
        place += 4
        return code
    }

    mutating func number() throws(JSONFault) -> JSONValue {
        let start = place
        if next == UInt8(ascii: "-") { place += 1 }
        let first = next
        let whole = digits()
        guard whole > 0, first != UInt8(ascii: "0") || whole == 1 else { throw unexpected("a value", at: start) }
        var isPlain = true
        if next == UInt8(ascii: ".") {
            place += 1
            isPlain = false
            guard digits() > 0 else { throw unexpected("a digit") }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            place += 1
            isPlain = false
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { place += 1 }
            guard digits() > 0 else { throw unexpected("a digit") }
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isPlain, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw JSONFault(message: "This number is too large.")
        }
        // 30.0 is the number 30 (RFC 8259 section 6), as far as doubles tell whole numbers apart.
        if number.magnitude < 9_007_199_254_740_992, let integer = Int(exactly: number) { return .integer(integer) }
        return .number(number)
    }

    private mutating func digits() -> Int {
        let start = place
        while let byte = next, byte >= 48, byte <= 57 { place += 1 }
        return place - start
    }

    mutating func word(_ word: String, _ value: JSONValue) throws(JSONFault) -> JSONValue {
        guard bytes[place...].starts(with: word.utf8) else { throw unexpected("a value") }
        place += word.utf8.count
        return value
    }

    mutating func take(_ mark: Unicode.Scalar) throws(JSONFault) {
        guard next == UInt8(ascii: mark) else { throw unexpected("“\(mark)”") }
        place += 1
    }

    /// Runs a step within a member or an element, so that its fault is told with the way there.
    mutating func under<Value>(
        _ name: String, _ body: (inout JSONParser) throws(JSONFault) -> Value
    ) throws(JSONFault) -> Value {
        do {
            return try body(&self)
        } catch {
            throw JSONFault(pointer: JSONPointer.step(name) + error.pointer, message: error.message)
        }
    }

    func unexpected(_ wanted: String, at index: Int? = nil) -> JSONFault {
        let end = index ?? place
        let line = bytes[..<end].count { $0 == 10 } + 1
        let column = end - (bytes[..<end].lastIndex(of: 10) ?? -1)
        return JSONFault(message: "Line \(line), column \(column): \(wanted) is expected here.")
    }
}
