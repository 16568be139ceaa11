// SPDX-License-Identifier: Apache-2.0

/// The limit on combining marks in a row: what the Stream-Safe Text Format allows (UAX #15 section 13).
///
/// Normalizing text sorts a run of marks in time that grows with the square of its length, and packages, hashes of text
/// and browsers normalize it. No other character slows them down so, and no language has a word that comes near this
/// limit.
public enum CombiningMarks {
    /// The longest run that text may have, in Unicode scalars.
    public static let longestRun = 30

    /// The rule in words, for the sender of a text that breaks it.
    public static let rule = "Text must not have more than \(longestRun) combining marks in a row."

    /// Reports whether a scalar joins the one before it when text is normalized: the marks, and the two letters that
    /// decompose into marks.
    public static func contain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Latin, Greek and Cyrillic letters; general punctuation; ideographs; Hangul.
        case 0..<0x300, 0x370..<0x483, 0x2000..<0x20D0, 0x3100..<0xA66F, 0xAC00..<0xFB1E: return false
        case 0xFF9E, 0xFF9F: return true
        default:
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: return true
            default: return false
            }
        }
    }
}

extension String {
    /// Reads text from outside, which is where every reader of strangers' bytes begins; what is not UTF-8 becomes U+FFFD.
    @inlinable
    public init(fromOutside bytes: some Collection<UInt8>) { self = String(decoding: bytes, as: UTF8.self).fromOutside }

    /// The text with each run of marks cut to one more than `CombiningMarks.longestRun`.
    ///
    /// Whoever keeps the text still sees that a run was too long, and refuses or reports it; nothing is slow until then.
    @inlinable
    public var fromOutside: String { withMarks(atMost: CombiningMarks.longestRun + 1) }

    /// Whether it has a run of more than `CombiningMarks.longestRun` marks.
    public var hasLongRunOfMarks: Bool { hasMarks(moreThan: CombiningMarks.longestRun) }

    /// The text with each run of marks cut to `CombiningMarks.longestRun`.
    public var withBoundedMarks: String { withMarks(atMost: CombiningMarks.longestRun) }

    @inlinable
    func hasMarks(moreThan count: Int) -> Bool {
        guard utf8.count > 2 * count, !utf8Span.isKnownASCII else { return false }
        // The shortest such run consists of marks of two bytes each. A word between two spaces is rarely as long, and to
        // look up what each character is takes fifty times as long as this.
        var length = 0
        for byte in utf8 {
            length = byte > 31 && byte < 127 || byte == 9 || byte == 10 || byte == 13 ? 0 : length + 1
            if length > 2 * count { return CombiningMarks.haveRun(self, longerThan: count) }
        }
        return false
    }

    @inlinable
    func withMarks(atMost count: Int) -> String {
        hasMarks(moreThan: count) ? CombiningMarks.cut(self, to: count) : self
    }
}

extension CombiningMarks {
    /// Counts marks in a row. A character that is removed where text is shown, such as a control character, does not end a
    /// run, because the marks on both sides of it are a single run afterwards.
    public struct Run {
        private var length = 0

        public init() {}

        /// Returns the number of marks up to this one; 0 for a scalar that is not a mark.
        public mutating func next(_ scalar: Unicode.Scalar) -> Int {
            if contain(scalar) {
                length += 1
                return length
            }
            if length > 0, !Self.isLeftOut(scalar) { length = 0 }
            return 0
        }

        private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 9, 10, 13: false
            case 0x115F, 0x1160, 0x3164, 0xFFA0: true
            default: [.control, .format].contains(scalar.properties.generalCategory)
            }
        }
    }

    @usableFromInline
    static func haveRun(_ text: String, longerThan count: Int) -> Bool {
        var run = Run()
        return text.unicodeScalars.contains { run.next($0) > count }
    }

    @usableFromInline
    static func cut(_ text: String, to count: Int) -> String {
        var run = Run()
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { run.next($0) <= count }))
    }
}
