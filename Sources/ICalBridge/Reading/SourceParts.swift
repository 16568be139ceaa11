// SPDX-License-Identifier: Apache-2.0

/// Splits a file, which arrives in chunks of any length, into parts that end between logical lines.
///
/// It holds one part in memory, or one line if that is longer.
struct SourceParts {
    private(set) var findings: SourceText.Findings
    private(set) var sniffed = FormatSniffer()
    private(set) var byteCount = 0

    private var decoder = ByteDecoder()
    private var textSniffer = FormatSniffer()
    private var buffer: [UInt8] = []
    private var line = 1
    private let size: Int
    private var nextLook: Int

    /// - Parameter guessed: the charset for lines that are not UTF-8 and have no declared charset.
    init(size: Int, declared: Charset?, guessed: Charset?) {
        findings = SourceText.Findings(declared: declared, ofPartsTakenFor: guessed)
        (self.size, nextLook) = (size, size)
    }

    /// Adds a chunk; returns a part when there is enough for one.
    mutating func add(_ chunk: [UInt8]) -> SourceText? {
        byteCount += chunk.count
        sniffed.add(chunk)
        decoder.add(chunk, into: &buffer)
        guard buffer.count >= nextLook else { return nil }
        guard let cut = lastCut() else {
            nextLook = buffer.count * 2
            return nil
        }
        nextLook = size
        let rest = Array(buffer[cut...])
        buffer.removeSubrange(cut...)
        defer { buffer = rest }
        return part(buffer)
    }

    /// Makes the next part at least as long as what was carried over to it, because that is copied once for each part.
    mutating func wait(forAtLeast bytes: Int) { nextLook = max(nextLook, bytes) }

    /// The rest of the file as the last part.
    mutating func last() -> SourceText {
        decoder.end(into: &buffer)
        defer { buffer = [] }
        return part(buffer)
    }

    private mutating func part(_ bytes: [UInt8]) -> SourceText {
        let text = SourceText(part: bytes, firstLine: line, &findings)
        line += text.physicalLines
        textSniffer.add(text.bytes)
        return text
    }

    /// The last index at which a new line certainly begins, whatever lines are joined to it.
    private func lastCut() -> Int? {
        var index = buffer.count - 1
        while index > 0 {
            let before = buffer[index - 1]
            if buffer[index] > 32, before == 10 || before == 13 {
                // In vCalendar 1.0 an `=` at the end of a line joins the next one; other bytes before the line end may
                // be removed later.
                let end = buffer[..<index].last { $0 > 32 && $0 != 127 }
                if let end, end != 61, end < 0x80 { return index }
            }
            index -= 1
        }
        return nil
    }

    /// Why the whole file is not a calendar, judged by its bytes, once its end is reached.
    mutating func refusal(log: inout ProblemLog) -> SourceFormat? {
        if !sniffed.hasNUL, let format = sniffed.notACalendar { return format }
        decoder.report(to: &log)
        findings.report(to: &log)
        guard let format = textSniffer.notACalendar else { return nil }
        return format == .text && log.count(of: "nul-bytes") > 0 ? .binary : format
    }
}

/// Determines a file's format from its beginning and from whether it contains a component.
struct FormatSniffer {
    private(set) var hasNUL = false
    private var hasComponent = false
    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    private var hasText = false

    mutating func add(_ chunk: [UInt8]) {
        if !hasNUL { hasNUL = ByteSearch.first(0, in: chunk, from: 0) != nil }
        if !hasComponent {
            hasComponent = chunk.containsComponent || (tail + chunk.prefix(8)).containsComponent
            tail = (tail + chunk.suffix(8)).suffix(8)
        }
        for byte in chunk {
            guard head.count < 600 else { break }
            hasText = hasText || byte > 32
            if hasText || head.count < 80 { head.append(byte) }
        }
    }

    var notACalendar: SourceFormat? { hasComponent ? nil : SourceFormat(notACalendar: head) }
}

/// Converts UTF-16 and removes a byte order mark and NUL padding, chunk by chunk.
struct ByteDecoder {
    private enum Encoding {
        case unknown, bytes
        case utf16(bigEndian: Bool)
    }

    private var encoding = Encoding.unknown
    private var pending: [UInt8] = []
    private var isAtStart = true
    private var removed = 0

    mutating func add(_ chunk: [UInt8], into out: inout [UInt8]) {
        switch encoding {
        case .unknown:
            pending += chunk
            // This many bytes are needed to recognize the encoding.
            if pending.count >= 256 { start(into: &out) }
        case .bytes: append(chunk, to: &out)
        case .utf16:
            pending += chunk
            decode(isAtEnd: false, into: &out)
        }
    }

    mutating func end(into out: inout [UInt8]) {
        if case .unknown = encoding { start(into: &out) }
        if case .utf16 = encoding { decode(isAtEnd: true, into: &out) }
    }

    func report(to log: inout ProblemLog) {
        if case .utf16 = encoding { SourceText.reportUTF16(to: &log) }
        if removed > 0 { SourceText.reportNULs(removed, to: &log) }
    }

    private mutating func start(into out: inout [UInt8]) {
        if let found = SourceText.utf16(in: pending) {
            encoding = .utf16(bigEndian: found.isBigEndian)
            pending.removeFirst(found.first)
            decode(isAtEnd: false, into: &out)
        } else {
            encoding = .bytes
            append(pending, to: &out)
            pending = []
        }
    }

    private mutating func decode(isAtEnd: Bool, into out: inout [UInt8]) {
        guard case .utf16(let isBigEndian) = encoding else { return }
        var units: [UInt16] = []
        for index in stride(from: 0, to: pending.count - 1, by: 2) {
            let (one, two) = (UInt16(pending[index]), UInt16(pending[index + 1]))
            units.append(isBigEndian ? one << 8 | two : two << 8 | one)
        }
        // The other half of a surrogate pair may come with the next chunk.
        if !isAtEnd, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        pending.removeFirst(units.count * 2)
        append(Array(String(decoding: units, as: UTF16.self).utf8), to: &out)
    }

    private mutating func append(_ bytes: [UInt8], to out: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        var bytes = bytes[...]
        if isAtStart {
            isAtStart = false
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        }
        let before = out.count
        out += bytes
        guard bytes.contains(0) else { return }
        let clean = out[before...].filter { $0 != 0 }
        removed += out.count - before - clean.count
        out.replaceSubrange(before..., with: clean)
    }
}
