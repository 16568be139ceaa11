// SPDX-License-Identifier: Apache-2.0

/// Text as a fingerprint compares it: its words in lower case, with one space between them.
///
/// Fingerprints are stored, so both ways of making it must give the same bytes for every text.
enum PlainText {
    static func append(_ text: String?, to bytes: inout [UInt8]) {
        guard var text, !text.isEmpty else { return }
        let start = bytes.count
        // The bytes are only read within the closure.
        if text.withUTF8({ unsafe appendSimple($0, to: &bytes) }) { return }
        bytes.removeLast(bytes.count - start)
        bytes += plain(text).utf8
    }

    static func plain(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    }

    /// Appends a text scalar by scalar, which takes a tenth of the time; returns false if it has a scalar that may not
    /// stand for itself, such as a combining mark, which makes one character of a space and itself.
    private static func appendSimple(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) -> Bool {
        let start = bytes.count
        var (index, isGap) = (0, false)
        while index < text.count {
            let byte = unsafe text[index]
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                isGap = true
                index += 1
                continue
            }
            if isGap, bytes.count > start { bytes.append(0x20) }
            isGap = false
            if byte < 0x80 {
                bytes.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
                index += 1
            } else if byte < 0xE0 {
                let scalar = UInt32(byte & 0x1F) << 6 | UInt32(unsafe text[index + 1] & 0x3F)
                guard isLetterWithCase(scalar), let letter = Unicode.Scalar(scalar) else { return false }
                bytes += letter.properties.lowercaseMapping.utf8
                index += 2
            } else if byte < 0xF0 {
                let scalar =
                    UInt32(byte & 0x0F) << 12 | UInt32(unsafe text[index + 1] & 0x3F) << 6
                    | UInt32(unsafe text[index + 2] & 0x3F)
                guard isWithoutCase(scalar) else { return false }
                unsafe bytes.append(contentsOf: text[index..<index + 3])
                index += 3
            } else {
                return false
            }
        }
        return true
    }

    /// Latin, Greek and Cyrillic, without their combining marks.
    private static func isLetterWithCase(_ scalar: UInt32) -> Bool {
        (0xC0...0x24F).contains(scalar) || (0x391...0x3CE).contains(scalar) || (0x400...0x482).contains(scalar)
    }

    /// Dashes, quotation marks and dots, kana without their voicing marks, Han, Hangul.
    private static func isWithoutCase(_ scalar: UInt32) -> Bool {
        (0x2010...0x2027).contains(scalar) || (0x3041...0x3096).contains(scalar) || (0x30A1...0x30FC).contains(scalar)
            || (0x4E00...0x9FFF).contains(scalar) || (0xAC00...0xD7A3).contains(scalar)
    }
}
