// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import NIOCore
import NIOHTTP1

/// A whole request for a feed in the form in which calendar apps send it, read in one pass.
///
/// Polls come for ever, so they are recognized before the general parser, which gets everything else untouched. To keep
/// one reading of HTTP, only bytes about which there cannot be two opinions are recognized: the plain spelling of an
/// address, HTTP/1.1, fields of printable ASCII without folding or surrounding space, exactly one Host, no body, no
/// field that changes what follows, and nothing behind the blank line.
struct PlainRequest {
    let route: FeedPath.Route
    let token: Secret
    let asked: FeedRequest

    /// The longest request that is recognized, in bytes; no limit of the general parser may be lower.
    static let longest = 2048
    /// The maximum number of fields that are recognized.
    static let mostFields = 32

    /// Reads the bytes of a whole request; nil for all others.
    init?(_ bytes: ByteBuffer) {
        let span = bytes.readableBytesSpan
        var cursor = Cursor()
        guard span.byteCount <= Self.longest, span.endsWithBlankLine else { return nil }
        let isHead: Bool
        if cursor.skip("GET ", in: span) {
            isHead = false
        } else if cursor.skip("HEAD ", in: span) {
            isHead = true
        } else {
            return nil
        }
        guard let target = cursor.target(in: span), let (route, token) = FeedPath.parse(span.extracting(target)),
            cursor.skip(" HTTP/1.1\r\n", in: span)
        else { return nil }
        var asked = FeedRequest(isHead: isHead)
        var (fields, hosts) = (0, 0)
        while !cursor.skip("\r\n", in: span) {
            guard fields < Self.mostFields, let (name, value) = cursor.field(in: span) else { return nil }
            fields += 1
            var text: String { bytes.getString(at: bytes.readerIndex + value.lowerBound, length: value.count) ?? "" }
            switch name.count {
            case 4 where span.isSame(as: "host", in: name):
                hosts += 1
                for index in value where !RequestFraming.isHostByte(span[byte: index]) { return nil }
            case 7 where span.isSame(as: "trailer", in: name): return nil
            case 14 where span.isSame(as: "content-length", in: name): return nil
            case 16 where span.isSame(as: "proxy-connection", in: name): return nil
            default: guard asked.take(span, name, text) else { return nil }
            }
        }
        guard hosts == 1, cursor.index == span.byteCount else { return nil }
        (self.route, self.token, self.asked) = (route, token, asked)
    }

    /// Takes what the general parser has read; nil for any other path, and when anything is unusual.
    init?(_ head: HTTPRequestHead) {
        guard let (route, token) = FeedPath.parse(head.uri), let asked = FeedRequest(head) else { return nil }
        (self.route, self.token, self.asked) = (route, token, asked)
    }

    /// How far the bytes are read.
    private struct Cursor {
        private(set) var index = 0

        /// Passes over exactly these characters, if they come next.
        mutating func skip(_ text: StaticString, in bytes: RawSpan) -> Bool {
            guard bytes.has(text, at: index) else { return false }
            index += text.utf8CodeUnitCount
            return true
        }

        /// The place of the request line's target, up to the space behind it.
        mutating func target(in bytes: RawSpan) -> Range<Int>? {
            let start = index
            while index < bytes.byteCount, bytes[byte: index] > 0x20, bytes[byte: index] < 0x7F { index += 1 }
            guard index < bytes.byteCount, bytes[byte: index] == 0x20 else { return nil }
            return start..<index
        }

        /// The places of a field's name and value, up to and including the end of its line.
        mutating func field(in bytes: RawSpan) -> (name: Range<Int>, value: Range<Int>)? {
            let start = index
            while index < bytes.byteCount, Self.isNameByte(bytes[byte: index]) { index += 1 }
            let name = start..<index
            guard !name.isEmpty, skip(": ", in: bytes) || skip(":", in: bytes) else { return nil }
            let first = index
            while index < bytes.byteCount, bytes[byte: index] >= 0x20, bytes[byte: index] < 0x7F { index += 1 }
            let value = first..<index
            // Space around a value is not part of it.
            guard let begin = value.first, let end = value.last, bytes[byte: begin] != 0x20, bytes[byte: end] != 0x20,
                skip("\r\n", in: bytes)
            else { return nil }
            return (name, value)
        }

        private static func isNameByte(_ byte: UInt8) -> Bool {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"): true
            default: false
            }
        }
    }
}

extension RawSpan {
    subscript(byte index: Int) -> UInt8 {
        // Any byte is a valid UInt8, and the index is checked.
        unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    /// Whether these characters are at a place.
    func has(_ text: StaticString, at start: Int) -> Bool {
        guard byteCount - start >= text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount where self[byte: start + offset] != text[byte: offset] {
            return false
        }
        return true
    }

    /// Whether the bytes end with the blank line that ends a request's header.
    var endsWithBlankLine: Bool { byteCount >= 4 && has("\r\n\r\n", at: byteCount - 4) }

    /// Whether a part equals this lower-case ASCII text, ignoring case.
    func isSame(as lowercase: StaticString, in range: Range<Int>) -> Bool {
        guard range.count == lowercase.utf8CodeUnitCount else { return false }
        for (offset, index) in range.enumerated() {
            let byte = self[byte: index]
            guard ((65...90).contains(byte) ? byte | 0x20 : byte) == lowercase[byte: offset] else { return false }
        }
        return true
    }
}

extension StaticString {
    fileprivate subscript(byte index: Int) -> UInt8 {
        // A static string's bytes live as long as the program, and callers stay within `utf8CodeUnitCount`.
        unsafe utf8Start[index]
    }
}
