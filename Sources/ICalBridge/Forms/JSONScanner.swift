// SPDX-License-Identifier: Apache-2.0

/// Reads a JSON text (RFC 8259) of a known depth; memory and time grow with its length alone.
struct JSONScanner {
    private let bytes: [UInt8]
    private var index = 0

    /// Arrays and objects within each other: a calendar needs two a component and two a value.
    static let depthLimit = 24

    /// Reads a whole text; anything but space after its value is an error.
    static func read(_ bytes: [UInt8]) throws(FormError) -> JSONNode {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw FormError(form: .jCal, message: "The JSON is not UTF-8.")
        }
        var scanner = JSONScanner(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.index = 3 }
        let node = try scanner.value(depth: 0)
        scanner.skipSpace()
        guard scanner.index == bytes.count else { throw scanner.failure("Something stands after the end of the JSON.") }
        return node
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func failure(_ message: String) -> FormError {
        FormError(form: .jCal, line: 1 + bytes[..<min(index, bytes.count)].count { $0 == 10 }, message: message)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 32 || byte == 10 || byte == 13 || byte == 9 { index += 1 }
    }

    private mutating func value(depth: Int) throws(FormError) -> JSONNode {
        guard depth < Self.depthLimit else { throw failure("The JSON is nested too deeply for a calendar.") }
        skipSpace()
        switch next {
        case nil: throw failure("The JSON breaks off.")
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case 34: return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ node: JSONNode) throws(FormError) -> JSONNode {
        guard bytes[index...].starts(with: word.utf8) else { throw failure("This is no JSON value.") }
        index += word.utf8.count
        return node
    }

    private mutating func number() throws(FormError) -> JSONNode {
        let start = index
        while let byte = next, byte >= 48 && byte <= 57 || [43, 45, 46, 69, 101].contains(byte) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard Self.isNumber(text) else {
            index = start
            throw failure("This is no JSON value.")
        }
        return .number(text)
    }

    /// RFC 8259 section 6.
    static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
        if rest.first == 45 { rest = rest.dropFirst() }
        let whole = rest.prefix(while: isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != 48 else { return false }
        rest = rest.dropFirst(whole.count)
        if rest.first == 46 {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return false }
            rest = rest.dropFirst(1 + fraction.count)
        }
        if rest.first == 69 || rest.first == 101 {
            rest = rest.dropFirst()
            if rest.first == 43 || rest.first == 45 { rest = rest.dropFirst() }
            guard !rest.isEmpty else { return false }
            rest = rest.drop(while: isDigit)
        }
        return rest.isEmpty
    }

    private mutating func array(depth: Int) throws(FormError) -> [JSONNode] {
        index += 1
        var items: [JSONNode] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            index += 1
            return items
        }
        while true {
            items.append(try value(depth: depth + 1))
            if try ends(with: UInt8(ascii: "]")) { return items }
        }
    }

    private mutating func object(depth: Int) throws(FormError) -> [JSONNode.Member] {
        index += 1
        var members: [JSONNode.Member] = []
        skipSpace()
        if next == UInt8(ascii: "}") {
            index += 1
            return members
        }
        while true {
            skipSpace()
            guard next == 34 else { throw failure("A name in quotes is missing in the JSON.") }
            let name = try string()
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw failure("A colon is missing in the JSON.") }
            index += 1
            members.append(.init(name: name, value: try value(depth: depth + 1)))
            if try ends(with: UInt8(ascii: "}")) { return members }
        }
    }

    /// Goes over a comma, or over the closing bracket.
    private mutating func ends(with bracket: UInt8) throws(FormError) -> Bool {
        skipSpace()
        guard let byte = next, byte == bracket || byte == UInt8(ascii: ",") else {
            throw failure(next == nil ? "The JSON breaks off." : "A comma or a bracket is missing in the JSON.")
        }
        index += 1
        return byte == bracket
    }

    private mutating func string() throws(FormError) -> String {
        index += 1
        var out: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case 34: return String(decoding: out, as: UTF8.self)
            case 92: try escape(&out)
            case 0..<32: throw failure("A control character stands in a JSON string.")
            default: out.append(byte)
            }
        }
        throw failure("The JSON breaks off within a string.")
    }

    private mutating func escape(_ out: inout [UInt8]) throws(FormError) {
        guard let byte = next else { throw failure("The JSON breaks off within a string.") }
        index += 1
        switch byte {
        case 34, 47, 92: out.append(byte)
        case UInt8(ascii: "b"): out.append(8)
        case UInt8(ascii: "f"): out.append(12)
        case UInt8(ascii: "n"): out.append(10)
        case UInt8(ascii: "r"): out.append(13)
        case UInt8(ascii: "t"): out.append(9)
        case UInt8(ascii: "u"):
            var units = [try hexadecimal()]
            if UTF16.isLeadSurrogate(units[0]), bytes[index...].starts(with: [92, 117]) {
                let before = index
                index += 2
                let second = try hexadecimal()
                if UTF16.isTrailSurrogate(second) { units.append(second) } else { index = before }
            }
            // Half of a pair has no UTF-8 and becomes U+FFFD.
            out += String(decoding: units, as: UTF16.self).utf8
        default: throw failure("An escape in a JSON string is not known.")
        }
    }

    private mutating func hexadecimal() throws(FormError) -> UInt16 {
        guard bytes.count - index >= 4, bytes[index..<index + 4].allSatisfy({ $0 != 43 && $0 != 45 }),
            let unit = UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
        else { throw failure("A \\u escape in a JSON string has no four digits.") }
        index += 4
        return unit
    }
}
