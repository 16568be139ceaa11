// SPDX-License-Identifier: Apache-2.0

/// How an element was written, with what it takes from the elements around it: enough to write it elsewhere with its
/// prefixes, attributes and language as they were (RFC 4918 section 4.3).
package final class XMLSource: Sendable {
    struct Declaration: Sendable {
        /// Empty for names without a prefix.
        var prefix: ArraySlice<UInt8>
        var namespace: XMLNamespace
    }

    /// From its start tag to its end tag.
    private let bytes: ArraySlice<UInt8>
    private let nameLength: Int
    /// Those in scope before its start tag, the outermost first.
    private let declarations: [Declaration]
    /// The language that an element around it states.
    private let language: String?

    init(bytes: ArraySlice<UInt8>, nameLength: Int, declarations: [Declaration], language: String?) {
        (self.bytes, self.nameLength) = (bytes, nameLength)
        (self.declarations, self.language) = (declarations, language)
    }

    /// The element as a text of its own.
    package var alone: [UInt8] {
        let nameEnd = bytes.startIndex + 1 + nameLength
        var out = Array(bytes[..<nameEnd])
        let ownEnd = tagEnd
        let tag = bytes[nameEnd..<ownEnd]
        var seen: [ArraySlice<UInt8>] = []
        for declaration in declarations.reversed() {
            let prefix = declaration.prefix
            guard !seen.contains(where: { $0.elementsEqual(prefix) }) else { continue }
            seen.append(prefix)
            let name = prefix.isEmpty ? Array("xmlns".utf8) : Array("xmlns:".utf8) + prefix
            guard !Self.has(name, in: tag), prefix.isEmpty || Self.uses(prefix, in: bytes) else { continue }
            // No namespace is what a text of its own begins with.
            if prefix.isEmpty, declaration.namespace.text.isEmpty { continue }
            out.append(UInt8(ascii: " "))
            out += name
            Self.writeValue(declaration.namespace.text, to: &out)
        }
        if let language, !Self.has(Array("xml:lang".utf8), in: tag) {
            out += " xml:lang".utf8
            Self.writeValue(language, to: &out)
        }
        return out + bytes[nameEnd...]
    }

    /// Where the start tag ends.
    private var tagEnd: Int {
        var quote: UInt8?
        for index in bytes.indices {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index
            }
        }
        return bytes.endIndex
    }

    /// Whether a start tag has an attribute.
    private static func has(_ name: [UInt8], in tag: ArraySlice<UInt8>) -> Bool {
        var quote: UInt8?
        var word: [UInt8] = []
        for byte in tag {
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "="):
                if word == name { return true }
                word = []
            // A blank may be before the sign.
            case 9, 10, 13, 32: if !word.isEmpty, word != name { word = [] }
            default: word.append(byte)
            }
        }
        return false
    }

    /// Whether a prefix may be used somewhere, in a name or in a value that is one.
    private static func uses(_ prefix: ArraySlice<UInt8>, in bytes: ArraySlice<UInt8>) -> Bool {
        let beginning = Array(prefix) + [UInt8(ascii: ":")]
        var index = bytes.startIndex
        while index + beginning.count <= bytes.endIndex {
            if bytes[index] == beginning[0], bytes[index..<index + beginning.count].elementsEqual(beginning) {
                return true
            }
            index += 1
        }
        return false
    }

    private static func writeValue(_ text: String, to out: inout [UInt8]) {
        out += "=\"".utf8
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): out += "&amp;".utf8
            case UInt8(ascii: "<"): out += "&lt;".utf8
            case UInt8(ascii: "\""): out += "&quot;".utf8
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
