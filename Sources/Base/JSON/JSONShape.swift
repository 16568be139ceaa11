// SPDX-License-Identifier: Apache-2.0

/// Which parts of a JSON document somebody wants; all else is looked at as far as the grammar goes, and kept nowhere.
///
/// For documents of programs that send more than they are asked for: what has no shape never becomes a value.
package indirect enum JSONShape: Sendable {
    /// A text, a number, a word or null; a list or an object in its place is read as an empty one.
    case scalar
    /// Members by their names; others are skipped, also where two have one name.
    case object([ByteString: JSONShape])
    /// Elements of one shape; of those beyond the most, one is kept, so that a reader sees that there were too many.
    case list(of: JSONShape, most: Int)
}

extension JSONValue {
    /// Reads the wanted parts of a document; throws `JSONFault` when the bytes are not JSON.
    package init(parsing bytes: [UInt8], keeping shape: JSONShape) throws(JSONFault) {
        self = try JSONParser.parse(bytes) { parser throws(JSONFault) in try parser.value(of: shape, level: 0) }
    }
}

extension JSONParser {
    fileprivate mutating func value(of shape: JSONShape, level: Int) throws(JSONFault) -> JSONValue {
        switch (next, shape) {
        case (UInt8(ascii: "{"), .object(let shapes)): return try object(of: shapes, level)
        case (UInt8(ascii: "["), .list(let element, let most)): return try list(of: element, most: most, level)
        case (UInt8(ascii: "{"), _):
            try skipValue(level)
            return [:]
        case (UInt8(ascii: "["), _):
            try skipValue(level)
            return []
        default: return try value(level: level)
        }
    }

    private mutating func object(of shapes: [ByteString: JSONShape], _ level: Int) throws(JSONFault) -> JSONValue {
        var members: [ByteString: JSONValue] = [:]
        try eachMember(level) { (parser: inout JSONParser, name: Range<Int>) throws(JSONFault) in
            let name = try parser.name(name)
            guard let shape = shapes[name] else { return try parser.skipValue(level + 1) }
            let value = try parser.value(of: shape, level: level + 1)
            guard members.updateValue(value, forKey: name) == nil else {
                throw JSONFault(pointer: JSONPointer.step(name.string), message: "This name stands here twice.")
            }
        }
        return .object(members)
    }

    private mutating func list(of shape: JSONShape, most: Int, _ level: Int) throws(JSONFault) -> JSONValue {
        var items: [JSONValue] = []
        try eachElement(level) { (parser: inout JSONParser) throws(JSONFault) in
            if items.count > most { return try parser.skipValue(level + 1) }
            items.append(try parser.value(of: shape, level: level + 1))
        }
        return .array(items)
    }

    /// Passes over a value that is a valid one.
    private mutating func skipValue(_ level: Int) throws(JSONFault) {
        switch next {
        case UInt8(ascii: "{"):
            try eachMember(level) { (parser: inout JSONParser, _) throws(JSONFault) in
                try parser.skipValue(level + 1)
            }
        case UInt8(ascii: "["):
            try eachElement(level) { (parser: inout JSONParser) throws(JSONFault) in try parser.skipValue(level + 1) }
        case UInt8(ascii: "\""): try skipString()
        default: _ = try value(level: level)
        }
    }

    /// Goes over an object's members; `body` is given where the name is, and takes the value.
    private mutating func eachMember(
        _ level: Int, _ body: (inout JSONParser, Range<Int>) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try enter(level)
        if next == UInt8(ascii: "}") {
            place += 1
            return
        }
        while true {
            guard next == UInt8(ascii: "\"") else { throw unexpected("a member's name in quotes") }
            let start = place
            try skipString()
            let name = start..<place
            skipSpace()
            try take(":")
            skipSpace()
            try body(&self, name)
            if try !goesOn(until: "}") { return }
        }
    }

    private mutating func eachElement(
        _ level: Int, _ body: (inout JSONParser) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try enter(level)
        if next == UInt8(ascii: "]") {
            place += 1
            return
        }
        while true {
            try body(&self)
            if try !goesOn(until: "]") { return }
        }
    }

    /// Goes on behind the opening bracket.
    private mutating func enter(_ level: Int) throws(JSONFault) {
        guard level <= Self.depth else {
            throw JSONFault(message: "This is nested more than \(Self.depth) levels deep.")
        }
        place += 1
        skipSpace()
    }

    /// Whether a comma follows, and not the closing bracket.
    private mutating func goesOn(until end: Unicode.Scalar) throws(JSONFault) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: ",") else {
            try take(end)
            return false
        }
        place += 1
        skipSpace()
        return true
    }

    /// The name at a place that was passed.
    private mutating func name(_ range: Range<Int>) throws(JSONFault) -> ByteString {
        let end = place
        place = range.lowerBound
        let name = try string()
        place = end
        return ByteString(name)
    }

    private mutating func skipString() throws(JSONFault) {
        place += 1
        var passed: [UInt8] = []
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                try escape(into: &passed)
                passed.removeAll(keepingCapacity: true)
            case 0..<32: throw JSONFault(message: "Control characters in a text are written as \\u00XX.")
            default: break
            }
        }
        throw JSONFault(message: "The document ends within a text.")
    }
}
