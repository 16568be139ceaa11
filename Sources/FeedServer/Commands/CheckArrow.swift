// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

/// Formats a problem for the screen: place, severity and message, and the file's line with an arrow at the place.
enum CheckArrow {
    /// The maximum number of columns of the terminal that are used for a line of the file.
    private static let width = 96

    static func lines(for problem: Problem, in source: inout FileLines) -> [String] {
        let place = problem.line == 0 ? "file" : "line \(problem.line.grouped)"
        let head =
            "  \(place): \(problem.severity.rawValue): \(printable(problem.message))\(problem.code.reference.map { " (\($0))" } ?? "") [\(problem.code.rawValue)]"
        guard let excerpt = ProblemPlace(of: problem, in: &source) else { return [head] }
        let number = excerpt.line == 0 ? "" : String(excerpt.line)
        let gutter = String(repeating: " ", count: max(0, 7 - number.count))
        let (text, arrow) = cut(excerpt.text, around: excerpt.mark)
        let lines = [head, "\(gutter)\(number) > \(text)"]
        return arrow.isEmpty ? lines : lines + [String(repeating: " ", count: max(7, number.count) + 3) + arrow]
    }

    /// Cuts a text to the width of the screen, with `^~~~` below the marked part.
    static func cut(_ text: String, around mark: Range<Int>?) -> (text: String, arrow: String) {
        // The text is made printable scalar by scalar, so that positions stay the same.
        let shown = printable(text)
        let characters = Array(shown)
        var first = 0
        var starts: [Int] = []
        for character in characters {
            starts.append(first)
            first += character.unicodeScalars.count
        }
        let from = mark.map { mark in (starts.lastIndex { $0 <= mark.lowerBound }) ?? 0 } ?? 0
        let to = mark.map { mark in (starts.firstIndex { $0 >= mark.upperBound }) ?? characters.count } ?? from
        let widths = characters.map(columns)
        var lower = 0
        if widths.reduce(0, +) > width {
            // A third of the width shows the text before the place, as context.
            var before = 0
            lower = from
            while lower > 0, before + widths[lower - 1] <= width / 3 {
                lower -= 1
                before += widths[lower]
            }
        }
        var upper = lower
        var used = 0
        while upper < characters.count, used + widths[upper] <= width {
            used += widths[upper]
            upper += 1
        }
        let line =
            (lower > 0 ? "…" : "") + String(characters[lower..<upper]) + (upper < characters.count ? "…" : "")
        guard mark != nil, from < max(upper, 1) else { return (line, "") }
        let indent = widths[lower..<from].reduce(lower > 0 ? 1 : 0, +)
        let length = widths[from..<min(max(to, from), upper)].reduce(0, +)
        return (
            line, String(repeating: " ", count: indent) + "^" + String(repeating: "~", count: max(0, length - 1))
        )
    }

    /// The number of terminal columns that a character takes.
    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // East Asian wide characters and emoji.
        let isPicture =
            scalar.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xFE0F }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
        ]
        return isPicture || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
}
