// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

extension HTTPServerRequestPart {
    /// The part without runs of combining marks longer than `CombiningMarks.longestRun` in its request line and header
    /// fields, so that later code cannot be slowed down by them; no valid value has such a run.
    var withBoundedMarks: HTTPServerRequestPart {
        guard case .head(var head) = self else { return self }
        let hasLongValue = head.headers.contains { $0.value.hasLongRunOfMarks }
        let target = RequestTarget.withBoundedMarks(head.uri)
        guard hasLongValue || target != nil else { return self }
        if let target { head.uri = target }
        if hasLongValue { head.headers = HTTPHeaders(head.headers.map { ($0.name, $0.value.withBoundedMarks) }) }
        return .head(head)
    }
}

/// The target of a request line, in which marks may be literal or percent-encoded.
enum RequestTarget {
    /// Nil when no run of marks is too long, even after each part is decoded.
    static func withBoundedMarks(_ target: String) -> String? {
        let bytes = target.utf8
        // A run needs at least two bytes for each mark, the first of which is 0xCC or more.
        guard bytes.count > 2 * CombiningMarks.longestRun, bytes.contains(where: { $0 == 37 || $0 >= 0xCC }) else {
            return nil
        }
        let pieces = self.pieces(of: Array(bytes))
        guard String(decoding: pieces.map(\.byte), as: UTF8.self).hasLongRunOfMarks else { return nil }
        var bounded: [UInt8] = []
        var run = CombiningMarks.Run()
        var rest = pieces[...]
        while let first = rest.first {
            var length = min(rest.count, length(ofCharacterBeginningWith: first.byte))
            let character = String(validating: rest.prefix(length).map(\.byte), as: UTF8.self)
            // A byte that begins no character is read as U+FFFD, and the next one may begin a mark.
            if character == nil { length = 1 }
            if run.next(character?.unicodeScalars.first ?? "\u{FFFD}") <= CombiningMarks.longestRun {
                for piece in rest.prefix(length) { bounded += piece.written }
            }
            rest = rest.dropFirst(length)
        }
        return String(decoding: bounded, as: UTF8.self)
    }

    private struct Piece {
        var byte: UInt8
        var written: ArraySlice<UInt8>
    }

    /// Each decoded byte with its encoded form.
    private static func pieces(of bytes: [UInt8]) -> [Piece] {
        var pieces: [Piece] = []
        pieces.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 37, index + 2 < bytes.count,
                let high = Hexadecimal.value(of: bytes[index + 1]), let low = Hexadecimal.value(of: bytes[index + 2])
            {
                pieces.append(Piece(byte: high << 4 | low, written: bytes[index...index + 2]))
                index += 3
            } else {
                pieces.append(Piece(byte: bytes[index], written: bytes[index...index]))
                index += 1
            }
        }
        return pieces
    }

    private static func length(ofCharacterBeginningWith byte: UInt8) -> Int {
        byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
    }
}
