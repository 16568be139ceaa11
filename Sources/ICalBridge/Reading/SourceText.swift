// SPDX-License-Identifier: Apache-2.0

/// A logical line as in RFC 5545 section 3.1: unfolded, as a range of the text.
struct LogicalLine: Sendable {
    var start: UInt32
    var end: UInt32
    /// The line of the file on which it begins, from 1.
    var number: UInt32
    /// The distance from the start to the `:` or `;` of a property; 0 until it is determined.
    var separator: UInt16 = 0
    /// The key of the property's name, valid when `separator` is not 0.
    var key = PropertyKey.other

    var range: Range<Int> { Int(start)..<Int(end) }
}

/// A file's bytes as clean UTF-8: unfolded, one LF after each logical line.
struct SourceText {
    private(set) var bytes: [UInt8] = []
    private(set) var lines: [LogicalLine] = []

    /// Decodes and unfolds; each step goes over every byte once.
    ///
    /// - Parameter keepsIndents: whether each indented line is taken for a fold, as the programs do that know no templates.
    init(_ input: [UInt8], declared: Charset? = nil, keepsIndents: Bool = false, log: inout ProblemLog) {
        var input = input
        Self.removeUTF16(&input, log: &log)
        if input.starts(with: [0xEF, 0xBB, 0xBF]) { input.removeFirst(3) }
        if ByteSearch.first(0, in: input, from: 0) != nil {
            let before = input.count
            input.removeAll { $0 == 0 }
            Self.reportNULs(before - input.count, to: &log)
        }
        var findings = Findings(declared: declared)
        findings.keepsIndents = keepsIndents
        self.init(part: input, firstLine: 1, &findings)
        findings.report(to: &log)
    }

    /// Unusual features in the bytes of a text, for all of its parts together.
    struct Findings {
        /// The charset that came with the file.
        private(set) var declared: Charset?
        /// How lines that are not UTF-8 were read, with the first such line and their number.
        fileprivate var foreign: [ForeignText.Reading: (line: UInt32, text: String, count: Int)] = [:]
        fileprivate var firstControl: Int?
        /// The first line that was indented and is not a continuation of the one before it.
        fileprivate var firstIndented: Int?
        fileprivate var keepsIndents = false
        /// The charset used for such lines when only part of the file is available.
        private(set) var guessed: Charset?
        fileprivate var pairs = LetterPairs()
        fileprivate let isOfParts: Bool

        init(declared: Charset?) { (self.declared, isOfParts) = (declared, false) }

        init(declared: Charset?, ofPartsTakenFor guessed: Charset?) {
            (self.declared, self.guessed, isOfParts) = (declared, guessed, true)
        }

        /// Whether nothing has to be reported: every line is UTF-8, and none is indented or has control characters.
        var isEmpty: Bool { foreign.isEmpty && firstControl == nil && firstIndented == nil }

        /// The charset that all of these lines seem to have, once the whole file was read.
        var charset: Charset? { pairs.charset }

        func report(to log: inout ProblemLog) {
            for (reading, lines) in foreign.sorted(by: { $0.value.line < $1.value.line }) {
                let subject = lines.count == 1 ? "One line is" : "\(lines.count) lines are"
                let verb = lines.count == 1 ? "was" : "were"
                switch reading {
                case .declared(let charset):
                    log.add(
                        .repaired, "not-utf8", line: Int(lines.line), text: lines.text, .charsetDeclared,
                        "\(english: subject) not UTF-8 and \(english: verb) read as \(charset.rawValue, .charset), which is declared.",
                        count: lines.count)
                case .guessed(let charset):
                    log.add(
                        .warning, "not-utf8", line: Int(lines.line), text: lines.text, .charsetGuessed,
                        "\(english: subject) not UTF-8 and \(english: verb) read as \(charset.rawValue, .charset), which the bytes look like.",
                        count: lines.count)
                case .mixed:
                    log.add(
                        .warning, "not-utf8", line: Int(lines.line), text: lines.text, .charsetWindows,
                        "\(english: subject) not UTF-8 and \(english: verb) read as Windows-1252.", count: lines.count)
                }
            }
            if let firstControl {
                log.add(
                    .repaired, "control-characters", line: firstControl, .controlCharacters,
                    "Control characters were removed.")
            }
            if let firstIndented {
                log.add(
                    .repaired, "indented-lines", line: firstIndented, .linesIndented,
                    "Lines are indented, which joins them to the lines before them; they were read as lines of their own."
                )
            }
        }
    }

    init() {}

    /// The number of lines of the file in this part, counting folded lines separately.
    private(set) var physicalLines = 0

    /// Unfolds whole lines of a file, the first of which has the given number; the bytes hold no NUL.
    init(part input: [UInt8], firstLine: Int, _ findings: inout Findings) {
        self.init(part: input.span, firstLine: firstLine, &findings)
    }

