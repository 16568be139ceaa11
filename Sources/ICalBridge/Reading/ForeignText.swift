// SPDX-License-Identifier: Apache-2.0

/// Converts text that is not UTF-8: by the declared charset, by what the bytes look like, or otherwise letter by
/// letter.
struct ForeignText {
    /// How a part of a file is read.
    enum Reading: Hashable, Sendable {
        case declared(Charset)
        case guessed(Charset)
        /// Valid UTF-8 is kept, and each other byte is a letter of Windows-1252.
        case mixed
    }

    let declared: Charset?
    /// The charset that all lines of the file that are not UTF-8 seem to have.
    let guessed: Charset?

    /// A line converted to UTF-8; nil when it already is UTF-8.
    func decoded(_ line: ArraySlice<UInt8>) -> (bytes: [UInt8], reading: Reading)? {
        guard String(validating: line, as: UTF8.self) == nil else { return nil }
        // A property may name its own charset, as in vCalendar 1.0.
        for charset in [Self.parameter(of: line), declared].compactMap(\.self) {
            if let bytes = charset.decoded(line) { return (bytes, .declared(charset)) }
        }
        if let guessed, let bytes = guessed.decoded(line) { return (bytes, .guessed(guessed)) }
        return (Self.mixed(line), .mixed)
    }

    /// The value of a CHARSET parameter before the line's value.
    private static func parameter(of line: ArraySlice<UInt8>) -> Charset? {
        let head = line.prefix(200).prefix { $0 != 58 }
        for parameter in head.split(separator: 59).dropFirst() {
            let sides = parameter.split(separator: 61, maxSplits: 1)
            guard sides.count == 2, sides[0].elementsEqual("CHARSET".utf8, by: { $0 & 0xDF == $1 }) else { continue }
            return Charset(named: String(fromOutside: sides[1]))
        }
        return nil
    }

    private static func mixed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(line.count + line.count / 8)
        var index = line.startIndex
        while index < line.endIndex {
            let length = characterLength(line[index...])
            if length > 0 {
                out += line[index..<index + length]
                index += length
            } else {
                out += Windows1252.decode(line[index..<index + 1]).utf8
                index += 1
            }
        }
        return out
    }

    /// The length in bytes of the UTF-8 character at the beginning; 0 when there is no valid character.
    private static func characterLength(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        let length =
            switch first {
            case 0..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 0
            }
        guard length > 1 else { return length }
        return String(validating: bytes.prefix(length), as: UTF8.self) == nil ? 0 : length
    }
}

/// Counts letters, to tell Chinese in GB 2312 and Cyrillic in Windows-1251 from western text with one byte per letter.
///
/// In western text a non-ASCII letter is mostly alone between ASCII letters, so a few words are enough to decide.
struct LetterPairs {
    private var pairs = 0
    private var common = 0
    private var isBroken = false
    private var words = CyrillicWords()

    /// Adds a line that is not UTF-8.
    mutating func add(_ line: some Collection<UInt8>) {
        words.add(line)
        var lead: UInt8?
        for byte in line where !isBroken {
            if let first = lead {
                isBroken = !(0xA1...0xFE).contains(byte)
                pairs += 1
                if (0xB0...0xD7).contains(first) || first <= 0xA3 { common += 1 }
                lead = nil
            } else if byte >= 0x80 {
                isBroken = !(0xA1...0xF7).contains(byte)
                lead = byte
            }
        }
        isBroken = isBroken || lead != nil
    }

    /// Chinese when all letters beyond ASCII are pairs, and most of the pairs are common ones.
    var charset: Charset? {
        if !isBroken, pairs >= 4, common * 10 >= pairs * 8 { return .gb18030 }
        return words.areCyrillic ? .windows1251 : nil
    }
}

/// Words of letters beyond ASCII, as Windows-1251 has them: capitals from 0xC0, small letters from 0xE0.
///
/// Greek, Arabic and KOI8-R have small letters below 0xE0 inside words, Hebrew has none of the letters at either end, and
/// western text has such letters next to those of ASCII.
private struct CyrillicWords {
    private var letters = 0
    private var small = 0
    private var telling = 0
    private var isOther = false

    private static let further: Set<UInt8> = [0xA5, 0xA8, 0xAA, 0xAF, 0xB2, 0xB3, 0xB4, 0xB8, 0xBA, 0xBF]

    mutating func add(_ line: some Collection<UInt8>) {
        var before: UInt8 = 32
        for byte in line where !isOther {
            func isASCIILetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 97 && byte | 0x20 <= 122 && byte < 0x80 }
            if byte >= 0xC0 {
                letters += 1
                if byte >= 0xE0 { small += 1 }
                if byte < 0xE0 || byte >= 0xFB { telling += 1 }
                isOther = isASCIILetter(before) || byte < 0xE0 && before >= 0xE0
            } else if isASCIILetter(byte) {
                isOther = before >= 0xC0
            } else if byte >= 0x80, before >= 0xC0 || Self.further.contains(byte) {
                isOther = before >= 0xC0 && !Self.further.contains(byte)
            }
            before = byte
        }
    }

    var areCyrillic: Bool { !isOther && letters >= 6 && telling > 0 && small * 10 >= letters * 6 }
}
