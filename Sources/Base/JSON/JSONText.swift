// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// Writes a JSON document with sorted keys and no whitespace, so that equal values yield equal bytes.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    /// Writes a value; throws for a number that JSON cannot represent.
    package mutating func write(_ value: JSONValue) throws {
        switch value {
        case .null: bytes += "null".utf8
        case .bool(let flag): bytes += (flag ? "true" : "false").utf8
        case .integer(let number): bytes += String(number).utf8
        case .number(let number): bytes += try JSONEncoder().encode(number)
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try write(item)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, key) in members.keys.sorted().enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(key.string, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                try write(members[key] ?? .null)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string.
    package mutating func write(_ text: String) { Self.write(text, to: &bytes) }

    /// Appends text that already is JSON.
    package mutating func append(_ json: String) { bytes += json.utf8 }

    /// Writes a string with the escapes that RFC 8259 section 7 requires, and no others.
    package static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        // The bytes are only read within the closure, and only below their count.
        text.withUTF8 { content in
            var start = 0
            // Text between two escapes is copied at once: most texts have none.
            for index in 0..<content.count {
                let byte = unsafe content[index]
                guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
                unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: content[start..<index]))
                escape(byte, to: &bytes)
                start = index + 1
            }
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: content[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case 0x22, 0x5C: bytes += [0x5C, byte]
        case 0x0A: bytes += #"\n"#.utf8
        case 0x0D: bytes += #"\r"#.utf8
        case 0x09: bytes += #"\t"#.utf8
        default:
            bytes += #"\u00"#.utf8
            bytes += Hexadecimal.digits(of: byte)
        }
    }

    package init(bytes: [UInt8] = []) {
        self.bytes = bytes
    }
}

extension JSONNode {
    /// Writes the document unchanged: members in their order, numbers with their digits.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .string(let text): JSONText.write(text, to: &bytes)
        case .array(let items):
            bytes.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                item.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
