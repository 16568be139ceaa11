// SPDX-License-Identifier: Apache-2.0

/// The lines of a file by number, for showing them: numbered as the reader does, unfolded, with odd characters kept.
package struct FileLines {
    private let bytes: [UInt8]
    private let foreign: ForeignText
    /// Where each line begins and ends; found when the first line is asked for.
    private var index: [Range<Int>]?
    /// The maximum number of bytes that are read from one line.
    private static let limit = 1 << 16

    package init(_ bytes: [UInt8]) {
        let bytes = Self.decoded(bytes)
        self.bytes = bytes
        var pairs = LetterPairs()
        if (try? UTF8Span(validating: bytes.span)) == nil {
            for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 })
            where String(validating: line, as: UTF8.self) == nil {
                pairs.add(line)
            }
        }
        foreign = ForeignText(declared: nil, guessed: pairs.charset)
    }

    /// A line together with the lines that are folded onto it.
    package mutating func unfolded(_ number: Int) -> String? {
        let lines = found()
        guard lines.indices.contains(number - 1) else { return nil }
        var line = Array(bytes[lines[number - 1]].prefix(Self.limit))
        for next in lines[number...].prefix(2000) {
            guard let first = bytes[next].first, first == 32 || first == 9, line.count < Self.limit else { break }
            line += bytes[next].dropFirst()
        }
        return text(line)
    }

    /// The first line with one of some properties within the component that begins at a line.
    mutating func first(_ names: [String], inComponentAt number: Int) -> Int? {
        all(names, inComponentAt: number, upTo: 1).first
    }

    /// The values of a property within the component that begins at a line; its lists are split at their commas.
    mutating func values(of name: String, inComponentAt number: Int) -> [ByteString] {
        var values: [ByteString] = []
        for index in all([name], inComponentAt: number, upTo: .max) {
            // No time has a colon, and a parameter may.
            guard let list = unfolded(index)?.split(separator: ":").last else { continue }
            values += list.split(separator: ",").map { ByteString($0) }
        }
        return values
    }

    private mutating func all(_ names: [String], inComponentAt number: Int, upTo most: Int) -> [Int] {
        let lines = found()
        guard lines.indices.contains(number - 1) else { return [] }
        var (depth, numbers) = (0, [Int]())
        for index in (number - 1)..<min(lines.count, number + 2000) {
            let head = String(fromOutside: bytes[lines[index]].prefix(40)).uppercased()
            if head.hasPrefix("BEGIN:") { depth += 1 }
            if head.hasPrefix("END:") { depth -= 1 }
            guard depth > 0, numbers.count < most else { break }
            if depth == 1, names.contains(where: { head.hasPrefix($0 + ":") || head.hasPrefix($0 + ";") }) {
                numbers.append(index + 1)
            }
        }
        return numbers
    }

    /// Finds the lines: LF, CR, CRLF and the CRCRLF of a damaged copy each end a line.
    private mutating func found() -> [Range<Int>] {
        if let index { return index }
        var lines: [Range<Int>] = []
        var start = 0
        var position = 0
        while position < bytes.count {
            guard bytes[position] == 10 || bytes[position] == 13 else {
                position += 1
                continue
            }
            lines.append(start..<position)
            if bytes[position] == 13 {
                var next = position + 1
                while next < bytes.count, bytes[next] == 13 { next += 1 }
                if next < bytes.count, bytes[next] == 10 { position = next }
            }
            position += 1
            start = position
        }
        if start < bytes.count { lines.append(start..<bytes.count) }
        index = lines
        return lines
    }

    /// Converts UTF-16 with a byte order mark to UTF-8; removes a UTF-8 byte order mark.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
        let isBigEndian = bytes[0] == 0xFE
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (one, two) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? one << 8 | two : two << 8 | one
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Decodes a line as the reader does.
    private func text(_ line: [UInt8]) -> String {
        if let text = String(validating: line, as: UTF8.self)?.fromOutside { return text }
        // The limit may have cut through the last character.
        if line.count >= Self.limit,
            let text = (1...3).lazy.compactMap({
                String(validating: line.dropLast($0), as: UTF8.self)?.fromOutside
            }).first
        {
            return text
        }
        return String(fromOutside: foreign.decoded(line[...])?.bytes ?? line)
    }
}