    init(part input: Span<UInt8>, firstLine: Int, _ findings: inout Findings) {
        unfold(input, firstLine: UInt32(firstLine), &findings)
        // A fold may split a character, so the bytes can be checked only now.
        if !bytes.span.isUTF8 { decodeForeign(&findings) }
        removeControls(&findings)
    }

    /// Makes a text with lines of an earlier part before it, each followed by an LF.
    init(_ earlier: [UInt8], before next: SourceText) {
        if earlier.isEmpty {
            self = next
            return
        }
        let offset = UInt32(earlier.count)
        bytes = earlier + next.bytes
        lines = next.lines.map { LogicalLine(start: $0.start + offset, end: $0.end + offset, number: $0.number) }
        physicalLines = next.physicalLines
    }

    /// Detects UTF-16 by a byte order mark or by the NULs next to ASCII characters; returns its byte order and the
    /// index of its first unit.
    static func utf16(in input: [UInt8]) -> (isBigEndian: Bool, first: Int)? {
        guard input.count >= 4 else { return nil }
        if input.starts(with: [0xFF, 0xFE]) || input.starts(with: [0xFE, 0xFF]) { return (input[0] == 0xFE, 2) }
        let sample = input.prefix(256)
        let evenZeros = stride(from: 0, to: sample.count, by: 2).count { sample[$0] == 0 }
        let oddZeros = stride(from: 1, to: sample.count, by: 2).count { sample[$0] == 0 }
        let half = sample.count / 2
        if oddZeros * 10 >= half * 7, evenZeros * 10 < half { return (false, 0) }
        if evenZeros * 10 >= half * 7, oddZeros * 10 < half { return (true, 0) }
        return nil
    }

    private static func removeUTF16(_ input: inout [UInt8], log: inout ProblemLog) {
        guard let (bigEndian, first) = utf16(in: input) else { return }
        var units: [UInt16] = []
        units.reserveCapacity(input.count / 2)
        for index in stride(from: first, to: input.count - 1, by: 2) {
            let (one, two) = (UInt16(input[index]), UInt16(input[index + 1]))
            units.append(bigEndian ? one << 8 | two : two << 8 | one)
        }
        input = Array(String(decoding: units, as: UTF16.self).utf8)
        reportUTF16(to: &log)
    }

    static func reportUTF16(to log: inout ProblemLog) {
        log.add(
            .repaired, "not-utf8", line: 0, .charsetUTF16,
            "The file is UTF-16 and was read as such; a calendar has to be UTF-8.")
    }

    static func reportNULs(_ count: Int, to log: inout ProblemLog) {
        log.add(.repaired, "nul-bytes", line: 0, .nulBytes, "\(count, .count) NUL bytes were removed.")
    }

