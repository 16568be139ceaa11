// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// Finds one part of a `multipart/form-data` body (RFC 7578) as the body arrives, and passes on its bytes.
struct MultipartStream {
    private enum State {
        case preamble, head
        case content(isWanted: Bool)
        case end
    }

    /// The maximum size in bytes of a part's header.
    static let headLimit = 16 << 10
    /// The end of a part's header.
    private static let blankLine: [UInt8] = [13, 10, 13, 10]

    private let name: String
    private let delimiter: [UInt8]
    private var state = State.preamble
    // A boundary at the very beginning of the body also has a line break before it.
    private var pending: [UInt8] = [13, 10]
    /// How many of the pending bytes of a part's header were searched for its end: a body may arrive one byte at a
    /// time.
    private var searched = 0
    /// The part's type, as stated in its header.
    private(set) var contentType: String?
    /// Whether the whole part has been received.
    private(set) var isWhole = false

    /// Nil when the media type names no boundary (RFC 2046 section 5.1.1).
    init?(part name: String, contentType: String) {
        guard let boundary = MediaType.parameter("boundary", of: contentType), boundary.utf8.count <= 70 else {
            return nil
        }
        self.name = name
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    /// Processes the body's next bytes; throws 400 when a part's header is too long, or when a second part has the name.
    mutating func feed(_ bytes: some Sequence<UInt8>, _ take: (ArraySlice<UInt8>) throws -> Void) throws {
        if case .end = state { return }
        pending += bytes
        var rest = pending[...]
        while try step(&rest, take) {}
        if rest.count < pending.count { pending = Array(rest) }
    }

    /// - Returns: whether there is more to do with the available bytes.
    private mutating func step(
        _ rest: inout ArraySlice<UInt8>, _ take: (ArraySlice<UInt8>) throws -> Void
    ) throws -> Bool {
        switch state {
        case .end:
            rest = []
            return false
        case .preamble:
            guard let found = Self.find(delimiter, in: rest) else {
                rest = rest.suffix(delimiter.count - 1)
                return false
            }
            rest = rest[(found + delimiter.count)...]
            state = .head
        case .head:
            guard rest.count >= 2 else { return false }
            if rest.starts(with: [45, 45]) {
                state = .end
                return true
            }
            let unsearched = rest.dropFirst(max(0, searched - Self.blankLine.count + 1))
            let found = Self.find(Self.blankLine, in: unsearched)
            guard (found ?? rest.endIndex) - rest.startIndex <= Self.headLimit else {
                throw Refusal.badRequest("A part of the form has a header that is too long.")
            }
            guard let end = found else {
                searched = rest.count
                return false
            }
            searched = 0
            let isWanted = begin(String(fromOutside: rest[..<end]))
            // If there were two files, one would be lost silently.
            if isWanted, isWhole { throw Refusal.badRequest("The form has more than one part named \(name).") }
            state = .content(isWanted: isWanted)
            rest = rest[(end + 4)...]
        case .content(let isWanted):
            let end = Self.find(delimiter, in: rest)
            // The last available bytes may be the beginning of a boundary.
            let content = rest[..<(end ?? max(rest.startIndex, rest.endIndex - delimiter.count + 1))]
            if isWanted, !content.isEmpty { try take(content) }
            rest = rest[content.endIndex...]
            guard end != nil else { return false }
            rest = rest.dropFirst(delimiter.count)
            if isWanted { isWhole = true }
            state = .head
        }
        return true
    }

    /// - Returns: whether a part with this header is the wanted one.
    private mutating func begin(_ head: String) -> Bool {
        var (isWanted, type) = (false, String?.none)
        for line in head.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[line.index(after: colon)...])
            switch line[..<colon].lowercased() {
            case "content-disposition": isWanted = MediaType.parameter("name", of: value) == name
            case "content-type": type = value
            default: break
            }
        }
        if isWanted { contentType = type }
        return isWanted
    }

    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = needle.first else { return nil }
        var rest = bytes
        while let index = rest.firstIndex(of: first) {
            if bytes[index...].starts(with: needle) { return index }
            rest = bytes[(index + 1)...]
        }
        return nil
    }
}
