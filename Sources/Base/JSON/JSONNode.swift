// SPDX-License-Identifier: Apache-2.0

/// A JSON text as it is written: members in their order, including duplicate names, and numbers with their digits.
///
/// It is used for documents that are shown or written again, such as calendars as JSON; `JSONValue` keeps neither the
/// order nor the digits.
package enum JSONNode: Equatable, Sendable {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSONNode

        package init(name: String, value: JSONNode) {
            self.name = name
            self.value = value
        }
    }

    /// Reads a document; throws `JSONFault` when the bytes are not valid JSON.
    ///
    /// Half of a surrogate pair, which UTF-8 cannot represent, becomes U+FFFD: a title that was cut in the middle of a
    /// character is better than no title.
    package init(parsing bytes: [UInt8]) throws(JSONFault) {
        self = try JSONParser.parse(bytes, replacingHalves: true) { parser throws(JSONFault) in
            try parser.node(level: 0)
        }
    }

    /// Reports whether a text is a number in JSON's grammar (RFC 8259 section 6).
    package static func isNumber(_ text: String) -> Bool {
        var parser = JSONParser(Array(text.utf8))
        return (try? parser.number())?.digits.upperBound == parser.bytes.count
    }
}

extension JSONParser {
    fileprivate mutating func node(level: Int) throws(JSONFault) -> JSONNode {
        switch next {
        case UInt8(ascii: "{"):
            var members: [JSONNode.Member] = []
            try eachMember(level) { (parser: inout JSONParser) throws(JSONFault) in
                let name = try parser.name()
                do throws(JSONFault) {
                    members.append(JSONNode.Member(name: name, value: try parser.node(level: level + 1)))
                } catch {
                    throw error.within(name)
                }
            }
            return .object(members)
        case UInt8(ascii: "["):
            var items: [JSONNode] = []
            try eachElement(level) { (parser: inout JSONParser) throws(JSONFault) in
                do throws(JSONFault) {
                    items.append(try parser.node(level: level + 1))
                } catch {
                    throw error.within(String(items.count))
                }
            }
            return .array(items)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default:
            let digits = try number().digits
            return .number(String(decoding: bytes[digits], as: UTF8.self))
        }
    }
}