    /// Joins folded lines; LF, CR and CRLF each end a line.
    private mutating func unfold(_ input: Span<UInt8>, firstLine: UInt32, _ findings: inout Findings) {
        var lines: [LogicalLine] = []
        lines.reserveCapacity(input.count / 32)
        var number = firstLine - 1
        var indentation = Indentation(isRecognized: !findings.keepsIndents)
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: input.count + 1) { out, count in
            count = unsafe Self.unfold(input, into: out, lines: &lines, number: &number, &indentation)
        }
        if findings.firstIndented == nil { findings.firstIndented = indentation.firstLine.map(Int.init) }
        self.lines = lines
        physicalLines = Int(number + 1 - firstLine)
    }

    /// Writes the unfolded bytes, which are at most one more than the input's, and returns their number.
    private static func unfold(
        _ input: Span<UInt8>, into out: UnsafeMutableBufferPointer<UInt8>, lines: inout [LogicalLine],
        number: inout UInt32, _ indentation: inout Indentation
    ) -> Int {
        var index = 0
        var count = 0
        // Proof: each round reads up to `end` and moves past it, and writes what it read and one byte for the line
        // break, which only the last line of the input may lack; so at most one byte more than the input is written.
        func copy(_ range: Range<Int>) {
            guard !range.isEmpty, let target = out.baseAddress else { return }
            unsafe input.extracting(range).withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return }
                unsafe (target + count).update(from: base, count: source.count)
            }
            count += range.count
        }
        var nextCR = ByteSearch.first(13, in: input, 0..<input.count) ?? input.count
        while index < input.count {
            let end = ByteSearch.first(10, in: input, index..<nextCR) ?? nextCR
            number += 1
            let isIndented = index < end && (input[index] == 32 || input[index] == 9)
            if isIndented, let own = indentation.ownLine(input, index..<end, number) { index = own }
            let isFold = isIndented && !lines.isEmpty && !indentation.isOwnLine
            if isFold {
                // Old Mozilla versions leave an empty line between a name and its folded value.
                while lines.count > 1, let last = lines.last, last.start == last.end {
                    lines.removeLast()
                    count -= 1
                }
                count -= 1
                copy(index + 1..<end)
                lines[lines.count - 1].end = UInt32(truncatingIfNeeded: count)
            } else {
                if !isIndented { indentation.beginLine(input, index..<end) }
                let start = UInt32(truncatingIfNeeded: count)
                copy(index..<end)
                lines.append(LogicalLine(start: start, end: UInt32(truncatingIfNeeded: count), number: number))
            }
            unsafe out[count] = 10
            count += 1
            index = end + 1
            if end == nextCR, end < input.count {
                // Skips CRLF, and the CRCRLF into which a text-mode copy turns it.
                while index < input.count, input[index] == 13, index + 1 < input.count, input[index + 1] == 10 {
                    index += 1
                }
                if index < input.count, input[index] == 10 { index += 1 }
                // A file may end right after a CR.
                let rest = min(index, input.count)..<input.count
                nextCR = ByteSearch.first(13, in: input, rest) ?? input.count
            }
        }
        return count
    }

    /// Converts every line that is not UTF-8 to UTF-8.
    private mutating func decodeForeign(_ findings: inout Findings) {
        for line in lines where String(validating: bytes[line.range], as: UTF8.self) == nil {
            findings.pairs.add(bytes[line.range])
        }
        let guessed = findings.isOfParts ? findings.guessed : findings.charset
        let foreign = ForeignText(declared: findings.declared, guessed: guessed)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count + bytes.count / 8)
        for index in lines.indices {
            let line = bytes[lines[index].range]
            let start = UInt32(decoded.count)
            if let (text, reading) = foreign.decoded(line) {
                let first = findings.foreign[reading] ?? (lines[index].number, String(fromOutside: text), 0)
                findings.foreign[reading] = (first.line, first.text, first.count + 1)
                decoded += text
            } else {
                decoded.append(contentsOf: line)
            }
            lines[index].start = start
            lines[index].end = UInt32(decoded.count)
            decoded.append(10)
        }
        bytes = decoded
    }

    /// Whether there is a byte that a control character or a byte order mark contains.
    private static func mayHoldControls(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            var start = 0
            while start < buffer.count {
                let end = min(start + 4096, buffer.count)
                // Without an early exit the compiler checks many bytes at once. Proof: `end` is at most the count.
                var found: UInt8 = 0
                for index in start..<end {
                    let byte = unsafe buffer[index]
                    let isLow: UInt8 = byte < 32 ? 1 : 0
                    let isBreak: UInt8 = byte == 10 ? 1 : 0
                    let isTab: UInt8 = byte == 9 ? 1 : 0
                    let isOther: UInt8 = byte == 127 ? 1 : byte == 0xEF ? 1 : 0
                    found |= isLow ^ isBreak ^ isTab | isOther
                }
                if found != 0 { return true }
                start = end
            }
            return false
        }
    }

    /// Removes control characters, which no calendar text may contain (RFC 5545 section 3.1), and byte order marks.
    private mutating func removeControls(_ findings: inout Findings) {
        func isBad(_ index: Int) -> Int {
            let byte = bytes[index]
            if byte < 32 { return byte == 9 || byte == 10 ? 0 : 1 }
            if byte < 0xEF { return byte == 127 ? 1 : 0 }
            guard byte == 0xEF, index + 2 < bytes.count else { return 0 }
            // U+FEFF, U+FFFE and U+FFFF.
            if bytes[index + 1] == 0xBB, bytes[index + 2] == 0xBF { return 3 }
            return bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE ? 3 : 0
        }
        guard Self.mayHoldControls(bytes.span), let firstBad = bytes.indices.first(where: { isBad($0) > 0 })
        else { return }
        var clean: [UInt8] = []
        clean.reserveCapacity(bytes.count)
        var firstLine = 0
        for index in lines.indices {
            let range = lines[index].range
            if firstLine == 0, range.upperBound >= firstBad { firstLine = Int(lines[index].number) }
            let start = UInt32(clean.count)
            var position = range.lowerBound
            while position < range.upperBound {
                let length = isBad(position)
                if length == 0 {
                    clean.append(bytes[position])
                    position += 1
                } else {
                    position += length
                }
            }
            lines[index].start = start
            lines[index].end = UInt32(clean.count)
            clean.append(10)
        }
        bytes = clean
        if findings.firstControl == nil { findings.firstControl = firstLine }
    }
}

/// Microsoft's code page for western Europe; bytes that it leaves undefined are read as Latin-1.
enum Windows1252 {
    private static let upper: [Unicode.Scalar] = Array(
        "\u{20AC}\u{81}\u{201A}\u{0192}\u{201E}\u{2026}\u{2020}\u{2021}\u{02C6}\u{2030}\u{0160}\u{2039}\u{0152}\u{8D}\u{017D}\u{8F}\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{02DC}\u{2122}\u{0161}\u{203A}\u{0153}\u{9D}\u{017E}\u{0178}"
            .unicodeScalars)

    static func decode(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append((0x80...0x9F).contains(byte) ? upper[Int(byte) - 0x80] : Unicode.Scalar(byte))
        }
        return String(text)
    }
}
