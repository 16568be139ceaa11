// SPDX-License-Identifier: Apache-2.0

extension XMLElement {
    /// Writes character data without the characters that XML 1.0 cannot hold.
    package static func write(_ text: String, to out: inout [UInt8]) {
        // Addresses and tags are plain, and a list of a calendar has thousands of them.
        let isPlain = text.utf8.allSatisfy { byte in
            (0x20..<0x80).contains(byte) && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<")
                && byte != UInt8(ascii: ">")
        }
        if isPlain {
            out += text.utf8
            return
        }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;".utf8
            case "<": out += "&lt;".utf8
            // Only `]]>` would require this, but a reader of lines is easily misled.
            case ">": out += "&gt;".utf8
            case "\r": out += "&#13;".utf8
            case "\t", "\n": out.append(UInt8(scalar.value))
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
            default: out += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
    }

    static func open(_ name: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "<"))
        out += name.utf8
        out.append(UInt8(ascii: ">"))
    }

    static func close(_ name: String, to out: inout [UInt8]) {
        out += "</".utf8
        out += name.utf8
        out.append(UInt8(ascii: ">"))
    }

    /// Writes `<name>text</name>`.
    static func write(_ name: String, _ text: String, to out: inout [UInt8]) {
        open(name, to: &out)
        write(text, to: &out)
        close(name, to: &out)
    }
}
