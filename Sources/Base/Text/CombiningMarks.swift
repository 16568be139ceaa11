// SPDX-License-Identifier: Apache-2.0

/// The limit on combining marks in a row: what the Stream-Safe Text Format allows (UAX #15 section 13).
///
/// Normalizing text sorts a run of marks in time that grows with the square of its length, and comparing, hashing and
/// showing text normalize it. No language has a word that comes near this limit.
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
    /// Whether it has a run of more than `CombiningMarks.longestRun` marks.
    @inlinable
    public var hasLongRunOfMarks: Bool {
        // The shortest such run consists of marks of two bytes each, none of which begins below 0xCC.
        guard utf8.count > 2 * CombiningMarks.longestRun, !utf8Span.isKnownASCII, utf8.contains(where: { $0 >= 0xCC })
        else { return false }
        return CombiningMarks.haveLongRun(self)
    }

    /// The text with each run of marks cut to `CombiningMarks.longestRun`.
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
