// SPDX-License-Identifier: Apache-2.0

/// The bound on combining marks in a row: what the Stream-Safe Text Format allows (UAX #15 section 13).
///
/// To normalise text, a run of marks is sorted in time that grows with the square of its length, and comparing, hashing
/// and showing text normalise it. No language has a word near this bound.
public enum CombiningMarks {
    /// The longest run that text may have, in scalars.
    public static let longestRun = 30

    /// The rule in words, for whoever sent text that breaks it.
    public static let rule = "Text must not have more than \(longestRun) combining marks in a row."

    /// Whether a scalar joins the one before it when text is normalised: the marks, and the two letters that decompose
    /// into marks.
    public static func contain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // The letters of Latin, Greek and Cyrillic; general punctuation; the ideographs; Hangul.
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
    /// Whether more than `CombiningMarks.longestRun` marks follow each other somewhere.
    @inlinable
    public var hasLongRunOfMarks: Bool {
        // The shortest run is of marks of two bytes each, of which none begins below 0xCC.
        guard utf8.count > 2 * CombiningMarks.longestRun, !utf8Span.isKnownASCII, utf8.contains(where: { $0 >= 0xCC })
        else { return false }
        return CombiningMarks.haveLongRun(self)
    }

    /// The text without the marks of each run that are beyond `CombiningMarks.longestRun`.
    public var withBoundedMarks: String {
        guard hasLongRunOfMarks else { return self }
        var bounded = String.UnicodeScalarView()
        var run = 0
        for scalar in unicodeScalars {
            run = CombiningMarks.contain(scalar) ? run + 1 : 0
            if run <= CombiningMarks.longestRun { bounded.append(scalar) }
        }
        return String(bounded)
    }
}

extension CombiningMarks {
    @usableFromInline
    static func haveLongRun(_ text: String) -> Bool {
        var run = 0
        for scalar in text.unicodeScalars {
            run = contain(scalar) ? run + 1 : 0
            if run > longestRun { return true }
        }
        return false
    }
}
