// SPDX-License-Identifier: Apache-2.0

/// The parts of a JSON document that are wanted; the rest is checked against the grammar, and not stored.
///
/// It is used for documents from programs that send more than is requested: a part without a shape never becomes a
/// value.
package indirect enum JSONShape: Sendable {
    /// A string, a number, a boolean or null; a list or an object in its place is read as an empty one.
    case scalar
    /// Members by their names; others are skipped, even if two have the same name.
    case object([ByteString: JSONShape])
    /// Elements of one shape; of those beyond `most`, one is kept, so that a reader sees that there were too many.
    case list(of: JSONShape, most: Int)
}

extension JSONValue {
    /// Reads the wanted parts of a document; throws `JSONFault` when the bytes are not valid JSON.
    ///
    /// Half of a surrogate pair is read as U+FFFD: one text that a program cut within a character must not keep
    /// everything else that it sends from being read.
    package init(parsing bytes: [UInt8], keeping shape: JSONShape) throws(JSONFault) {
        self = try JSONParser.parse(bytes, replacingHalves: true) { parser throws(JSONFault) in
            try parser.value(of: shape, level: 0)
        }
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
        try eachMember(level) { (parser: inout JSONParser) throws(JSONFault) in
            let start = parser.position
            let name = ByteString(try parser.name())
            guard let shape = shapes[name] else { return try parser.skipValue(level + 1) }
            let value = try parser.value(of: shape, level: level + 1)
            guard members.updateValue(value, forKey: name) == nil else {
                throw parser.fault("This name is given twice.", at: start).within(name.string)
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

    /// Skips a value, and checks that it is valid.
    private mutating func skipValue(_ level: Int) throws(JSONFault) {
        switch next {
        case UInt8(ascii: "{"):
            try eachMember(level) { (parser: inout JSONParser) throws(JSONFault) in
                try parser.skipString()
                try parser.skipColon()
                try parser.skipValue(level + 1)
            }
        case UInt8(ascii: "["):
            try eachElement(level) { (parser: inout JSONParser) throws(JSONFault) in try parser.skipValue(level + 1) }
        case UInt8(ascii: "\""): try skipString()
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): _ = try value(level: level)
        // Any number in JSON's grammar: nobody wants to know how large it is.
        default: _ = try number()
        }
    }
}
