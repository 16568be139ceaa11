// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// An encoding other than UTF-8 that was seen in calendar files, read by the C library.
///
/// Only these few names are passed to the library; text from a file is never used as an argument of a library call.
enum Charset: String, CaseIterable, Sendable {
    case gb18030 = "GB18030"
    case big5 = "BIG5"
    case shiftJIS = "CP932"
    case eucJP = "EUC-JP"
    case korean = "CP949"
    case koi8R = "KOI8-R"
    case windows1250 = "CP1250"
    case windows1251 = "CP1251"
    case windows1252 = "CP1252"
    case windows1253 = "CP1253"
    case windows1254 = "CP1254"
    case windows1255 = "CP1255"
    case windows1256 = "CP1256"
    case windows1257 = "CP1257"
    case latin2 = "ISO-8859-2"
    case cyrillic = "ISO-8859-5"
    case greek = "ISO-8859-7"
    case turkish = "ISO-8859-9"
    case latin9 = "ISO-8859-15"

    /// The charset for a name in IANA's registry; nil for UTF-8 and for unsupported names.
    ///
    /// As in browsers, ISO 8859-1 and ASCII are read as Windows-1252, and GB2312 and GBK as GB18030.
    init?(named name: String) {
        let plain = name.lowercased().filter { !$0.is("-") && !$0.is("_") && !$0.is(" ") && !$0.is("\"") }
        switch plain {
        case "gb18030", "gb2312", "gbk", "cp936", "xgbk", "csgb2312", "euccn": self = .gb18030
        case "big5", "big5hkscs", "cp950": self = .big5
        case "shiftjis", "sjis", "cp932", "windows31j", "mskanji": self = .shiftJIS
        case "eucjp", "ujis": self = .eucJP
        case "euckr", "cp949", "ksc56011987", "ksc5601", "uhc": self = .korean
        case "koi8r", "koi8": self = .koi8R
        case "iso88591", "latin1", "usascii", "ascii", "l1": self = .windows1252
        case "iso88592", "latin2": self = .latin2
        case "iso88595": self = .cyrillic
        case "iso88597": self = .greek
        case "iso88599", "latin5": self = .turkish
        case "iso885915", "latin9": self = .latin9
        default:
            guard
                let number = ["windows", "cp"].compactMap({ plain.hasPrefix($0) ? plain.dropFirst($0.count) : nil })
                    .first, let found = Charset(rawValue: "CP\(number)")
            else { return nil }
            self = found
        }
    }

    /// The bytes converted to UTF-8; nil when some of them are invalid in this encoding.
    func decoded(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        // Windows-1252 leaves five bytes undefined; they are read as Latin-1 (the C library would refuse them).
        if self == .windows1252 { return Array(Windows1252.decode(bytes).utf8) }
        return Self.converters.withLock { converters in
            guard let converter = converters.converter(for: self) else { return nil }
            return converter.converted(Array(bytes))
        }
    }

    /// Loads what is needed to read these encodings, for a process that cannot open files later.
    static func load() {
        converters.withLock { converters in
            for charset in allCases { _ = converters.converter(for: charset) }
        }
    }

    private static let converters = Mutex(Converters())
}

/// The C library's converters that have been opened; each is used only under a lock.
private struct Converters: ~Copyable {
    private var opened: [Charset: Converter?] = [:]

    mutating func converter(for charset: Charset) -> Converter? {
        if let known = opened[charset] { return known }
        let converter = Converter(charset)
        opened[charset] = converter
        return converter
    }
}

/// One converter to UTF-8, never closed.
///
/// Sendable although it holds a pointer: it is used only under the lock of the opened converters.
@safe private struct Converter: @unchecked Sendable {
    private let handle: iconv_t

    init?(_ charset: Charset) {
        // Both names are constants. (iconv_t)-1 means that this machine does not have the charset.
        guard let opened = unsafe iconv_open("UTF-8", charset.rawValue), Int(bitPattern: opened) != -1 else {
            return nil
        }
        unsafe handle = opened
    }

    func converted(_ input: [UInt8]) -> [UInt8]? {
        var input = input
        // In these charsets one byte never becomes more than three bytes of UTF-8.
        var output = [UInt8](repeating: 0, count: input.count * 3 + 16)
        // Resets the converter to its initial state, whatever state the last text left.
        _ = unsafe iconv(handle, nil, nil, nil, nil)
        let room = output.count
        let left = unsafe input.withUnsafeMutableBytes { source -> Int? in
            unsafe output.withUnsafeMutableBytes { target -> Int? in
                // Proof: each pointer is passed with the count of its own buffer, and both buffers live during the
                // call.
                var from = unsafe source.baseAddress?.assumingMemoryBound(to: CChar.self)
                var to = unsafe target.baseAddress?.assumingMemoryBound(to: CChar.self)
                var (unread, free) = (source.count, target.count)
                guard unsafe iconv(handle, &from, &unread, &to, &free) != -1, unread == 0 else { return nil }
                return free
            }
        }
        guard let left else { return nil }
        output.removeLast(output.count - (room - left))
        return output
    }
}
