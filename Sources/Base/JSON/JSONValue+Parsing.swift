// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Reads a document; throws `JSONFault` when the bytes are not valid JSON.
    ///
    /// Two members of the same name, and a number that neither an integer nor a double can hold, are faults: to choose
    /// one of the two, or to round silently, would change the meaning of a request.
    public init(parsing bytes: some Collection<UInt8>) throws(JSONFault) {
        self = try JSONParser.parse(Array(bytes)) { parser throws(JSONFault) in try parser.value(level: 0) }
    }
}

extension JSONParser {
    /// - Parameter level: the number of lists and objects around it.
    mutating func value(level: Int) throws(JSONFault) -> JSONValue {
        switch next {
        case UInt8(ascii: "{"): return try object(level)
        case UInt8(ascii: "["): return try array(level)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try numberValue()
        }
    }

    private mutating func object(_ level: Int) throws(JSONFault) -> JSONValue {
        var members: [ByteString: JSONValue] = [:]
        try eachMember(level) { (parser: inout JSONParser) throws(JSONFault) in
            let start = parser.position
            let name = try parser.name()
            guard !name.hasLongRunOfMarks else {
                throw parser.fault("In a name: \(CombiningMarks.rule)", at: start).within(name)
            }
            do throws(JSONFault) {
                let value = try parser.value(level: level + 1)
                guard members.updateValue(value, forKey: ByteString(name)) == nil else {
                    throw parser.fault("This name is given twice.", at: start)
                }
            } catch {
                throw error.within(name)
            }
        }
        return .object(members)
    }

    private mutating func array(_ level: Int) throws(JSONFault) -> JSONValue {
        var items: [JSONValue] = []
        try eachElement(level) { (parser: inout JSONParser) throws(JSONFault) in
            do throws(JSONFault) {
                items.append(try parser.value(level: level + 1))
            } catch {
                throw error.within(String(items.count))
            }
        }
        return .array(items)
    }

    private mutating func numberValue() throws(JSONFault) -> JSONValue {
        let (digits, isPlain) = try number()
        let text = String(decoding: bytes[digits], as: UTF8.self)
        if isPlain, let integer = Int(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw fault("This number is too large.", at: digits.lowerBound)
        }
        // 30.0 is the number 30 (RFC 8259 section 6), as far as doubles distinguish whole numbers.
        if number.magnitude < 9_007_199_254_740_992, let integer = Int(exactly: number) { return .integer(integer) }
        return .number(number)
    }
}
