// SPDX-License-Identifier: Apache-2.0

/// A JSON text as values: members in the order they stand in, numbers with the digits they were written with.
///
/// A dictionary of doubles would lose both, and a calendar would not come back as it was.
enum JSONNode: Hashable {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([Member])

    struct Member: Hashable {
        var name: String
        var value: JSONNode
    }
}

extension JSONNode {
    func write(to out: inout [UInt8]) {
        switch self {
        case .null: out += "null".utf8
        case .boolean(let flag): out += (flag ? "true" : "false").utf8
        case .number(let digits): out += digits.utf8
        case .string(let text): Self.write(text, to: &out)
        case .array(let items):
            out.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                item.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// A string with the escapes that RFC 8259 section 7 requires, and no others.
    static func write(_ text: String, to out: inout [UInt8]) {
        out.append(34)
        for byte in text.utf8 {
            switch byte {
            case 34, 92: out += [92, byte]
            case 10: out += [92, 110]
            case 9: out += [92, 116]
            case 0..<32: out += "\\u00\(byte < 16 ? "0" : "1")\(String(byte % 16, radix: 16))".utf8
            default: out.append(byte)
            }
        }
        out.append(34)
    }
}
