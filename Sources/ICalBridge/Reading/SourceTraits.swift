// SPDX-License-Identifier: Apache-2.0

/// The features that the texts of a component may have, as far as one pass over its bytes shows.
struct SourceTraits {
    /// Whether there may be a combining mark: each begins with a byte of at least 0xCC.
    var mayHaveMarks = true
    /// Whether there may be one of the `HiddenCharacters`: each begins with a byte of at least 0xE1.
    var mayBeHidden = true
    /// Whether there may be a `<`, without which no text is HTML.
    var mayBeHTML = true
    /// Whether there may be two backslashes in a row, without which no text was escaped twice.
    var mayBeEscapedTwice = true

    /// Whether none of the traits can be there.
    var isEmpty: Bool { !mayHaveMarks && !mayBeHidden && !mayBeHTML && !mayBeEscapedTwice }

    /// Traits of texts about which nothing is known.
    init() {}

    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        let part = bytes.extracting(range)
        unsafe part.withUnsafeBufferPointer { bytes in
            var found: UInt8 = 0
            // Without an early exit the compiler checks many bytes at once. Proof: the indices are the buffer's own.
            for index in 0..<bytes.count {
                let byte = unsafe bytes[index]
                let mark: UInt8 = byte >= 0xCC ? 1 : 0
                let hidden: UInt8 = byte >= 0xE1 ? 2 : 0
                let html: UInt8 = byte == 60 ? 4 : 0
                found |= mark | hidden | html
            }
            (mayHaveMarks, mayBeHidden, mayBeHTML) = (found & 1 > 0, found & 2 > 0, found & 4 > 0)
        }
        mayBeEscapedTwice = ByteWords.containsPair(of: 92, in: part)
    }
}

extension RawComponent {
    /// The range from the beginning of the component's first line to the end of its last one, including subcomponents.
    var textRange: Range<Int> {
        var (start, end) = (UInt32.max, UInt32.min)
        func add(_ lines: [LogicalLine]) {
            guard let first = lines.first, let last = lines.last else { return }
            (start, end) = (min(start, first.start), max(end, last.end))
        }
        add(lines)
        for child in children { add(child.lines) }
        return start < end ? Int(start)..<Int(end) : 0..<0
    }
}
